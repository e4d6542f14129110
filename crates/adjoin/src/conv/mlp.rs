//! A network without edges.

use crate::{
    Error, Result,
    graph::Features,
    kernels::random::Key,
    nn::{Activation, Aggregate, Linear, LinearConfig, Network, State},
    pass::Pass,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

/// A multilayer perceptron, the network that sees features alone: `h_l = relu(h_(l-1)) W_l + b_l`, with
/// dropout before every map and no activation before the first one.
///
/// It shows what a graph is worth. None of its layers takes one: its [`depth`](Network::depth) is 0 and
/// all of them are in [`finish`](Network::finish).
///
/// # Shapes
/// Features `[nodes, inputs]`, dense or sparse; result `[nodes, outputs]`.
///
/// # Gradients
/// Flow to all `W`, `b` and to dense features; never to a graph.
#[derive(Module, Debug)]
pub struct Mlp {
    /// `W` and `b` of every layer.
    pub layers: Vec<Linear>,
    dropout: f64,
}

impl Mlp {
    /// A map between each two of the widths, weights drawn from children of `key`.
    pub(super) fn new(widths: &[usize], dropout: f64, key: Key, device: &Device) -> Result<Self> {
        let layer = |(at, pair): (usize, &[usize])| {
            LinearConfig::new(pair[0], pair[1]).init(key.child(at as u64), device)
        };
        let layers = widths.windows(2).enumerate().map(layer).collect::<Result<_>>()?;
        Ok(Self { layers, dropout })
    }
}

impl Network for Mlp {
    fn depth(&self) -> usize {
        0
    }

    fn widths(&self) -> Vec<usize> {
        Vec::new()
    }

    fn begin(&self, x: &Features, _pass: &Pass) -> Result<State> {
        Ok(State::new(x.clone()))
    }

    fn layer(&self, at: usize, _: State, _graph: &dyn Aggregate, _pass: &Pass) -> Result<State> {
        Err(Error::shape("layer of a network without edges", "none", at))
    }

    fn finish(&self, state: State, pass: &Pass) -> Result<Tensor<2>> {
        let mut state = state;
        for (at, layer) in self.layers.iter().enumerate() {
            let dropped = state.dropped(self.dropout, pass.child(at as u64).child(0))?;
            state = State::before(Activation::Relu, layer.forward(&dropped)?);
        }
        state.output()
    }
}
