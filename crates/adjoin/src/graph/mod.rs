//! Graphs: topology, weights, features, candidates, batches.

mod adjacency;
mod batch;
pub mod candidates;
pub(crate) mod csr;
mod features;
mod input;

pub(crate) use adjacency::positions_in;
pub use adjacency::{Adjacency, Normalisation};
pub use batch::Batch;
pub use candidates::{CandidateInputs, CandidateRule, Candidates};
pub use csr::{Csr, SelfLoops, Transpose};
pub use features::{Features, SparseFeatures};
pub use input::{GraphInput, Prepared};
