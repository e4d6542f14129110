//! Inner products as scores, and the gradients of all scorers that are quadratic in the features.

use super::{
    Panels, Rows, Scorer, Slopes, Totals,
    tile::{COLUMNS, LANES, PANEL, TILE, product},
};
use crate::{
    graph::Batch,
    kernels::{Real, rows::dot},
};

/// For `x_ij` a function of `<u_i, u_j>`: rows get `sum_j q_ij u_j`, columns `sum_i q_ij u_i`, both
/// `[nodes, stride]`.
#[inline(always)]
pub(super) fn accumulate<T: Real>(
    u: &Rows<T>,
    block: &Slopes<'_, T>,
    rows: &mut [T],
    columns: &mut [T],
) {
    let mut at = 0;
    while at + PANEL <= u.stride {
        slice::<T, PANEL>(u, at, block, rows, columns);
        at += PANEL;
    }
    if at < u.stride {
        slice::<T, LANES>(u, at, block, rows, columns);
    }
}

/// The same for the features `at..at + W`.
#[inline(always)]
fn slice<T: Real, const W: usize>(
    u: &Rows<T>,
    at: usize,
    block: &Slopes<'_, T>,
    rows: &mut [T],
    columns: &mut [T],
) {
    let stride = u.stride;
    let (q, count) = (block.q, block.count);
    let others = &u.from(block.first)[..count * stride];
    for (tile, r) in q.chunks_exact(TILE * COLUMNS).zip((0..).step_by(TILE)) {
        let q: [&[T]; TILE] = std::array::from_fn(|r| &tile[r * COLUMNS..][..count]);
        let steps = (0..count).zip(others.chunks_exact(stride)).filter_map(|(j, b)| {
            Some((std::array::from_fn(|r| q[r][j]), b[at..].first_chunk::<W>()?))
        });
        let rest = block.rows.len() - r;
        product(steps, &mut rows[r * stride + at..], stride, rest);
    }
    for j in (0..count).step_by(TILE) {
        let steps = block.rows.iter().zip(q.chunks_exact(COLUMNS)).filter_map(|(&i, q)| {
            let b = u.row(i as usize)[at..].first_chunk::<W>()?;
            Some((*q[j..].first_chunk::<TILE>()?, b))
        });
        let out = &mut columns[(block.first + j) * stride + at..];
        product(steps, out, stride, count - j);
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
    fn term(_: T, a: T, b: T, sum: T) -> T {
        a.mul_add(b, sum)
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
    fn column_gradients(&self) -> usize {
        self.u.len()
    }
    #[inline(always)]
    fn accumulate(&self, block: Slopes<'_, T>, rows: &mut [T], columns: &mut [T]) {
        accumulate(&self.u, &block, rows, columns);
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
    fn term(_: T, a: T, b: T, sum: T) -> T {
        a.mul_add(b, sum)
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
    fn column_gradients(&self) -> usize {
        self.unit.len()
    }
    #[inline(always)]
    fn accumulate(&self, block: Slopes<'_, T>, rows: &mut [T], columns: &mut [T]) {
        accumulate(&self.unit, &block, rows, columns);
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
