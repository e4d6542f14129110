//! Views: class probabilities of nodes by maps that have not seen the labels they are judged by.

use super::minimise::minimise;
use crate::kernels::{
    matmul::{Matrix, matmul},
    random::Key,
};
use rayon::prelude::*;

/// Strengths of the data against a prior of zero weights, from which held-out labels choose.
const STRENGTHS: [f64; 3] = [1.0, 10.0, 100.0];

/// Steps of a fit, and how small its gradient gets.
const STEPS: usize = 100;
const TOLERANCE: f64 = 1e-5;

/// More nodes than these do not make a view better, only slower.
const MOST_LABELS: usize = 4000;
const MOST_OTHERS: usize = 2000;

/// Rounds of self-training, steps of the fit in each, and what all nodes without a label weigh together, as a
/// multiple of the labels, if they were sure.
const ROUNDS: usize = 3;
const ROUND_STEPS: usize = 20;
const OTHERS: f64 = 4.0;

/// Class probabilities by `softmax(h W_f + b_f)`, a map `f` for every fold of the training labels, which
/// was fitted without that fold; those of the folds are averaged.
///
/// A map is fitted to labels first. Then follow rounds of self-training: nodes without a label join with their own
/// probabilities `p`, sharpened to `p_c^2 / sum p^2` and weighted by `max(p)^2`. Held-out labels say whether
/// that helped.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// `W` with `b` as its last row, fold after fold: `[folds, inputs + 1, classes]`.
    pub maps: Vec<f64>,
    pub folds: usize,
    pub inputs: usize,
    pub classes: usize,
}

/// Some nodes, their classes, and the fold that each belongs to.
#[derive(Clone, Debug)]
pub(super) struct Folded {
    pub nodes: Vec<u32>,
    pub classes: Vec<u32>,
    pub folds: Vec<usize>,
    pub count: usize,
}

impl Folded {
    /// Every class is spread over the folds as evenly as it goes.
    pub(super) fn new(nodes: &[u32], classes: &[u32], count: usize, key: Key) -> Self {
        let mut folds = vec![0; nodes.len()];
        let most = classes.iter().max().map_or(0, |&class| class as usize + 1);
        let mut seen = vec![0; most];
        for at in key.permutation(nodes.len()) {
            let class = classes[at as usize] as usize;
            let first = key.child(1).below(class as u64, count);
            folds[at as usize] = (seen[class] + first) % count;
            seen[class] += 1;
        }
        let (nodes, classes) = (nodes.to_vec(), classes.to_vec());
        Self { nodes, classes, folds, count }
    }

    /// The other ones of so many nodes.
    fn others(&self, nodes: usize) -> Vec<u32> {
        let mut labelled = vec![false; nodes];
        self.nodes.iter().for_each(|&node| labelled[node as usize] = true);
        (0..nodes as u32).filter(|&node| !labelled[node as usize]).collect()
    }
}

impl View {
    /// Maps that know nothing.
    pub(super) fn blank(folds: usize, inputs: usize, classes: usize) -> Self {
        Self { maps: vec![0.0; folds * (inputs + 1) * classes], folds, inputs, classes }
    }

