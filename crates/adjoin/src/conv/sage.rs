//! GraphSAGE.

use super::Conv;
use crate::{
    Error, Result,
    graph::{Adjacency, Features},
    kernels::{normalise::Normalisation, random::Key},
    nn::{Aggregate, Linear, LinearConfig},
    pass::Pass,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

/// Settings of a [`Sage`] layer.
#[derive(Clone, Copy, Debug)]
pub struct SageConfig {
    /// Width of the input.
    pub inputs: usize,
    /// Width of the output.
    pub outputs: usize,
}

impl SageConfig {
    /// A layer with separate maps for the node and for its neighbours.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        Self { inputs, outputs }
    }

    /// The layer, with weights drawn from `key`.
    ///
    /// # Errors
    /// If there would be too many weights.
    pub fn init(&self, key: Key, device: &Device) -> Result<Sage> {
        let linear = LinearConfig::new(self.inputs, self.outputs);
        Ok(Sage {
            own: linear.init(key.child(0), device)?,
            neighbours: linear.with_bias(None).init(key.child(1), device)?,
        })
    }
}

/// A layer of GraphSAGE with the weighted mean of the neighbours (Hamilton et al., 2017):
/// `y_i = x_i W_self + (sum_j a_ij x_j / sum_j a_ij) W_neighbours + b`.
///
/// No self-loops are added; a node whose weights sum to 0 gets nothing from its neighbours. A linear map
/// without edges takes the place of the mean as it is.
///
/// # Shapes
/// `x` `[nodes, inputs]`, dense or sparse; result `[nodes, outputs]`.
///
/// # Gradients
/// Flow to both matrices, `b`, dense features, and the weights of the graph, through their sums too.
#[derive(Module, Debug)]
pub struct Sage {
    /// `W_self` and `b`.
    pub own: Linear,
    /// `W_neighbours`.
    pub neighbours: Linear,
}

impl Sage {
    /// The layer over a map that is already a mean.
    fn apply(&self, x: &Features, mean: &dyn Aggregate) -> Result<Tensor<2>> {
        // The mean is linear: averaging after the product handles narrow features.
        let neighbours = mean.aggregate(&self.neighbours.product(x)?)?;
        Ok(self.own.forward(x)? + neighbours)
    }
}

impl Conv for Sage {
    fn forward(&self, x: &Features, graph: &Adjacency, _pass: Pass) -> Result<Tensor<2>> {
        let topology = graph.topology();
        if topology.rows() != topology.columns() {
            let found = [topology.rows(), topology.columns()];
            return Err(Error::shape("GraphSAGE: graph", [topology.rows(); 2], found));
        }
        let graph = graph.prepare(Normalisation::Row, false)?;
        self.apply(x, &graph)
    }

    fn forward_with(&self, x: &Features, graph: &dyn Aggregate, pass: Pass) -> Result<Tensor<2>> {
        match graph.edges() {
            Some(edges) => self.forward(x, edges, pass),
            None => self.apply(x, graph),
        }
    }
}
