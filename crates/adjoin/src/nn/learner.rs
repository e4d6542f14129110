//! Ways to learn a structure: from nodes, and perhaps a graph, to a graph.

use crate::{
    Result,
    graph::{Adjacency, GraphInput, Prepared},
    pass::Pass,
    topology::Csr,
};
use burn::tensor::Tensor;

/// A graph that a learner made, with what losses, plots and exports want to know of it.
#[derive(Clone, Debug)]
pub struct LearnedGraph {
    /// Topology and differentiable weights; without self-loops unless the learner ranks them.
    pub adjacency: Adjacency,
    /// Learned neighbourhood sizes `k`, `[nodes]`.
    pub degrees: Option<Tensor<1>>,
    /// Latent features `x^`, `[nodes, width]`.
    pub latent: Option<Tensor<2>>,
    /// Scores of the candidates that were ranked.
    pub scores: Option<EdgeScores>,
}

impl LearnedGraph {
    /// A graph about which nothing more is known.
    pub fn plain(adjacency: Adjacency) -> Self {
        Self { adjacency, degrees: None, latent: None, scores: None }
    }
}

/// Log-scores of candidate pairs.
#[derive(Clone, Debug)]
pub struct EdgeScores {
    /// The pairs.
    pub pairs: Csr,
    /// `log p` of each, `[pairs]`, without noise.
    pub log_scores: Tensor<1>,
}

/// Turns nodes, and perhaps a graph, into a graph.
pub trait GraphLearner {
    /// The graph of one pass. In evaluation passes the result is deterministic.
    ///
    /// # Errors
    /// If the input does not fit, or the learner needs something that is not there.
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph>;

    /// Several independent draws for one step.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    fn sample(&self, input: &GraphInput, pass: Pass, samples: usize) -> Result<Vec<LearnedGraph>> {
        (0..samples as u64).map(|draw| self.learn(input, pass.child(draw))).collect()
    }

    /// What can be worked out once for an input that stays the same.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    fn prepare(&self, _input: &GraphInput) -> Result<Prepared> {
        Ok(Prepared::default())
    }
}
