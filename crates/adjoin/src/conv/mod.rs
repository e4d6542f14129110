//! Graph convolutions: from node features and a weighted graph to node features.
//!
//! All of them take the graph as an [`Adjacency`], whose weights may be learned, and pass gradients
//! to those weights; any of them works with any [`GraphLearner`](crate::nn::GraphLearner).

mod backbone;
mod edgeconv;
mod gat;
mod gcn;
mod gcnii;
mod mlp;
mod sage;
mod stack;

pub use backbone::{BACKBONES, Backbone, BackboneConfig, BackboneEntry, BackboneKind};
pub use edgeconv::{EdgeConv, EdgeConvConfig, EdgeWeighting};
pub use gat::{Gat, GatConfig};
pub use gcn::{Gcn, GcnConfig};
pub use gcnii::{GcnII, GcnIIConfig};
pub use mlp::Mlp;
pub use sage::{Sage, SageConfig};
pub use stack::{GcnIINetwork, Stack};

use crate::{
    Error, Result,
    graph::{Adjacency, Features},
    nn::Aggregate,
    pass::Pass,
};
use burn::tensor::Tensor;

/// One graph convolution.
pub trait Conv {
    /// New features `[nodes, out]` from features `[nodes, in]` and a graph; each convolution scales
    /// the graph and adds self-loops as it needs.
    ///
    /// # Errors
    /// If the shapes do not fit.
    fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> Result<Tensor<2>>;

    /// The same over any linear map. One without edges is applied as it is by the convolutions that
    /// can: it is already scaled. The others refuse it.
    ///
    /// # Errors
    /// If the shapes do not fit, or the convolution needs edges and there are none.
    fn forward_with(&self, x: &Features, graph: &dyn Aggregate, pass: Pass) -> Result<Tensor<2>> {
        let edges = graph.edges().ok_or(Error::NoEdges("this layer"))?;
        self.forward(x, edges, pass)
    }
}
