//! Batch normalisation, a leaky rectifier and pooling over the nodes of each graph, in one:
//! `y = leaky((x - mean) / sqrt(variance + eps) * scale + shift)`, of which only the largest and the mean
//! value of every graph and channel are kept. The array `y` is never stored.

use super::{
    Real,
    batch_norm::Parameters,
    rows::{for_row_blocks, sum_blocks, zeros},
    vectorise,
};
use crate::topology::Batch;
use rayon::prelude::*;
use std::ops::Range;

/// Mean and biased variance of every column of `x` `[rows, C]`, as `[2, C]`. Sums are in `f64`.
pub fn statistics<T: Real>(x: &[T], width: usize) -> Vec<T> {
    let rows = x.len() / width.max(1);
    let count = rows.max(1) as f64;
    let sums: Vec<f64> = sum_blocks(rows, width, |rows, sums| {
        vectorise!(add_values, (&x[rows.start * width..rows.end * width], sums));
    });
    let means: Vec<T> = sums.iter().map(|sum| T::from_f64(sum / count)).collect();
    let squares: Vec<f64> = sum_blocks(rows, width, |rows, sums| {
        vectorise!(add_squares, (&x[rows.start * width..rows.end * width], &means[..], sums));
    });
    let variances = squares.iter().zip(&sums).zip(&means).map(|((square, sum), mean)| {
        // Centres are rounded to the element type: what is left of the mean leaves the variance.
        let left = sum / count - mean.to_f64();
        T::from_f64((square / count - left * left).max(0.0))
    });
    let variances: Vec<T> = variances.collect();
    [means, variances].concat()
}

/// The largest and the mean value of every graph, `[graphs, 2 C]`, and the row of each largest one. A
/// graph without nodes gives 0.
pub fn forward<T: Real>(x: &[T], batch: &Batch, parameters: Parameters<T>) -> (Vec<T>, Vec<u32>) {
    let width = parameters.scale.len();
    let affine = parameters.affine();
    let (mut out, mut largest) =
        (zeros(batch.graphs() * 2 * width), vec![0u32; batch.graphs() * width]);
    let outputs = out.par_chunks_mut(2 * width).zip(largest.par_chunks_mut(width));
    outputs.enumerate().for_each(|(graph, (out, largest))| {
        let (slope, rows) = (parameters.slope, batch.range(graph));
        vectorise!(pool_graph, (x, &affine, slope, rows, out, largest));
    });
    (out, largest)
}

/// Gradients of [`forward`] for `x`, the statistics, the scale and the shift. With `through` the
/// statistics are those of `x` itself, and their share is in the gradient of `x` already.
pub fn backward<T: Real>(
    x: &[T],
    batch: &Batch,
    parameters: Parameters<T>,
    largest: &[u32],
    grad: &[T],
    through: bool,
) -> [Vec<T>; 4] {
    let (width, inverse) = (parameters.scale.len(), parameters.inverse_stds());
    let rows = batch.nodes();
    let graph_of = batch.graph_of_nodes();
    let shares: Vec<T> =
        batch.ranges().map(|range| T::ONE / T::from_usize(range.len().max(1))).collect();
    let (factor, addend) = parameters.affine();
    let input = Input {
        x,
        grad,
        largest,
        graph_of: &graph_of,
        shares: &shares,
        mean: &parameters.statistics[..width],
        inverse: &inverse,
        factor: &factor,
        addend: &addend,
        slope: parameters.slope,
    };
    let sums: Vec<T> =
        sum_blocks(rows, 2 * width, |rows, sums| vectorise!(sums_block, (input, rows, sums)));
    let (shift, scale) = sums.split_at(width);
    let count = T::from_usize(rows.max(1));
    let mut statistics = zeros(2 * width);
    // What every row gives back to the mean and, times its normalised value, to the variance.
    let (mut level, mut tilt) = (zeros::<T>(width), zeros::<T>(width));
    for c in 0..width {
        if through {
            (level[c], tilt[c]) = (shift[c] / count, scale[c] / count);
        } else {
            statistics[c] = -factor[c] * shift[c];
            statistics[width + c] = -T::HALF * factor[c] * inverse[c] * scale[c];
        }
    }
    let mut out = zeros(x.len());
    for_row_blocks(&mut out, width, 8 * width, |first, out| {
        vectorise!(values_block, (input, &level[..], &tilt[..], first, out));
    });
    [out, statistics, scale.to_vec(), shift.to_vec()]
}

#[inline(always)]
fn add_values<T: Real>((x, sums): (&[T], &mut [f64])) {
    for row in x.chunks_exact(sums.len()) {
        for (sum, &x) in sums.iter_mut().zip(row) {
            *sum += x.to_f64();
        }
    }
}

