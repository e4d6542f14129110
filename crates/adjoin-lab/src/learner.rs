//! Any learner, chosen by name.

use crate::{Error, Result};
use adjoin::{
    Dgg, DggConfig, GraphInput, Key, LearnedGraph, Learner, Pass, Prepared,
    learner::{
        Dgm, DgmConfig, DropEdge, DropEdgeConfig, Knn, KnnConfig, PageRank, PageRankConfig,
        Unchanged,
    },
};
use burn::{module::Module, tensor::Device};
use serde::{Deserialize, Serialize};

/// Settings of a learner; the key in the configuration file names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearnerConfig {
    /// The input graph as it is.
    None,
    /// A fixed graph of nearest neighbours.
    Knn(KnnConfig),
    /// A fixed graph of random-walk neighbours.
    Pagerank(PageRankConfig),
    /// Random edges left out in every step.
    Dropedge(DropEdgeConfig),
    /// The discrete graph module, of k neighbours.
    Dgm(DgmConfig),
    /// The differentiable graph generator.
    Dgg(Box<DggConfig>),
}

/// Names that `--learner` takes.
pub const LEARNERS: [&str; 9] =
    ["none", "knn", "pagerank", "dropedge", "dgm", "dgg", "dgg-star", "dgg-paper", "dgg-ref"];

impl LearnerConfig {
    /// The default settings of a learner.
    ///
    /// # Errors
    /// If there is no such learner.
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "none" => Self::None,
            "knn" => Self::Knn(KnnConfig::default()),
            "pagerank" => Self::Pagerank(PageRankConfig::default()),
            "dropedge" => Self::Dropedge(DropEdgeConfig::default()),
            "dgm" => Self::Dgm(DgmConfig::default()),
            "dgg" | "dgg-star" => Self::Dgg(Box::default()),
            "dgg-paper" => Self::Dgg(Box::new(DggConfig::paper())),
            "dgg-ref" => Self::Dgg(Box::new(DggConfig::reference())),
            other => {
                let what = format!("there is no learner {other:?}; choose one of {LEARNERS:?}");
                return Err(Error::Config { place: "--learner".into(), what });
            }
        })
    }

    /// Whether the learner looks at what a network without it believes about the nodes.
    pub fn wants_beliefs(&self) -> bool {
        matches!(self, Self::Dgg(config) if config.agreement)
    }

    /// The learner for features of width `inputs`.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn init(&self, inputs: usize, key: Key, device: &Device) -> Result<AnyLearner> {
        Ok(match self {
            Self::None => AnyLearner::None(Unchanged {}),
            Self::Knn(config) => AnyLearner::Knn(config.init()?),
            Self::Pagerank(config) => AnyLearner::PageRank(config.init()?),
            Self::Dropedge(config) => AnyLearner::DropEdge(config.init()?),
            Self::Dgm(config) => AnyLearner::Dgm(config.init(inputs, key, device)?),
            Self::Dgg(config) => AnyLearner::Dgg(config.init(inputs, key, device)?),
        })
    }
}

/// A learner of any kind.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // one per model: boxing would buy nothing
pub enum AnyLearner {
    /// The input graph as it is.
    None(Unchanged),
    /// A fixed graph of nearest neighbours.
    Knn(Knn),
    /// A fixed graph of random-walk neighbours.
    PageRank(PageRank),
    /// Random edges left out in every step.
    DropEdge(DropEdge),
    /// The discrete graph module.
    Dgm(Dgm),
    /// The differentiable graph generator.
    Dgg(Dgg),
}

impl AnyLearner {
    fn inner(&self) -> &dyn Learner {
        match self {
            Self::None(learner) => learner,
            Self::Knn(learner) => learner,
            Self::PageRank(learner) => learner,
            Self::DropEdge(learner) => learner,
            Self::Dgm(learner) => learner,
            Self::Dgg(learner) => learner,
        }
    }

    /// Number of graphs to draw at evaluation, whose predictions are averaged; 0 for the one graph
    /// without noise.
    pub fn evaluation_draws(&self) -> usize {
        match self {
            Self::Dgm(learner) => learner.config().evaluation_draws,
            _ => 0,
        }
    }
}

impl Learner for AnyLearner {
    fn learn(&self, input: &GraphInput, pass: Pass) -> adjoin::Result<LearnedGraph> {
        self.inner().learn(input, pass)
    }

    fn sample(
        &self,
        input: &GraphInput,
        pass: Pass,
        samples: usize,
    ) -> adjoin::Result<Vec<LearnedGraph>> {
        self.inner().sample(input, pass, samples)
    }

    fn prepare(&self, input: &GraphInput) -> adjoin::Result<Prepared> {
        self.inner().prepare(input)
    }
}
