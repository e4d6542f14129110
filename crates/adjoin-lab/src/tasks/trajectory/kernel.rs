//! The graph of Social-STGCNN: agents that move alike are near.

use super::SceneBatch;
use crate::Result;
use adjoin::{Adjacency, Csr};
use burn::tensor::{Tensor, TensorData};

/// Steps nearer to each other than this, in metres, are equal: recordings tell a tenth of a millimetre apart,
/// and what differs by less differs by rounding, whose inverse would be the heaviest weight of all.
const EQUAL: f64 = 5e-5;

/// `a_ij = 1 / |v_i - v_j|` for the last steps v of two agents in a frame; no edge where they are
/// equal, nor from an agent to itself.
///
/// Note that this compares steps, not places: two people who walk alike on opposite pavements are
/// neighbours, as published. The graph is a constant: no gradient flows.
///
/// # Errors
/// If there are too many pairs for 32-bit indices.
pub fn kernel_graph(batch: &SceneBatch) -> Result<Adjacency> {
    let steps: Vec<f64> = batch.steps.to_data().convert::<f64>().iter::<f64>().collect();
    let step = |node: usize| [steps[3 * node], steps[3 * node + 1]];
    let pairs: usize = batch.frames.ranges().map(|range| range.len() * range.len()).sum();
    let (mut indices, mut weights) = (Vec::with_capacity(pairs), Vec::with_capacity(pairs));
    let mut pointers = Vec::with_capacity(batch.nodes() + 1);
    pointers.push(0);
    for range in batch.frames.ranges() {
        for i in range.clone() {
            let [x, y] = step(i);
            for j in range.clone() {
                let [u, v] = step(j);
                let distance = ((x - u).powi(2) + (y - v).powi(2)).sqrt();
                if distance > EQUAL {
                    indices.push(j as u32);
                    weights.push(1.0 / distance);
                }
            }
            pointers.push(indices.len() as u32);
        }
    }
    let options = (&batch.steps.device(), batch.steps.dtype());
    let weights = Tensor::from_data(TensorData::new(weights, [indices.len()]), options);
    Ok(Adjacency::new(Csr::new(batch.nodes(), pointers, indices)?, weights)?)
}
