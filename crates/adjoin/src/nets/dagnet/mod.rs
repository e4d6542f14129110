//! DAG-Net (Monti et al., 2020): where the agents of a scene go, with goals and attention between them.

mod config;
mod loss;
mod network;

pub use config::{Blend, DagNetConfig};
pub use loss::{Losses, halves};
pub use network::{DagNet, Moments, State, Unrolled};
