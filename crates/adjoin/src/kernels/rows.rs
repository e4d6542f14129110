//! Splitting work by rows, and sums over rows in a fixed order.

use super::{Real, vectorise};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that one task handles when a row costs about `cost` operations: small inputs stay on one
/// thread, because waking another costs more than they do.
pub(crate) fn rows_per_task(rows: usize, cost: usize) -> usize {
    const OPERATIONS_PER_TASK: usize = 1 << 17;
    (OPERATIONS_PER_TASK / cost.max(1)).clamp(1, rows.max(1))
}

/// Calls `task(first_row, block)` for blocks of rows of `output`, in parallel.
pub(crate) fn for_row_blocks<T: Send>(
    output: &mut [T],
    width: usize,
    cost: usize,
    task: impl Fn(usize, &mut [T]) + Sync,
) {
    if output.is_empty() || width == 0 {
        return;
    }
    let block = rows_per_task(output.len() / width, cost);
    if output.len() <= block * width {
        return task(0, output);
    }
    output
        .par_chunks_mut(block * width)
        .enumerate()
        .for_each(|(at, chunk)| task(at * block, chunk));
}

/// A buffer of zeros.
pub(crate) fn zeros<T: Real>(len: usize) -> Vec<T> {
    vec![T::ZERO; len]
}

/// Sum of the rows of a `[rows, width]` matrix, in a fixed order.
pub(crate) fn sum_rows<T: Real>(matrix: &[T], width: usize) -> Vec<T> {
    sum_blocks(matrix.len() / width.max(1), width, |rows, sums| {
        let chunk = &matrix[rows.start * width..rows.end * width];
        vectorise!(accumulate_rows, (chunk, sums));
    })
}

/// Adds up what `accumulate(rows, sums)` contributes to `width` sums, over all of `0..rows`.
///
/// Blocks of a fixed size are summed on their own, then the block sums in order: the result does
/// not depend on the number of threads.
pub(crate) fn sum_blocks<T: Real>(
    rows: usize,
    width: usize,
    accumulate: impl Fn(Range<usize>, &mut [T]) + Sync,
) -> Vec<T> {
    const BLOCK: usize = 512;
    let mut total = zeros(width);
    if width == 0 {
        return total;
    }
    if rows <= BLOCK {
        accumulate(0..rows, &mut total);
        return total;
    }
    let mut parts = zeros::<T>(rows.div_ceil(BLOCK) * width);
    parts.par_chunks_mut(width).enumerate().for_each(|(at, sums)| {
        accumulate(at * BLOCK..rows.min((at + 1) * BLOCK), sums);
    });
    accumulate_rows((&parts[..], &mut total[..]));
    total
}

#[inline(always)]
fn accumulate_rows<T: Real>((matrix, sums): (&[T], &mut [T])) {
    for row in matrix.chunks_exact(sums.len()) {
        for (s, &v) in sums.iter_mut().zip(row) {
            *s += v;
        }
    }
}

/// Sum of a slice, in a fixed order.
pub(crate) fn sum<T: Real>(values: &[T]) -> T {
    const BLOCK: usize = 4096;
    let partial = |chunk: &[T]| chunk.iter().copied().sum::<T>();
    if values.len() <= BLOCK {
        return partial(values);
    }
    let parts: Vec<T> = values.par_chunks(BLOCK).map(partial).collect();
    parts.into_iter().sum()
}

/// `a x`, as a new buffer.
pub(crate) fn scaled<T: Real>(x: &[T], a: T) -> Vec<T> {
    let mut y = zeros(x.len());
    for_row_blocks(&mut y, 1, 1, |first, block| vectorise!(scale_into, (a, &x[first..], block)));
    y
}

/// `y = a x`.
#[inline(always)]
pub(crate) fn scale_into<T: Real>((a, x, y): (T, &[T], &mut [T])) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = a * x;
    }
}

/// `y += a x`.
#[inline(always)]
pub(crate) fn axpy<T: Real>(a: T, x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = a.mul_add(x, *y);
    }
}

/// Inner product, accumulated in sixteen interleaved parts so that it vectorises.
#[inline(always)]
pub(crate) fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    dot_in_lanes::<T, 16>(x, y)
}

/// Inner product in `LANES` (a power of two) interleaved parts: few for short vectors.
#[inline(always)]
pub(crate) fn dot_in_lanes<T: Real, const LANES: usize>(x: &[T], y: &[T]) -> T {
    let mut parts = [T::ZERO; LANES];
    let ((xs, x_tail), (ys, y_tail)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let tail: T = x_tail.iter().zip(y_tail).map(|(&a, &b)| a * b).sum();
    for (a, b) in xs.iter().zip(ys) {
        for lane in 0..LANES {
            parts[lane] = a[lane].mul_add(b[lane], parts[lane]);
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            let upper = parts[lane + width];
            parts[lane] += upper;
        }
        width /= 2;
    }
    parts[0] + tail
}
