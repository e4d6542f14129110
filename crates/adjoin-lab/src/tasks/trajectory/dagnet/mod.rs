//! DAG-Net (Monti et al., 2020): a recurrent variational network per agent, with goals, and attention
//! between agents over goals and over hidden states.
//!
//! Agents of all scenes of a batch are rows of the same matrices. Time runs in a loop that holds only
//! what the next state depends on; goals, prior, decoder and losses see all steps at once.

mod config;
mod goals;
mod graphs;
mod model;
mod rollout;
mod tracks;

pub use crate::settings::HandOn;
pub use config::DagConfig;
pub use goals::{GoalConfig, GoalFrame, GoalGrid, GoalRule};
pub use model::{DagModel, Fitted};
pub use tracks::Tracks;
