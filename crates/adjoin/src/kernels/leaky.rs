//! A bias and a leaky rectifier in one pass: `y = v` for `v = x + b > 0` and `slope v` otherwise.

use super::{
    Real,
    rows::{for_row_blocks, sum_rows, zeros},
    vectorise,
};

/// `y`, of the shape of `x`, `[rows, bias.len()]`.
pub fn forward<T: Real>(x: &[T], bias: &[T], slope: T) -> Vec<T> {
    let mut y = zeros(x.len());
    let width = bias.len();
    for_row_blocks(&mut y, width, 4 * width, |first, block| {
        vectorise!(activate, (&x[first * width..], bias, slope, block));
    });
    y
}

/// Gradients of `x` and of the bias. The sign of `y` is that of `x + b`, or `y` is 0 for a slope of 0.
pub fn backward<T: Real>(y: &[T], grad: &[T], width: usize, slope: T) -> (Vec<T>, Vec<T>) {
    let mut out = zeros(y.len());
    for_row_blocks(&mut out, width, 4 * width, |first, block| {
        vectorise!(scale, (&y[first * width..], &grad[first * width..], slope, block));
    });
    let bias = sum_rows(&out, width);
    (out, bias)
}

#[inline(always)]
fn activate<T: Real>((x, bias, slope, y): (&[T], &[T], T, &mut [T])) {
    let width = bias.len();
    for (y, x) in y.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
        for ((y, &x), &b) in y.iter_mut().zip(x).zip(bias) {
            let v = x + b;
            *y = if v > T::ZERO { v } else { slope * v };
        }
    }
}

#[inline(always)]
fn scale<T: Real>((y, grad, slope, out): (&[T], &[T], T, &mut [T])) {
    for ((out, &y), &g) in out.iter_mut().zip(y).zip(grad) {
        *out = if y > T::ZERO { g } else { slope * g };
    }
}
