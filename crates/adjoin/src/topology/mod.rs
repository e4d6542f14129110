//! Who is joined to whom, and who may be: pure indices, below everything else.

mod batch;
mod candidates;
mod csr;
mod rank;

pub use batch::Batch;
pub use candidates::{
    CandidateRule, Candidates, Metric, PAGERANK_EPSILON, approximate_pagerank, pagerank_neighbours,
};
pub(crate) use csr::fits;
pub use csr::{ABSENT, Csr, SelfLoops, Transpose};
