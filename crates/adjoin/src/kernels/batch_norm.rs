//! Batch normalisation with given statistics, then a leaky rectifier:
//! `y = leaky((m - mean) / sqrt(variance + eps) * scale + shift)`, for the rows of a graph that have
//! neighbours; 0 for the others.

use super::{
    Real,
    rows::{for_row_blocks, sum_blocks, zeros},
    vectorise,
};
use crate::topology::Csr;
use std::ops::Range;

/// The channel-wise parameters.
#[derive(Clone, Copy)]
pub struct Parameters<'a, T> {
    /// Mean and variance, `[2, C]`.
    pub statistics: &'a [T],
    /// Factor after normalisation, `[C]`.
    pub scale: &'a [T],
    /// Addend after normalisation, `[C]`.
    pub shift: &'a [T],
    /// Slope of the leaky rectifier for negative values.
    pub slope: T,
    /// Added to the variance.
    pub eps: T,
}

/// Gradients of `m`, of the statistics, of the scale and of the shift.
pub type Gradients<T> = [Vec<T>; 4];

impl<T: Real> Parameters<'_, T> {
    /// `1 / sqrt(variance + eps)`, `[C]`.
    pub(super) fn inverse_stds(&self) -> Vec<T> {
        let variances = &self.statistics[self.scale.len()..];
        variances.iter().map(|&v| T::ONE / (v + self.eps).sqrt()).collect()
    }

    /// `factor` and `addend` `[C]` of the normalisation as `z = factor m + addend`.
    pub(super) fn affine(&self) -> (Vec<T>, Vec<T>) {
        let inverse = self.inverse_stds();
        let factor: Vec<T> = self.scale.iter().zip(&inverse).map(|(&s, &i)| s * i).collect();
        let addend = (0..factor.len()).map(|c| self.shift[c] - factor[c] * self.statistics[c]);
        let addend = addend.collect();
        (factor, addend)
    }
}

/// `y` `[rows, C]` from `m` `[rows, C]`.
pub fn forward<T: Real>(topology: &Csr, m: &[T], parameters: Parameters<T>) -> Vec<T> {
    let (width, inverse) = (parameters.scale.len(), parameters.inverse_stds());
    let mut out = zeros(m.len());
    for_row_blocks(&mut out, width, 4 * width, |first, out| {
        vectorise!(forward_block, (topology, m, parameters, &inverse[..], first, out));
    });
    out
}

/// Gradients of [`forward`].
pub fn backward<T: Real>(
    topology: &Csr,
    m: &[T],
    parameters: Parameters<T>,
    grad: &[T],
) -> Gradients<T> {
    let (width, inverse) = (parameters.scale.len(), parameters.inverse_stds());
    let input = (topology, m, parameters, &inverse[..], grad);
    let sums = sum_blocks(topology.rows(), 2 * width, |rows, sums| {
        vectorise!(sums_block, (input, rows, sums));
    });
    let mut out = zeros(m.len());
    for_row_blocks(&mut out, width, 4 * width, |first, out| {
        vectorise!(backward_block, (input, first, out));
    });
    let (shift, scale) = sums.split_at(width);
    let mut statistics = zeros(2 * width);
    for c in 0..width {
        let factor = parameters.scale[c] * inverse[c];
        statistics[c] = -factor * shift[c];
        statistics[width + c] = -T::HALF * factor * inverse[c] * scale[c];
    }
    [out, statistics, scale.to_vec(), shift.to_vec()]
}

#[inline(always)]
fn forward_block<T: Real>(
    (topology, m, parameters, inverse, first, out): (
        &Csr,
        &[T],
        Parameters<T>,
        &[T],
        usize,
        &mut [T],
    ),
) {
    let Parameters { statistics, scale, shift, slope, .. } = parameters;
    let width = inverse.len();
    let (mean, scale, shift) = (&statistics[..width], &scale[..width], &shift[..width]);
    for (at, out) in out.chunks_exact_mut(width).enumerate() {
        if topology.degree(first + at) == 0 {
            continue;
        }
        let m = &m[(first + at) * width..(first + at + 1) * width];
        for c in 0..width {
            let y = ((m[c] - mean[c]) * inverse[c]).mul_add(scale[c], shift[c]);
            out[c] = if y > T::ZERO { y } else { y * slope };
        }
    }
}

type Input<'a, T> = (&'a Csr, &'a [T], Parameters<'a, T>, &'a [T], &'a [T]);

/// The normalised value and the gradient before the rectifier, of one channel of one row.
#[inline(always)]
fn element<T: Real>(m: T, mean: T, inverse: T, scale: T, shift: T, slope: T, grad: T) -> (T, T) {
    let normal = (m - mean) * inverse;
    let y = normal.mul_add(scale, shift);
    (normal, if y > T::ZERO { grad } else { grad * slope })
}

#[inline(always)]
fn sums_block<T: Real>(
    ((topology, m, parameters, inverse, grad), rows, sums): (Input<T>, Range<usize>, &mut [T]),
) {
    let Parameters { statistics, scale, shift, slope, .. } = parameters;
    let width = inverse.len();
    let (mean, scale, shift) = (&statistics[..width], &scale[..width], &shift[..width]);
    let (shift_sums, scale_sums) = sums.split_at_mut(width);
    let scale_sums = &mut scale_sums[..width];
    for row in rows.filter(|&row| topology.degree(row) > 0) {
        let (m, grad) = (&m[row * width..][..width], &grad[row * width..][..width]);
        for c in 0..width {
            let (normal, grad) =
                element(m[c], mean[c], inverse[c], scale[c], shift[c], slope, grad[c]);
            shift_sums[c] += grad;
            scale_sums[c] = grad.mul_add(normal, scale_sums[c]);
        }
    }
}

#[inline(always)]
fn backward_block<T: Real>(
    ((topology, m, parameters, inverse, grad), first, out): (Input<T>, usize, &mut [T]),
) {
    let Parameters { statistics, scale, shift, slope, .. } = parameters;
    let width = inverse.len();
    let (mean, scale, shift) = (&statistics[..width], &scale[..width], &shift[..width]);
    for (at, out) in out.chunks_exact_mut(width).enumerate() {
        let row = first + at;
        if topology.degree(row) == 0 {
            continue;
        }
        let (m, grad) = (&m[row * width..][..width], &grad[row * width..][..width]);
        for c in 0..width {
            let (_, grad) = element(m[c], mean[c], inverse[c], scale[c], shift[c], slope, grad[c]);
            out[c] = grad * scale[c] * inverse[c];
        }
    }
}