#[inline(always)]
fn add_squares<T: Real>((x, means, sums): (&[T], &[T], &mut [f64])) {
    for row in x.chunks_exact(sums.len()) {
        for ((sum, &x), &mean) in sums.iter_mut().zip(row).zip(means) {
            let centred = (x - mean).to_f64();
            *sum += centred * centred;
        }
    }
}

#[inline(always)]
fn pool_graph<T: Real>(
    (x, (factor, addend), slope, rows, out, largest): (
        &[T],
        &(Vec<T>, Vec<T>),
        T,
        Range<usize>,
        &mut [T],
        &mut [u32],
    ),
) {
    let width = factor.len();
    let (factor, addend) = (&factor[..width], &addend[..width]);
    let (most, mean) = out.split_at_mut(width);
    let (mean, largest) = (&mut mean[..width], &mut largest[..width]);
    if rows.is_empty() {
        return;
    }
    most.fill(T::NEG_INFINITY);
    let share = T::ONE / T::from_usize(rows.len());
    for row in rows {
        let x = &x[row * width..][..width];
        for c in 0..width {
            let z = x[c].mul_add(factor[c], addend[c]);
            let y = if z > T::ZERO { z } else { z * slope };
            let better = y > most[c];
            largest[c] = if better { row as u32 } else { largest[c] };
            most[c] = if better { y } else { most[c] };
            mean[c] += y;
        }
    }
    mean.iter_mut().for_each(|mean| *mean *= share);
}

#[derive(Clone, Copy)]
struct Input<'a, T> {
    x: &'a [T],
    grad: &'a [T],
    largest: &'a [u32],
    graph_of: &'a [u32],
    shares: &'a [T],
    mean: &'a [T],
    inverse: &'a [T],
    factor: &'a [T],
    addend: &'a [T],
    slope: T,
}

/// The slices of one row: `x`, gradients of maximum and mean, rows of the maxima, and the share.
type Row<'a, T> = (&'a [T], &'a [T], &'a [T], &'a [u32], T);

impl<'a, T: Real> Input<'a, T> {
    #[inline(always)]
    fn row(&self, row: usize) -> Row<'a, T> {
        let width = self.factor.len();
        let graph = self.graph_of[row] as usize;
        let grad = &self.grad[graph * 2 * width..][..2 * width];
        let (of_largest, of_mean) = grad.split_at(width);
        let largest = &self.largest[graph * width..][..width];
        (&self.x[row * width..][..width], of_largest, of_mean, largest, self.shares[graph])
    }
}

/// Gradient before the rectifier, of one channel of one row.
#[inline(always)]
fn before<T: Real>(z: T, slope: T, of_largest: T, of_mean: T, is_largest: bool, share: T) -> T {
    let grad = of_mean.mul_add(share, if is_largest { of_largest } else { T::ZERO });
    if z > T::ZERO { grad } else { grad * slope }
}

#[inline(always)]
fn sums_block<T: Real>((input, rows, sums): (Input<T>, Range<usize>, &mut [T])) {
    let width = input.factor.len();
    let (shift, scale) = sums.split_at_mut(width);
    let scale = &mut scale[..width];
    let [mean, inverse] = [input.mean, input.inverse].map(|values| &values[..width]);
    let [factor, addend] = [input.factor, input.addend].map(|values| &values[..width]);
    for row in rows {
        let (x, of_largest, of_mean, largest, share) = input.row(row);
        for c in 0..width {
            let z = x[c].mul_add(factor[c], addend[c]);
            let is_largest = largest[c] == row as u32;
            let grad = before(z, input.slope, of_largest[c], of_mean[c], is_largest, share);
            shift[c] += grad;
            scale[c] = grad.mul_add((x[c] - mean[c]) * inverse[c], scale[c]);
        }
    }
}

#[inline(always)]
fn values_block<T: Real>(
    (input, level, tilt, first, out): (Input<T>, &[T], &[T], usize, &mut [T]),
) {
    let width = input.factor.len();
    let [mean, inverse] = [input.mean, input.inverse].map(|values| &values[..width]);
    let [factor, addend] = [input.factor, input.addend].map(|values| &values[..width]);
    let (level, tilt) = (&level[..width], &tilt[..width]);
    for (at, out) in out.chunks_exact_mut(width).enumerate() {
        let row = first + at;
        let (x, of_largest, of_mean, largest, share) = input.row(row);
        for c in 0..width {
            let z = x[c].mul_add(factor[c], addend[c]);
            let is_largest = largest[c] == row as u32;
            let grad = before(z, input.slope, of_largest[c], of_mean[c], is_largest, share);
            let normal = (x[c] - mean[c]) * inverse[c];
            out[c] = factor[c] * (grad - level[c] - normal * tilt[c]);
        }
    }
}
