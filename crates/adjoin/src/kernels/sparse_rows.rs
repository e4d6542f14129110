//! Inner products between rows of a sparse matrix: at chosen pairs, and the largest of every row.

use super::{Real, rows::zeros, spmm::for_entries};
use crate::topology::{Batch, Csr};
use rayon::prelude::*;

/// Rows that one task works through with one set of sums.
const ROWS: usize = 32;

/// Calls `visit(a, b)` with the positions of every column that two rows have in common.
#[inline(always)]
fn common(rows: &Csr, i: usize, j: usize, mut visit: impl FnMut(usize, usize)) {
    let (mut own, mut other) = (rows.range(i), rows.range(j));
    let indices = rows.indices();
    while own.start < own.end && other.start < other.end {
        let (a, b) = (indices[own.start], indices[other.start]);
        if a == b {
            visit(own.start, other.start);
        }
        own.start += usize::from(a <= b);
        other.start += usize::from(b <= a);
    }
}

/// `<v_i, v_j>` at every pair of rows.
pub(crate) fn dots<T: Real>(pairs: &Csr, rows: &Csr, values: &[T]) -> Vec<T> {
    let mut out = zeros(pairs.edges());
    for_entries(pairs, &mut out, 64, |i, columns, slots| {
        for (slot, &j) in slots.iter_mut().zip(columns) {
            common(rows, i, j as usize, |a, b| *slot = values[a].mul_add(values[b], *slot));
        }
    });
    out
}

/// Gradient of the values: `dv_i = sum_j (g_ij + g_ji) v_j` at the entries of row i.
pub(crate) fn backward<T: Real>(pairs: &Csr, rows: &Csr, values: &[T], grad: &[T]) -> Vec<T> {
    let mut out = zeros(values.len());
    let transpose = pairs.transpose();
    for_entries(rows, &mut out, 64, |i, _, slots| {
        let first = rows.range(i).start;
        let mut add = |g: T, j: u32| {
            common(rows, i, j as usize, |a, b| {
                slots[a - first] = g.mul_add(values[b], slots[a - first]);
            });
        };
        pairs.range(i).for_each(|entry| add(grad[entry], pairs.indices()[entry]));
        let columns = transpose.pointers[i] as usize..transpose.pointers[i + 1] as usize;
        columns.for_each(|at| add(grad[transpose.entries[at] as usize], transpose.indices[at]));
    });
    out
}

/// The `k` other rows of largest inner product with each row, within its graph of the batch, by an inverted index.
/// Only products above 0 count, so a row may have fewer; ties go to the lower index. The time is the sum over all
/// entries of how often their column occurs.
pub(crate) fn nearest<T: Real>(rows: &Csr, values: &[T], k: usize, batch: &Batch) -> Csr {
    let by_column = rows.transpose();
    let mut found: Vec<Vec<u32>> = Vec::with_capacity(rows.rows());
    for range in batch.ranges() {
        let start = range.start;
        let nearest = |row: usize, sums: &mut [T]| {
            for entry in rows.range(row) {
                let column = rows.indices()[entry] as usize;
                let all =
                    by_column.pointers[column] as usize..by_column.pointers[column + 1] as usize;
                for at in all {
                    let other = by_column.indices[at] as usize;
                    if range.contains(&other) {
                        let value = values[by_column.entries[at] as usize];
                        sums[other - start] = values[entry].mul_add(value, sums[other - start]);
                    }
                }
            }
            sums[row - start] = T::ZERO;
            let mut near: Vec<(T, u32)> = Vec::new();
            for (slot, sum) in sums.iter_mut().enumerate() {
                if *sum > T::ZERO {
                    near.push((*sum, (start + slot) as u32));
                }
                *sum = T::ZERO;
            }
            let order = |a: &(T, u32), b: &(T, u32)| {
                b.0.to_f64().total_cmp(&a.0.to_f64()).then(a.1.cmp(&b.1))
            };
            if near.len() > k {
                near.select_nth_unstable_by(k.saturating_sub(1), order);
                near.truncate(k);
            }
            let mut columns: Vec<u32> = near.into_iter().map(|(_, other)| other).collect();
            columns.sort_unstable();
            columns
        };
        let firsts: Vec<usize> = range.clone().step_by(ROWS).collect();
        let blocks: Vec<Vec<Vec<u32>>> = firsts
            .into_par_iter()
            .map_init(
                || vec![T::ZERO; range.len()],
                |sums, first| {
                    let last = (first + ROWS).min(range.end);
                    (first..last).map(|row| nearest(row, sums)).collect()
                },
            )
            .collect();
        found.extend(blocks.into_iter().flatten());
    }
    Csr::from_sorted_rows(rows.rows(), &found)
}
