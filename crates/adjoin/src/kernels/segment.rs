//! Reductions of edge values over the edges of each row, and the gathers they are adjoint to.

use super::{
    Real,
    parts::{Entries, Rows, for_blocks},
    rows::{for_row_blocks, zeros},
    vectorise,
};
use crate::topology::Csr;
use std::ops::Range;

/// Marks a row without entries where the position of an entry is expected.
pub const NO_ENTRY: u32 = u32::MAX;

/// `s_i = sum_j v_ij`.
pub fn sum<T: Real>(topology: &Csr, values: &[T]) -> Vec<T> {
    sum_lists(topology.pointers(), None, values)
}

/// `s_j = sum_i v_ij`: the sum over the edges of each column, by rows of the transpose.
pub fn sum_columns<T: Real>(topology: &Csr, values: &[T]) -> Vec<T> {
    let transpose = topology.transpose();
    sum_lists(&transpose.pointers, Some(&transpose.entries), values)
}

fn sum_lists<T: Real>(pointers: &[u32], entries: Option<&[u32]>, values: &[T]) -> Vec<T> {
    let rows = pointers.len() - 1;
    let mut out = zeros(rows);
    for_row_blocks(&mut out, 1, cost(rows, values.len()), |first, block| {
        vectorise!(sum_block, (pointers, entries, values, first, block));
    });
    out
}

/// `m_i = sum_j v_ij / n_i` with `n_i` the number of edges of row i.
pub fn mean<T: Real>(topology: &Csr, values: &[T]) -> Vec<T> {
    let mut out = sum(topology, values);
    divide_by_degree(topology, &mut out);
    out
}

/// The gradient of [`mean`]: `dv_ij = dm_i / n_i`.
pub fn mean_backward<T: Real>(topology: &Csr, grad: &[T]) -> Vec<T> {
    let mut shares = grad.to_vec();
    divide_by_degree(topology, &mut shares);
    broadcast_rows(topology, &shares)
}

fn divide_by_degree<T: Real>(topology: &Csr, values: &mut [T]) {
    for (row, value) in values.iter_mut().enumerate() {
        *value = *value / T::from_usize(topology.degree(row).max(1));
    }
}

/// `m_i = max_j v_ij`, and the position of the first entry that reaches it ([`NO_ENTRY`] for an
/// empty row, whose maximum is 0).
pub fn max<T: Real>(topology: &Csr, values: &[T]) -> (Vec<T>, Vec<u32>) {
    let rows = topology.rows();
    let (mut out, mut arguments) = (zeros(rows), vec![NO_ENTRY; rows]);
    let parts = (Rows(&mut out, 1), Rows(&mut arguments, 1));
    for_blocks(
        rows,
        cost(rows, values.len()),
        parts,
        |rows, (Rows(out, _), Rows(arguments, _))| {
            for ((row, out), argument) in rows.zip(out).zip(arguments) {
                let mut entries = topology.range(row);
                let Some(mut best) = entries.next() else { continue };
                for entry in entries {
                    if values[entry] > values[best] {
                        best = entry;
                    }
                }
                (*out, *argument) = (values[best], best as u32);
            }
        },
    );
    (out, arguments)
}

/// The gradient of [`max`]: all of it goes to the entry that was the maximum.
pub fn max_backward<T: Real>(topology: &Csr, arguments: &[u32], grad: &[T]) -> Vec<T> {
    let mut out = zeros(topology.edges());
    for (&argument, &grad) in arguments.iter().zip(grad) {
        if argument != NO_ENTRY {
            out[argument as usize] = grad;
        }
    }
    out
}

/// `s_ij = exp(v_ij) / sum_k exp(v_ik)`; a row of which every value is minus infinity gives 0.
pub fn softmax<T: Real>(topology: &Csr, values: &[T]) -> Vec<T> {
    let (rows, pointers) = (topology.rows(), topology.pointers());
    let mut out = values.to_vec();
    let parts = Entries(&mut out, 1, pointers);
    for_blocks(rows, 8 * cost(rows, values.len()), parts, |rows, Entries(slots, ..)| {
        vectorise!(softmax_block::<T, 1>, (pointers, rows, 1, slots));
    });
    out
}

/// The gradient of [`softmax`]: `dv_ij = s_ij (ds_ij - sum_k s_ik ds_ik)`.
pub fn softmax_backward<T: Real>(topology: &Csr, softmax: &[T], grad: &[T]) -> Vec<T> {
    let (rows, pointers) = (topology.rows(), topology.pointers());
    let mut out = zeros(topology.edges());
    let parts = Entries(&mut out, 1, pointers);
    for_blocks(rows, 2 * cost(rows, grad.len()), parts, |rows, Entries(slots, ..)| {
        vectorise!(softmax_backward_block, (pointers, rows, softmax, grad, slots));
    });
    out
}

/// `l_i = log sum_j exp(v_ij)`, with the row's maximum taken out; the lowest finite value for a row
/// that is empty or holds nothing but minus infinity.
pub fn logsumexp<T: Real>(topology: &Csr, values: &[T]) -> Vec<T> {
    let rows = topology.rows();
    let mut out = zeros(rows);
    for_row_blocks(&mut out, 1, 8 * cost(rows, values.len()), |first, block| {
        vectorise!(logsumexp_block, (topology.pointers(), values, first, block));
    });
    out
}

/// The gradient of [`logsumexp`]: `dv_ij = dl_i exp(v_ij - l_i)`.
pub fn logsumexp_backward<T: Real>(
    topology: &Csr,
    values: &[T],
    output: &[T],
    grad: &[T],
) -> Vec<T> {
    let (rows, pointers) = (topology.rows(), topology.pointers());
    let mut out = zeros(topology.edges());
    let parts = Entries(&mut out, 1, pointers);
    for_blocks(rows, 8 * cost(rows, values.len()), parts, |rows, Entries(slots, ..)| {
        vectorise!(logsumexp_backward_block, (pointers, rows, values, output, grad, slots));
    });
    out
}

