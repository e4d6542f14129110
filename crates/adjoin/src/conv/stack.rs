//! Networks made of layers.

use super::{Conv, GcnII};
use crate::{
    Error, Result,
    graph::Features,
    nn::{Activation, Aggregate, Linear, Network, State},
    pass::Pass,
};
use burn::{
    module::Module,
    tensor::{Tensor, activation::relu},
};

/// Layers of one kind, with dropout before each and an activation between them.
#[derive(Module, Debug)]
pub struct Stack<C: Module> {
    /// The convolutions.
    pub layers: Vec<C>,
    pub(super) dropout: f64,
    #[module(skip)]
    pub(super) widths: Vec<usize>,
    #[module(skip)]
    pub(super) activation: Activation,
}

fn layer_at<C>(layers: &[C], at: usize) -> Result<&C> {
    layers.get(at).ok_or_else(|| Error::shape("layer", format!("below {}", layers.len()), at))
}

impl<C: Conv + Module> Network for Stack<C> {
    fn depth(&self) -> usize {
        self.layers.len()
    }

    fn widths(&self) -> Vec<usize> {
        self.widths.clone()
    }

    fn begin(&self, x: &Features, _pass: &Pass) -> Result<State> {
        Ok(State::new(x.clone()))
    }

    fn layer(&self, at: usize, state: State, graph: &dyn Aggregate, pass: &Pass) -> Result<State> {
        let pass = pass.child(at as u64);
        let dropped = state.dropped(self.dropout, pass.child(0))?;
        let output = layer_at(&self.layers, at)?.forward_with(&dropped, graph, pass.child(1))?;
        Ok(State::before(self.activation, output))
    }

    fn finish(&self, state: State, _pass: &Pass) -> Result<Tensor<2>> {
        state.output()
    }
}

/// GCNII: a linear map in, many layers, a linear map out.
#[derive(Module, Debug)]
pub struct GcnIINetwork {
    /// The map in.
    pub first: Linear,
    /// The convolutions.
    pub layers: Vec<GcnII>,
    /// The map out.
    pub last: Linear,
    pub(super) dropout: f64,
}

impl Network for GcnIINetwork {
    fn depth(&self) -> usize {
        self.layers.len()
    }

    fn widths(&self) -> Vec<usize> {
        vec![self.last.weight.dims()[0]; self.layers.len()]
    }

    fn begin(&self, x: &Features, pass: &Pass) -> Result<State> {
        let dropped = x.dropout(self.dropout, pass.child(0))?;
        let initial = relu(self.first.forward(&dropped)?);
        Ok(State::new(initial.clone()).with_first(initial))
    }

    fn layer(&self, at: usize, state: State, graph: &dyn Aggregate, pass: &Pass) -> Result<State> {
        let edges = graph.edges().ok_or(Error::NoEdges("GCNII"))?;
        let dropped = state.dropped(self.dropout, pass.child(at as u64 + 1))?.to_dense()?;
        let initial = state.first().unwrap_or(&dropped);
        let output = layer_at(&self.layers, at)?.forward_from(&dropped, initial, edges)?;
        Ok(State::before(Activation::Relu, output).with_first(initial.clone()))
    }

    fn finish(&self, state: State, pass: &Pass) -> Result<Tensor<2>> {
        let dropped = state.dropped(self.dropout, pass.child(self.layers.len() as u64 + 1))?;
        self.last.forward(&dropped)
    }
}
