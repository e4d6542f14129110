//! The REINFORCE loss (DGM): a graph that is a hard choice learns from what came of it.

use crate::{Error, Result, nn::EdgeScores, ops};
use burn::tensor::{Tensor, TensorData};

/// What the running mean keeps of itself at each step, as published.
const KEPT: f64 = 0.95;
/// Where the running mean starts, as published: half of the answers are right.
const START: f64 = 0.5;

/// Running means of rewards, which a reward is compared with.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    means: Vec<f64>,
}

impl Baseline {
    /// One running mean per node.
    pub fn per_node(nodes: usize) -> Self {
        Self { means: vec![START; nodes] }
    }

    /// One running mean for all nodes, whichever they are: for nodes that change from step to step.
    pub fn shared() -> Self {
        Self::per_node(1)
    }

    /// The means as they are, to be saved.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The means as they were saved.
    pub fn from_means(means: Vec<f64>) -> Self {
        Self { means }
    }

    /// By how much each reward is above its mean; then the means move, `b <- 0.95 b + 0.05 r`.
    ///
    /// # Errors
    /// If there is more than one mean and not one for each reward.
    pub fn advantages(&mut self, rewards: &[f64]) -> Result<Vec<f64>> {
        if let [mean] = self.means.as_mut_slice() {
            let advantages = rewards.iter().map(|reward| reward - *mean).collect();
            if !rewards.is_empty() {
                let average = rewards.iter().sum::<f64>() / rewards.len() as f64;
                *mean = KEPT * *mean + (1.0 - KEPT) * average;
            }
            return Ok(advantages);
        }
        if rewards.len() != self.means.len() {
            return Err(Error::shape("rewards", [self.means.len()], [rewards.len()]));
        }
        let step = |(mean, reward): (&mut f64, &f64)| {
            let advantage = reward - *mean;
            *mean = KEPT * *mean + (1.0 - KEPT) * reward;
            advantage
        };
        Ok(self.means.iter_mut().zip(rewards).map(step).collect())
    }
}

/// `L = -mean_i (r_i - b_i) mean_j p_ij`, i over `nodes`, j over the edges chosen for i.
///
/// Edges of nodes that did better than before become more likely, those of others less. The
/// advantages `r - b` are constants, one per node of `nodes`, `scores` those of the chosen edges;
/// gradients flow to the log-scores alone. Nodes that are not listed take no part: where rewards
/// come from labels, only nodes whose labels may be seen belong here.
///
/// # Errors
/// If there is not one advantage per node, or a node does not exist.
pub fn reinforce(scores: &EdgeScores, nodes: &[u32], advantages: &[f64]) -> Result<Tensor<1>> {
    let EdgeScores { pairs, log_scores } = scores;
    if advantages.len() != nodes.len() {
        return Err(Error::shape("advantages", [nodes.len()], [advantages.len()]));
    }
    let share = -1.0 / nodes.len().max(1) as f64;
    let mut factors = vec![0.0; pairs.rows()];
    for (entry, (&node, advantage)) in nodes.iter().zip(advantages).enumerate() {
        let (rows, columns) = (pairs.rows(), pairs.columns());
        let factor = factors.get_mut(node as usize).ok_or(Error::NodeOutOfRange {
            entry,
            row: node as usize,
            column: node as usize,
            rows,
            columns,
        })?;
        *factor += share * advantage;
    }
    let options = (&log_scores.device(), log_scores.dtype());
    let factors = Tensor::<1>::from_data(TensorData::new(factors, [pairs.rows()]), options);
    let chances = ops::segment_mean(pairs, &log_scores.clone().exp())?;
    Ok(super::total(chances * factors))
}
