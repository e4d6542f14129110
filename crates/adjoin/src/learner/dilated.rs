//! Dilated nearest neighbours in feature space.

use crate::{
    Error, Result,
    graph::{Adjacency, GraphInput},
    kernels::random::Key,
    nn::{GraphLearner, LearnedGraph},
    ops,
    pass::Pass,
};
use burn::{module::Module, tensor::Device};
use serde::{Deserialize, Serialize};

/// Settings of [`Dilated`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DilatedConfig {
    /// Neighbours of a node, itself included.
    pub k: usize,
    /// Every how many of the `k * dilation` nearest is one.
    pub dilation: usize,
    /// How likely a training pass takes any `k` of them instead.
    pub stochastic: f64,
}

impl Default for DilatedConfig {
    fn default() -> Self {
        Self { k: 20, dilation: 1, stochastic: 0.0 }
    }
}

impl DilatedConfig {
    /// The learner; it has no weights to draw.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, _key: Key, _device: &Device) -> Result<Dilated> {
        let wrong = |name, value: String, expected| Err(Error::Setting { name, value, expected });
        if self.k == 0 {
            return wrong("k", "0".into(), "must be at least 1");
        }
        if self.dilation == 0 {
            return wrong("dilation", "0".into(), "must be at least 1");
        }
        if !(0.0..=1.0).contains(&self.stochastic) {
            return wrong("stochastic", self.stochastic.to_string(), "must be in [0, 1]");
        }
        Ok(Dilated { config: *self })
    }
}

/// Joins every node to itself and to others near it, found anew in every pass; nothing is learned
/// (DeepGCNs; with dilation 1 the graph of DGCNN).
///
/// Of the `k d` nearest in order, itself first, those at 0, d, 2d, ... are neighbours. In graphs of
/// fewer than `k d` nodes d is as large as they allow. In a training pass, with the probability
/// `stochastic`, random ranks take their place, the same ones for all nodes.
#[derive(Module, Debug)]
pub struct Dilated {
    #[module(skip)]
    config: DilatedConfig,
}

impl Dilated {
    /// The ranks that are neighbours, of which 0 is the node itself.
    fn ranks(&self, smallest: usize, pass: Pass) -> Vec<u32> {
        let DilatedConfig { k, dilation, stochastic } = self.config;
        let dilation = dilation.min(smallest / k).max(1);
        let key = pass.key();
        if pass.has_noise() && key.uniform(0) < stochastic {
            let mut ranks = key.child(1).permutation(k * dilation);
            ranks.truncate(k);
            return ranks;
        }
        (0..k as u32).map(|n| n * dilation as u32).collect()
    }
}

impl GraphLearner for Dilated {
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph> {
        input.check()?;
        let x = input.features.to_dense()?.detach();
        let smallest = input.batch.ranges().map(|range| range.len()).min().unwrap_or(0);
        let graph = ops::neighbours_at(&x, &self.ranks(smallest, pass), input.batch)?;
        Ok(LearnedGraph::plain(Adjacency::unweighted(graph, (&x.device(), x.dtype()))))
    }
}
