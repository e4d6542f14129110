//! Tasks, training, checkpoints, reports and the reproduction of published tables.
//!
//! | module | what it holds |
//! |---|---|
//! | [`settings`] | defaults, recipes, files and `key=value`, with the origin of every value |
//! | [`task`] | the trait [`task::Task`]: all that differs between kinds of problems |
//! | [`train`] | the training loop, checkpoints, resuming |
//! | [`run`] | experiments over seeds, run folders, records, trained runs |
//! | [`report`] | the page on some runs |
//! | [`tasks`] | nodes, trajectories, point clouds |
//! | [`reproduce`] | published tables with our numbers beside them |
//!
//! Arrows point one way, from below to the top of this list.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod clock;
pub mod export;
pub mod files;
pub mod graph;
pub mod histogram;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod settings;
pub mod stats;
pub mod task;
pub mod tasks;
pub mod tensorboard;
pub mod train;

mod error;

pub use error::{Error, Result};
