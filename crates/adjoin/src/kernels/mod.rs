//! Plain-slice CPU kernels: forward and backward side by side, no framework types.
//!
//! Every kernel is parallel over rows and computes a row in a fixed order, so results have the same
//! bits for any number of threads. Sums over rows go through [`reduce`], which adds in a fixed tree.

pub mod attention;
pub mod edgeconv;
pub mod normalise;
pub mod nuclear;
pub(crate) mod parts;
pub mod random;
pub(crate) mod rows;
pub mod segment;
pub mod spmm;

mod real;
mod vectorised;

pub use real::Real;
pub(crate) use vectorised::{vectorise, vectorised};
