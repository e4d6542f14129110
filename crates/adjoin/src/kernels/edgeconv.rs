//! EdgeConv without an array of messages.
//!
//! The message of edge (i, j) is `m_ij = p_j + q_i`, a linear layer split into two node-level
//! products. What follows is monotone per channel (batch normalisation, then a leaky rectifier), so
//! the maximum over neighbours can be taken first, of `p_j` alone: the largest where the channel's
//! scale is not negative, the smallest where it is. The batch statistics over all messages follow
//! from node-level sums. Nothing of size `[edges, C]` is ever built.

use super::{
    Real,
    parts::{Rows, for_blocks},
    rows::{for_row_blocks, sum_blocks, zeros},
    vectorise,
};
use crate::topology::Csr;
use rayon::prelude::*;
use std::ops::Range;

/// Stands for "no neighbour" where the index of one is expected.
pub(super) const NO_NODE: u32 = u32::MAX;

/// Row pointers and column indices, of a graph or of its transpose.
pub(crate) type Lists<'a> = (&'a [u32], &'a [u32]);

pub(super) fn lists(topology: &Csr) -> Lists<'_> {
    (topology.pointers(), topology.indices())
}

fn transposed_lists(topology: &Csr) -> Lists<'_> {
    let transpose = topology.transpose();
    (&transpose.pointers, &transpose.indices)
}

pub(super) fn cost(topology: &Csr, width: usize) -> usize {
    (1 + topology.edges() / topology.rows().max(1)) * width
}

#[inline(always)]
pub(super) fn list<'a>((pointers, indices): Lists<'a>, row: usize) -> &'a [u32] {
    &indices[pointers[row] as usize..pointers[row + 1] as usize]
}

/// Work on a run of `L` channels, small enough to stay in registers over a loop over neighbours.
pub(super) trait Channels {
    fn run<const L: usize>(&mut self, first: usize);
}

/// Runs over all channels, in runs of 32, 8 and 1.
#[inline(always)]
pub(super) fn for_channels(width: usize, work: &mut impl Channels) {
    let mut first = 0;
    while first + 32 <= width {
        work.run::<32>(first);
        first += 32;
    }
    while first + 8 <= width {
        work.run::<8>(first);
        first += 8;
    }
    while first < width {
        work.run::<1>(first);
        first += 1;
    }
}

/// `L` values from a position on, as an array: its length is known, so it stays in registers.
#[inline(always)]
pub(super) fn run<T: Copy, const L: usize>(values: &[T], first: usize) -> [T; L] {
    let values = &values[first..first + L];
    std::array::from_fn(|l| values[l])
}

/// `out_ic = q_ic + max_j p_jc` where `scale_c >= 0` and `q_ic + min_j p_jc` elsewhere, and the
/// neighbour that it came from; 0 for a row without neighbours.
pub fn extremes<T: Real>(topology: &Csr, p: &[T], q: &[T], scale: &[T]) -> (Vec<T>, Vec<u32>) {
    let (rows, width) = (topology.rows(), scale.len());
    let signs: Vec<T> = scale.iter().map(|&s| if s < T::ZERO { -T::ONE } else { T::ONE }).collect();
    let (mut out, mut chosen) = (zeros(rows * width), vec![NO_NODE; rows * width]);
    let parts = (Rows(&mut out, width), Rows(&mut chosen, width));
    for_blocks(rows, cost(topology, width), parts, |rows, (Rows(out, _), Rows(chosen, _))| {
        vectorise!(extremes_block, (lists(topology), &signs[..], p, q, rows, out, chosen));
    });
    (out, chosen)
}

/// Gradient of [`extremes`] for `p`: `dp_jc` is the sum of the gradients of the rows that chose j in
/// channel c.
pub fn extremes_backward_p<T: Real>(
    topology: &Csr,
    chosen: &[u32],
    grad: &[T],
    width: usize,
) -> Vec<T> {
    scatter_chosen(topology.columns(), chosen, grad, width, |node| node)
}

