//! Node classification.

mod data;
mod experiment;
mod model;
mod state;
mod timing;
mod trained;
mod trainer;

pub use data::NodeData;
pub(crate) use experiment::name_of;
pub use experiment::{Experiment, Observer, Outcome, Unobserved};
pub use model::{Evaluation, NodeModel};
pub use timing::step_milliseconds;
pub use trained::Trained;
use trainer::Optimisers;
pub use trainer::{Best, Trainer};
