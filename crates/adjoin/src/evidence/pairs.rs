//! How likely two nodes are good neighbours, from views and features.

use super::{compatibility::Opinion, minimise::minimise, space::COARSE};
use crate::topology::Csr;
use rayon::prelude::*;

/// What is known of a pair: the log-odds by one or two views, and two cosines.
pub(super) const INPUTS: usize = 4;

/// Probabilities are kept this far from 0 and 1.
const MARGIN: f64 = 1e-6;

/// Pull towards zero: of slopes and offset, and of what is special to candidates.
const SHARED_PRIOR: f64 = 2e-3;
const SPECIAL_PRIOR: f64 = 2e-2;

/// A fit must lower the loss of held-out pairs by this part: less may be chance.
const LEAST_GAIN: f64 = 0.02;

/// Pairs that are enough to see whether a fit predicts anything.
const ENOUGH_PAIRS: usize = 8000;

const STEPS: usize = 200;
const TOLERANCE: f64 = 1e-7;

/// What pairs of nodes are compared by.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    pub first: &'a Opinion,
    /// That of a second view, if there is one.
    pub second: Option<&'a Opinion>,
    /// The space of features, `[nodes, rank]`.
    pub space: &'a [f64],
    pub rank: usize,
}

impl Compared<'_> {
    /// `ln(s / (1 - s))` less that of chance, with `s = q_i T q_j` for each view: 0 when it knows nothing of
    /// two nodes, or is absent; then the cosines in the whole space and in its leading directions.
    pub(super) fn inputs(&self, i: u32, j: u32) -> [f64; INPUTS] {
        let log_odds = |opinion: &Opinion| {
            let start = |node: u32| node as usize * opinion.classes;
            let (a, b) = (&opinion.wanted[start(i)..], &opinion.own[start(j)..]);
            let good: f64 = a.iter().zip(b).take(opinion.classes).map(|(a, b)| a * b).sum();
            let good = good.clamp(MARGIN, 1.0 - MARGIN);
            (good / (1.0 - good)).ln() - opinion.chance
        };
        let row = |node: u32| &self.space[node as usize * self.rank..][..self.rank];
        let (a, b) = (row(i), row(j));
        let coarse = COARSE.min(self.rank);
        [
            log_odds(self.first),
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
    /// The folds of two labelled nodes.
    pub folds: [usize; 2],
}

/// `ln(p / (1 - p)) = w . inputs + b`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PairMap {
    pub slopes: [f64; INPUTS],
    pub offset: f64,
}

impl PairMap {
    /// A logistic fit, if it predicts pairs of held-out nodes better than their mean does; otherwise a map
    /// that gives all candidates the same odds.
    pub(super) fn fit(examples: &[Example], folds: usize) -> Self {
        if Self::predicts(examples, folds) {
            return Self::fit_all(examples);
        }
        let candidates = || examples.iter().filter(|e| e.candidate);
        let offset = log_odds_of_mean(candidates()).or_else(|| log_odds_of_mean(examples.iter()));
        Self { slopes: [0.0; INPUTS], offset: offset.unwrap_or(0.0) }
    }

    /// Whether maps that were fitted without the nodes of a fold make its pairs clearly more likely than a constant.
    fn predicts(examples: &[Example], folds: usize) -> bool {
        let pairs: Vec<Example> = examples.iter().filter(|e| !e.candidate).copied().collect();
        let stride = pairs.len().div_ceil(ENOUGH_PAIRS).max(1);
        let losses = |fold: usize| {
            let seen = |e: &&Example| !e.folds.contains(&fold);
            let seen: Vec<Example> = pairs.iter().filter(seen).step_by(stride).copied().collect();
            let map = Self::fit_all(&seen);
            let constant = log_odds_of_mean(seen.iter()).unwrap_or(0.0);
            let held = || pairs.iter().filter(|e| e.folds == [fold; 2]);
            let loss = |e: &Example, z: f64| e.weight * (softplus(z) - e.target * z);
            let fitted: f64 = held().map(|e| loss(e, map.log_odds_of(&e.inputs))).sum();
            [fitted, held().map(|e| loss(e, constant)).sum()]
        };
        let losses: Vec<[f64; 2]> = (0..folds).into_par_iter().map(losses).collect();
        let [fitted, constant] = [0, 1].map(|at| losses.iter().map(|loss| loss[at]).sum::<f64>());
        fitted < (1.0 - LEAST_GAIN) * constant
    }

    /// A logistic fit. Candidates have an offset of their own, and slopes that may differ a little from those
    /// of arbitrary pairs, of which there are many more: the map is that of candidates.
    fn fit_all(examples: &[Example]) -> Self {
        let (mean, deviation) = moments(examples);
        let standard = |inputs: &[f64; INPUTS]| -> [f64; INPUTS] {
            std::array::from_fn(|at| (inputs[at] - mean[at]) / deviation[at])
        };
        let some = examples.iter().any(|e| e.candidate);
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
        // Without candidates the map is that of arbitrary pairs.
        Self { slopes, offset: x[INPUTS + usize::from(some)] - moved }
    }

    fn log_odds_of(&self, inputs: &[f64; INPUTS]) -> f64 {
        self.offset + (0..INPUTS).map(|at| self.slopes[at] * inputs[at]).sum::<f64>()
    }

    /// The log-odds of every pair.
    pub(super) fn log_odds(&self, pairs: &Csr, compared: Compared) -> Vec<f64> {
        let rows = pairs.row_indices();
        let each = rows.par_iter().zip(pairs.indices());
        each.map(|(&i, &j)| self.log_odds_of(&compared.inputs(i, j))).collect()
    }
}

/// The log-odds of the mean target, if there are examples.
fn log_odds_of_mean<'a>(examples: impl Iterator<Item = &'a Example>) -> Option<f64> {
    let (mut good, mut all) = (0.0, 0.0);
    for e in examples {
        good += e.weight * e.target;
        all += e.weight;
    }
    let mean = (good / all).clamp(MARGIN, 1.0 - MARGIN);
    (all > 0.0).then(|| (mean / (1.0 - mean)).ln())
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
