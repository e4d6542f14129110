//! What the network is trained on.

use super::Unrolled;
use burn::tensor::{Int, Tensor, TensorData};

/// Logarithms of variances stay within plus and minus this, so that an agent that stands still does not
/// drive a likelihood to infinity.
const LARGEST_LOG_VARIANCE: f64 = 8.0;

/// The terms of the loss, each `[1]`: sums over the steps, means over the agents that count.
#[derive(Clone, Debug)]
pub struct Losses {
    /// Negative log-likelihood of the steps.
    pub likelihood: Tensor<1>,
    /// Divergence of the posterior from the prior.
    pub divergence: Tensor<1>,
    /// Cross-entropy of the goals.
    pub goals: Tensor<1>,
}

impl Losses {
    /// Of distributions, given the steps that were made `[steps * agents, 2]`, the goals `[steps * agents]` and
    /// which agents count. Gradients flow to all distributions of those that do.
    pub fn new(
        unrolled: &Unrolled,
        steps: &Tensor<2>,
        goals: &Tensor<1, Int>,
        counted: &[bool],
        faithful: bool,
    ) -> Self {
        let count = counted.iter().filter(|counts| **counts).count();
        let per_agent = 1.0 / count.max(1) as f64;
        let rows = steps.dims()[0];
        let mask = (count < counted.len()).then(|| {
            let ones = counted.iter().cycle().take(rows).map(|&counts| f64::from(u8::from(counts)));
            let data = TensorData::new(ones.collect::<Vec<f64>>(), [rows, 1]);
            Tensor::<2>::from_data(data, (&steps.device(), steps.dtype()))
        });
        // A sum over the rows of agents that count.
        let total = |terms: Tensor<2>| match &mask {
            Some(mask) => (terms * mask.clone()).sum(),
            None => terms.sum(),
        };
        let (mean, log_variance) = halves(&unrolled.step, faithful);
        let miss = (steps.clone() - mean).square() * log_variance.clone().neg().exp();
        let numbers = rows / counted.len().max(1) * count * steps.dims()[1];
        let constant = numbers as f64 * std::f64::consts::TAU.ln();
        let likelihood = (total(miss + log_variance) + constant) * (0.5 * per_agent);

        let (mean, log_variance) = halves(&unrolled.posterior, faithful);
        let (prior_mean, prior_log_variance) = halves(&unrolled.prior, faithful);
        let scale = prior_log_variance.clone().neg().exp();
        let ratio = prior_log_variance - log_variance.clone();
        let divergence = ratio.clone() + ratio.neg().exp() + (mean - prior_mean).square() * scale;
        let divergence = total(divergence - 1.0) * (0.5 * per_agent);

        let chosen = unrolled.goals.clone().gather(1, goals.clone().unsqueeze_dim(1));
        let goals = match faithful {
            true => total(chosen.exp()).neg(),
            false => total(chosen) * -per_agent,
        };
        Self { likelihood, divergence, goals }
    }

    /// The loss.
    pub fn total(&self, divergence: f64, goals: f64) -> Tensor<1> {
        self.likelihood.clone() + self.divergence.clone() * divergence + self.goals.clone() * goals
    }
}

/// Means and logarithms of variances, these within bounds unless `free`.
pub fn halves(parameters: &Tensor<2>, free: bool) -> (Tensor<2>, Tensor<2>) {
    let half = parameters.dims()[1] / 2;
    let part = |range| parameters.clone().slice_dim(1, range);
    let (mean, log_variance) = (part(0..half), part(half..2 * half));
    match free {
        true => (mean, log_variance),
        false => (mean, log_variance.clamp(-LARGEST_LOG_VARIANCE, LARGEST_LOG_VARIANCE)),
    }
}
