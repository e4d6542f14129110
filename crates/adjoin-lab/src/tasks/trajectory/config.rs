//! Settings of trajectory prediction.

use super::{SocialStgcnnConfig, dagnet::DagConfig};
use crate::{Error, Result, settings::TrainConfig, task::Settings};
use adjoin::learner::LearnerConfig;
use serde::{Deserialize, Serialize};

/// Most sampled paths of an agent: more would fill the memory.
pub const MOST_SAMPLES: usize = 10_000;

/// Everything that decides a run, but the data and the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrajectoryConfig {
    /// The network.
    pub network: NetworkConfig,
    /// The graph that learners are given.
    pub graph: InputGraph,
    /// The learner of the graph that the network uses.
    pub learner: LearnerConfig,
    /// Whether every training scene is turned by a random angle, and half of them mirrored, each time it
    /// is used.
    pub turn: bool,
    /// Sampled paths of an agent in validation and tests.
    pub samples: usize,
    /// How it is trained.
    pub train: TrainConfig,
}

/// Which network, and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkConfig {
    /// Social-STGCNN.
    SocialStgcnn(SocialStgcnnConfig),
    /// DAG-Net.
    Dagnet(DagConfig),
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self::SocialStgcnn(SocialStgcnnConfig::default())
    }
}

/// The graph of a frame before anything is learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputGraph {
    /// The published graph of the network.
    #[default]
    Kernel,
    /// All agents of a frame are joined.
    Complete,
    /// Nobody is joined to anybody.
    Isolated,
}

impl Default for TrajectoryConfig {
    fn default() -> Self {
        Self {
            network: NetworkConfig::default(),
            graph: InputGraph::Kernel,
            learner: LearnerConfig::None,
            turn: false,
            samples: 20,
            train: TrainConfig::default(),
        }
    }
}

impl Settings for TrajectoryConfig {
    const BACKBONE_KEY: &'static str = "network";
    const LEARNER_KEYS: &'static [&'static str] = &["learner", "graph"];

    fn train(&self) -> &TrainConfig {
        &self.train
    }

    fn train_mut(&mut self) -> &mut TrainConfig {
        &mut self.train
    }

    fn backbone(&self) -> String {
        match &self.network {
            NetworkConfig::SocialStgcnn(_) => "social-stgcnn".into(),
            NetworkConfig::Dagnet(_) => "dagnet".into(),
        }
    }

    /// Without a learner the graph has the name.
    fn learner(&self) -> String {
        match (&self.learner, self.graph) {
            (LearnerConfig::None, InputGraph::Kernel) => "kernel".into(),
            (LearnerConfig::None, InputGraph::Complete) => "complete".into(),
            (LearnerConfig::None, InputGraph::Isolated) => "isolated".into(),
            (other, _) => other.kind().into(),
        }
    }

    fn keep_backbone(&mut self, of: &Self) {
        self.network = of.network.clone();
    }

    /// The graph goes with the learner.
    fn keep_learner(&mut self, of: &Self) {
        (self.graph, self.learner) = (of.graph, of.learner.clone());
    }

    fn check(&self) -> Result<()> {
        self.train.check()?;
        if self.train.learner_start > 0.0 {
            let what = "learners of trajectories take part from the first epoch on: leave it at 0";
            return Err(Error::Config { place: "train.learner_start".into(), what: what.into() });
        }
        if (1..=MOST_SAMPLES).contains(&self.samples) {
            return Ok(());
        }
        let what = format!("must be at least 1 and at most {MOST_SAMPLES}");
        Err(Error::Config { place: "samples".into(), what })
    }
}

impl TrajectoryConfig {
    /// Another number of epochs; schedules keep their shape.
    pub fn shorten(&mut self, epochs: usize) {
        if let NetworkConfig::Dagnet(network) = &mut self.network {
            network.kl_warmup = (network.kl_warmup * epochs).div_ceil(self.train.epochs.max(1));
        }
        self.train.shorten(epochs);
    }
}
