//! Losses on learned graphs and on the output of networks.

mod consistency;
mod intermediate;
mod reinforce;
mod structure;

pub use consistency::consistency;
pub use intermediate::{TrainingPairs, anneal};
pub use reinforce::{Baseline, reinforce};
pub use structure::{low_rank, sparsity};

use burn::tensor::Tensor;

/// The sum of all values, in an order that does not depend on the number of threads.
///
/// Burn shares the sum of a very long tensor among threads; parts that are not so long are added here, one
/// after the other.
fn total(values: Tensor<1>) -> Tensor<1> {
    const PART: usize = 1 << 20;
    let [count] = values.dims();
    if count <= PART {
        return values.sum();
    }
    let part = |start: usize| values.clone().slice(start..count.min(start + PART)).sum();
    (PART..count).step_by(PART).fold(part(0), |sum, start| sum + part(start))
}
