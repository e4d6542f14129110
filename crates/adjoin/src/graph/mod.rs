//! Graphs: topology, weights, features, batches.

mod adjacency;
mod batch;
mod csr;
mod features;
mod input;

pub(crate) use adjacency::positions_in;
pub use adjacency::{Adjacency, Normalisation};
pub use batch::Batch;
pub use csr::{Csr, SelfLoops, Transpose};
pub use features::{Features, SparseFeatures};
pub use input::{GraphInput, Prepared};
