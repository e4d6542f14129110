//! Node classification.

mod data;
mod experiment;
mod model;
mod timing;
mod trained;
mod trainer;

pub use data::NodeData;
pub use experiment::{Experiment, Observer, Outcome, Unobserved};
pub(crate) use experiment::{checkpoint_path, name_of};
pub use model::{Evaluation, NodeModel};
pub use timing::step_milliseconds;
pub use trained::Trained;
pub(crate) use trainer::Optimisers;
pub use trainer::{Best, Trainer};
