//! The kernels as differentiable Burn operations.
//!
//! Every function here checks its shapes, runs a kernel of [`crate::kernels`] on the CPU, and joins
//! Burn's autodiff graph when an input is tracked. Elements may be `f32` or `f64`.

mod bridge;
mod dropout;
mod noise;
mod normalise;
mod pairs;
mod select;
mod spmm;
mod take;

pub(crate) use bridge::to_f64;
pub use dropout::dropout;
pub use noise::{gumbel_noise, normal_noise};
pub use normalise::normalise;
pub use pairs::{PairNetwork, edge_messages, pair_embeddings, pair_logits, pair_similarity};
pub use select::select;
pub use spmm::{spmm, spmm_onto};
pub use take::{ABSENT, take};
