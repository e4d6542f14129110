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

/// More labelled nodes than these do not make a view better, only slower.
const MOST_LABELS: usize = 4000;

/// Class probabilities by `softmax(h W_f + b_f)`, a map `f` for every fold of the training labels, which
/// was fitted without that fold; those of the folds are averaged.
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
}

impl View {
    /// Fits the maps of all folds to inputs `h` `[nodes, inputs]`. The strength of the prior and the
    /// temperature are those under which the held-out labels are most likely.
    pub(super) fn fit(h: &[f64], inputs: usize, labels: &Folded, classes: usize) -> Self {
        let nodes = h.len() / inputs.max(1);
        let square = h.iter().map(|v| v * v).sum::<f64>() / nodes.max(1) as f64;
        let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 1.0 };
        let rows = |keep: &dyn Fn(usize) -> bool, most: usize| -> (Vec<f64>, Vec<u32>) {
            let kept: Vec<usize> = (0..labels.nodes.len()).filter(|&at| keep(at)).collect();
            let stride = kept.len().div_ceil(most.max(1)).max(1);
            let kept = kept.into_iter().step_by(stride);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for at in kept {
                let start = labels.nodes[at] as usize * inputs;
                x.extend(h[start..start + inputs].iter().map(|v| v * scale));
                y.push(labels.classes[at]);
            }
            (x, y)
        };
        let fits: Vec<[(Vec<f64>, Vec<f64>); STRENGTHS.len()]> = (0..labels.count)
            .into_par_iter()
            .map(|fold| {
                let (x, y) = rows(&|at| labels.folds[at] != fold, MOST_LABELS);
                let (held_x, held_y) = rows(&|at| labels.folds[at] == fold, MOST_LABELS);
                let mut map = vec![0.0; (inputs + 1) * classes];
                STRENGTHS.map(|strength| {
                    map = fit_map(&x, &y, inputs, classes, strength, map.clone());
                    let mut held = logits(&held_x, &map, inputs, classes);
                    // The first column is the logit of the true class from here on.
                    for (row, &class) in held.chunks_exact_mut(classes).zip(&held_y) {
                        row.swap(0, class as usize);
                    }
                    (map.clone(), held)
                })
            })
            .collect();
        let held = |strength: usize| -> Vec<&[f64]> {
            fits.iter().flat_map(|fit| fit[strength].1.chunks_exact(classes)).collect()
        };
        let loss = |rows: &[&[f64]], beta: f64| -> f64 {
            rows.iter().map(|row| log_sum_exp(row, beta) - beta * row[0]).sum()
        };
        let best = (0..STRENGTHS.len())
            .map(|at| (at, loss(&held(at), 1.0)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0, |(at, _)| at);
        let rows = held(best);
        let beta = temperature(|beta| loss(&rows, beta));
        let mut maps = Vec::with_capacity(labels.count * (inputs + 1) * classes);
        for fit in &fits {
            let (weights, bias) = fit[best].0.split_at(inputs * classes);
            maps.extend(weights.iter().map(|w| w * scale * beta));
            maps.extend(bias.iter().map(|b| b * beta));
        }
        Self { maps, folds: labels.count, inputs, classes }
    }

    /// Probabilities by the map of one fold, `[nodes, classes]`.
    pub(super) fn of_fold(&self, h: &[f64], fold: usize) -> Vec<f64> {
        let size = (self.inputs + 1) * self.classes;
        let map = &self.maps[fold * size..(fold + 1) * size];
        let mut out = logits(h, map, self.inputs, self.classes);
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

/// `h W + b`, `[nodes, classes]`.
fn logits(h: &[f64], map: &[f64], inputs: usize, classes: usize) -> Vec<f64> {
    let (weights, bias) = map.split_at(inputs * classes);
    let rows = h.len() / inputs.max(1);
    let mut out = matmul(Matrix::new(h, rows, inputs), Matrix::new(weights, inputs, classes));
    for row in out.chunks_exact_mut(classes) {
        row.iter_mut().zip(bias).for_each(|(value, b)| *value += b);
    }
    out
}

/// `argmin sum_i CE(softmax(x_i W + b), y_i) / n + |W|^2 / (2 strength n)`.
fn fit_map(
    x: &[f64],
    y: &[u32],
    inputs: usize,
    classes: usize,
    strength: f64,
    start: Vec<f64>,
) -> Vec<f64> {
    let rows = y.len();
    let share = 1.0 / rows.max(1) as f64;
    let prior = share / strength;
    let f = |map: &[f64], gradient: &mut [f64]| {
        let mut out = logits(x, map, inputs, classes);
        let mut loss = 0.0;
        for (row, &class) in out.chunks_exact_mut(classes).zip(y) {
            loss += log_sum_exp(row, 1.0) - row[class as usize];
            softmax(row);
            row[class as usize] -= 1.0;
        }
        let (weights, bias) = gradient.split_at_mut(inputs * classes);
        let pulled =
            matmul(Matrix::new(x, rows, inputs).transpose(), Matrix::new(&out, rows, classes));
        let mut square = 0.0;
        for ((gradient, pulled), &weight) in weights.iter_mut().zip(pulled).zip(map) {
            *gradient = share * pulled + prior * weight;
            square += weight * weight;
        }
        bias.fill(0.0);
        for row in out.chunks_exact(classes) {
            bias.iter_mut().zip(row).for_each(|(sum, value)| *sum += share * value);
        }
        share * loss + 0.5 * prior * square
    };
    minimise(f, start, STEPS, TOLERANCE)
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
