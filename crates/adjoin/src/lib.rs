//! Learns, for every node of a graph, which neighbours it should have and how many.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod graph;
pub mod kernels;
pub mod ops;

mod error;

pub use error::{Error, Result};
