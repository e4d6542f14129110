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
    rows::{sum_blocks, zeros},
    vectorise,
};
use crate::graph::Csr;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How the weight of an edge enters the maximum over neighbours. Weight 1 leaves a message as it is
/// in either form, and gradients reach the weights of the edges that win.
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
    let (factor, addend) = affine(parameters);
    let terms: Vec<T> = match weighting {
        EdgeWeighting::Scaled => messages.weights.to_vec(),
        EdgeWeighting::Shifted => {
            let least = T::from_f64(LEAST_WEIGHT);
            messages.weights.iter().map(|&a| a.max(least).ln()).collect()
        }
    };
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
    let inverse = parameters.inverse_deviations();
    let input =
        Back { topology, messages, parameters, inverse: &inverse, weighting, y, chosen, grad };
    let (mut of_messages, mut of_weights) = (zeros(rows * width), zeros(topology.edges()));
    let parts = (Rows(&mut of_messages, width), Entries(&mut of_weights, 1, topology.pointers()));
    for_blocks(rows, 16 * width, parts, |rows, (Rows(out, _), Entries(weights, ..))| {
        input.rows(rows, out, weights);
    });
    let sums: Vec<T> = sum_blocks(rows, 2 * width, |rows, sums| input.sums(rows, sums));
    let (shift, scale) = sums.split_at(width);
    let mut statistics = zeros(2 * width);
    for c in 0..width {
        let factor = parameters.scale[c] * inverse[c];
        statistics[c] = -factor * shift[c];
        statistics[width + c] = -T::HALF * factor * inverse[c] * scale[c];
    }
    let sender = |entry: u32| topology.indices()[entry as usize];
    let of_senders = scatter_chosen(topology.columns(), chosen, &of_messages, width, sender);
    [of_senders, of_messages, of_weights, statistics, scale.to_vec(), shift.to_vec()]
}

/// `z = factor m + addend`.
fn affine<T: Real>(parameters: Parameters<T>) -> (Vec<T>, Vec<T>) {
    let width = parameters.scale.len();
    let inverse = parameters.inverse_deviations();
    let factor: Vec<T> = (0..width).map(|c| parameters.scale[c] * inverse[c]).collect();
    let addend = (0..width).map(|c| parameters.shift[c] - factor[c] * parameters.statistics[c]);
    let addend = addend.collect();
    (factor, addend)
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
        for l in 0..L {
            best[l] = if best[l] > T::ZERO { best[l] } else { best[l] * slope };
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

/// What one channel of one row contributes.
struct Element<T> {
    entry: usize,
    /// The normalised message.
    normal: T,
    /// Gradients of `z` and of the weight.
    of_z: T,
    of_weight: T,
}

impl<T: Real> Back<'_, T> {
    #[inline(always)]
    fn element(&self, row: usize, c: usize) -> Element<T> {
        let Parameters { statistics, scale, shift, slope, .. } = self.parameters;
        let width = scale.len();
        let at = row * width + c;
        let entry = self.chosen[at] as usize;
        let sender = self.topology.indices()[entry] as usize;
        let message = self.messages.p[sender * width + c] + self.messages.q[at];
        let normal = (message - statistics[c]) * self.inverse[c];
        let grad = if self.y[at] > T::ZERO { self.grad[at] } else { self.grad[at] * slope };
        let weight = self.messages.weights[entry];
        let (of_z, of_weight) = match self.weighting {
            EdgeWeighting::Scaled => (grad * weight, grad * normal.mul_add(scale[c], shift[c])),
            EdgeWeighting::Shifted => {
                let least = T::from_f64(LEAST_WEIGHT);
                (grad, if weight > least { grad / weight } else { T::ZERO })
            }
        };
        Element { entry, normal, of_z, of_weight }
    }

    /// Gradients of the surviving messages, and of the weights of the edges of the rows.
    fn rows(&self, rows: Range<usize>, out: &mut [T], weights: &mut [T]) {
        let width = self.inverse.len();
        let first = self.topology.pointers()[rows.start] as usize;
        for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
            if self.topology.degree(row) == 0 {
                continue;
            }
            for (c, out) in out.iter_mut().enumerate() {
                let element = self.element(row, c);
                weights[element.entry - first] += element.of_weight;
                *out = element.of_z * self.parameters.scale[c] * self.inverse[c];
            }
        }
    }

    /// Sums of the gradients of `z`, and of those times the normalised message.
    fn sums(&self, rows: Range<usize>, sums: &mut [T]) {
        let (shift, scale) = sums.split_at_mut(self.inverse.len());
        for row in rows.filter(|&row| self.topology.degree(row) > 0) {
            for (c, (shift, scale)) in shift.iter_mut().zip(scale.iter_mut()).enumerate() {
                let element = self.element(row, c);
                *shift += element.of_z;
                *scale = element.of_z.mul_add(element.normal, *scale);
            }
        }
    }
}
