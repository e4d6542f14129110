//! What learners, networks and losses share.

mod encoder;
mod learner;
mod linear;

pub(crate) use encoder::SLOPE;
pub use encoder::{Encoder, EncoderConfig};
pub use learner::{EdgeScores, GraphLearner, LearnedGraph};
pub use linear::{Linear, LinearConfig, Start};
