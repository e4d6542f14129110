//! No learning: the input graph as it is.

use super::{Shape, table::Settings};
use crate::{
    Result,
    graph::{Adjacency, GraphInput, Prepared},
    kernels::random::Key,
    nn::{GraphLearner, LearnedGraph},
    pass::Pass,
    topology::Candidates,
};
use burn::{module::Module, tensor::Device};

/// Complete graphs are written out up to this many edges.
const MOST_PAIRS: usize = 50_000_000;

/// Hands on the input graph; without one, joins all nodes of a graph of the batch.
#[derive(Module, Debug, Default)]
pub struct Unchanged {}

impl GraphLearner for Unchanged {
    fn learn(&self, input: &GraphInput, _pass: Pass) -> Result<LearnedGraph> {
        input.check()?;
        if let Some(graph) = input.graph {
            return Ok(LearnedGraph::plain(graph.clone()));
        }
        if let Some(graph) = input.prepared.and_then(|prepared| prepared.graph.as_ref()) {
            return Ok(LearnedGraph::plain(graph.clone()));
        }
        let pairs = Candidates::Complete(input.batch.clone()).to_pairs(MOST_PAIRS)?;
        Ok(LearnedGraph::plain(Adjacency::unweighted(pairs, &input.features.device())))
    }

    fn prepare(&self, input: &GraphInput) -> Result<Prepared> {
        let graph = self.learn(input, Pass::evaluate())?.adjacency;
        Ok(Prepared { graph: Some(graph), ..Prepared::default() })
    }

    fn keeps_given_edges(&self) -> bool {
        true
    }

    fn hands_on(&self) -> bool {
        true
    }
}

/// There is nothing to set.
impl Settings for () {
    type Learner = Unchanged;

    fn init_for(
        &self,
        _data: &GraphInput,
        _shape: &Shape,
        _key: Key,
        _device: &Device,
    ) -> Result<Unchanged> {
        Ok(Unchanged {})
    }

    fn keeps_given_edges(&self) -> bool {
        true
    }
}
