//! Settings of node classification.

use super::Node;
use crate::{
    Error, Result,
    settings::{TrainConfig, not_negative, share},
    task::{Settings, Task},
};
use adjoin::{
    conv::BackboneConfig,
    learner::{DropEdgeConfig, LearnerConfig},
};
use serde::{Deserialize, Serialize};

/// Everything that decides a run, but the data and the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeConfig {
    /// The network.
    pub backbone: BackboneConfig,
    /// The learner of its graph.
    pub learner: LearnerConfig,
    /// How features are prepared.
    pub features: FeatureConfig,
    /// The teacher, the same network trained on the given graph before.
    pub teacher: TeacherConfig,
    /// Graphs of a step.
    pub draws: DrawConfig,
    /// Losses on the learned graph.
    pub graph_loss: GraphLossConfig,
    /// How it is trained.
    pub train: TrainConfig,
}

/// How features are prepared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureConfig {
    /// How they are scaled.
    pub scale: Scale,
    /// What is done about missing values.
    pub missing: Missing,
}

/// How features are scaled. Means, deviations and maxima are those of the training nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Bags of words by row, 0/1 columns not at all, other columns as `Standard`. A bag of words is a column `words`,
    /// or 50 columns or more without a number below 0 of which an eighth at most is not 0, half at most of 0/1 columns.
    #[default]
    Auto,
    /// Not at all.
    None,
    /// Columns to mean 0 and standard deviation 1.
    Standard,
    /// Rows to sum 1.
    Row,
    /// Columns to a largest absolute value of 1.
    Max,
}

/// What is done about missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Data that has any is refused.
    #[default]
    Refuse,
    /// They become the mean of the column over the training nodes, and a column that is 1 for them and 0 for others
    /// is added.
    Impute,
}

/// How a teacher is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TeacherConfig {
    /// Whether the network starts from the teacher's weights instead of from scratch.
    pub resume: bool,
    /// What `train.rate` is multiplied by then: less than 1 stays close to the teacher.
    pub rate: f64,
    /// Share of the edges left out of every step in which the teacher is trained (DropEdge); 0 for the whole
    /// graph.
    pub drop: f64,
    /// Whether a learner looks at the class probabilities of an MLP without edges, distilled from the teacher,
    /// instead of at those of the teacher.
    pub distil: bool,
    /// How confident these probabilities are made: the mean of the largest one of a node, below 1. 0 for as
    /// they are.
    pub confidence: f64,
}

/// Graphs of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DrawConfig {
    /// Graphs drawn in every step.
    pub samples: usize,
    /// Weight of the consistency of predictions over the draws.
    pub consistency: f64,
    /// Sharpening of the consistent target.
    pub temperature: f64,
}

/// Losses on the learned graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphLossConfig {
    /// Weight of the intermediate loss at the start (DGG*).
    pub intermediate: f64,
    /// Epoch at which the intermediate loss has faded away.
    pub intermediate_until: usize,
    /// Weight of the sum of leading singular values.
    pub low_rank: f64,
    /// How many singular values.
    pub rank: usize,
    /// Weight of the mean degree.
    pub sparsity: f64,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            backbone: BackboneConfig::default(),
            learner: LearnerConfig::None,
            features: FeatureConfig::default(),
            teacher: TeacherConfig::default(),
            draws: DrawConfig::default(),
            graph_loss: GraphLossConfig::default(),
            train: TrainConfig::default(),
        }
    }
}

impl Default for TeacherConfig {
    fn default() -> Self {
        Self { resume: false, rate: 1.0, drop: 0.0, distil: false, confidence: 0.0 }
    }
}

impl Default for DrawConfig {
    fn default() -> Self {
        Self { samples: 1, consistency: 0.0, temperature: 0.5 }
    }
}

impl Default for GraphLossConfig {
    fn default() -> Self {
        let (intermediate_until, rank) = (150, 8);
        Self { intermediate: 0.0, intermediate_until, low_rank: 0.0, rank, sparsity: 0.0 }
    }
}

