//! Inner products as scores, and the gradients of all scorers that are quadratic in the features.

use super::{
    Panels, Rows, Scorer, Slopes, Totals,
    tile::{COLUMNS, Product, TILE, VECTORS},
};
use crate::{
    kernels::{Real, rows::dot},
    topology::Batch,
};
use pulp::Simd;
use std::ops::Range;

/// Columns whose features all tiles of a block of rows use before going on: they stay in the nearest
/// cache.
const NEAR: usize = 128;

/// For `x_ij` a function of `<u_i, u_j>`: rows get `sum_j q_ij u_j`, columns `sum_i q_ij u_i`, both
/// `[nodes, stride]`.
#[inline(always)]
pub(super) fn accumulate<T: Real, S: Simd>(
    simd: S,
    u: &Rows<T>,
    block: &Slopes<'_, T>,
    rows: &mut [T],
    columns: &mut [T],
) {
    let vectors = T::vectors::<S>(u.row(block.first)).len();
    let mut at = 0;
    while at + VECTORS <= vectors {
        products::<T, S, VECTORS>(simd, at, u, block, rows, columns);
        at += VECTORS;
    }
    if at < vectors {
        products::<T, S, 1>(simd, at, u, block, rows, columns);
    }
}

/// The same for `V` vectors of features from vector `at` on.
#[inline(always)]
fn products<T: Real, S: Simd, const V: usize>(
    simd: S,
    at: usize,
    u: &Rows<T>,
    block: &Slopes<'_, T>,
    rows: &mut [T],
    columns: &mut [T],
) {
    let stride = u.stride;
    let q = block.q.as_chunks::<COLUMNS>().0;
    for start in (0..block.count).step_by(NEAR) {
        let others = u.from(block.first + start).chunks_exact(stride);
        for (tile, r) in q.as_chunks::<TILE>().0.iter().zip((0..).step_by(TILE)) {
            let mut product = Product::<T, S, V>::new(simd, at);
            // Arrays of known length, so that the loop has no bounds checks.
            let steps = (start..COLUMNS).zip(others.clone()).take(NEAR.min(block.count - start));
            for (j, b) in steps {
                let mut a = [T::ZERO; TILE];
                for r in 0..TILE {
                    a[r] = tile[r][j];
                }
                product.step(a, b);
            }
            product.add_to(&mut rows[r * stride..], stride, block.rows.len() - r);
        }
    }
    for (t, j) in (0..block.count).step_by(TILE).enumerate() {
        let mut product = Product::<T, S, V>::new(simd, at);
        for (q, &i) in q.iter().zip(block.rows) {
            product.step(q.as_chunks::<TILE>().0[t], u.row(i as usize));
        }
        let out = &mut columns[(block.first + j) * stride - block.offset..];
        product.add_to(out, stride, block.count - j);
    }
}

/// `log sigmoid(<u_i, u_j> / sqrt d)`.
pub(crate) struct Dot<T> {
    u: Rows<T>,
    panels: Panels<T>,
    ones: Vec<T>,
    scale: T,
}

impl<T: Real> Dot<T> {
    /// `u` is `[nodes, width]`.
    pub(crate) fn new(u: &[T], width: usize, batch: &Batch) -> Self {
        let u = Rows::new(u, width);
        let panels = Panels::new(&u, T::ONE, batch);
        let scale = T::ONE / T::from_usize(width).sqrt();
        Self { u, panels, ones: vec![T::ONE; width], scale }
    }
}

impl<T: Real> Scorer<T> for Dot<T> {
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
        T::fma(simd, a, b, sum)
    }
    #[inline(always)]
    fn log_p(&self, _: usize, _: usize, sums: &mut [T]) {
        for x in sums {
            *x = log_sigmoid(*x * self.scale).0;
        }
    }
    #[inline(always)]
    fn slopes(&self, _: usize, _: usize, sums: &[T], log_p: &mut [T], slopes: &mut [T]) {
        for ((&x, log_p), slope) in sums.iter().zip(log_p).zip(slopes) {
            let (log, derivative) = log_sigmoid(x * self.scale);
            (*log_p, *slope) = (log, derivative * self.scale);
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
        accumulate(simd, &self.u, &block, rows, columns);
    }
    fn gradients(&self, totals: Totals<T>, _: &Batch) -> Vec<Vec<T>> {
        vec![self.u.unpad_sum(&totals.rows, &totals.columns)]
    }
}

