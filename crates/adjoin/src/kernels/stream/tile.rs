//! The inner loops: small tiles of sums held in registers.
//!
//! A tile is [`TILE`] rows by [`PANEL`] columns: the sums of a tile fill the vector registers, and
//! each value read from memory serves a whole row or column of the tile.

use super::Scorer;
use crate::kernels::Real;
use pulp::Simd;

/// Rows of a tile.
pub(crate) const TILE: usize = 8;
/// Columns of a tile, and of a panel of packed columns.
pub(crate) const PANEL: usize = 32;
/// Vector lanes that sums over a row are spread over.
pub(crate) const LANES: usize = 16;
/// Most rows of a block: they share the panels while those are in the nearest cache.
pub(crate) const ROWS: usize = 32;
/// Most columns of a block: a row of it and its temporaries stay in the nearest cache.
pub(crate) const COLUMNS: usize = 512;

/// Vectors of a row of a tile that are summed at a time: with [`TILE`] rows, as many sums as fit the
/// registers.
pub(crate) const VECTORS: usize = 2;

/// `out[r][l] = sum_k term(w_k, a_rk, b_kl)` for one tile; `a` is `[depth][TILE]`, `panel`
/// `[depth][PANEL]`, rows of `out` are [`COLUMNS`] apart.
#[inline(always)]
pub(crate) fn scores<T: Real, C: Scorer<T>, S: Simd>(
    simd: S,
    weights: &[T],
    a: &[T],
    panel: &[T],
    out: &mut [T],
) {
    let per_row = T::vectors::<S>(&panel[..PANEL]).len();
    for at in (0..per_row).step_by(VECTORS) {
        let mut sums = [[T::splat(simd, T::ZERO); VECTORS]; TILE];
        let depth = a.as_chunks::<TILE>().0.iter().zip(panel.as_chunks::<PANEL>().0);
        for ((a, b), &w) in depth.zip(weights) {
            let b = &T::vectors::<S>(b)[at..at + VECTORS];
            let w = T::splat(simd, w);
            for r in 0..TILE {
                let a = T::splat(simd, a[r]);
                for v in 0..VECTORS {
                    sums[r][v] = C::term(simd, w, a, b[v], sums[r][v]);
                }
            }
        }
        for (sums, out) in sums.iter().zip(out.chunks_mut(COLUMNS)) {
            T::vectors_mut::<S>(&mut out[..PANEL])[at..at + VECTORS].copy_from_slice(sums);
        }
    }
}

/// Sums of one tile of a matrix product, `V` vectors wide.
pub(crate) struct Product<T: Real, S: Simd, const V: usize> {
    simd: S,
    /// The first of the vectors, counted from the start of a row.
    at: usize,
    sums: [[T::Vector<S>; V]; TILE],
}

impl<T: Real, S: Simd, const V: usize> Product<T, S, V> {
    #[inline(always)]
    pub(crate) fn new(simd: S, at: usize) -> Self {
        Self { simd, at, sums: [[T::splat(simd, T::ZERO); V]; TILE] }
    }

    /// `sums[r] += a[r] b`, `b` being a whole row.
    #[inline(always)]
    pub(crate) fn step(&mut self, a: [T; TILE], b: &[T]) {
        let b = &T::vectors::<S>(b)[self.at..self.at + V];
        for r in 0..TILE {
            let a = T::splat(self.simd, a[r]);
            for (sum, &b) in self.sums[r].iter_mut().zip(b) {
                *sum = T::fma(self.simd, a, b, *sum);
            }
        }
    }

    /// Adds the sums to the rows of `out`, which are `stride` long, but to no more than `rows`.
    #[inline(always)]
    pub(crate) fn add_to(self, out: &mut [T], stride: usize, rows: usize) {
        for (sums, out) in self.sums.iter().zip(out.chunks_exact_mut(stride)).take(rows) {
            let out = &mut T::vectors_mut::<S>(out)[self.at..self.at + V];
            for v in 0..V {
                out[v] = T::plus(self.simd, out[v], sums[v]);
            }
        }
    }
}

/// Adds up [`LANES`] partial sums, in a fixed order.
#[inline(always)]
pub(crate) fn fold<T: Copy>(mut parts: [T; LANES], join: impl Fn(T, T) -> T) -> T {
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            parts[lane] = join(parts[lane], parts[lane + width]);
        }
        width /= 2;
    }
    parts[0]
}

/// The largest value; minus infinity for none.
#[inline(always)]
pub(crate) fn maximum<T: Real>(values: &[T]) -> T {
    let mut parts = [T::NEG_INFINITY; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            parts[lane] = parts[lane].max(chunk[lane]);
        }
    }
    rest.iter().fold(fold(parts, T::max), |best, &value| best.max(value))
}

/// `sum_n exp(scale * values_n - shift)`.
#[inline(always)]
pub(crate) fn sum_of_exp<T: Real>(values: &[T], scale: T, shift: T) -> T {
    let mut parts = [T::ZERO; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            parts[lane] += (chunk[lane].mul_add(scale, -shift)).exp();
        }
    }
    let tail: T = rest.iter().map(|value| value.mul_add(scale, -shift).exp()).sum();
    fold(parts, |a, b| a + b) + tail
}
