//! Edges that are added to the input graph before the generator chooses among them.

use crate::{
    Adjacency, GraphInput, Learner, Pass, Result,
    learner::{KnnConfig, PageRankConfig},
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
        let learned = match self {
            Self::Nearest(config) => config.init()?.learn(input, Pass::evaluate())?,
            Self::Pagerank(config) => config.init()?.learn(input, Pass::evaluate())?,
        };
        Ok(learned.adjacency)
    }
}
