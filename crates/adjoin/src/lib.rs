//! Learns, for every node of a graph, which neighbours it should have and how many.
// Not `forbid`: `kernels/gemm.rs` wraps the matrix product of the `gemm` crate, which is an unsafe
// function, and is the only file that allows itself unsafe code.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod conv;
pub mod dgg;
pub mod graph;
pub mod kernels;
pub mod learner;
pub mod loss;
pub mod ops;

mod error;
mod linear;
mod pass;

pub use dgg::{Dgg, DggConfig};
pub use error::{Error, Result};
pub use graph::{
    Adjacency, Batch, CandidateInputs, CandidateRule, Candidates, Csr, Features, GraphInput,
    Normalisation, Prepared, SelfLoops, SparseFeatures,
};
pub use kernels::{knn::Metric, random::Key};
pub use learner::{EdgeScores, LearnedGraph, Learner};
pub use linear::{Linear, LinearConfig, Start};
pub use pass::Pass;
