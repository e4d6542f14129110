//! Tasks, training, checkpoints, reports and the reproduction of published tables.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod labels;
pub mod node;
pub mod presets;
pub mod record;
pub mod report;
pub mod reproduce;

pub mod clock;

mod config;
mod error;
mod learner;

pub use config::{ChooseBy, Config, TrainConfig};
pub use error::{Error, Result};
pub use learner::{AnyLearner, LEARNERS, LearnerConfig};
