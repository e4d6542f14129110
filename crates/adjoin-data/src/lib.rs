//! Graphs to learn on: what they are, where they are found, how they are read, split and written.
//!
//! A graph is a [`NodeDataset`]: features, undirected edges, labels and named splits in plain
//! standard-library types. Agents that move and have no given graph are a
//! [`TrajectoryDataset`](trajectory::TrajectoryDataset), shapes made of points a
//! [`PointDataset`](points::PointDataset). No tensor framework is involved, so this crate can be used by
//! any.
//!
//! ```
//! let cora = adjoin_data::cora()?; // carried inside the program: no file, no network
//! let split = cora.split(&"public".parse()?)?;
//! assert_eq!((cora.nodes(), split.train.len(), split.test.len()), (2708, 140, 1000));
//! # Ok::<(), adjoin_data::Error>(())
//! ```
//!
//! | need | item |
//! |---|---|
//! | a dataset by name, or a user's folder or file | [`load`] with [`Locations`] |
//! | which names exist | [`list`] |
//! | download a public one | [`fetch`] |
//! | one reader by itself | [`read`] |
//! | a made-up graph, or wrong edges in a real one | [`citation_like`], [`add_wrong_edges`] |
//! | a made-up graph whose good neighbours are known | [`planted`] |
//! | pedestrians, basketball players or one's own trajectories | [`trajectory`] |
//! | point clouds: ModelNet40, one's own meshes or generated solids | [`points`] |
//! | write a dataset | [`write_csv_folder`], [`write_npz`] |
//!
//! Files are never trusted: sizes are limited before memory is taken, a pickle can execute nothing,
//! and every error says what was wrong, where, and what to do.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod convert;
mod cora;
mod dataset;
mod edges;
mod error;
mod features;
mod fetch;
pub mod files;
mod generate;
mod locate;
mod locations;
mod marks;
mod names;
mod npz_writer;
mod plant;
pub mod points;
mod random;
pub mod read;
mod registry;
mod split;
mod split_spec;
pub mod trajectory;

pub use convert::{Existing, write_csv_folder, write_npz};
pub use cora::cora;
pub use dataset::{NodeDataset, UNKNOWN_LABEL, WORD};
pub use edges::simplify;
pub use error::{At, Error, Result};
pub use features::Features;
pub use fetch::{FetchOptions, Fetched, Progress, fetch};
pub use generate::{GeneratorConfig, add_wrong_edges, citation_like, mark_injected};
pub use locate::{load, load_nodes};
pub use locations::Locations;
pub use marks::EdgeMarks;
pub use npz_writer::NpzWriter;
pub use plant::{PlantedConfig, planted};
pub use random::SplitMix64;
pub use registry::{KnownDataset, find, list};
pub use split::Split;
pub use split_spec::SplitSpec;
