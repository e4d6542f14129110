//! Losses on clouds.

use super::{CloudBatch, PointOutput};
use crate::Result;
use adjoin::loss::{self, Baseline};
use burn::tensor::{Tensor, TensorData, activation::log_softmax};

/// Mean of `-sum_c t_c log p_c` over the rows of `logits` `[rows, classes]`, the target `t` giving
/// `1 - smoothing` to the true class and the rest to the others in equal parts.
pub fn smoothed_cross_entropy(logits: &Tensor<2>, classes: &[u32], smoothing: f64) -> Tensor<1> {
    let [rows, count] = logits.dims();
    let other = if count > 1 { smoothing / (count - 1) as f64 } else { 0.0 };
    let mut targets = vec![-other / rows.max(1) as f64; rows * count];
    for (row, &class) in classes.iter().enumerate() {
        targets[row * count + class as usize] =
            -(1.0 - other * (count - 1) as f64) / rows.max(1) as f64;
    }
    let data = TensorData::new(targets, [rows, count]);
    let targets = Tensor::<2>::from_data(data, (&logits.device(), logits.dtype()));
    (log_softmax(logits.clone(), 1) * targets).sum()
}

/// The REINFORCE loss: all points of a cloud, in all layers, share whether it was classified right.
pub(super) fn reinforce(
    batch: &CloudBatch,
    output: &PointOutput,
    right: &[bool],
    rewards: &mut Baseline,
) -> Result<Tensor<1>> {
    let right: Vec<f64> = right.iter().map(|&right| f64::from(right)).collect();
    let of_clouds = rewards.advantages(&right)?;
    let graph_of = batch.clouds.graph_of_nodes();
    let advantages: Vec<f64> = graph_of.iter().map(|&cloud| of_clouds[cloud as usize]).collect();
    let nodes: Vec<u32> = (0..graph_of.len() as u32).collect();
    let share = 1.0 / output.scores.len().max(1) as f64;
    let mut sum = Tensor::zeros([1], &output.logits.device());
    for scores in &output.scores {
        sum = sum + loss::reinforce(scores, &nodes, &advantages)? * share;
    }
    Ok(sum)
}