impl Settings for NodeConfig {
    const BACKBONE_KEY: &'static str = "backbone";
    const LEARNER_KEYS: &'static [&'static str] = &["learner"];

    fn train(&self) -> &TrainConfig {
        &self.train
    }

    fn train_mut(&mut self) -> &mut TrainConfig {
        &mut self.train
    }

    fn backbone(&self) -> String {
        self.backbone.name().into()
    }

    fn learner(&self) -> String {
        self.learner.kind().into()
    }

    fn keep_backbone(&mut self, of: &Self) {
        self.backbone = of.backbone.clone();
    }

    fn keep_learner(&mut self, of: &Self) {
        self.learner = of.learner.clone();
    }

    fn check(&self) -> Result<()> {
        self.train.check()?;
        if !self.backbone.takes_graph() && self.learner() != Node::PLAIN {
            let (learner, plain) = (self.learner(), Node::PLAIN);
            let what = format!(
                "backbone {} takes no graph, so it has no use for a learner of one; \
                 choose --learner {plain} or another backbone",
                self.backbone()
            );
            return Err(Error::Config { place: format!("learner {learner}"), what });
        }
        if self.learner.replaces_network() && self.backbone() != Node::BACKBONE {
            let what = format!(
                "has layers of its own and leaves backbone {} out; choose --backbone {}, whose layers are not used either",
                self.backbone(),
                Node::BACKBONE
            );
            return Err(Error::Config { place: format!("learner {}", self.learner()), what });
        }
        if self.draws.samples == 0 {
            let what = "must be at least 1".into();
            return Err(Error::Config { place: "draws.samples".into(), what });
        }
        if self.learner.network_inputs().is_some() {
            // Before the learner joins, and in the teacher, the network sees the given features.
            let place = match (self.teacher.resume, self.train.learner_start > 0.0) {
                (true, _) => Some("teacher.resume"),
                (_, true) => Some("train.learner_start"),
                _ => None,
            };
            if let Some(place) = place {
                let what = "does not go with hand_on: the network would see features of two widths";
                return Err(Error::Config { place: place.into(), what: what.into() });
            }
        }
        share("teacher", "drop", self.teacher.drop)?;
        share("teacher", "confidence", self.teacher.confidence)?;
        let (draws, loss) = (&self.draws, &self.graph_loss);
        for (table, name, value) in [
            ("teacher", "rate", self.teacher.rate),
            ("draws", "consistency", draws.consistency),
            ("graph_loss", "intermediate", loss.intermediate),
            ("graph_loss", "low_rank", loss.low_rank),
            ("graph_loss", "sparsity", loss.sparsity),
        ] {
            not_negative(table, name, value)?;
        }
        Ok(())
    }
}

impl NodeConfig {
    /// Whether a teacher is trained first.
    pub fn wants_teacher(&self) -> bool {
        self.teacher.resume || self.learner.wants_probabilities()
    }

    /// The configuration of that teacher.
    pub(super) fn of_teacher(&self) -> Self {
        let learner = match self.teacher.drop {
            drop if drop > 0.0 => LearnerConfig::DropEdge(DropEdgeConfig { drop }),
            _ => LearnerConfig::None,
        };
        Self { learner, ..self.clone() }.without_learner_settings()
    }

    /// The same, with settings that mean nothing without a learned graph as they are by default, so that networks
    /// trained alike have the same.
    pub(super) fn without_learner_settings(&self) -> Self {
        let unused = TrainConfig::default();
        let train = TrainConfig {
            learner_rate: unused.learner_rate,
            learner_decay: unused.learner_decay,
            learner_start: unused.learner_start,
            reinforce: unused.reinforce,
            ..self.train.clone()
        };
        let (teacher, graph_loss) = (TeacherConfig::default(), GraphLossConfig::default());
        Self { teacher, graph_loss, train, ..self.clone() }
    }
}
