//! Networks for points and for agents, and parts of them: what EdgeConv and attention are used in.

pub mod dagnet;

mod attention;
mod points;
mod propagation;
mod units;

pub use attention::{GraphAttention, GraphAttentionConfig};
pub use points::{LayerGraph, PointNetwork, PointNetworkConfig, PointNetworkKind};
pub use propagation::{Propagation, propagate};
pub use units::{Extractor, Gru, Mlp, MlpConfig};
