//! Dropout with a mask that is a function of position, regenerated instead of stored.

use super::{
    Real,
    random::Key,
    rows::{for_row_blocks, zeros},
    vectorised,
};

/// Positions that share one row of the random stream.
const WIDTH: usize = 1024;

/// `out = x * mask / (1 - p)`; its own backward pass, since the mask is the same.
pub fn apply<T: Real>(x: &[T], probability: f64, key: Key) -> Vec<T> {
    let mut out = zeros(x.len());
    let threshold = (probability * f64::from(u32::MAX)) as u32;
    let scale = T::from_f64(1.0 / (1.0 - probability));
    for_row_blocks(&mut out, WIDTH.min(x.len()), 4 * WIDTH, |first, block| {
        for (row, chunk) in block.chunks_mut(WIDTH).enumerate() {
            let start = (first + row) * WIDTH;
            let source = &x[start..start + chunk.len()];
            vectorised(mask_row, (key, (first + row) as u32, threshold, scale, source, chunk));
        }
    });
    out
}

#[inline(always)]
fn mask_row<T: Real>(
    (key, row, threshold, scale, source, out): (Key, u32, u32, T, &[T], &mut [T]),
) {
    let row = key.row(row);
    for (column, (o, &x)) in out.iter_mut().zip(source).enumerate() {
        *o = if row.bits(column as u32) >= threshold { x * scale } else { T::ZERO };
    }
}
