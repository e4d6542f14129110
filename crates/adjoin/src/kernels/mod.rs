//! Plain-slice CPU kernels: forward and backward side by side, no framework types.
//!
//! Every kernel is parallel over rows and computes a row in a fixed order, so results have the same
//! bits for any number of threads. Sums over all rows are taken over blocks of a fixed size, then
//! in order.

pub mod dropout;
pub mod edge_messages;
pub mod normalise;
pub mod pair_mlp;
pub mod pairs;
pub mod random;
pub(crate) mod rows;
pub mod selector;
pub mod spmm;

mod real;
mod vectorised;

pub use real::Real;
pub(crate) use vectorised::vectorised;
