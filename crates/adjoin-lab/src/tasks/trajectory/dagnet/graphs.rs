//! The graphs of the moments, cut from one stack and made from places.

use super::tracks::difference;
use crate::Result;
use adjoin::{Adjacency, Batch, Csr};
use burn::tensor::{DType, Device, Tensor, TensorData};
use std::ops::Range;

/// The part of a block-diagonal graph on some of its rows; no edge may leave them.
pub(super) fn rows(graph: &Adjacency, rows: Range<usize>) -> adjoin::Result<Adjacency> {
    let (topology, first) = (graph.topology(), rows.start as u32);
    let entries = topology.pointers()[rows.start] as usize..topology.pointers()[rows.end] as usize;
    let base = entries.start as u32;
    let pointers = topology.pointers()[rows.start..=rows.end].iter().map(|&p| p - base).collect();
    let indices = topology.indices()[entries.clone()].iter().map(|&j| j.wrapping_sub(first));
    let part = Csr::new(rows.len(), pointers, indices.collect())?;
    let weights = graph.weights();
    match graph.is_uniform() {
        true => Ok(Adjacency::unweighted(part, (&weights.device(), weights.dtype()))),
        false => Adjacency::new(part, weights.clone().slice(entries)),
    }
}

/// The graph with weight 1 wherever there is any: what a network that takes graphs for masks sees.
pub(super) fn mask(graph: &Adjacency) -> adjoin::Result<Adjacency> {
    let weights: Vec<f64> = super::tracks::floats(graph.weights());
    let mut weights = weights.into_iter();
    let topology = graph.topology().filter(|_, _, _| weights.next().is_some_and(|w| w > 0.0));
    Ok(Adjacency::unweighted(topology, (&graph.weights().device(), graph.weights().dtype())))
}

/// `a_ij = exp(-|p_i - p_j| / sigma)` between all agents of a graph of the batch; a constant.
///
/// # Errors
/// If there are too many pairs for 32-bit indices.
pub(super) fn distance_graph(
    batch: &Batch,
    places: &[[f32; 2]],
    sigma: f64,
    options: (&Device, DType),
) -> Result<Adjacency> {
    let pairs: usize = batch.ranges().map(|range| range.len() * range.len()).sum();
    let (mut indices, mut weights) = (Vec::with_capacity(pairs), Vec::with_capacity(pairs));
    let mut pointers = Vec::with_capacity(batch.nodes() + 1);
    pointers.push(0);
    for range in batch.ranges() {
        for i in range.clone() {
            for j in range.clone().filter(|&j| j != i) {
                let [x, y] = difference(places[i], places[j]);
                indices.push(j as u32);
                weights.push((-f64::from(x).hypot(f64::from(y)) / sigma).exp());
            }
            pointers.push(indices.len() as u32);
        }
    }
    let weights = Tensor::from_data(TensorData::new(weights, [indices.len()]), options);
    Ok(Adjacency::new(Csr::new(batch.nodes(), pointers, indices)?, weights)?)
}
