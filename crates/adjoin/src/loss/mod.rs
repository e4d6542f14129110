//! Losses on learned graphs and on what networks make of them.

mod consistency;
mod intermediate;
mod reinforce;
mod structure;

pub use consistency::consistency;
pub use intermediate::{TrainingPairs, anneal};
pub use reinforce::{Baseline, reinforce};
pub use structure::{low_rank, sparsity};
