//! GCN.

use super::Conv;
use crate::{
    Result,
    graph::{Adjacency, Features},
    kernels::{normalise::Normalisation, random::Key},
    nn::{Aggregate, Linear, LinearConfig},
    pass::Pass,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

/// Settings of a [`Gcn`] layer.
#[derive(Clone, Copy, Debug)]
pub struct GcnConfig {
    /// Width of the input.
    pub inputs: usize,
    /// Width of the output.
    pub outputs: usize,
    /// Add a bias.
    pub bias: bool,
    /// How the graph is scaled.
    pub normalisation: Normalisation,
}

impl GcnConfig {
    /// A layer as published: symmetric scaling, bias, Glorot start.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        Self { inputs, outputs, bias: true, normalisation: Normalisation::Symmetric }
    }

    /// The layer, with weights drawn from `key`.
    ///
    /// # Errors
    /// If there would be too many weights.
    pub fn init(&self, key: Key, device: &Device) -> Result<Gcn> {
        let linear =
            LinearConfig::new(self.inputs, self.outputs).with_bias(self.bias.then_some(0.0));
        Ok(Gcn { linear: linear.init(key, device)?, normalisation: self.normalisation })
    }
}

/// A layer of GCN (Kipf and Welling, 2017): `Y = D^-1/2 (A + I) D^-1/2 X W + b`.
///
/// `A` are the weights of the graph, a self-loop of weight 1 is added where there is none, and `D` are the
/// row sums of `A + I`; [`Normalisation::Row`] scales by `D^-1` instead. A linear map without edges takes
/// the place of the scaled graph as it is.
///
/// # Shapes
/// `X` `[nodes, inputs]`, dense or sparse, `W` `[inputs, outputs]`, `b` `[outputs]`; result `[nodes, outputs]`.
///
/// # Gradients
/// Flow to `W`, `b`, dense features, and the weights of the graph, through `D` too.
#[derive(Module, Debug)]
pub struct Gcn {
    /// `W` and `b`.
    pub linear: Linear,
    #[module(skip)]
    normalisation: Normalisation,
}

impl Gcn {
    /// `A X W + b` with a map that is already scaled.
    fn apply(&self, x: &Features, graph: &dyn Aggregate) -> Result<Tensor<2>> {
        Ok(self.linear.add_bias(graph.aggregate(&self.linear.product(x)?)?))
    }
}

impl Conv for Gcn {
    fn forward(&self, x: &Features, graph: &Adjacency, _pass: Pass) -> Result<Tensor<2>> {
        let graph = graph.prepare(self.normalisation, true)?;
        self.apply(x, &graph)
    }

    fn forward_with(&self, x: &Features, graph: &dyn Aggregate, pass: Pass) -> Result<Tensor<2>> {
        match graph.edges() {
            Some(edges) => self.forward(x, edges, pass),
            None => self.apply(x, graph),
        }
    }
}