/// `log max((1 + cos(u_i, u_j)) / 2, 1e-6)`; the cosine with a zero vector is 0.
pub(crate) struct Cosine<T> {
    /// Of unit length.
    unit: Rows<T>,
    inverse_norms: Vec<T>,
    panels: Panels<T>,
    ones: Vec<T>,
}

/// Scores of opposite vectors stop here.
const LOWEST_COSINE_SCORE: f64 = 1e-6;

impl<T: Real> Cosine<T> {
    /// `u` is `[nodes, width]`.
    pub(crate) fn new(u: &[T], width: usize, batch: &Batch) -> Self {
        let mut unit = Rows::new(u, width);
        let mut inverse_norms = Vec::with_capacity(batch.nodes());
        for i in 0..batch.nodes() {
            let row = unit.range_mut(i..i + 1);
            let norm = dot(row, row).sqrt();
            let inverse = if norm > T::ZERO { T::ONE / norm } else { T::ZERO };
            row.iter_mut().for_each(|value| *value *= inverse);
            inverse_norms.push(inverse);
        }
        let panels = Panels::new(&unit, T::ONE, batch);
        Self { unit, inverse_norms, panels, ones: vec![T::ONE; width] }
    }
}

impl<T: Real> Scorer<T> for Cosine<T> {
    const SYMMETRIC: bool = true;

    fn rows(&self) -> &Rows<T> {
        &self.unit
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
        T::fma(simd, a, b, sum)
    }
    #[inline(always)]
    fn log_p(&self, _: usize, _: usize, sums: &mut [T]) {
        let lowest = T::from_f64(LOWEST_COSINE_SCORE);
        for x in sums {
            *x = x.mul_add(T::HALF, T::HALF).max(lowest).ln();
        }
    }
    #[inline(always)]
    fn slopes(&self, _: usize, _: usize, sums: &[T], log_p: &mut [T], slopes: &mut [T]) {
        let lowest = T::from_f64(LOWEST_COSINE_SCORE);
        for ((&x, log_p), slope) in sums.iter().zip(log_p).zip(slopes) {
            let p = x.mul_add(T::HALF, T::HALF);
            *log_p = p.max(lowest).ln();
            *slope = if p > lowest { T::HALF / p } else { T::ZERO };
        }
    }
    fn column_gradients(&self, graphs: Range<usize>, batch: &Batch) -> Range<usize> {
        self.unit.graphs(graphs, batch)
    }
    #[inline(always)]
    fn accumulate<S: Simd>(
        &self,
        simd: S,
        block: Slopes<'_, T>,
        rows: &mut [T],
        columns: &mut [T],
    ) {
        accumulate(simd, &self.unit, &block, rows, columns);
    }
    /// Through the normalisation: `du = (dv - v <v, dv>) / |u|`.
    fn gradients(&self, totals: Totals<T>, _: &Batch) -> Vec<Vec<T>> {
        let width = self.unit.width;
        let mut grad = self.unit.unpad_sum(&totals.rows, &totals.columns);
        for (i, grad) in grad.chunks_exact_mut(width).enumerate() {
            let unit = &self.unit.row(i)[..width];
            let along = dot(unit, grad);
            for (grad, &v) in grad.iter_mut().zip(unit) {
                *grad = (*grad - v * along) * self.inverse_norms[i];
            }
        }
        vec![grad]
    }
}

/// log sigmoid(z), and its derivative sigmoid(-z), neither of which overflows.
#[inline(always)]
pub(super) fn log_sigmoid<T: Real>(z: T) -> (T, T) {
    let e = (-z.abs()).exp();
    let numerator = if z < T::ZERO { T::ONE } else { e };
    (z.min(T::ZERO) - (T::ONE + e).ln(), numerator / (T::ONE + e))
}
