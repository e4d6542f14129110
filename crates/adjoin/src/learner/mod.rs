//! Ways to learn a structure: from nodes, and perhaps a graph, to a graph.

mod dgm;
mod dilated;
mod dropedge;
mod knn;
mod none;
mod pagerank;

pub use crate::graph::{KnnConfig, KnnWeights, PageRankConfig};
pub use dgm::{Dgm, DgmConfig};
pub use dilated::{Dilated, DilatedConfig};
pub use dropedge::{DropEdge, DropEdgeConfig};
pub use knn::Knn;
pub use none::Unchanged;
pub use pagerank::PageRank;

use crate::{
    Result,
    graph::{Adjacency, GraphInput},
    nn::LearnedGraph,
};

/// The graph of a learner that makes the same one of an input every time: prepared, or built now.
fn prepared_or(
    input: &GraphInput,
    build: impl FnOnce() -> Result<Adjacency>,
) -> Result<LearnedGraph> {
    let prepared = input.prepared.and_then(|prepared| prepared.graph.clone());
    Ok(LearnedGraph::plain(prepared.map_or_else(build, Ok)?))
}