/// Adds the gradient of every row and channel to the node that was chosen there, `node` giving it from
/// what was remembered. `[columns, C]`.
///
/// One addition a row and channel, however many neighbours there are. Threads share the channels, so no
/// two of them write to one place, and sums are in the order of the rows. Their results are transposed
/// blocks: a block of few channels of the nodes of one graph fits the nearest cache.
pub(super) fn scatter_chosen<T: Real>(
    columns: usize,
    chosen: &[u32],
    grad: &[T],
    width: usize,
    node: impl Fn(u32) -> u32 + Sync,
) -> Vec<T> {
    const BLOCK: usize = 16;
    let blocks = width.div_ceil(BLOCK);
    let mut sums: Vec<T> = zeros(blocks * BLOCK * columns);
    sums.par_chunks_mut((BLOCK * columns).max(1)).enumerate().for_each(|(block, sums)| {
        let channels = block * BLOCK..width.min((block + 1) * BLOCK);
        for (chosen, grad) in chosen.chunks_exact(width).zip(grad.chunks_exact(width)) {
            for (lane, c) in channels.clone().enumerate() {
                if chosen[c] != NO_NODE {
                    sums[node(chosen[c]) as usize * BLOCK + lane] += grad[c];
                }
            }
        }
    });
    let mut out = zeros(columns * width);
    for_row_blocks(&mut out, width, width, |first, out| {
        for (row, out) in out.chunks_exact_mut(width).enumerate() {
            for (block, out) in out.chunks_mut(BLOCK).enumerate() {
                let from = (block * columns + first + row) * BLOCK;
                out.copy_from_slice(&sums[from..from + out.len()]);
            }
        }
    });
    out
}

/// Gradient of [`extremes`] for `q`: that of the output, but 0 for rows without neighbours.
pub fn extremes_backward_q<T: Real>(topology: &Csr, grad: &[T], width: usize) -> Vec<T> {
    let mut out = grad.to_vec();
    for (row, out) in out.chunks_exact_mut(width).enumerate() {
        if topology.degree(row) == 0 {
            out.fill(T::ZERO);
        }
    }
    out
}

/// Values subtracted before squaring: those of `p`, of `q`, and what the two leave of the mean.
pub struct Centres<T> {
    p: Vec<T>,
    q: Vec<T>,
    rest: Vec<T>,
}

/// Mean and biased variance of `p_j + q_i` over all edges, `[2, C]`; 0 if there are no edges.
///
/// Sums are kept in `f64` and of values around their mean, so a large common offset costs no
/// digits. With `P`, `Q` so centred, `sum_ij (P_j + Q_i)^2 = sum_j n_j P_j^2 + sum_i n_i Q_i^2 +
/// 2 sum_i Q_i sum_j P_j`, `n` counting the edges of a column and of a row.
pub fn statistics<T: Real>(topology: &Csr, p: &[T], q: &[T], width: usize) -> (Vec<T>, Centres<T>) {
    let (ours, theirs) = (lists(topology), transposed_lists(topology));
    let edges = (topology.edges() as f64).max(1.0);
    let [p_mean, q_mean] = [(theirs.0, p), (ours.0, q)].map(|(pointers, x)| {
        let mut sums: Vec<f64> = sum_blocks(pointers.len() - 1, width, |rows, sums| {
            vectorise!(weighted_sums, (pointers, x, rows, sums));
        });
        sums.iter_mut().for_each(|sum| *sum /= edges);
        sums
    });
    let rounded = |means: &[f64]| means.iter().map(|&m| T::from_f64(m)).collect::<Vec<T>>();
    let (p_centre, q_centre) = (rounded(&p_mean), rounded(&q_mean));
    let p_squares: Vec<f64> = sum_blocks(topology.columns(), width, |rows, sums| {
        vectorise!(weighted_squares, (theirs.0, p, &p_centre[..], rows, sums));
    });
    let q_squares: Vec<f64> = sum_blocks(topology.rows(), width, |rows, sums| {
        let sides = [(q, &q_centre[..]), (p, &p_centre[..])];
        vectorise!(products_block, (ours, sides, rows, sums));
    });
    let mut out = zeros(2 * width);
    let mut rest = zeros(width);
    for c in 0..width {
        let mean = p_mean[c] + q_mean[c];
        // Centres are rounded to the element type: what is left of the mean leaves the variance.
        let left = (p_mean[c] - p_centre[c].to_f64()) + (q_mean[c] - q_centre[c].to_f64());
        let variance = (p_squares[c] + q_squares[c]) / edges - left * left;
        out[c] = T::from_f64(mean);
        out[width + c] = T::from_f64(variance.max(0.0));
        rest[c] = T::from_f64(left);
    }
    (out, Centres { p: p_centre, q: q_centre, rest })
}

