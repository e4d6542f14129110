//! How likely two nodes are of one class, from views and features.

use super::{minimise::minimise, space::COARSE};
use crate::topology::Csr;
use rayon::prelude::*;

/// What is known of a pair: the log-odds by one or two views, and two cosines.
pub(super) const INPUTS: usize = 4;

/// Probabilities are kept this far from 0 and 1.
const MARGIN: f64 = 1e-6;

/// Pull towards zero: of slopes and offset, and of what is special to candidates.
const SHARED_PRIOR: f64 = 2e-3;
const SPECIAL_PRIOR: f64 = 2e-2;

const STEPS: usize = 200;
const TOLERANCE: f64 = 1e-7;

/// What pairs of nodes are compared by.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    /// Class probabilities, `[nodes, classes]`.
    pub probabilities: &'a [f64],
    /// Those of a second view, if there is one.
    pub second: Option<&'a [f64]>,
    pub classes: usize,
    /// The space of features, `[nodes, rank]`.
    pub space: &'a [f64],
    pub rank: usize,
}

impl Compared<'_> {
    /// `ln(s (C - 1) / (1 - s))` with `s = <q_i, q_j>` for each view: 0 when it knows nothing of two nodes, or
    /// is absent; then the cosines in the whole space and in its leading directions.
    pub(super) fn inputs(&self, i: u32, j: u32) -> [f64; INPUTS] {
        let of = |values: &[f64], width: usize, node: u32| -> std::ops::Range<usize> {
            debug_assert!((node as usize + 1) * width <= values.len());
            node as usize * width..(node as usize + 1) * width
        };
        let others = self.classes.saturating_sub(1).max(1) as f64;
        let log_odds = |q: &[f64]| {
            let (a, b) = (&q[of(q, self.classes, i)], &q[of(q, self.classes, j)]);
            let same: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let same = same.clamp(MARGIN, 1.0 - MARGIN);
            (same * others / (1.0 - same)).ln()
        };
        let (a, b) = (of(self.space, self.rank, i), of(self.space, self.rank, j));
        let (a, b) = (&self.space[a], &self.space[b]);
        let coarse = COARSE.min(self.rank);
        [
            log_odds(self.probabilities),
            self.second.map_or(0.0, log_odds),
            cosine(a, b),
            cosine(&a[..coarse], &b[..coarse]),
        ]
    }
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let (mut dot, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        dot += a * b;
        aa += a * a;
        bb += b * b;
    }
    let lengths = (aa * bb).sqrt();
    if lengths > 0.0 { dot / lengths } else { 0.0 }
}

/// A pair with the probability that it is of one class, as far as labels say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Example {
    pub inputs: [f64; INPUTS],
    pub target: f64,
    pub weight: f64,
    /// One of the candidates, or any two labelled nodes.
    pub candidate: bool,
}

/// `ln(p / (1 - p)) = w . inputs + b`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PairMap {
    pub slopes: [f64; INPUTS],
    pub offset: f64,
}

impl PairMap {
    /// A logistic fit. Candidates have an offset of their own, and slopes that may differ a little from those
    /// of arbitrary pairs, of which there are many more: the map is that of candidates.
    pub(super) fn fit(examples: &[Example]) -> Self {
        let (mean, deviation) = moments(examples);
        let standard = |inputs: &[f64; INPUTS]| -> [f64; INPUTS] {
            std::array::from_fn(|at| (inputs[at] - mean[at]) / deviation[at])
        };
        let examples: Vec<Example> =
            examples.iter().map(|e| Example { inputs: standard(&e.inputs), ..*e }).collect();
        // Slopes; offset of arbitrary pairs; offset of candidates; what candidates add to the slopes.
        let f = |x: &[f64], gradient: &mut [f64]| {
            gradient.fill(0.0);
            let mut loss = 0.0;
            for e in &examples {
                let special = if e.candidate { 1.0 } else { 0.0 };
                let offset = if e.candidate { x[INPUTS + 1] } else { x[INPUTS] };
                let slope = |at: usize| x[at] + special * x[INPUTS + 2 + at];
                let z: f64 = (0..INPUTS).map(|at| slope(at) * e.inputs[at]).sum::<f64>() + offset;
                loss += e.weight * (softplus(z) - e.target * z);
                let pull = e.weight * (sigmoid(z) - e.target);
                gradient[INPUTS + usize::from(e.candidate)] += pull;
                for at in 0..INPUTS {
                    gradient[at] += pull * e.inputs[at];
                    gradient[INPUTS + 2 + at] += special * pull * e.inputs[at];
                }
            }
            for at in (0..x.len()).filter(|&at| at != INPUTS) {
                let prior = if at < INPUTS + 2 { SHARED_PRIOR } else { SPECIAL_PRIOR };
                loss += prior * x[at] * x[at];
                gradient[at] += 2.0 * prior * x[at];
            }
            loss
        };
        let x = minimise(f, vec![0.0; 2 * INPUTS + 2], STEPS, TOLERANCE);
        let slopes = std::array::from_fn(|at| (x[at] + x[INPUTS + 2 + at]) / deviation[at]);
        let moved: f64 = (0..INPUTS).map(|at| slopes[at] * mean[at]).sum();
        Self { slopes, offset: x[INPUTS + 1] - moved }
    }

    /// The log-odds of every pair.
    pub(super) fn log_odds(&self, pairs: &Csr, compared: Compared) -> Vec<f64> {
        let rows = pairs.row_indices();
        let each = rows.par_iter().zip(pairs.indices());
        each.map(|(&i, &j)| {
            let inputs = compared.inputs(i, j);
            self.offset + (0..INPUTS).map(|at| self.slopes[at] * inputs[at]).sum::<f64>()
        })
        .collect()
    }
}

/// Mean and standard deviation of the inputs of arbitrary pairs.
fn moments(examples: &[Example]) -> ([f64; INPUTS], [f64; INPUTS]) {
    let chosen = || examples.iter().filter(|e| !e.candidate);
    let count = chosen().count().max(1) as f64;
    let mean: [f64; INPUTS] =
        std::array::from_fn(|at| chosen().map(|e| e.inputs[at]).sum::<f64>() / count);
    let deviation = std::array::from_fn(|at| {
        let square = chosen().map(|e| (e.inputs[at] - mean[at]).powi(2)).sum::<f64>() / count;
        square.sqrt() + MARGIN
    });
    (mean, deviation)
}

pub(super) fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}