    /// Fits the maps of all folds to inputs `h` `[nodes, inputs]`. The strength of the prior, whether there is
    /// self-training, and the temperature are those under which the held-out labels are most likely.
    pub(super) fn fit(h: &[f64], inputs: usize, labels: &Folded, classes: usize) -> Self {
        let nodes = h.len() / inputs.max(1);
        let square = h.iter().map(|v| v * v).sum::<f64>() / nodes.max(1) as f64;
        let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 1.0 };
        let rows = |chosen: &[u32]| -> Vec<f64> {
            let row = |&node: &u32| &h[node as usize * inputs..(node as usize + 1) * inputs];
            chosen.iter().flat_map(row).map(|v| v * scale).collect()
        };
        let others = rows(&spread(&labels.others(nodes), MOST_OTHERS));
        let part = |keep: &dyn Fn(usize) -> bool| -> (Vec<f64>, Vec<u32>) {
            let kept: Vec<u32> =
                (0..labels.nodes.len() as u32).filter(|&at| keep(at as usize)).collect();
            let kept = spread(&kept, MOST_LABELS);
            let chosen: Vec<u32> = kept.iter().map(|&at| labels.nodes[at as usize]).collect();
            (rows(&chosen), kept.iter().map(|&at| labels.classes[at as usize]).collect())
        };
        let shape = Shape { inputs, classes };
        let sample = |fold: usize| {
            let [(x, y), (held, truth)] =
                [part(&|at| labels.folds[at] != fold), part(&|at| labels.folds[at] == fold)];
            Sample { shape, x, y, held, truth }
        };
        let samples: Vec<Sample> = (0..labels.count).map(sample).collect();
        // A list of maps for every fold; those at the same place belong together.
        let supervised: Vec<Vec<Vec<f64>>> = samples.par_iter().map(Sample::supervised).collect();
        let best = |maps: &[Vec<Vec<f64>>]| {
            let count = maps.first().map_or(0, Vec::len);
            (0..count)
                .map(|at| {
                    let own: Vec<&[f64]> = maps.iter().map(|maps| maps[at].as_slice()).collect();
                    let (beta, loss) = calibrated(&samples, &own);
                    (at, beta, loss)
                })
                .min_by(|a, b| a.2.total_cmp(&b.2))
                .unwrap_or((0, 1.0, 0.0))
        };
        let (at, ..) = best(&supervised);
        let improved = |(sample, maps): (&Sample, &Vec<Vec<f64>>)| {
            let map = maps[at].clone();
            vec![map.clone(), sample.self_trained(STRENGTHS[at], map, &others)]
        };
        let both: Vec<Vec<Vec<f64>>> = samples.par_iter().zip(&supervised).map(improved).collect();
        let (at, beta, _) = best(&both);
        let mut all = Vec::with_capacity(labels.count * (inputs + 1) * classes);
        for maps in &both {
            let (weights, bias) = maps[at].split_at(inputs * classes);
            all.extend(weights.iter().map(|w| w * scale * beta));
            all.extend(bias.iter().map(|b| b * beta));
        }
        Self { maps: all, folds: labels.count, inputs, classes }
    }

    /// Probabilities by the map of one fold, `[nodes, classes]`.
    pub(super) fn of_fold(&self, h: &[f64], fold: usize) -> Vec<f64> {
        let size = (self.inputs + 1) * self.classes;
        let map = &self.maps[fold * size..(fold + 1) * size];
        let shape = Shape { inputs: self.inputs, classes: self.classes };
        let mut out = logits(h, map, shape);
        out.par_chunks_mut(self.classes).for_each(softmax);
        out
    }

    /// The mean over the folds, `[nodes, classes]`.
    pub(super) fn mean(&self, h: &[f64]) -> Vec<f64> {
        let mut total = vec![0.0; h.len() / self.inputs.max(1) * self.classes];
        for fold in 0..self.folds {
            let share = 1.0 / self.folds as f64;
            let own = self.of_fold(h, fold);
            total.par_iter_mut().zip(own).for_each(|(total, own)| *total += share * own);
        }
        total
    }
}

/// At most `most` of some nodes, evenly spread.
fn spread(nodes: &[u32], most: usize) -> Vec<u32> {
    nodes.iter().copied().step_by(nodes.len().div_ceil(most).max(1)).collect()
}

#[derive(Clone, Copy)]
struct Shape {
    inputs: usize,
    classes: usize,
}

/// What the maps of one fold are fitted to, and the nodes that they have not seen.
struct Sample {
    shape: Shape,
    /// Inputs and classes of labelled nodes.
    x: Vec<f64>,
    y: Vec<u32>,
    /// Those of held-out nodes.
    held: Vec<f64>,
    truth: Vec<u32>,
}

/// The inverse temperature under which held-out labels are most likely by some maps, and minus their
/// log-likelihood then.
fn calibrated(samples: &[Sample], maps: &[&[f64]]) -> (f64, f64) {
    let rows: Vec<(Vec<f64>, &Sample)> =
        samples.iter().zip(maps).map(|(s, map)| (logits(&s.held, map, s.shape), s)).collect();
    let loss = |beta: f64| -> f64 {
        let of = |(logits, sample): &(Vec<f64>, &Sample)| -> f64 {
            let rows = logits.chunks_exact(sample.shape.classes).zip(&sample.truth);
            rows.map(|(row, &class)| log_sum_exp(row, beta) - beta * row[class as usize]).sum()
        };
        rows.iter().map(of).sum()
    };
    let beta = temperature(loss);
    (beta, loss(beta))
}

impl Sample {
    /// A map for every strength: `argmin sum_i CE(softmax(x_i W + b), y_i) / n + |W|^2 / (2 strength n)`.
    fn supervised(&self) -> Vec<Vec<f64>> {
        let Shape { inputs, classes } = self.shape;
        let mut map = vec![0.0; (inputs + 1) * classes];
        let fit = |strength: f64| {
            let (targets, weights) = self.labels();
            let prior = 1.0 / (strength * weights.len().max(1) as f64);
            let problem = Problem { shape: self.shape, x: &self.x, targets, weights, prior };
            map = problem.solve(std::mem::take(&mut map), STEPS);
            map.clone()
        };
        STRENGTHS.into_iter().map(fit).collect()
    }

