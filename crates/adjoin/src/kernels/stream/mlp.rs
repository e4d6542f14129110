//! A small network on pairs as score: `log p_ij = log sigmoid(w . leaky(a_i + b_j) + w0)`.

use super::{
    Panels, Rows, Scorer, Slopes, Totals,
    bilinear::log_sigmoid,
    layers::LEAKY_SLOPE,
    tile::{COLUMNS, PANEL, TILE},
};
use crate::{
    kernels::{
        Real,
        rows::{dot, sum, sum_rows},
    },
    topology::Batch,
};
use pulp::Simd;
use std::ops::Range;

/// `log p_ij = log sigmoid(w . leaky(a_i + b_j) + w0)`; inputs a, b, w and w0.
///
/// With s the slope, `leaky(x) = s x + (1 - s) max(x, 0)` and `max(a + b, 0) = max(a, -b) + b`, so
/// `w . leaky(a_i + b_j) = s w . a_i + w . b_j + (1 - s) sum_k w_k max(a_ik, -b_jk)`: two terms per
/// node, and two operations per pair and feature.
pub(crate) struct PairMlp<T> {
    a: Rows<T>,
    b: Rows<T>,
    /// Of -b.
    panels: Panels<T>,
    w: Vec<T>,
    /// `(1 - s) w`.
    weights: Vec<T>,
    row_terms: Vec<T>,
    column_terms: Vec<T>,
}

impl<T: Real> PairMlp<T> {
    /// `a` and `b` are `[nodes, width]`, `w` is `[width]`.
    pub(crate) fn new(a: &[T], b: &[T], w: &[T], w0: T, batch: &Batch) -> Self {
        let s = T::from_f64(LEAKY_SLOPE);
        let width = w.len();
        let products = |x: &[T]| x.chunks_exact(width).map(|x| dot(x, w)).collect::<Vec<T>>();
        let row_terms = products(a).into_iter().map(|x| s.mul_add(x, w0)).collect();
        let column_terms = products(b);
        let weights = w.iter().map(|&w| (T::ONE - s) * w).collect();
        let (a, b) = (Rows::new(a, width), Rows::new(b, width));
        let panels = Panels::new(&b, -T::ONE, batch);
        Self { a, b, panels, w: w.to_vec(), weights, row_terms, column_terms }
    }
}

impl<T: Real> Scorer<T> for PairMlp<T> {
    const SYMMETRIC: bool = false;

    fn rows(&self) -> &Rows<T> {
        &self.a
    }
    fn columns(&self) -> &Panels<T> {
        &self.panels
    }
    fn weights(&self) -> &[T] {
        &self.weights
    }
    #[inline(always)]
    fn term<S: Simd>(
        simd: S,
        weight: T::Vector<S>,
        a: T::Vector<S>,
        b: T::Vector<S>,
        sum: T::Vector<S>,
    ) -> T::Vector<S> {
        T::fma(simd, weight, T::larger(simd, a, b), sum)
    }
    #[inline(always)]
    fn log_p(&self, i: usize, first: usize, sums: &mut [T]) {
        let own = self.row_terms[i];
        for (x, &other) in sums.iter_mut().zip(&self.column_terms[first..]) {
            *x = log_sigmoid(*x + own + other).0;
        }
    }
    #[inline(always)]
    fn slopes(&self, i: usize, first: usize, sums: &[T], log_p: &mut [T], slopes: &mut [T]) {
        let own = self.row_terms[i];
        let terms = sums.iter().zip(&self.column_terms[first..]);
        for ((x, log_p), slope) in terms.zip(log_p).zip(slopes) {
            (*log_p, *slope) = log_sigmoid(*x.0 + own + *x.1);
        }
    }
    fn column_gradients(&self, graphs: Range<usize>, _: &Batch) -> Range<usize> {
        self.panels.graphs(graphs)
    }
    /// Rows get `sum_j q_ij [a_ik > -b_jk]`, columns the sum over i, in the layout of the panels.
    #[inline(always)]
    fn accumulate<S: Simd>(
        &self,
        simd: S,
        block: Slopes<'_, T>,
        rows: &mut [T],
        columns: &mut [T],
    ) {
        let range = self.panels.range(block.graph, block.local, block.count);
        let (size, stride) = (self.panels.size(), self.a.stride);
        let panels = self.panels.at(range.clone());
        let columns = &mut columns[range.start - block.offset..range.end - block.offset];
        let tiles = block.tiles.chunks_exact(self.a.width * TILE);
        for (n, (tile, q)) in tiles.zip(block.q.chunks_exact(TILE * COLUMNS)).enumerate() {
            let rows = &mut rows[n * TILE * stride..];
            for (k, a) in tile.as_chunks::<TILE>().0.iter().enumerate() {
                let own = a.map(|a| T::splat(simd, a));
                let mut sums = [T::splat(simd, T::ZERO); TILE];
                let panels = panels.chunks_exact(size).zip(columns.chunks_exact_mut(size));
                for ((b, column), at) in panels.zip((0..COLUMNS).step_by(PANEL)) {
                    let b = T::vectors::<S>(&b[k * PANEL..][..PANEL]);
                    let column = T::vectors_mut::<S>(&mut column[k * PANEL..][..PANEL]);
                    let q: [_; TILE] =
                        std::array::from_fn(|r| T::vectors::<S>(&q[r * COLUMNS + at..][..PANEL]));
                    for v in 0..b.len() {
                        let mut total = column[v];
                        for r in 0..TILE {
                            let q = T::where_greater(simd, own[r], b[v], q[r][v]);
                            sums[r] = T::plus(simd, sums[r], q);
                            total = T::plus(simd, total, q);
                        }
                        column[v] = total;
                    }
                }
                for (&sums, row) in sums.iter().zip(rows.chunks_mut(stride)) {
                    row[k] += T::total(simd, sums);
                }
            }
        }
    }
    /// With `A_ik = sum_j q_ij leaky'(a_ik + b_jk)` and B_jk likewise: `da = w A`, `db = w B`, and
    /// because `leaky(x) = x leaky'(x)`, `dw_k = sum_i a_ik A_ik + sum_j b_jk B_jk`.
    fn gradients(&self, totals: Totals<T>, batch: &Batch) -> Vec<Vec<T>> {
        let s = T::from_f64(LEAKY_SLOPE);
        let width = self.a.width;
        let side = |x: &Rows<T>, mut active: Vec<T>, sums: &[T]| {
            let mut products = Vec::with_capacity(active.len());
            for (i, active) in active.chunks_exact_mut(width).enumerate() {
                for ((value, &x), &w) in active.iter_mut().zip(x.row(i)).zip(&self.w) {
                    let slope = (T::ONE - s).mul_add(*value, s * sums[i]);
                    products.push(x * slope);
                    *value = w * slope;
                }
            }
            (active, sum_rows(&products, width))
        };
        let none = vec![T::ZERO; totals.rows.len()];
        let rows = self.a.unpad_sum(&totals.rows, &none);
        let columns = self.panels.unpack(&totals.columns, batch);
        let (da, mut dw) = side(&self.a, rows, &totals.row_sums);
        let (db, other) = side(&self.b, columns, &totals.column_sums);
        dw.iter_mut().zip(other).for_each(|(dw, other)| *dw += other);
        vec![da, db, dw, vec![sum(&totals.row_sums)]]
    }
}
