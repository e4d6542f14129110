//! The inner loops: small tiles of sums held in registers.
//!
//! A tile is [`TILE`] rows by [`PANEL`] columns: the sums of a tile fill the vector registers, and
//! each value read from memory serves a whole row or column of the tile.

use super::Scorer;
use crate::kernels::Real;

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

/// `out[r][l] = sum_k term(w_k, a_rk, b_kl)` for one tile; `a` is `[depth][TILE]`, `panel`
/// `[depth][PANEL]`, rows of `out` are [`COLUMNS`] apart.
#[inline(always)]
pub(crate) fn scores<T: Real, S: Scorer<T>>(weights: &[T], a: &[T], panel: &[T], out: &mut [T]) {
    let mut sums = [[T::ZERO; PANEL]; TILE];
    let depth = a.as_chunks::<TILE>().0.iter().zip(panel.as_chunks::<PANEL>().0);
    for ((a, b), &w) in depth.zip(weights) {
        for r in 0..TILE {
            for l in 0..PANEL {
                sums[r][l] = S::term(w, a[r], b[l], sums[r][l]);
            }
        }
    }
    for (sums, out) in sums.iter().zip(out.chunks_mut(COLUMNS)) {
        out[..PANEL].copy_from_slice(sums);
    }
}

/// `out[r][l] += sum_n a_rn b_nl`: a general tile of a matrix product. `a` yields the [`TILE`]
/// values of step n, `b` the `W` values; rows of `out` are `stride` apart, and at most `rows` of
/// them are written.
#[inline(always)]
pub(crate) fn product<'a, T: Real, const W: usize>(
    steps: impl Iterator<Item = ([T; TILE], &'a [T; W])>,
    out: &mut [T],
    stride: usize,
    rows: usize,
) {
    let mut sums = [[T::ZERO; W]; TILE];
    for (a, b) in steps {
        for r in 0..TILE {
            for l in 0..W {
                sums[r][l] = a[r].mul_add(b[l], sums[r][l]);
            }
        }
    }
    for (sums, out) in sums.iter().zip(out.chunks_mut(stride)).take(rows) {
        for (out, &sum) in out.iter_mut().zip(sums) {
            *out += sum;
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
