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
pub use learner::{EdgeScores, GraphLearner, LearnedGraph};
pub(crate) use linear::MOST_WEIGHTS;
pub use linear::{Linear, LinearConfig, Start};
pub use network::{Activation, Aggregate, Network, State};
pub use norm::{RunningNorm, RunningNormConfig};
pub use outcome::{Draw, Outcome, Outer, Reading, Stage};
