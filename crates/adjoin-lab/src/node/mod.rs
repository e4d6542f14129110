//! Node classification.

mod data;
mod experiment;
mod model;
mod trainer;

pub use data::NodeData;
pub use experiment::{Experiment, Observer, Outcome, Unobserved};
pub use model::{Evaluation, NodeModel};
pub use trainer::{Best, Trainer};
