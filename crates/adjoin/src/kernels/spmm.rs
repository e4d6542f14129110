//! Sparse times dense: `Y = A X`, `y_i = sum_j a_ij x_j`.

use super::{
    Real,
    parts::{Entries, for_blocks},
    rows::{axpy, dot, for_row_blocks, scale_into, zeros},
    vectorise,
};
use crate::topology::Csr;

/// `Y = A X` with `A` of the given topology and weights, `X` `[columns, width]`.
pub fn forward<T: Real>(topology: &Csr, weights: &[T], x: &[T], width: usize) -> Vec<T> {
    let mut y = zeros(topology.rows() * width);
    for_row_blocks(&mut y, width, row_cost(topology, width), |first, block| {
        let lists = (topology.pointers(), topology.indices());
        vectorise!(gather_rows, (lists, None, weights, T::ONE, x, width, first, block));
    });
    y
}

/// `Y = scale A X + share Z`, in one pass over the rows.
pub fn forward_onto<T: Real>(
    topology: &Csr,
    weights: &[T],
    x: &[T],
    width: usize,
    z: &[T],
    [scale, share]: [T; 2],
) -> Vec<T> {
    let mut y = zeros(topology.rows() * width);
    for_row_blocks(&mut y, width, row_cost(topology, width), |first, block| {
        vectorise!(scale_into, (share, &z[first * width..], &mut block[..]));
        let lists = (topology.pointers(), topology.indices());
        vectorise!(gather_rows, (lists, None, weights, scale, x, width, first, block));
    });
    y
}

fn row_cost(topology: &Csr, width: usize) -> usize {
    (1 + topology.edges() / topology.rows().max(1)) * width
}

/// `dX = A^T dY`, by rows of the transpose so that no two threads write to one place.
pub fn backward_features<T: Real>(
    topology: &Csr,
    weights: &[T],
    grad: &[T],
    width: usize,
) -> Vec<T> {
    let transpose = topology.transpose();
    let mut out = zeros(topology.columns() * width);
    let cost = (1 + topology.edges() / topology.columns().max(1)) * width;
    for_row_blocks(&mut out, width, cost, |first, block| {
        let lists = (&transpose.pointers[..], &transpose.indices[..]);
        let entries = Some(&transpose.entries[..]);
        vectorise!(gather_rows, (lists, entries, weights, T::ONE, grad, width, first, block));
    });
    out
}

/// `da_ij = <dy_i, x_j>` at the stored entries.
pub fn backward_weights<T: Real>(topology: &Csr, x: &[T], grad: &[T], width: usize) -> Vec<T> {
    let mut out = zeros(topology.edges());
    for_entries(topology, &mut out, width, |i, columns, slots| {
        vectorise!(sampled_products, (&grad[i * width..(i + 1) * width], x, columns, slots));
    });
    out
}

/// Calls `task(row, columns, slots)` for every row, `slots` being the row's part of `output`, which
/// holds one value per entry; parallel over runs of rows.
pub(crate) fn for_entries<T: Send>(
    topology: &Csr,
    output: &mut [T],
    cost_per_entry: usize,
    task: impl Fn(usize, &[u32], &mut [T]) + Sync,
) {
    let average = 1 + topology.edges() / topology.rows().max(1);
    let slots = Entries(output, 1, topology.pointers());
    for_blocks(topology.rows(), average * cost_per_entry, slots, |rows, Entries(slots, ..)| {
        let base = topology.pointers()[rows.start] as usize;
        for row in rows {
            let range = topology.range(row);
            task(row, topology.row(row), &mut slots[range.start - base..range.end - base]);
        }
    });
}

type Lists<'a> = (&'a [u32], &'a [u32]);

#[inline(always)]
fn gather_rows<T: Real>(
    ((pointers, indices), entries, weights, scale, x, width, first, out): (
        Lists,
        Option<&[u32]>,
        &[T],
        T,
        &[T],
        usize,
        usize,
        &mut [T],
    ),
) {
    for (i, y) in out.chunks_exact_mut(width).enumerate() {
        let range = pointers[first + i] as usize..pointers[first + i + 1] as usize;
        for entry in range {
            let j = indices[entry] as usize;
            let a = weights[entries.map_or(entry, |entries| entries[entry] as usize)];
            axpy(a * scale, &x[j * width..(j + 1) * width], y);
        }
    }
}

#[inline(always)]
fn sampled_products<T: Real>((row, x, columns, out): (&[T], &[T], &[u32], &mut [T])) {
    let width = row.len();
    for (slot, &j) in out.iter_mut().zip(columns) {
        let j = j as usize;
        *slot = dot(row, &x[j * width..(j + 1) * width]);
    }
}
