//! DAG-Net (Monti et al., 2020): a recurrent variational network per agent, with goals, and attention
//! between agents over goals and over hidden states.
//!
//! Agents of all scenes of a batch are rows of the same matrices. Time runs in a loop that holds only
//! what the next state depends on; goals, prior, decoder and losses see all steps at once.

mod attention;
mod config;
mod goals;
mod graphs;
mod loss;
mod model;
mod network;
mod rollout;
mod tracks;
mod unit;

pub use attention::{GraphAttention, GraphAttentionConfig};
pub(super) use config::{BASKETBALL_NEIGHBOURS, is_basketball};
pub use config::{Blend, DagConfig, DagGraph, DagNetConfig, HandOn};
pub use goals::{GoalConfig, GoalFrame, GoalGrid, GoalRule};
pub use loss::Losses;
pub use model::{DagModel, Fitted};
pub use network::{DagNet, Moments, State, Unrolled};
pub use tracks::Tracks;
pub use unit::{Extractor, Gru, Mlp, MlpConfig};
