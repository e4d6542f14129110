//! Edges that are added to the input graph before the generator chooses among them.

use crate::{
    Result,
    graph::{Adjacency, GraphInput, KnnConfig, PageRankConfig},
};
use serde::{Deserialize, Serialize};

/// Where good edges are missing, choosing among the given ones is not enough: these are added, with
/// weights of their own, and the generator works on the joined graph as if it had been given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Augment {
    /// Nearest neighbours in (smoothed) feature space.
    Nearest(KnnConfig),
    /// Nodes of high personalised PageRank.
    Pagerank(PageRankConfig),
}

impl Augment {
    /// The joined graph; no gradient flows.
    pub(super) fn join(&self, input: &GraphInput) -> Result<Adjacency> {
        match self {
            Self::Nearest(config) => config.build(input),
            Self::Pagerank(config) => config.build(input),
        }
    }
}
