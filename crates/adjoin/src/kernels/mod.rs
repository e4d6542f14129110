//! Plain-slice CPU kernels: forward and backward side by side, no framework types.
//!
//! Every kernel is parallel over rows and computes a row in a fixed order, so results have the same
//! bits for any number of threads. Sums over rows go through [`reduce`], which adds in a fixed tree.

pub mod random;
pub(crate) mod rows;
pub mod spmm;
pub(crate) mod stream;

mod lanes;
mod real;
mod vectorised;

pub(crate) use lanes::Lanes;
pub use real::Real;
pub(crate) use vectorised::{Kernel, vectorised, vectorised_kernel};
