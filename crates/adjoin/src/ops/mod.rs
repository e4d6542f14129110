//! The kernels as differentiable Burn operations.

mod attention;
mod bridge;
mod edgeconv;
mod nuclear;
mod segment;
mod spmm;

pub use attention::{Attention, attention};
pub use edgeconv::{edgeconv, edgeconv_extremes, edgeconv_normalise, edgeconv_statistics};
pub use nuclear::nuclear;
pub use segment::{
    broadcast_rows, gather_columns, segment_logsumexp, segment_max, segment_mean, segment_softmax,
    segment_sum,
};
pub use spmm::spmm;
