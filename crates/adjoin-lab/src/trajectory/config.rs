//! Settings of a trajectory experiment.

use super::SocialStgcnnConfig;
use crate::LearnerConfig;
use adjoin::{
    CandidateRule, DggConfig,
    dgg::{DegreeConfig, DegreeRule, EncoderConfig, SampleConfig, ScorerConfig},
};
use serde::{Deserialize, Serialize};

/// Everything that decides a run, but the data and the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrajectoryConfig {
    /// The network.
    pub network: SocialStgcnnConfig,
    /// The graph that learners are given.
    pub graph: InputGraph,
    /// The learner of the graph that the network uses.
    pub learner: LearnerConfig,
    /// How it is trained.
    pub train: TrajectoryTrainConfig,
}

/// The graph of a frame before anything is learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputGraph {
    /// None: learners that do not make one join all agents of a frame.
    None,
    /// Agents that move alike: [`kernel_graph`](super::kernel_graph).
    #[default]
    Kernel,
}

/// The optimiser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptimiserKind {
    /// Plain stochastic gradient descent, as published.
    #[default]
    Sgd,
    /// Adam.
    Adam,
}

/// What validation looks at to choose the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChooseEpoch {
    /// The lowest loss, as published.
    #[default]
    Loss,
    /// The lowest average displacement of the best sample per agent.
    Displacement,
}

/// How a model is trained; the defaults are the published settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrajectoryTrainConfig {
    /// Epochs.
    pub epochs: usize,
    /// Scenes in a step.
    pub batch: usize,
    /// The optimiser.
    pub optimiser: OptimiserKind,
    /// Learning rate of the network.
    pub rate: f64,
    /// Learning rate of the learner.
    pub learner_rate: f64,
    /// Epoch at which both rates are lowered; 0 for never.
    pub lower_at: usize,
    /// What they are multiplied by then.
    pub lower_by: f64,
    /// Largest norm of the gradient of a weight; 0 for any.
    pub clip: f64,
    /// What validation looks at to choose the epoch.
    pub choose_by: ChooseEpoch,
    /// Sampled paths of an agent in tests.
    pub samples: usize,
}

impl Default for TrajectoryTrainConfig {
    fn default() -> Self {
        Self {
            epochs: 250,
            batch: 128,
            optimiser: OptimiserKind::Sgd,
            rate: 0.01,
            learner_rate: 0.01,
            lower_at: 150,
            lower_by: 0.2,
            clip: 0.0,
            choose_by: ChooseEpoch::Loss,
            samples: 20,
        }
    }
}

impl Default for TrajectoryConfig {
    fn default() -> Self {
        Self {
            network: SocialStgcnnConfig::default(),
            graph: InputGraph::Kernel,
            learner: LearnerConfig::None,
            train: TrajectoryTrainConfig::default(),
        }
    }
}

impl TrajectoryConfig {
    /// The settings of a named learner: `kernel` is the published graph, `none` joins all agents of a
    /// frame, and the others learn.
    ///
    /// # Errors
    /// If there is no such learner.
    pub fn named(learner: &str) -> crate::Result<Self> {
        let (graph, learner) = match learner {
            "kernel" => (InputGraph::Kernel, LearnerConfig::None),
            "none" => (InputGraph::None, LearnerConfig::None),
            "dgg" => (InputGraph::None, LearnerConfig::Dgg(Box::new(generator()))),
            other => (InputGraph::Kernel, LearnerConfig::named(other)?),
        };
        Ok(Self { graph, learner, ..Self::default() })
    }
}

/// A generator for frames of a few dozen agents: every pair is a candidate.
pub(super) fn generator() -> DggConfig {
    DggConfig {
        candidates: CandidateRule::Complete,
        encoder: EncoderConfig { width: 16, dropout: 0.0, ..EncoderConfig::default() },
        scorer: ScorerConfig { initial_scale: 0.5, ..ScorerConfig::default() },
        sample: SampleConfig { noise: 0.1, ..SampleConfig::default() },
        degree: DegreeConfig { rule: DegreeRule::Literal, ..DegreeConfig::default() },
        ..DggConfig::default()
    }
}