/// `v_ij = v_i`: every edge gets the value of its row.
pub fn broadcast_rows<T: Real>(topology: &Csr, values: &[T]) -> Vec<T> {
    let mut out = zeros(topology.edges());
    super::spmm::for_entries(topology, &mut out, 1, |row, _, slots| slots.fill(values[row]));
    out
}

/// `v_ij = v_j`: every edge gets the value of its column.
pub fn gather_columns<T: Real>(topology: &Csr, values: &[T]) -> Vec<T> {
    topology.indices().iter().map(|&j| values[j as usize]).collect()
}

fn cost(rows: usize, entries: usize) -> usize {
    2 + entries / rows.max(1)
}

#[inline(always)]
fn sum_block<T: Real>(
    (pointers, entries, values, first, out): (&[u32], Option<&[u32]>, &[T], usize, &mut [T]),
) {
    for (i, out) in out.iter_mut().enumerate() {
        let range = pointers[first + i] as usize..pointers[first + i + 1] as usize;
        *out = match entries {
            None => values[range].iter().copied().sum(),
            Some(entries) => entries[range].iter().map(|&e| values[e as usize]).sum(),
        };
    }
}

/// Softmax in place over the entries of each row, of `width` values per entry side by side
/// (attention heads), `width` a multiple of `L`: `slots` holds the entries of `rows`.
///
/// The exponential runs over the slots of all rows at once, because most rows are too short to fill
/// a vector.
#[inline(always)]
pub(crate) fn softmax_block<T: Real, const L: usize>(
    (pointers, rows, width, slots): (&[u32], Range<usize>, usize, &mut [T]),
) {
    let base = pointers[rows.start] as usize;
    let lanes = width / L;
    let range = |row: usize| {
        (pointers[row] as usize - base) * lanes..(pointers[row + 1] as usize - base) * lanes
    };
    let (chunks, _) = slots.as_chunks_mut::<L>();
    for row in rows.clone() {
        let chunks = &mut chunks[range(row)];
        for lane in 0..lanes {
            let mut top = [T::NEG_INFINITY; L];
            every(lanes, lane, chunks, |values| {
                top = std::array::from_fn(|l| top[l].max(values[l]));
            });
            for top in &mut top {
                *top = if *top > T::NEG_INFINITY { *top } else { T::ZERO };
            }
            every(lanes, lane, chunks, |values| {
                *values = std::array::from_fn(|l| values[l] - top[l]);
            });
        }
    }
    for value in chunks.as_flattened_mut() {
        *value = value.exp();
    }
    for row in rows {
        let chunks = &mut chunks[range(row)];
        for lane in 0..lanes {
            let mut total = [T::ZERO; L];
            every(lanes, lane, chunks, |values| {
                total = std::array::from_fn(|l| total[l] + values[l]);
            });
            // The maximum contributes 1, so only rows without a finite value have a total of 0.
            for total in &mut total {
                *total = if *total == T::ZERO { T::ZERO } else { T::ONE / *total };
            }
            every(lanes, lane, chunks, |values| {
                *values = std::array::from_fn(|l| values[l] * total[l]);
            });
        }
    }
}

/// Calls `work` on every `step`-th item from `first` on: `step_by`, but without its division.
#[inline(always)]
fn every<I>(step: usize, first: usize, items: &mut [I], mut work: impl FnMut(&mut I)) {
    let mut at = first;
    while at < items.len() {
        work(&mut items[at]);
        at += step;
    }
}

#[inline(always)]
fn softmax_backward_block<T: Real>(
    (pointers, rows, softmax, grad, slots): (&[u32], Range<usize>, &[T], &[T], &mut [T]),
) {
    let base = pointers[rows.start] as usize;
    for row in rows {
        let range = pointers[row] as usize..pointers[row + 1] as usize;
        let slots = &mut slots[range.start - base..range.end - base];
        let (softmax, grad) = (&softmax[range.clone()], &grad[range]);
        let mean: T = softmax.iter().zip(grad).map(|(&s, &g)| s * g).sum();
        for ((slot, &s), &g) in slots.iter_mut().zip(softmax).zip(grad) {
            *slot = s * (g - mean);
        }
    }
}

#[inline(always)]
fn logsumexp_block<T: Real>((pointers, values, first, out): (&[u32], &[T], usize, &mut [T])) {
    for (i, out) in out.iter_mut().enumerate() {
        let row = &values[pointers[first + i] as usize..pointers[first + i + 1] as usize];
        let top = row.iter().fold(T::NEG_INFINITY, |top, &v| top.max(v));
        *out = if row.iter().all(|&v| v == T::NEG_INFINITY) {
            T::LOWEST
        } else {
            let total: T = row.iter().map(|&v| (v - top).exp()).sum();
            // The fast logarithm does not know NaN.
            top + if total.is_finite() { total.ln() } else { total }
        };
    }
}

#[inline(always)]
fn logsumexp_backward_block<T: Real>(
    (pointers, rows, values, output, grad, slots): (
        &[u32],
        Range<usize>,
        &[T],
        &[T],
        &[T],
        &mut [T],
    ),
) {
    let base = pointers[rows.start] as usize;
    for row in rows {
        let range = pointers[row] as usize..pointers[row + 1] as usize;
        let slots = &mut slots[range.start - base..range.end - base];
        for (slot, &v) in slots.iter_mut().zip(&values[range]) {
            *slot = grad[row] * (v - output[row]).exp();
        }
    }
}
