//! The kernels as differentiable Burn operations.

mod bridge;
mod spmm;
mod stream;

pub use spmm::spmm;
pub use stream::{StreamScorer, extend_top, log_mass, log_mass_and_top, top_candidates};
