//! Tasks, training, checkpoints, reports and the reproduction of published tables.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod checkpoint;
pub mod clock;
pub mod export;
pub mod files;
pub mod labels;
pub mod node;
pub mod plan;
pub mod points;
pub mod presets;
pub mod record;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod schema;
pub mod tensorboard;
pub mod trajectory;

mod config;
mod error;
mod learner;
mod mean_weights;
mod seeds;
mod settings;

pub use config::{BeliefsOf, ChooseBy, Config, TrainConfig};
pub use error::{Error, Result};
pub use learner::{AnyLearner, LEARNERS, LearnerConfig};
