//! One step of message passing over a learned graph.

use crate::{Result, graph::Adjacency, ops};
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// What a graph does to features, `P = D^-1/2 (A + I) D^-1/2` and D the row sums of `A + I`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Propagation {
    /// `x - P x`: how a node differs from its neighbours. What the published code computes.
    #[default]
    Laplacian,
    /// `P x`: the weighted mean of a node and its neighbours.
    Symmetric,
    /// `D^-1 (A + I) x`.
    Row,
}

/// Propagates `x` `[nodes, width]`.
///
/// A self-loop of weight 1 is added to the nodes that have none. It never enters the list of edges,
/// nor does the normalisation: both act on nodes, before and after one product with `A`. Gradients
/// flow to the weights of the graph, through the degrees as well, and to `x`.
///
/// # Errors
/// If the shapes differ.
pub fn propagate(graph: &Adjacency, x: &Tensor<2>, rule: Propagation) -> Result<Tensor<2>> {
    let topology = graph.topology();
    let lone = |i: usize| f64::from(u8::from(topology.find(i, i as u32).is_none()));
    let loops: Vec<f64> = (0..topology.rows()).map(lone).collect();
    let data = TensorData::new(loops, [topology.rows(), 1]);
    let loops = Tensor::<2>::from_data(data, (&x.device(), x.dtype()));
    let sums = ops::segment_sum(topology, graph.weights())?.unsqueeze_dim(1);
    // Below any weight that matters: a node with no weight at all keeps finite numbers.
    let degrees = (sums + loops.clone()).clamp_min(1e-12);
    Ok(match rule {
        Propagation::Row => (graph.aggregate(x)? + x.clone() * loops) / degrees,
        Propagation::Symmetric | Propagation::Laplacian => {
            let scale = degrees.sqrt().recip();
            let scaled = x.clone() * scale.clone();
            let mean = (graph.aggregate(&scaled)? + scaled * loops) * scale;
            match rule {
                Propagation::Laplacian => x.clone() - mean,
                _ => mean,
            }
        }
    })
}
