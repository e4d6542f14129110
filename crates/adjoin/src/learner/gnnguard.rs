//! GNNGuard.

use super::{Shape, table::Settings};
use crate::{
    Error, Result,
    graph::{Adjacency, Features, GraphInput},
    kernels::random::Key,
    nn::{Draw, GraphLearner, LearnedGraph, Network, Outcome, Reading},
    pass::Pass,
    topology::{Csr, SelfLoops},
};
use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};

/// Settings of [`GnnGuard`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GnnGuardConfig {
    /// Edges between nodes whose cosine is below this get no weight.
    pub threshold: f64,
    /// Share of the weights of the layer before in those of a layer.
    pub memory: f64,
}

impl Default for GnnGuardConfig {
    fn default() -> Self {
        Self { threshold: 0.1, memory: 0.5 }
    }
}

impl GnnGuardConfig {
    /// The learner; it has no weights to draw.
    ///
    /// # Errors
    /// If the threshold is outside (0, 1] or the memory outside [0, 1].
    pub fn init(&self, _key: Key, _device: &Device) -> Result<GnnGuard> {
        let Self { threshold, memory } = *self;
        let setting = |name, value: f64, expected, holds: bool| {
            let value = value.to_string();
            if holds { Ok(()) } else { Err(Error::Setting { name, value, expected }) }
        };
        let positive = threshold > 0.0 && threshold <= 1.0;
        setting("threshold", threshold, "must be above 0 and at most 1", positive)?;
        setting("memory", memory, "must be in [0, 1]", (0.0..=1.0).contains(&memory))?;
        Ok(GnnGuard { threshold, memory })
    }
}

/// GNNGuard (Zhang and Zitnik, 2020): every layer weighs the given edges by how alike the nodes are to it.
///
/// With h the input of layer l before dropout, `s_ij = cos(h_i, h_j)` on the given edges, 0 below the
/// threshold, and `n_i` the number of `s_ij` above 0:
///
/// `a_ij = n_i / (n_i + 1) s_ij / sum_k s_ik`, `a_ii = 1 / (n_i + 1)`, so that rows sum to 1. Layer 0 gets
/// `w^0 = a^0`, layer l `w^l = m w^(l-1) + (1 - m) a^l` with the memory m.
///
/// Given weights and self-loops are not looked at. The public code makes m a parameter, adds a learned
/// gate and takes the exponential of the weights; here m is a setting and neither of the others is done.
/// [`learn`](GraphLearner::learn) gives `a` of the features themselves; a draw shows the graph of the last layer.
///
/// # Shapes
/// A graph for each layer: at most the given edges, and a self-loop a node.
///
/// # Gradients
/// None: the weights are constants, as published.
#[derive(Module, Debug)]
pub struct GnnGuard {
    threshold: f64,
    memory: f64,
}

impl GnnGuard {
    /// `a` at the given edges and self-loops.
    fn weights(&self, edges: &Csr, h: &Features) -> Result<Vec<f64>> {
        let mut weights = h.cosines(edges)?;
        for row in 0..edges.rows() {
            let (mut count, mut sum) = (0.0, 0.0);
            let range = edges.range(row);
            for (&column, weight) in edges.row(row).iter().zip(&mut weights[range.clone()]) {
                if column as usize == row || *weight < self.threshold {
                    *weight = 0.0;
                } else {
                    (count, sum) = (count + 1.0, sum + *weight);
                }
            }
            let scale = if sum > 0.0 { count / (count + 1.0) / sum } else { 0.0 };
            for (&column, weight) in edges.row(row).iter().zip(&mut weights[range]) {
                *weight =
                    if column as usize == row { 1.0 / (count + 1.0) } else { *weight * scale };
            }
        }
        Ok(weights)
    }

    /// The edges that have a weight.
    fn graph(edges: &Csr, weights: &[f64], like: &Tensor<1>) -> Result<Adjacency> {
        let topology = edges.filter(|entry, _, _| weights[entry] > 0.0);
        let kept: Vec<f64> = weights.iter().copied().filter(|&weight| weight > 0.0).collect();
        let data = TensorData::new(kept, [topology.edges()]).convert_dtype(like.dtype());
        Adjacency::new(topology, Tensor::from_data(data, (&like.device(), like.dtype())))
    }

    /// One run of the network, and the graph of its last layer.
    fn run(&self, input: &GraphInput, network: &dyn Network, pass: &Pass) -> Result<Draw> {
        let (edges, like) = given(input)?;
        let mut state = network.begin(input.features, pass)?;
        let mut before: Option<Vec<f64>> = None;
        let mut graph = None;
        for at in 0..network.depth() {
            let mut weights = self.weights(&edges, &state.features()?)?;
            for (weight, before) in weights.iter_mut().zip(before.iter().flatten()) {
                *weight = self.memory * before + (1.0 - self.memory) * *weight;
            }
            let own = Self::graph(&edges, &weights, like)?;
            state = network.layer(at, state, &own, pass)?;
            (before, graph) = (Some(weights), Some(own));
        }
        let logits = network.finish(state, pass)?;
        let graph = match graph {
            Some(graph) => LearnedGraph::plain(graph),
            None => self.learn(input, pass.child(0))?,
        };
        Ok(Draw { graph, logits, share: 1.0, log_weight: None })
    }
}

/// The given edges with a self-loop at every node, and what tensors are to be like.
fn given<'a>(input: &GraphInput<'a>) -> Result<(Csr, &'a Tensor<1>)> {
    input.check()?;
    let graph = input.graph.ok_or(Error::NoInputGraph("GNNGuard"))?;
    Ok((graph.topology().with_self_loops(SelfLoops::Add), graph.weights()))
}

impl GraphLearner for GnnGuard {
    fn learn(&self, input: &GraphInput, _pass: Pass) -> Result<LearnedGraph> {
        let (edges, like) = given(input)?;
        let weights = self.weights(&edges, input.features)?;
        Ok(LearnedGraph::plain(Self::graph(&edges, &weights, like)?))
    }

    /// A graph for every layer, from what the layer gets; draws differ by the dropout of the network.
    fn drive(
        &self,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        let share = 1.0 / draws.max(1) as f64;
        let run = |draw: usize| {
            let pass = pass.child(2).child(draw as u64);
            Ok(Draw { share, ..self.run(input, network, &pass)? })
        };
        let draws = (0..draws.max(1)).map(run).collect::<Result<_>>()?;
        Ok(Outcome { draws, reading: Reading::MeanOfLosses, terms: Vec::new() })
    }
}

impl Settings for GnnGuardConfig {
    type Learner = GnnGuard;

    fn init_for(
        &self,
        _data: &GraphInput,
        _shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<GnnGuard> {
        self.init(key, device)
    }
}
