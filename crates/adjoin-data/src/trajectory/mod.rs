//! Agents that move together: scenes of equal length, cut from recordings.
//!
//! Everything is a [`TrajectoryDataset`]: scenes in which every agent is seen at every step, for
//! training, validation and testing.
//!
//! ```
//! use adjoin_data::{Locations, trajectory};
//!
//! let crowd = trajectory::load("crowd", &Locations::default())?; // made on the spot: no file
//! assert_eq!((crowd.observed, crowd.predicted, crowd.train.len()), (8, 12, 210));
//! # Ok::<(), adjoin_data::Error>(())
//! ```
//!
//! | need | item |
//! |---|---|
//! | a dataset by name, or a user's CSV file | [`load`], or [`load_with`] settings for the file |
//! | which names exist | [`list`], [`find`] |
//! | one reader by itself | [`eth_ucy()`], [`trajnet()`], [`sportvu()`], [`csv()`] |
//! | a made-up crowd, with people who interact with nobody | [`crowd()`] |
//! | write a dataset | [`write_csv`] |

mod crowd;
mod eth_ucy;
mod known;
mod recording;
mod scene;
mod sportvu;
mod table;
mod text;
mod trajnet;
mod write;

pub use crowd::{CrowdConfig, crowd};
pub use eth_ucy::{ETH_UCY, eth_ucy};
pub use known::{KnownTrajectories, find, list, load, load_new, load_with};
pub use scene::{Scene, TrajectoryDataset};
pub use sportvu::{Team, sportvu};
pub use table::{Purpose, SplitBy, TableConfig, csv, csv_bytes, new_csv};
pub use trajnet::{TrajNetSplit, trajnet};
pub use write::write_csv;
