//! The kernels as differentiable Burn operations.

mod bridge;
mod spmm;

pub use spmm::spmm;
