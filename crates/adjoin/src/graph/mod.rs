//! Graphs: topology, weights, candidates, batches.

mod batch;
mod csr;

pub use batch::Batch;
pub use csr::{Csr, SelfLoops, Transpose};
