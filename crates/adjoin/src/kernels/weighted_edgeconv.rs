//! EdgeConv whose messages carry weights, without an array of messages.
//!
//! With `z_ij = scale (p_j + q_i - mean) / sqrt(variance + eps) + shift`, channel by channel, and a
//! weight `a_ij >= 0` per edge, the layer is `y_i = leaky(max_j g(a_ij, z_ij))`, `g` being one of
//! [`EdgeWeighting`]. The maximum remembers the edge it came from; everything else is computed again in
//! the backward pass, so nothing of size `[edges, C]` is ever built.

use super::{
    Real,
    batch_norm::Parameters,
    edgeconv::{Channels, Lists, NO_NODE, cost, for_channels, list, lists, run, scatter_chosen},
    parts::{Entries, Rows, for_blocks},
    rows::{for_row_blocks, sum_blocks, zeros},
    vectorise,
};
use crate::topology::Csr;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How the weight of an edge enters the maximum over neighbours. Weight 1 leaves a message as it is
/// in either form, and gradients reach the weights of the edges that win.
///
/// A shifted edge of weight 0 never wins, and no small weight would make it win: the derivative there is 0,
/// and what a hard selector left out could never come back. It gets the slope of the chord from weight 0 to
/// weight 1 instead, `sum_c dL/dy_ic max(0, leaky(z_ijc) - y_ic)`: what the whole edge would change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeWeighting {
    /// `leaky(max_j a_ij z_ij)`, the same as `max_j a_ij leaky(z_ij)`: a weight near 0 turns a message
    /// into 0, which still wins over negative ones.
    Scaled,
    /// `leaky(max_j (z_ij + log a_ij))`: a weight near 0 takes the edge out of the maximum, as if it
    /// were not there.
    #[default]
    Shifted,
}

/// Shift of an edge of weight 0: low enough never to win against an edge of the row that counts, and
/// finite, so that a row of such edges stays a number.
const LEAST_WEIGHT: f64 = 1e-30;

/// Node-level products `[nodes, C]` and the weights `[edges]`.
#[derive(Clone, Copy)]
pub struct Messages<'a, T> {
    /// Of the node that sends.
    pub p: &'a [T],
    /// Of the node that receives.
    pub q: &'a [T],
    /// One per edge.
    pub weights: &'a [T],
}

/// Gradients of `p`, `q`, the weights, the statistics, the scale and the shift.
pub type Gradients<T> = [Vec<T>; 6];

/// `y` `[rows, C]`, 0 for rows without edges, and the edge that each value came from.
pub fn forward<T: Real>(
    topology: &Csr,
    messages: Messages<T>,
    parameters: Parameters<T>,
    weighting: EdgeWeighting,
) -> (Vec<T>, Vec<u32>) {
    let (rows, width) = (topology.rows(), parameters.scale.len());
    let (factor, addend) = parameters.affine();
    let mut terms = messages.weights.to_vec();
    if weighting == EdgeWeighting::Shifted {
        vectorise!(logarithms, &mut terms[..]);
    }
    let (mut out, mut chosen) = (zeros(rows * width), vec![NO_NODE; rows * width]);
    let parts = (Rows(&mut out, width), Rows(&mut chosen, width));
    let input = Input {
        lists: lists(topology),
        p: messages.p,
        q: messages.q,
        terms: &terms,
        factor: &factor,
        addend: &addend,
        slope: parameters.slope,
    };
    for_blocks(rows, cost(topology, width), parts, |rows, (Rows(out, _), Rows(chosen, _))| {
        match weighting {
            EdgeWeighting::Scaled => vectorise!(block::<T, false>, (input, rows, out, chosen)),
            EdgeWeighting::Shifted => vectorise!(block::<T, true>, (input, rows, out, chosen)),
        }
    });
    (out, chosen)
}

