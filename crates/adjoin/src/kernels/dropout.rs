//! Dropout with a mask that is a function of position, regenerated instead of stored, alone or after a rectifier.

use super::{
    Real,
    random::Key,
    rows::{for_row_blocks, zeros},
    vectorise,
};

/// Positions that share one row of the random stream.
const WIDTH: usize = 1024;

/// `out = x * mask / (1 - p)`; its own backward pass, since the mask is the same.
pub fn apply<T: Real>(x: &[T], probability: f64, key: Key) -> Vec<T> {
    masked::<T, false>(x, probability, key)
}

/// `y = max(x, 0) * mask / (1 - p)` in one pass.
pub fn rectify<T: Real>(x: &[T], probability: f64, key: Key) -> Vec<T> {
    masked::<T, true>(x, probability, key)
}

/// The gradient of `x` in [`rectify`]: `y` is above 0 just where the mask and the rectifier let it pass, so
/// neither is computed again.
pub fn rectify_backward<T: Real>(y: &[T], grad: &[T], probability: f64) -> Vec<T> {
    let mut out = zeros(y.len());
    let scale = scale_of(probability);
    for_row_blocks(&mut out, WIDTH.min(y.len()), WIDTH, |first, block| {
        let start = first * WIDTH;
        vectorise!(pass_on, (scale, &y[start..], &grad[start..], block));
    });
    out
}

fn scale_of<T: Real>(probability: f64) -> T {
    T::from_f64(1.0 / (1.0 - probability))
}

fn masked<T: Real, const RECTIFY: bool>(x: &[T], probability: f64, key: Key) -> Vec<T> {
    let mut out = zeros(x.len());
    let threshold = (probability * f64::from(u32::MAX)) as u32;
    let scale = scale_of(probability);
    for_row_blocks(&mut out, WIDTH.min(x.len()), 4 * WIDTH, |first, block| {
        for (row, chunk) in block.chunks_mut(WIDTH).enumerate() {
            let start = (first + row) * WIDTH;
            let source = &x[start..start + chunk.len()];
            let row = (first + row) as u32;
            vectorise!(mask_row::<T, RECTIFY>, (key, row, threshold, scale, source, chunk));
        }
    });
    out
}

#[inline(always)]
fn mask_row<T: Real, const RECTIFY: bool>(
    (key, row, threshold, scale, source, out): (Key, u32, u32, T, &[T], &mut [T]),
) {
    let row = key.row(row);
    for (column, (o, &x)) in out.iter_mut().zip(source).enumerate() {
        let kept = row.bits(column as u32) >= threshold && (!RECTIFY || x > T::ZERO);
        *o = if kept { x * scale } else { T::ZERO };
    }
}

#[inline(always)]
fn pass_on<T: Real>((scale, y, grad, out): (T, &[T], &[T], &mut [T])) {
    for ((out, &y), &g) in out.iter_mut().zip(y).zip(grad) {
        *out = if y > T::ZERO { g * scale } else { T::ZERO };
    }
}
