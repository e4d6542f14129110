//! What learners, networks and losses share.

mod encoder;
mod learner;
mod linear;
mod network;
mod norm;
mod outcome;

pub use crate::graph::Progress;
pub use encoder::{Encoder, EncoderConfig};
pub(crate) use encoder::{NEEDS_INPUTS, SLOPE};
pub(crate) use learner::run_draws;
pub use learner::{EdgeScores, GraphLearner, LearnedGraph};
pub use linear::{Linear, LinearConfig, Start};
pub(crate) use linear::{MOST_WEIGHTS, through};
pub use network::{Activation, Aggregate, Network, State};
pub use norm::{RunningNorm, RunningNormConfig};
pub use outcome::{Draw, Outcome, Outer, Reading, Stage};
