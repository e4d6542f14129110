//! Terms that look at the shape of the learned graph.

use crate::{Result, graph::Adjacency, kernels::random::Key, ops};
use burn::tensor::Tensor;

/// Rounds of subspace iteration: singular values of graphs fall off, so a few are enough.
const ITERATIONS: usize = 4;

/// The sum of the leading `rank` singular values of the learned graph: small when the graph falls
/// into few clusters. Gradients flow to the stored weights only.
///
/// # Errors
/// If the weights are of an element type the kernels do not serve.
pub fn low_rank(graph: &Adjacency, rank: usize, key: Key) -> Result<Tensor<1>> {
    let rank = rank.min(graph.nodes());
    ops::nuclear(graph.topology(), graph.weights(), rank, ITERATIONS, key)
}

/// The mean total weight of a node's edges.
pub fn sparsity(graph: &Adjacency) -> Tensor<1> {
    graph.weights().clone().abs().sum() * (1.0 / graph.nodes().max(1) as f64)
}
