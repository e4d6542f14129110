//! The exponential linear unit, `y = x` for x > 0 and `e^x - 1` otherwise.

use super::{
    Real,
    rows::{for_row_blocks, zeros},
    vectorise,
};

/// Values that one call of a vector loop handles.
const WIDTH: usize = 1024;

/// `y`, elementwise.
pub fn forward<T: Real>(x: &[T]) -> Vec<T> {
    let mut y = zeros(x.len());
    for_row_blocks(&mut y, WIDTH.min(x.len()), 8 * WIDTH, |first, block| {
        vectorise!(activate, (&x[first * WIDTH..], block));
    });
    y
}

/// Gradient of `x`: below zero the slope is `e^x = y + 1`.
pub fn backward<T: Real>(y: &[T], grad: &[T]) -> Vec<T> {
    let mut out = zeros(y.len());
    for_row_blocks(&mut out, WIDTH.min(y.len()), 4 * WIDTH, |first, block| {
        vectorise!(scale, (&y[first * WIDTH..], &grad[first * WIDTH..], block));
    });
    out
}

#[inline(always)]
fn activate<T: Real>((x, y): (&[T], &mut [T])) {
    for (y, &x) in y.iter_mut().zip(x) {
        let below = x.min(T::ZERO).exp() - T::ONE;
        *y = if x > T::ZERO { x } else { below };
    }
}

#[inline(always)]
fn scale<T: Real>((y, grad, out): (&[T], &[T], &mut [T])) {
    for ((out, &y), &g) in out.iter_mut().zip(y).zip(grad) {
        *out = if y > T::ZERO { g } else { g * (y + T::ONE) };
    }
}
