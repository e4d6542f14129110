//! Terms that look at the shape of the learned graph.

use super::total;
use crate::{
    Result,
    graph::Adjacency,
    kernels::random::Key,
    ops::{self, Convergence},
};
use burn::tensor::Tensor;

/// Leaves the gradient less than a hundredth off, also where singular values hardly fall off.
const CONVERGENCE: Convergence = Convergence { tolerance: 1e-3, most: 200 };

/// The sum of the leading `rank` singular values of the learned graph: small when the graph falls
/// into few clusters. Gradients flow to the stored weights only.
///
/// Found by iterating until the singular vectors hold to 1e-3, at most 200 times: a few iterations where
/// singular values fall off, tens on graphs without clusters.
///
/// # Errors
/// If the weights are of an element type the kernels do not serve.
pub fn low_rank(graph: &Adjacency, rank: usize, key: Key) -> Result<Tensor<1>> {
    let rank = rank.min(graph.nodes());
    ops::nuclear(graph.topology(), graph.weights(), rank, CONVERGENCE, key)
}

/// The mean total weight of a node's edges.
pub fn sparsity(graph: &Adjacency) -> Tensor<1> {
    total(graph.weights().clone().abs()) * (1.0 / graph.nodes().max(1) as f64)
}
