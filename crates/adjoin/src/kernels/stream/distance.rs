//! Distances as scores: `log p_ij = -t |u_i - u_j|`, or the same of squared distances.

use super::{Panels, Rows, Scorer, Slopes, Totals, bilinear};
use crate::{
    kernels::{Real, rows::sum},
    topology::Batch,
};
use pulp::Simd;
use std::ops::Range;

/// `log p_ij = -t |u_i - u_j|`, if `SQUARED` with the square of the distance; inputs u and t.
///
/// The squared distance is summed over the differences and not taken from inner products: as fast
/// here, and without their loss of digits for near neighbours, which are the ones that matter.
pub(crate) struct Distance<T, const SQUARED: bool> {
    u: Rows<T>,
    panels: Panels<T>,
    ones: Vec<T>,
    t: T,
}

impl<T: Real, const SQUARED: bool> Distance<T, SQUARED> {
    /// `u` is `[nodes, width]`.
    pub(crate) fn new(u: &[T], t: T, width: usize, batch: &Batch) -> Self {
        let mut u = Rows::new(u, width);
        // The backward pass multiplies by u itself: distances do not change when each graph is
        // moved to its centre, and rounding errors shrink.
        let mut centre = vec![T::ZERO; u.stride];
        for range in batch.ranges().filter(|range| !range.is_empty()) {
            let weight = T::ONE / T::from_usize(range.len());
            let stride = u.stride;
            let rows = u.range_mut(range);
            centre.fill(T::ZERO);
            for row in rows.chunks_exact(stride) {
                centre.iter_mut().zip(row).for_each(|(c, &v)| *c = weight.mul_add(v, *c));
            }
            for row in rows.chunks_exact_mut(stride) {
                row.iter_mut().zip(&centre).for_each(|(v, &c)| *v -= c);
            }
        }
        let panels = Panels::new(&u, T::ONE, batch);
        Self { u, panels, ones: vec![T::ONE; width], t }
    }
}

impl<T: Real, const SQUARED: bool> Scorer<T> for Distance<T, SQUARED> {
    const SYMMETRIC: bool = true;

    fn rows(&self) -> &Rows<T> {
        &self.u
    }
    fn columns(&self) -> &Panels<T> {
        &self.panels
    }
    fn weights(&self) -> &[T] {
        &self.ones
    }
    #[inline(always)]
    fn term<S: Simd>(
        simd: S,
        _: T::Vector<S>,
        a: T::Vector<S>,
        b: T::Vector<S>,
        sum: T::Vector<S>,
    ) -> T::Vector<S> {
        let difference = T::minus(simd, a, b);
        T::fma(simd, difference, difference, sum)
    }
    #[inline(always)]
    fn log_p(&self, _: usize, _: usize, sums: &mut [T]) {
        for x in sums {
            *x = -self.t * if SQUARED { *x } else { x.sqrt() };
        }
    }
    /// The slope is that of `-|u_i - u_j|`, or of its square: t is multiplied in at the end, once.
    #[inline(always)]
    fn slopes(&self, _: usize, _: usize, sums: &[T], log_p: &mut [T], slopes: &mut [T]) {
        for ((&x, log_p), slope) in sums.iter().zip(log_p).zip(slopes) {
            if SQUARED {
                *log_p = -self.t * x;
                *slope = -T::ONE;
                continue;
            }
            let distance = x.sqrt();
            *log_p = -self.t * distance;
            *slope = if x > T::ZERO { -T::HALF / distance } else { T::ZERO };
        }
    }
    fn column_gradients(&self, graphs: Range<usize>, batch: &Batch) -> Range<usize> {
        self.u.graphs(graphs, batch)
    }
    #[inline(always)]
    fn accumulate<S: Simd>(
        &self,
        simd: S,
        block: Slopes<'_, T>,
        rows: &mut [T],
        columns: &mut [T],
    ) {
        bilinear::accumulate(simd, &self.u, &block, rows, columns);
    }
    /// `du_i = 2 t sum_j (q_ij + q_ji) (u_i - u_j)` and `dt = 2 sum_ij q_ij |u_i - u_j|^2`, without
    /// the 2 if the distance is squared.
    fn gradients(&self, totals: Totals<T>, _: &Batch) -> Vec<Vec<T>> {
        let two = T::ONE + T::ONE;
        let width = self.u.width;
        let mut grad = self.u.unpad_sum(&totals.rows, &totals.columns);
        for (i, grad) in grad.chunks_exact_mut(width).enumerate() {
            let degree = totals.row_sums[i] + totals.column_sums[i];
            for (grad, &u) in grad.iter_mut().zip(self.u.row(i)) {
                *grad = two * self.t * degree.mul_add(u, -*grad);
            }
        }
        let factor = if SQUARED { T::ONE } else { two };
        vec![grad, vec![factor * sum(&totals.row_moments)]]
    }
}