/// Gradients of [`statistics`]. With `E` edges and `mu` the mean,
/// `dp_j = (n_j dmu + 2 dvar sum_i (p_j + q_i - mu)) / E`, and the same for `q` over rows.
pub fn statistics_backward<T: Real>(
    topology: &Csr,
    p: &[T],
    q: &[T],
    centres: &Centres<T>,
    grad: &[T],
    wanted: [bool; 2],
) -> [Option<Vec<T>>; 2] {
    let width = centres.rest.len();
    let edges = T::from_usize(topology.edges().max(1));
    let grad: Vec<T> = grad.iter().map(|&g| g / edges).collect();
    let sides = [(p, &centres.p[..]), (q, &centres.q[..])];
    let run = |lists: Lists, own: usize| {
        let mut out = zeros((lists.0.len() - 1) * width);
        for_row_blocks(&mut out, width, cost(topology, width), |first, out| {
            let sides = [sides[own], sides[1 - own]];
            vectorise!(statistics_block, (lists, sides, &centres.rest[..], &grad[..], first, out));
        });
        out
    };
    [
        wanted[0].then(|| run(transposed_lists(topology), 0)),
        wanted[1].then(|| run(lists(topology), 1)),
    ]
}

struct Extremes<'a, T> {
    columns: &'a [u32],
    signs: &'a [T],
    p: &'a [T],
    q: &'a [T],
    out: &'a mut [T],
    chosen: &'a mut [u32],
}

impl<T: Real> Channels for Extremes<'_, T> {
    #[inline(always)]
    fn run<const L: usize>(&mut self, first: usize) {
        let Some((&start, others)) = self.columns.split_first() else { return };
        let (width, p) = (self.signs.len(), self.p);
        let (signs, q) = (run::<T, L>(self.signs, first), run::<T, L>(self.q, first));
        let mut best = run::<T, L>(p, start as usize * width + first);
        let mut chosen = [start; L];
        for l in 0..L {
            best[l] *= signs[l];
        }
        for &j in others {
            let values = run::<T, L>(p, j as usize * width + first);
            for l in 0..L {
                // Strictly better: of equal neighbours the first is chosen.
                let value = values[l] * signs[l];
                let better = value > best[l];
                chosen[l] = if better { j } else { chosen[l] };
                best[l] = if better { value } else { best[l] };
            }
        }
        for l in 0..L {
            best[l] = best[l].mul_add(signs[l], q[l]);
        }
        self.out[first..first + L].copy_from_slice(&best);
        self.chosen[first..first + L].copy_from_slice(&chosen);
    }
}

#[inline(always)]
fn extremes_block<T: Real>(
    (lists, signs, p, q, rows, out, chosen): (
        Lists,
        &[T],
        &[T],
        &[T],
        Range<usize>,
        &mut [T],
        &mut [u32],
    ),
) {
    let width = signs.len();
    let outputs = out.chunks_exact_mut(width).zip(chosen.chunks_exact_mut(width));
    for (row, (out, chosen)) in rows.zip(outputs) {
        let q = &q[row * width..(row + 1) * width];
        for_channels(width, &mut Extremes { columns: list(lists, row), signs, p, q, out, chosen });
    }
}

#[inline(always)]
fn weighted_sums<T: Real>((pointers, x, rows, sums): (&[u32], &[T], Range<usize>, &mut [f64])) {
    let width = sums.len();
    for row in rows {
        let count = f64::from(pointers[row + 1] - pointers[row]);
        for (sum, &x) in sums.iter_mut().zip(&x[row * width..(row + 1) * width]) {
            *sum += count * x.to_f64();
        }
    }
}

