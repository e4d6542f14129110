//! Graphs with differentiable weights, features of their nodes, and what learners are given.

mod adjacency;
mod alike;
mod density;
mod features;
mod input;
mod knn;
mod low_rank;
mod pagerank;

pub use adjacency::Adjacency;
pub(crate) use alike::unit_rows;
pub use density::{DENSITY_WIDTHS, Spacing, density_extras};
pub use features::{Features, SparseFeatures};
pub use input::{CandidatePart, Evidence, Extras, GraphInput, Labels, Prepared, Progress};
pub use knn::{KnnConfig, KnnWeights};
pub use low_rank::LowRank;
pub use pagerank::PageRankConfig;
