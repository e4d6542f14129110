//! Learns, for every node of a graph, which neighbours it should have and how many.
// Not `forbid`: `kernels/gemm.rs` wraps the matrix product of the `gemm` crate, which is an unsafe
// function, and is the only file that allows itself unsafe code.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod graph;
pub mod kernels;
pub mod ops;

mod error;

pub use error::{Error, Result};
