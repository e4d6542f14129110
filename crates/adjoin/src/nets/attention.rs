//! Two layers of attention between the agents of a scene.

use crate::{
    Result,
    conv::{Conv, Gat, GatConfig},
    graph::Adjacency,
    kernels::random::Key,
    ops,
    pass::Pass,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

/// Settings of [`GraphAttention`].
#[derive(Clone, Copy, Debug)]
pub struct GraphAttentionConfig {
    /// Width of the input and of the result.
    pub width: usize,
    /// Heads of the first layer.
    pub heads: usize,
    /// Width of a head of the first layer.
    pub head_width: usize,
}

impl GraphAttentionConfig {
    /// The layers, with weights drawn from `key`.
    ///
    /// # Errors
    /// If a width is out of range.
    pub fn init(&self, key: Key, device: &Device) -> Result<GraphAttention> {
        let Self { width, heads, head_width } = *self;
        Ok(GraphAttention {
            first: GatConfig::new(width, head_width, heads).init(key.child(1), device)?,
            second: GatConfig::new(heads * head_width, width, 1).init(key.child(2), device)?,
        })
    }
}

/// `elu(GAT_1head(elu(GAT_heads(x))))`.
///
/// **Where learned weights enter**: the attention of i to j is `softmax_j(e_ij + log a_ij)`, in both
/// layers, so a weight multiplies what the attention would be before it is normalised. Weight 1 is plain
/// attention, weight 0 is no edge, and the logarithm passes a gradient to every learned weight (weights
/// below 1e-20 count as that). Every agent attends to itself with weight 1.
#[derive(Module, Debug)]
pub struct GraphAttention {
    /// Several heads side by side.
    pub first: Gat,
    /// One head of the full width.
    pub second: Gat,
}

impl GraphAttention {
    /// New features `[agents, width]` from features `[agents, width]` and a graph on the agents.
    ///
    /// # Errors
    /// If the shapes do not fit.
    pub fn forward(&self, x: Tensor<2>, graph: &Adjacency) -> Result<Tensor<2>> {
        // There is no dropout here, so the pass does not matter.
        let hidden = ops::elu(&self.first.forward(&x.into(), graph, Pass::evaluate())?)?;
        ops::elu(&self.second.forward(&hidden.into(), graph, Pass::evaluate())?)
    }
}
