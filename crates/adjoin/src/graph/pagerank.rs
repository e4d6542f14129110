//! A graph of the nodes that a random walk from each node visits most.

use super::{Adjacency, GraphInput};
use crate::{
    Error, Result,
    topology::{PAGERANK_EPSILON, pagerank_neighbours},
};
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// A graph that joins every node to those of highest personalised PageRank; nothing is learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PageRankConfig {
    /// Neighbours of a node.
    pub k: usize,
    /// Probability that the walk goes back to its start: the smaller, the farther it goes.
    pub alpha: f64,
    /// Factor on the weights of the new edges, which sum to at most 1 in every row before it.
    pub weight: f64,
    /// Keep the input graph and add to it; otherwise the new graph takes its place.
    pub add_input: bool,
    /// Weights `pi_ij sqrt(d_i / d_j)`, and `(A + A^T) / 2` of the new edges.
    pub symmetric: bool,
}

impl Default for PageRankConfig {
    fn default() -> Self {
        Self { k: 32, alpha: 0.05, weight: 5.0, add_input: true, symmetric: true }
    }
}

impl PageRankConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// If `k` is 0, `alpha` is outside (0, 1), or `weight` is not above 0.
    pub fn check(&self) -> Result<()> {
        let wrong = |name, value: String, expected| Err(Error::Setting { name, value, expected });
        if self.k == 0 {
            return wrong("k", "0".into(), "must be at least 1");
        }
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return wrong("alpha", self.alpha.to_string(), "must be between 0 and 1");
        }
        if !(self.weight > 0.0 && self.weight.is_finite()) {
            return wrong("weight", self.weight.to_string(), "must be above 0");
        }
        Ok(())
    }

    /// The graph; no gradient flows but to the weights of the input graph.
    ///
    /// # Errors
    /// If a setting is out of range, the input does not fit, or there is no input graph.
    pub fn build(&self, input: &GraphInput) -> Result<Adjacency> {
        self.check()?;
        input.check()?;
        let PageRankConfig { k, alpha, weight, add_input, symmetric } = *self;
        let graph = input.graph.ok_or(Error::NoInputGraph("PageRank"))?;
        let (pairs, mut values) =
            pagerank_neighbours(graph.topology(), alpha, k, PAGERANK_EPSILON, symmetric)?;
        values.iter_mut().for_each(|value| *value *= weight);
        let data = TensorData::new(values, [pairs.edges()]);
        let like = graph.weights();
        let new = Adjacency::new(pairs, Tensor::from_data(data, (&like.device(), like.dtype())))?;
        let new = if symmetric { new.symmetrised()? } else { new };
        if add_input { graph.plus(&new) } else { Ok(new) }
    }
}
