//! A graph of nearest neighbours in (smoothed) feature space.

use super::{Adjacency, GraphInput};
use crate::{
    Error, Result,
    kernels::{normalise::Normalisation, pairs::Similarity},
    ops,
    topology::{CandidateRule, Metric},
};
use serde::{Deserialize, Serialize};

/// Weights of the new edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnnWeights {
    /// All 1.
    Uniform,
    /// The cosine of the two feature vectors, negative ones cut to 0.
    #[default]
    Cosine,
}

/// A graph that joins every node to its nearest neighbours; nothing is learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KnnConfig {
    /// Neighbours of a node.
    pub k: usize,
    /// What "near" means.
    pub metric: Metric,
    /// Weights of the new edges.
    pub weights: KnnWeights,
    /// Propagation steps over the normalised input graph before features are compared.
    pub smoothing: usize,
    /// Keep the input graph and add to it; otherwise the new graph takes its place.
    pub add_input: bool,
    /// `(A + A^T) / 2` of the new edges.
    pub symmetric: bool,
}

impl Default for KnnConfig {
    fn default() -> Self {
        Self {
            k: 20,
            metric: Metric::Cosine,
            weights: KnnWeights::Cosine,
            smoothing: 0,
            add_input: true,
            symmetric: true,
        }
    }
}

impl KnnConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// If `k` is 0.
    pub fn check(&self) -> Result<()> {
        if self.k == 0 {
            let value = "0".to_string();
            return Err(Error::Setting { name: "k", value, expected: "must be at least 1" });
        }
        Ok(())
    }

    /// The graph; no gradient flows to the features.
    ///
    /// # Errors
    /// If a setting is out of range, the input does not fit, or smoothing finds no input graph.
    pub fn build(&self, input: &GraphInput) -> Result<Adjacency> {
        self.check()?;
        input.check()?;
        let KnnConfig { k, metric, weights, smoothing, add_input, symmetric } = *self;
        let mut x = input.features.to_dense()?.detach();
        if smoothing > 0 {
            let graph = input.graph.ok_or(Error::NoInputGraph("smoothing of features"))?;
            let graph = graph.prepare(Normalisation::Symmetric, true)?;
            for _ in 0..smoothing {
                x = graph.aggregate(&x)?;
            }
        }
        let rule = CandidateRule::Nearest { k, metric };
        let pairs = ops::candidates(&rule, None, Some(&x), input.batch)?.to_pairs(usize::MAX)?;
        let new = match weights {
            KnnWeights::Uniform => Adjacency::unweighted(pairs, &x.device()),
            KnnWeights::Cosine => {
                let cosines = ops::pair_similarity(&pairs, Similarity::Cosine, &x)?;
                Adjacency::new(pairs, cosines.clamp_min(0.0))?
            }
        };
        let new = if symmetric { new.symmetrised()? } else { new };
        match input.graph {
            Some(graph) if add_input => graph.plus(&new),
            _ => Ok(new),
        }
    }
}
