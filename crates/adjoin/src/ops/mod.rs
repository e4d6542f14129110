//! The kernels as differentiable Burn operations.
//!
//! Every function here checks its shapes, runs a kernel of [`crate::kernels`] on the CPU, and joins
//! Burn's autodiff graph when an input is tracked. Elements may be `f32` or `f64`.

mod attention;
mod bridge;
mod candidates;
mod dropout;
mod edgeconv;
mod elu;
mod feature_attention;
mod gru;
mod leaky;
mod matmul;
mod nearest;
mod noise;
mod norm_pool;
mod normalise;
mod nuclear;
mod pair_layers;
mod pairs;
mod segment;
mod select;
mod sparse_rows;
mod spmm;
mod stream;
mod stream_scorer;
mod take;
mod weighted_edgeconv;

pub use crate::{
    kernels::{nuclear::Convergence, pairs::Similarity, random::PairNoise, selector::Step},
    topology::ABSENT,
};
pub use attention::{Attention, attention};
pub(crate) use bridge::{all_zero, check_finite, identity, to_f64};
pub use candidates::candidates;
pub use dropout::{dropout, relu_dropout};
pub(crate) use edgeconv::channels;
pub use edgeconv::{edgeconv, edgeconv_extremes, edgeconv_normalise, edgeconv_statistics};
pub use elu::elu;
pub use feature_attention::feature_attention;
pub use gru::gru;
pub use leaky::bias_leaky;
pub use matmul::matmul;
pub use nearest::neighbours_at;
pub use noise::{gumbel_matrix, gumbel_noise, logistic_noise, normal_noise};
pub use norm_pool::{NormStatistics, column_statistics, norm_pool};
pub use normalise::normalise;
pub use nuclear::{leading_factors, nuclear};
pub use pair_layers::{DeepPairs, PairLayers, PairMessages, pair_sums};
pub use pairs::{PairNetwork, edge_messages, pair_embeddings, pair_logits, pair_similarity};
pub use segment::{
    broadcast_rows, gather_columns, segment_logsumexp, segment_max, segment_mean, segment_softmax,
    segment_sum,
};
pub use select::{Selected, select};
pub use sparse_rows::{nearest_rows, row_dots, sampled_products};
pub use spmm::{spmm, spmm_onto};
pub(crate) use stream::row_mass_and_top;
pub use stream::{AllPairs, extend_top, log_mass, log_mass_and_top, top_candidates};
pub use stream_scorer::StreamScorer;
pub use take::take;
pub use weighted_edgeconv::edgeconv_weighted;