#[inline(always)]
fn weighted_squares<T: Real>(
    (pointers, x, centre, rows, sums): (&[u32], &[T], &[T], Range<usize>, &mut [f64]),
) {
    let width = sums.len();
    for row in rows {
        let count = f64::from(pointers[row + 1] - pointers[row]);
        let x = &x[row * width..(row + 1) * width];
        for ((sum, &x), &centre) in sums.iter_mut().zip(x).zip(centre) {
            let x = x.to_f64() - centre.to_f64();
            *sum += count * x * x;
        }
    }
}

/// Values of the nodes on one end of the edges, and the centre to subtract from them.
type Side<'a, T> = (&'a [T], &'a [T]);

/// Sum of the centred values of listed nodes, for a run of channels.
#[inline(always)]
fn centred_sum<T: Real, const L: usize>(
    nodes: &[u32],
    (x, centre): Side<T>,
    first: usize,
) -> [T; L] {
    let (width, centre) = (centre.len(), run::<T, L>(centre, first));
    let mut sums = [T::ZERO; L];
    for &node in nodes {
        let values = run::<T, L>(x, node as usize * width + first);
        for l in 0..L {
            sums[l] += values[l] - centre[l];
        }
    }
    sums
}

struct Products<'a, T> {
    columns: &'a [u32],
    row: &'a [T],
    centre: &'a [T],
    other: Side<'a, T>,
    sums: &'a mut [f64],
}

impl<T: Real> Channels for Products<'_, T> {
    #[inline(always)]
    fn run<const L: usize>(&mut self, first: usize) {
        let neighbours = centred_sum::<T, L>(self.columns, self.other, first);
        let count = self.columns.len() as f64;
        let (row, centre) = (run::<T, L>(self.row, first), run::<T, L>(self.centre, first));
        let sums = &mut self.sums[first..first + L];
        for l in 0..L {
            let own = row[l].to_f64() - centre[l].to_f64();
            sums[l] += own * (count * own + 2.0 * neighbours[l].to_f64());
        }
    }
}

#[inline(always)]
fn products_block<T: Real>(
    (lists, [(x, centre), other], rows, sums): (Lists, [Side<T>; 2], Range<usize>, &mut [f64]),
) {
    let width = sums.len();
    for row in rows {
        let (columns, row) = (list(lists, row), &x[row * width..(row + 1) * width]);
        for_channels(width, &mut Products { columns, row, centre, other, sums });
    }
}

struct Statistics<'a, T> {
    nodes: &'a [u32],
    row: &'a [T],
    centre: &'a [T],
    other: Side<'a, T>,
    rest: &'a [T],
    grad: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Channels for Statistics<'_, T> {
    #[inline(always)]
    fn run<const L: usize>(&mut self, first: usize) {
        let sums = centred_sum::<T, L>(self.nodes, self.other, first);
        let count = T::from_usize(self.nodes.len());
        let mean = run::<T, L>(self.grad, first);
        let variance = run::<T, L>(self.grad, self.out.len() + first);
        let [row, centre, rest] =
            [self.row, self.centre, self.rest].map(|values| run::<T, L>(values, first));
        let out = &mut self.out[first..first + L];
        for l in 0..L {
            let own = row[l] - centre[l] - rest[l];
            let deviation = count.mul_add(own, sums[l]);
            out[l] = count * mean[l] + (variance[l] + variance[l]) * deviation;
        }
    }
}

#[inline(always)]
fn statistics_block<T: Real>(
    (lists, [(x, centre), other], rest, grad, first, out): (
        Lists,
        [Side<T>; 2],
        &[T],
        &[T],
        usize,
        &mut [T],
    ),
) {
    let width = rest.len();
    for (at, out) in out.chunks_exact_mut(width).enumerate() {
        let nodes = list(lists, first + at);
        let row = &x[(first + at) * width..(first + at + 1) * width];
        for_channels(width, &mut Statistics { nodes, row, centre, other, rest, grad, out });
    }
}
