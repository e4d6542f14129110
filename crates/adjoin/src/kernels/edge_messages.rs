//! Message passing between edges that share a node, in closed form.
//!
//! The adjoint graph `A_H = L^T L - 2I` joins two edges as often as they share a node. Its average
//! is `m_ij = (S_i + S_j - 2 c_ij) / (n_i + n_j - 2)`, with `S_v` the sum and `n_v` the number of the
//! embeddings at edges incident to v: exact, and linear in the number of edges. Self-loops stay out
//! of it: they send nothing and receive 0.

use super::{
    Real,
    rows::{for_row_blocks, zeros},
};
use crate::topology::Csr;

/// The average of the neighbouring edges' embeddings, `[edges, width]`; 0 for an edge without
/// neighbours.
pub fn forward<T: Real>(topology: &Csr, embeddings: &[T], width: usize) -> Vec<T> {
    let rows = topology.row_indices();
    let mut out = neighbour_sums(topology, &rows, embeddings, width);
    scale_entries(&neighbour_counts(topology), &mut out, width);
    out
}

/// The map is linear and, but for the division, its own transpose.
pub fn backward<T: Real>(topology: &Csr, grad: &[T], width: usize) -> Vec<T> {
    let rows = topology.row_indices();
    let mut scaled = grad.to_vec();
    scale_entries(&neighbour_counts(topology), &mut scaled, width);
    neighbour_sums(topology, &rows, &scaled, width)
}

/// `S_i + S_j - 2 c_ij`.
fn neighbour_sums<T: Real>(topology: &Csr, rows: &[u32], values: &[T], width: usize) -> Vec<T> {
    let transpose = topology.transpose();
    let nodes = topology.rows().max(topology.columns());
    let mut sums = zeros::<T>(nodes * width);
    let cost = 2 * width * (1 + topology.edges() / nodes.max(1));
    for_row_blocks(&mut sums, width, cost, |first, block| {
        for (at, sum) in block.chunks_exact_mut(width).enumerate() {
            let v = first + at;
            let mut add = |entry: usize| {
                if rows[entry] == topology.indices()[entry] {
                    return;
                }
                for (s, &c) in sum.iter_mut().zip(&values[entry * width..(entry + 1) * width]) {
                    *s += c;
                }
            };
            if v < topology.rows() {
                topology.range(v).for_each(&mut add);
            }
            if v < topology.columns() {
                let range = transpose.pointers[v] as usize..transpose.pointers[v + 1] as usize;
                transpose.entries[range].iter().for_each(|&entry| add(entry as usize));
            }
        }
    });
    let mut out = zeros::<T>(values.len());
    for_row_blocks(&mut out, width, 4 * width, |first, block| {
        for (at, out) in block.chunks_exact_mut(width).enumerate() {
            let entry = first + at;
            let (i, j) = (rows[entry] as usize, topology.indices()[entry] as usize);
            if i == j {
                continue;
            }
            let own = &values[entry * width..(entry + 1) * width];
            let (left, right) =
                (&sums[i * width..(i + 1) * width], &sums[j * width..(j + 1) * width]);
            for (k, o) in out.iter_mut().enumerate() {
                *o = left[k] + right[k] - own[k] - own[k];
            }
        }
    });
    out
}

/// How many edges share a node with each edge, counted as often as they do; 0 for self-loops.
pub fn neighbour_counts(topology: &Csr) -> Vec<u32> {
    let counts = incident_counts(topology);
    let neighbours = |(i, j): (u32, u32)| {
        let incident = counts[i as usize] + counts[j as usize];
        if i == j { 0 } else { incident.saturating_sub(2) }
    };
    topology.iter().map(neighbours).collect()
}

fn incident_counts(topology: &Csr) -> Vec<u32> {
    let mut counts = vec![0; topology.rows().max(topology.columns())];
    for (i, j) in topology.iter().filter(|(i, j)| i != j) {
        counts[i as usize] += 1;
        counts[j as usize] += 1;
    }
    counts
}

fn scale_entries<T: Real>(neighbours: &[u32], values: &mut [T], width: usize) {
    for_row_blocks(values, width, width, |first, block| {
        for (at, value) in block.chunks_exact_mut(width).enumerate() {
            let scale = match neighbours[first + at] {
                0 => T::ZERO,
                count => T::ONE / T::from_usize(count as usize),
            };
            value.iter_mut().for_each(|v| *v *= scale);
        }
    });
}