/// Gradients of [`forward`], `y` and `chosen` being its results.
pub fn backward<T: Real>(
    topology: &Csr,
    messages: Messages<T>,
    parameters: Parameters<T>,
    weighting: EdgeWeighting,
    (y, chosen): (&[T], &[u32]),
    grad: &[T],
) -> Gradients<T> {
    let (rows, width) = (topology.rows(), parameters.scale.len());
    let inverse = parameters.inverse_stds();
    let input =
        Back { topology, messages, parameters, inverse: &inverse, weighting, y, chosen, grad };
    let (mut of_z, mut normals) = (zeros(rows * width), zeros(rows * width));
    let mut of_weights = zeros(topology.edges());
    let parts = (
        Rows(&mut of_z, width),
        Rows(&mut normals, width),
        Entries(&mut of_weights, 1, topology.pointers()),
    );
    for_blocks(rows, 8 * width, parts, |rows, (Rows(of_z, _), Rows(normals, _), weights)| {
        vectorise!(winners_block, (&input, rows, of_z, normals, weights.0));
    });
    let sums: Vec<T> = sum_blocks(rows, 2 * width, |rows, sums| {
        vectorise!(sums_block, (&of_z[..], &normals[..], rows, sums));
    });
    drop(normals);
    let (shift, scale) = sums.split_at(width);
    let mut statistics = zeros(2 * width);
    let (factor, _) = parameters.affine();
    for c in 0..width {
        statistics[c] = -factor[c] * shift[c];
        statistics[width + c] = -T::HALF * factor[c] * inverse[c] * scale[c];
    }
    let mut of_messages = of_z;
    for_row_blocks(&mut of_messages, width, width, |_, block| {
        vectorise!(scale_rows, (&factor[..], block));
    });
    let sender = |entry: u32| topology.indices()[entry as usize];
    let of_senders = scatter_chosen(topology.columns(), chosen, &of_messages, width, sender);
    [of_senders, of_messages, of_weights, statistics, scale.to_vec(), shift.to_vec()]
}

#[derive(Clone, Copy)]
struct Input<'a, T> {
    lists: Lists<'a>,
    p: &'a [T],
    q: &'a [T],
    /// The weights, or their logarithms.
    terms: &'a [T],
    factor: &'a [T],
    addend: &'a [T],
    slope: T,
}

struct Best<'a, T, const SHIFTED: bool> {
    input: Input<'a, T>,
    columns: &'a [u32],
    /// Of the edges of the row.
    terms: &'a [T],
    first_entry: u32,
    q: &'a [T],
    out: &'a mut [T],
    chosen: &'a mut [u32],
}

impl<T: Real, const SHIFTED: bool> Channels for Best<'_, T, SHIFTED> {
    #[inline(always)]
    fn run<const L: usize>(&mut self, first: usize) {
        let Input { p, factor, addend, slope, .. } = self.input;
        let width = factor.len();
        let [factor, addend, q] = [factor, addend, self.q].map(|values| run::<T, L>(values, first));
        let mut base = [T::ZERO; L];
        for l in 0..L {
            base[l] = q[l].mul_add(factor[l], addend[l]);
        }
        let (mut best, mut chosen) = ([T::NEG_INFINITY; L], [NO_NODE; L]);
        for ((&j, &term), entry) in self.columns.iter().zip(self.terms).zip(self.first_entry..) {
            let values = run::<T, L>(p, j as usize * width + first);
            for l in 0..L {
                let z = values[l].mul_add(factor[l], base[l]);
                let value = if SHIFTED { z + term } else { z * term };
                // Strictly better: of equal neighbours the first is chosen.
                let better = value > best[l];
                chosen[l] = if better { entry } else { chosen[l] };
                best[l] = if better { value } else { best[l] };
            }
        }
        for value in &mut best {
            *value = if *value > T::ZERO { *value } else { *value * slope };
        }
        self.out[first..first + L].copy_from_slice(&best);
        self.chosen[first..first + L].copy_from_slice(&chosen);
    }
}

#[inline(always)]
fn block<T: Real, const SHIFTED: bool>(
    (input, rows, out, chosen): (Input<T>, Range<usize>, &mut [T], &mut [u32]),
) {
    let width = input.factor.len();
    let outputs = out.chunks_exact_mut(width).zip(chosen.chunks_exact_mut(width));
    for (row, (out, chosen)) in rows.zip(outputs) {
        let (columns, first_entry) = (list(input.lists, row), input.lists.0[row]);
        if columns.is_empty() {
            continue;
        }
        let terms = &input.terms[first_entry as usize..][..columns.len()];
        let q = &input.q[row * width..(row + 1) * width];
        let mut best = Best::<T, SHIFTED> { input, columns, terms, first_entry, q, out, chosen };
        for_channels(width, &mut best);
    }
}

