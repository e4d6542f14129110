//! Agents that move together: scenes of equal length, cut from recordings.

mod crowd;
mod eth_ucy;
mod known;
mod recording;
mod scene;
mod text;

pub use crowd::{CrowdConfig, crowd};
pub use eth_ucy::{ETH_UCY, eth_ucy};
pub use known::{KnownTrajectories, find, list, load};
pub use scene::{Scene, TrajectoryDataset};
