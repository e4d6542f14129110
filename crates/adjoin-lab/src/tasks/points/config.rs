//! Settings of the classification of point clouds.

use super::{Augmentation, PointGraph};
use crate::{
    Error, Result,
    settings::{HandOn, TrainConfig, share},
    task::Settings,
};
use adjoin::{learner::LearnerConfig, nets::PointNetworkConfig};
use serde::{Deserialize, Serialize};

/// Everything that decides a run, but the data and the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PointsConfig {
    /// Points of a cloud that are used; 0 for all.
    pub points: usize,
    /// Probability that the target gives to the other classes together.
    pub smoothing: f64,
    /// Random changes to the clouds of a step.
    pub augment: Augmentation,
    /// The network.
    pub network: PointNetworkConfig,
    /// The graph of every layer where nothing is learned.
    pub graph: PointGraph,
    /// The learner of the graph of every layer; `none` for the graph above.
    pub learner: LearnerConfig,
    /// Features that come with the graphs, beside those of the layer.
    pub hand_on: HandOn,
    /// How it is trained.
    pub train: TrainConfig,
}

impl Default for PointsConfig {
    fn default() -> Self {
        Self {
            points: 1024,
            smoothing: 0.2,
            augment: Augmentation::default(),
            network: PointNetworkConfig::default(),
            graph: PointGraph::default(),
            learner: LearnerConfig::None,
            hand_on: HandOn::default(),
            train: TrainConfig::default(),
        }
    }
}

impl Settings for PointsConfig {
    const BACKBONE_KEY: &'static str = "network";
    const LEARNER_KEYS: &'static [&'static str] = &["learner", "graph"];

    fn train(&self) -> &TrainConfig {
        &self.train
    }

    fn train_mut(&mut self) -> &mut TrainConfig {
        &mut self.train
    }

    fn backbone(&self) -> String {
        self.network.kind.name().into()
    }

    /// Without a learner the graph has the name.
    fn learner(&self) -> String {
        match &self.learner {
            LearnerConfig::None => self.graph.name().into(),
            other => other.kind().into(),
        }
    }

    fn keep_backbone(&mut self, of: &Self) {
        self.network = of.network.clone();
    }

    fn keep_learner(&mut self, of: &Self) {
        (self.graph, self.learner) = (of.graph, of.learner.clone());
    }

    fn check(&self) -> Result<()> {
        self.train.check()?;
        self.graph.check()?;
        if self.learner != LearnerConfig::None && matches!(self.graph, PointGraph::Radius(_)) {
            let what = "is for learner = \"none\": a learner makes its own graph".into();
            return Err(Error::Config { place: "graph.radius".into(), what });
        }
        share("points", "smoothing", self.smoothing)
    }
}