struct Back<'a, T> {
    topology: &'a Csr,
    messages: Messages<'a, T>,
    parameters: Parameters<'a, T>,
    inverse: &'a [T],
    weighting: EdgeWeighting,
    y: &'a [T],
    chosen: &'a [u32],
    grad: &'a [T],
}

/// Gradients of `z`, the normalised messages, and the gradients of the weights: of the edges that won, and
/// of those of weight 0 that would win if they had weight 1.
#[inline(always)]
fn winners_block<T: Real>(
    (input, rows, of_z, normals, of_weights): (
        &Back<T>,
        Range<usize>,
        &mut [T],
        &mut [T],
        &mut [T],
    ),
) {
    let Parameters { statistics, scale, shift, slope, .. } = input.parameters;
    let width = scale.len();
    let least = T::from_f64(LEAST_WEIGHT);
    let first = input.topology.pointers()[rows.start] as usize;
    let outputs = of_z.chunks_exact_mut(width).zip(normals.chunks_exact_mut(width));
    for (row, (of_z, normals)) in rows.zip(outputs) {
        if input.topology.degree(row) == 0 {
            continue;
        }
        let [q, y, grad] =
            [input.messages.q, input.y, input.grad].map(|x| &x[row * width..][..width]);
        let chosen = &input.chosen[row * width..][..width];
        for c in 0..width {
            let entry = chosen[c] as usize;
            let sender = input.topology.indices()[entry] as usize;
            let message = input.messages.p[sender * width + c] + q[c];
            let normal = (message - statistics[c]) * input.inverse[c];
            let grad = if y[c] > T::ZERO { grad[c] } else { grad[c] * slope };
            let weight = input.messages.weights[entry];
            let (z, of_weight) = match input.weighting {
                EdgeWeighting::Scaled => (grad * weight, grad * normal.mul_add(scale[c], shift[c])),
                EdgeWeighting::Shifted if weight > least => (grad, grad / weight),
                EdgeWeighting::Shifted => (grad, T::ZERO),
            };
            of_weights[entry - first] += of_weight;
            (of_z[c], normals[c]) = (z, normal);
        }
        if input.weighting == EdgeWeighting::Scaled {
            continue;
        }
        for entry in input.topology.range(row).filter(|&at| input.messages.weights[at] <= least) {
            let sender = input.topology.indices()[entry] as usize;
            let p = &input.messages.p[sender * width..][..width];
            for c in 0..width {
                let z =
                    ((p[c] + q[c] - statistics[c]) * input.inverse[c]).mul_add(scale[c], shift[c]);
                let whole = if z > T::ZERO { z } else { z * slope };
                of_weights[entry - first] += grad[c] * (whole - y[c]).max(T::ZERO);
            }
        }
    }
}

/// Sums of the gradients of `z`, and of those times the normalised messages.
#[inline(always)]
fn sums_block<T: Real>((of_z, normals, rows, sums): (&[T], &[T], Range<usize>, &mut [T])) {
    let width = sums.len() / 2;
    let (shift, scale) = sums.split_at_mut(width);
    for row in rows {
        let (of_z, normals) = (&of_z[row * width..][..width], &normals[row * width..][..width]);
        for c in 0..width {
            shift[c] += of_z[c];
            scale[c] = of_z[c].mul_add(normals[c], scale[c]);
        }
    }
}

#[inline(always)]
fn scale_rows<T: Real>((factor, block): (&[T], &mut [T])) {
    for row in block.chunks_exact_mut(factor.len()) {
        for (value, &factor) in row.iter_mut().zip(factor) {
            *value *= factor;
        }
    }
}

#[inline(always)]
fn logarithms<T: Real>(values: &mut [T]) {
    let least = T::from_f64(LEAST_WEIGHT);
    for value in values {
        *value = value.max(least).ln();
    }
}
