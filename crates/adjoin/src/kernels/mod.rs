//! Plain-slice CPU kernels: forward and backward side by side, no framework types.
//!
//! Every kernel is parallel over rows and computes a row in a fixed order, so results have the same
//! bits for any number of threads. Sums over all rows are taken over blocks of a fixed size, then
//! in order.

// Kernels take one tuple, so that `vectorise!` can hand it through; the tuple is the signature.
#![allow(clippy::type_complexity)]

pub mod attention;
pub(crate) mod batch_norm;
pub mod dropout;
pub mod edge_messages;
pub mod edgeconv;
pub(crate) mod elu;
pub(crate) mod feature_attention;
pub(crate) mod gru;
pub mod knn;
pub(crate) mod leaky;
pub(crate) mod matmul;
pub(crate) mod norm_pool;
pub mod normalise;
pub mod nuclear;
pub(crate) mod overlap;
pub mod pair_mlp;
pub mod pairs;
pub(crate) mod parts;
pub(crate) mod product;
pub mod random;
pub(crate) mod rows;
pub mod segment;
pub mod selector;
pub(crate) mod sparse_rows;
pub mod spmm;
pub(crate) mod stream;
pub(crate) mod weighted_edgeconv;

mod lanes;
mod real;
mod vectorised;

pub(crate) use lanes::Lanes;
pub use real::Real;
pub(crate) use vectorised::{Kernel, vectorise, vectorised, vectorised_kernel};
