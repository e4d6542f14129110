//! Networks opened at their layers, so that a learner can give each layer a graph of its own.

use crate::{
    Result,
    graph::{Adjacency, Features},
    ops,
    pass::Pass,
};
use burn::tensor::{Tensor, activation::relu};

/// A linear map over nodes, `X -> A X`.
///
/// An [`Adjacency`] is one. Others need no list of edges: sums of maps, anchors, similarities that are
/// computed as they are used.
pub trait Aggregate {
    /// Number of nodes that receive.
    fn nodes(&self) -> usize;

    /// `A X`, `[nodes, width]`; differentiable in `x` and in whatever made the map.
    ///
    /// # Errors
    /// If `x` has another number of rows than the map has nodes.
    fn aggregate(&self, x: &Tensor<2>) -> Result<Tensor<2>>;

    /// The edges, if the map has them: convolutions scale them or attend over them.
    fn edges(&self) -> Option<&Adjacency> {
        None
    }
}

impl Aggregate for Adjacency {
    fn nodes(&self) -> usize {
        self.nodes()
    }

    fn aggregate(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        self.aggregate(x)
    }

    fn edges(&self) -> Option<&Adjacency> {
        Some(self)
    }
}

/// What stands between two layers, beside dropout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(x, 0)`.
    Relu,
    /// `x` above zero, `e^x - 1` below.
    Elu,
}

/// What a layer hands to the next.
///
/// It holds features before their activation, so that activation and dropout stay one pass over them.
#[derive(Clone, Debug)]
pub struct State {
    values: Features,
    /// Still to be applied to the values, which are then dense.
    pending: Option<Activation>,
    first: Option<Tensor<2>>,
}

impl State {
    /// Features that need no activation.
    pub fn new(features: impl Into<Features>) -> Self {
        Self { values: features.into(), pending: None, first: None }
    }

    /// The output of a layer, before its activation.
    pub fn before(activation: Activation, values: Tensor<2>) -> Self {
        Self { values: values.into(), pending: Some(activation), first: None }
    }

    /// The same with the features that the first layer saw, for networks that go back to them.
    #[must_use]
    pub fn with_first(self, first: Tensor<2>) -> Self {
        Self { first: Some(first), ..self }
    }

    /// The features that the first layer saw, if the network goes back to them (GCNII).
    pub fn first(&self) -> Option<&Tensor<2>> {
        self.first.as_ref()
    }

    /// The features as the next layer sees them, activated, before dropout.
    ///
    /// # Errors
    /// If they are of an element type the kernels do not serve.
    pub fn features(&self) -> Result<Features> {
        Ok(match (&self.values, self.pending) {
            (Features::Dense(values), Some(Activation::Relu)) => relu(values.clone()).into(),
            (Features::Dense(values), Some(Activation::Elu)) => ops::elu(values)?.into(),
            (values, _) => values.clone(),
        })
    }

    /// [`features`](Self::features) after dropout.
    ///
    /// # Errors
    /// If `probability` is outside [0, 1).
    pub fn dropped(&self, probability: f64, pass: Pass) -> Result<Features> {
        match (&self.values, self.pending) {
            (Features::Dense(values), Some(Activation::Relu)) => {
                Ok(ops::relu_dropout(values, probability, pass)?.into())
            }
            _ => self.features()?.dropout(probability, pass),
        }
    }

    /// The values without the activation: the output of the last layer of most networks.
    ///
    /// # Errors
    /// If they are sparse, which only the input can be, and do not fit a dense matrix.
    pub fn output(&self) -> Result<Tensor<2>> {
        self.values.to_dense()
    }
}

/// A network, opened at its layers.
///
/// [`run`](Self::run) goes through all of them with one graph. A learner that gives every layer a graph of
/// its own, or looks at what a layer made before it gives the next one, calls the parts.
pub trait Network {
    /// Number of layers that take a graph; 0 of a network without edges.
    fn depth(&self) -> usize;

    /// Width of the input of each of them.
    fn widths(&self) -> Vec<usize>;

    /// What the first layer gets.
    ///
    /// # Errors
    /// If the features do not fit the network.
    fn begin(&self, x: &Features, pass: &Pass) -> Result<State>;

    /// Layer `at`: dropout and activation of what came before, then the convolution.
    ///
    /// # Errors
    /// If there is no such layer, the shapes do not fit, or the layer needs edges and the map has none.
    fn layer(&self, at: usize, state: State, graph: &dyn Aggregate, pass: &Pass) -> Result<State>;

    /// The output `[nodes, outputs]`.
    ///
    /// # Errors
    /// If the state does not come from the last layer.
    fn finish(&self, state: State, pass: &Pass) -> Result<Tensor<2>>;

    /// All layers over one graph.
    ///
    /// # Errors
    /// As the parts.
    fn run(&self, x: &Features, graph: &dyn Aggregate, pass: Pass) -> Result<Tensor<2>> {
        let mut state = self.begin(x, &pass)?;
        for at in 0..self.depth() {
            state = self.layer(at, state, graph, &pass)?;
        }
        self.finish(state, &pass)
    }
}
