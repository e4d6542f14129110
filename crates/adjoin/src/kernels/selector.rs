//! The differentiable top-k selector (the paper's Eq. 10).
//!
//! Candidates of a row are ranked by their samples `e`, r = 1, 2, ...; the one of rank r is kept
//! with the weight `h(r) = sigmoid(2 (k + shift - r) / lambda)`, a smooth step at rank k. On ranks
//! 1..n the sum of h is `k + shift - 1/2`: the default shift of one half makes the soft degree k.
//! Ranks are constant in the backward pass: `da/de = h`, `da/dk = e h (1 - h) 2 / lambda`.

use super::{Real, vectorise};
use crate::topology::Csr;
use rayon::prelude::*;

/// The smooth step over ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Width of the step, > 0; towards 0 it becomes the hard top-k.
    pub lambda: f64,
    /// Added to k: 1/2 makes the sum of h equal k, 0 is the paper's literal form.
    pub shift: f64,
    /// A hard step forward, with the gradient of the smooth one.
    pub hard: bool,
}

impl Step {
    /// Weights below this are not stored.
    const SMALLEST: f64 = 1e-7;

    /// `h(rank)` for a row of degree k, smooth.
    #[inline(always)]
    pub fn smooth<T: Real>(&self, k: T, rank: u32) -> T {
        let x = k + T::from_f64(self.shift) - T::from_i32(rank as i32);
        (x * T::from_f64(2.0 / self.lambda)).sigmoid()
    }

    /// How many ranks have a weight worth storing for a row of degree k.
    pub fn reach(&self, k: f64) -> f64 {
        let logit = ((1.0 - Self::SMALLEST) / Self::SMALLEST).ln();
        (k + self.shift + 0.5 * self.lambda * logit).max(0.0)
    }
}

/// Which candidates were kept, and at which rank.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The kept edges.
    pub topology: Csr,
    /// For every kept edge, its position among the candidates.
    pub entries: Vec<u32>,
    /// For every kept edge, its rank in its row, from 1.
    pub ranks: Vec<u32>,
}

/// Ranks every row by `e`, largest first, ties by column, and keeps what `step` can see.
pub fn select<T: Real>(candidates: &Csr, e: &[T], k: &[T], step: Step) -> Selection {
    let keep = |row: usize| (step.reach(k[row].to_f64()) as usize).min(candidates.degree(row));
    let mut pointers = Vec::with_capacity(candidates.rows() + 1);
    pointers.push(0u32);
    for row in 0..candidates.rows() {
        pointers.push(pointers[row] + keep(row) as u32);
    }
    const ROWS: usize = 64;
    let blocks: Vec<Vec<(u32, u32)>> = (0..candidates.rows().div_ceil(ROWS))
        .into_par_iter()
        .map(|block| {
            let mut kept = Vec::new();
            let mut order: Vec<u32> = Vec::new();
            for row in block * ROWS..((block + 1) * ROWS).min(candidates.rows()) {
                let count = (pointers[row + 1] - pointers[row]) as usize;
                order.clear();
                order.extend(candidates.range(row).map(|entry| entry as u32));
                let value = |&entry: &u32| e[entry as usize];
                let larger = |a: &u32, b: &u32| {
                    let by_value = value(b).partial_cmp(&value(a));
                    by_value.unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(b))
                };
                if count > 0 && count < order.len() {
                    order.select_nth_unstable_by(count - 1, larger);
                    order.truncate(count);
                }
                order.sort_unstable_by(larger);
                order.truncate(count);
                let first = kept.len();
                kept.extend(order.iter().zip(1u32..).map(|(&entry, rank)| (entry, rank)));
                kept[first..].sort_unstable();
            }
            kept
        })
        .collect();
    let (entries, ranks): (Vec<u32>, Vec<u32>) = blocks.into_iter().flatten().unzip();
    let indices = entries.iter().map(|&entry| candidates.indices()[entry as usize]).collect();
    let topology = Csr::trusted(candidates.columns(), pointers, indices);
    Selection { topology, entries, ranks }
}

/// Smooth weights `h` of the kept edges.
pub fn steps<T: Real>(selection: &Selection, k: &[T], step: Step) -> Vec<T> {
    let mut h = vec![T::ZERO; selection.ranks.len()];
    vectorise!(step_rows, (selection, k, step, &mut h[..]));
    h
}

#[inline(always)]
fn step_rows<T: Real>((selection, k, step, h): (&Selection, &[T], Step, &mut [T])) {
    for (row, &k) in k.iter().enumerate() {
        let range = selection.topology.range(row);
        let ranks = &selection.ranks[range.clone()];
        for (h, &rank) in h[range].iter_mut().zip(ranks) {
            *h = step.smooth(k, rank);
        }
    }
}

/// `a = e h`, with the hard step in place of h if asked.
pub fn forward<T: Real>(selection: &Selection, e: &[T], h: &[T], step: Step) -> Vec<T> {
    let hard = |h: T| if h >= T::HALF { T::ONE } else { T::ZERO };
    let weight = |h: T| if step.hard { hard(h) } else { h };
    selection.entries.iter().zip(h).map(|(&entry, &h)| e[entry as usize] * weight(h)).collect()
}

/// Gradients of the samples (at all candidates) and of the degrees.
pub fn backward<T: Real>(
    selection: &Selection,
    e: &[T],
    h: &[T],
    step: Step,
    grad: &[T],
) -> (Vec<T>, Vec<T>) {
    let mut grad_e = vec![T::ZERO; e.len()];
    let mut grad_k = vec![T::ZERO; selection.topology.rows()];
    let steepness = T::from_f64(2.0 / step.lambda);
    for (row, slot) in grad_k.iter_mut().enumerate() {
        for at in selection.topology.range(row) {
            let entry = selection.entries[at] as usize;
            grad_e[entry] = grad[at] * h[at];
            *slot += grad[at] * e[entry] * h[at] * (T::ONE - h[at]) * steepness;
        }
    }
    (grad_e, grad_k)
}
