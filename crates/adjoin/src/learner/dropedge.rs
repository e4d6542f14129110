//! DropEdge.

use super::{Shape, table::Settings};
use crate::{
    Error, Result,
    graph::GraphInput,
    kernels::random::Key,
    nn::{GraphLearner, LearnedGraph},
    pass::Pass,
};
use burn::{module::Module, tensor::Device};
use serde::{Deserialize, Serialize};

/// Settings of [`DropEdge`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DropEdgeConfig {
    /// Fraction of the directed edges that is left out of a training step.
    pub drop: f64,
}

impl Default for DropEdgeConfig {
    fn default() -> Self {
        Self { drop: 0.3 }
    }
}

impl DropEdgeConfig {
    /// The learner; it has no weights to draw.
    ///
    /// # Errors
    /// If the fraction is outside [0, 1).
    pub fn init(&self, _key: Key, _device: &Device) -> Result<DropEdge> {
        if !(0.0..1.0).contains(&self.drop) {
            let value = self.drop.to_string();
            return Err(Error::Setting { name: "drop", value, expected: "must be in [0, 1)" });
        }
        Ok(DropEdge { drop: self.drop })
    }
}

/// DropEdge (Rong et al., 2020): keeps each directed edge of the input graph with probability `1 - drop` in training, all of them
/// in evaluation. Convolutions normalise the thinned graph.
#[derive(Module, Debug)]
pub struct DropEdge {
    drop: f64,
}

impl GraphLearner for DropEdge {
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph> {
        input.check()?;
        let graph = input.graph.ok_or(Error::NoInputGraph("DropEdge"))?;
        if !pass.has_noise() || self.drop == 0.0 {
            return Ok(LearnedGraph::plain(graph.clone()));
        }
        let key = pass.key();
        let pair = |i: u32, j: u32| (u64::from(i) << 32) | u64::from(j);
        let thinned = graph.filter(|i, j| key.uniform(pair(i, j)) >= self.drop)?;
        Ok(LearnedGraph::plain(thinned))
    }

    fn keeps_given_edges(&self) -> bool {
        true
    }
}

impl Settings for DropEdgeConfig {
    type Learner = DropEdge;

    fn init_for(
        &self,
        _data: &GraphInput,
        _shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<DropEdge> {
        self.init(key, device)
    }

    fn keeps_given_edges(&self) -> bool {
        true
    }
}
