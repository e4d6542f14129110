//! Graphs: topology, weights, candidates, batches.

mod batch;
pub mod candidates;
pub(crate) mod csr;

pub use batch::Batch;
pub use candidates::{CandidateInputs, CandidateRule, Candidates};
pub use csr::{Csr, SelfLoops, Transpose};
