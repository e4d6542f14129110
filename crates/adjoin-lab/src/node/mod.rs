//! Node classification.

mod data;
mod experiment;
mod guides;
mod model;
mod state;
mod student;
mod sureness;
mod timing;
mod trained;
mod trainer;

pub use data::NodeData;
pub(crate) use experiment::name_of;
pub use experiment::{Experiment, Observer, Outcome, Unobserved};
pub use guides::Guides;
pub use model::{Evaluation, Guide, NodeModel};
pub use student::Student;
pub use timing::step_milliseconds;
pub use trained::Trained;
use trainer::Optimisers;
pub use trainer::{Best, Trainer};
