//! The given graph with a weighted self-loop.

use super::{Shape, prepared_or, table::Settings};
use crate::{
    Error, Result,
    graph::{Adjacency, GraphInput, Prepared},
    kernels::random::Key,
    nn::{GraphLearner, LearnedGraph, Start},
    ops,
    pass::Pass,
    topology::{Csr, SelfLoops},
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::softplus},
};
use serde::{Deserialize, Serialize};

/// Settings of [`SelfWeight`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelfWeightConfig {
    /// Weight of the self-loop of every node; where it starts if it is learned.
    pub weight: f64,
    /// Learn it together with the network: one number for all nodes.
    pub learn: bool,
}

impl Default for SelfWeightConfig {
    fn default() -> Self {
        Self { weight: 1.0, learn: false }
    }
}

impl SelfWeightConfig {
    /// The learner.
    ///
    /// # Errors
    /// If the weight is negative or no number, or is 0 and to be learned.
    pub fn init(&self, key: Key, device: &Device) -> Result<SelfWeight> {
        let Self { weight, learn } = *self;
        let fits = weight.is_finite() && if learn { weight > 0.0 } else { weight >= 0.0 };
        if !fits {
            let expected = "must be a number from 0, and above 0 if it is learned";
            return Err(Error::Setting { name: "weight", value: weight.to_string(), expected });
        }
        // The inverse of the softplus; far from 0 both are the identity.
        let start = if weight > 30.0 { weight } else { weight.exp_m1().ln() };
        let theta = || Start::Constant(start).tensor([1], [1, 1], key, device);
        let theta = learn.then(|| Param::from_tensor(theta()));
        Ok(SelfWeight { theta, config: self.clone() })
    }
}

/// The given graph with a self-loop of weight s at every node, in place of those it has.
///
/// s says how much a node counts beside its neighbours: large ones trust the graph less. It is a setting, or
/// learned as `s = softplus(theta)`. With s = 1 GCN, GAT and GCNII compute what they do on the given graph.
/// GraphSAGE has a map of its own for the node itself; its mean then holds the node too.
///
/// # Shapes
/// `theta` `[1]`; an edge more a node.
///
/// # Gradients
/// Flow to `theta` and to the weights of the given graph.
#[derive(Module, Debug)]
pub struct SelfWeight {
    /// `theta`, if s is learned.
    pub theta: Option<Param<Tensor<1>>>,
    #[module(skip)]
    config: SelfWeightConfig,
}

impl SelfWeight {
    /// s, `[1]`, if it is learned.
    pub fn learned_weight(&self) -> Option<Tensor<1>> {
        self.theta.as_ref().map(|theta| softplus(theta.val(), 1.0))
    }

    fn build(&self, input: &GraphInput) -> Result<Adjacency> {
        input.check()?;
        let given = input.graph.ok_or(Error::NoInputGraph("self-weight"))?;
        let given = given.filter(|i, j| i != j)?;
        let topology = given.topology().with_self_loops(SelfLoops::Add);
        let positions = topology.positions_in(given.topology());
        let Some(weight) = self.learned_weight() else {
            let weights = ops::take(given.weights(), positions, self.config.weight)?;
            return Adjacency::new(topology, weights);
        };
        let nodes = Csr::identity(topology.rows());
        let of_loops = topology.positions_in(&nodes);
        let loops = ops::take(&weight.repeat_dim(0, topology.rows()), of_loops, 0.0)?;
        let loops = loops.cast(given.weights().dtype());
        Adjacency::new(topology, ops::take(given.weights(), positions, 0.0)? + loops)
    }
}

impl GraphLearner for SelfWeight {
    fn learn(&self, input: &GraphInput, _pass: Pass) -> Result<LearnedGraph> {
        match self.config.learn {
            true => Ok(LearnedGraph::plain(self.build(input)?)),
            false => prepared_or(input, || self.build(input)),
        }
    }

    fn prepare(&self, input: &GraphInput) -> Result<Prepared> {
        let graph = (!self.config.learn).then(|| self.build(input)).transpose()?;
        Ok(Prepared { graph, ..Prepared::default() })
    }
}

impl Settings for SelfWeightConfig {
    type Learner = SelfWeight;

    fn init_for(
        &self,
        _data: &GraphInput,
        _shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<SelfWeight> {
        self.init(key, device)
    }
}
