//! Agents that move together: scenes of equal length, cut from recordings.

mod scene;

pub use scene::{Scene, TrajectoryDataset};