    /// Rounds in which nodes without a label count as their own sharpened probabilities.
    fn self_trained(&self, strength: f64, mut map: Vec<f64>, others: &[f64]) -> Vec<f64> {
        let Shape { inputs, classes } = self.shape;
        let (labelled, count) = (self.y.len(), others.len() / inputs.max(1));
        if count == 0 || labelled == 0 {
            return map;
        }
        let x = [&self.x, others].concat();
        let share = OTHERS * labelled as f64 / count as f64;
        let prior = 1.0 / (strength * labelled as f64);
        for _ in 0..ROUNDS {
            let (mut targets, mut weights) = self.labels();
            let mut own = logits(others, &map, self.shape);
            for row in own.chunks_exact_mut(classes) {
                softmax(row);
                weights.push(share * row.iter().copied().fold(0.0, f64::max).powi(2));
                row.iter_mut().for_each(|p| *p *= *p);
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|p| *p /= sum);
            }
            targets.append(&mut own);
            let problem = Problem { shape: self.shape, x: &x, targets, weights, prior };
            map = problem.solve(map, ROUND_STEPS);
        }
        map
    }

    /// One-hot targets of the labels, and weights of 1.
    fn labels(&self) -> (Vec<f64>, Vec<f64>) {
        let classes = self.shape.classes;
        let mut targets = vec![0.0; self.y.len() * classes];
        for (row, &class) in targets.chunks_exact_mut(classes).zip(&self.y) {
            row[class as usize] = 1.0;
        }
        (targets, vec![1.0; self.y.len()])
    }
}

/// `argmin sum_i w_i CE(softmax(x_i W + b), t_i) / sum_i w_i + prior |W|^2 / 2`.
struct Problem<'a> {
    shape: Shape,
    x: &'a [f64],
    targets: Vec<f64>,
    weights: Vec<f64>,
    prior: f64,
}

impl Problem<'_> {
    fn solve(&self, start: Vec<f64>, steps: usize) -> Vec<f64> {
        let Shape { inputs, classes } = self.shape;
        let rows = self.weights.len();
        let total: f64 = self.weights.iter().sum();
        let f = |map: &[f64], gradient: &mut [f64]| {
            let mut out = logits(self.x, map, self.shape);
            let mut loss = 0.0;
            let each = out.chunks_exact_mut(classes).zip(self.targets.chunks_exact(classes));
            for ((row, target), &weight) in each.zip(&self.weights) {
                let weight = weight / total;
                let mass = log_sum_exp(row, 1.0);
                loss += weight * row.iter().zip(target).map(|(z, t)| t * (mass - z)).sum::<f64>();
                softmax(row);
                row.iter_mut().zip(target).for_each(|(p, t)| *p = weight * (*p - t));
            }
            let (weights, bias) = gradient.split_at_mut(inputs * classes);
            let x = Matrix::new(self.x, rows, inputs).transpose();
            let pulled = matmul(x, Matrix::new(&out, rows, classes));
            let mut square = 0.0;
            for ((gradient, pulled), &weight) in weights.iter_mut().zip(pulled).zip(map) {
                *gradient = pulled + self.prior * weight;
                square += weight * weight;
            }
            bias.fill(0.0);
            for row in out.chunks_exact(classes) {
                bias.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
            loss + 0.5 * self.prior * square
        };
        minimise(f, start, steps, TOLERANCE)
    }
}

/// `h W + b`, `[nodes, classes]`.
fn logits(h: &[f64], map: &[f64], shape: Shape) -> Vec<f64> {
    let Shape { inputs, classes } = shape;
    let (weights, bias) = map.split_at(inputs * classes);
    let rows = h.len() / inputs.max(1);
    let mut out = matmul(Matrix::new(h, rows, inputs), Matrix::new(weights, inputs, classes));
    for row in out.chunks_exact_mut(classes) {
        row.iter_mut().zip(bias).for_each(|(value, b)| *value += b);
    }
    out
}

/// `ln sum_c exp(beta x_c)`.
fn log_sum_exp(row: &[f64], beta: f64) -> f64 {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    beta * top + row.iter().map(|v| (beta * (v - top)).exp()).sum::<f64>().ln()
}

fn softmax(row: &mut [f64]) {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut().for_each(|v| *v = (*v - top).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|v| *v /= sum);
}

/// The inverse temperature of least loss between 1/5 and 5, by golden sections of its logarithm.
fn temperature(loss: impl Fn(f64) -> f64) -> f64 {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (-(5f64.ln()), 5f64.ln());
    for _ in 0..30 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if loss(a.exp()) <= loss(b.exp()) {
            high = b;
        } else {
            low = a;
        }
    }
    ((low + high) / 2.0).exp()
}
