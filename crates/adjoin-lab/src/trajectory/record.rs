//! What a finished run of trajectories leaves behind.

use super::{SceneRecord, Scores, TrajectoryEpoch, dagnet::Fitted};
use crate::record::{DegreeHistogram, Paired, Summary, paired, summary};
use serde::{Deserialize, Serialize};

/// One learner x backbone x dataset, trained with one or more seeds. Errors are in metres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryRecord {
    /// `trajectory`.
    pub task: String,
    /// Name of the dataset.
    pub dataset: String,
    /// Fingerprint of its scenes: two runs are comparable only when it is the same.
    pub fingerprint: String,
    /// Steps that are seen and predicted; absent in old runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<[usize; 2]>,
    /// What DAG-Net took from its training scenes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Fitted>,
    /// Name of the network.
    pub backbone: String,
    /// Name of the learner; `kernel` is the published graph, `none` the full one.
    pub learner: String,
    /// `ade/fde m`; lower is better.
    pub metric: String,
    /// Sampled paths of every agent, of which the best counts.
    pub samples: usize,
    /// When the run ended, RFC 3339 in UTC.
    pub created: String,
    /// The command line that makes this run again.
    pub command: String,
    /// The full configuration, defaults included.
    pub config_toml: String,
    /// What each seed gave.
    pub seeds: Vec<TrajectorySeedRecord>,
    /// What predictions without training give on the same test scenes.
    pub baselines: BaselineScores,
    /// Mean time of the training steps of an epoch, in seconds.
    pub seconds_per_epoch: f64,
    /// Largest resident memory of the process during the run, in bytes; what earlier learners of the same
    /// command left in the hands of the allocator is in it.
    pub peak_rss_bytes: u64,
    /// Seconds between steps.
    pub seconds_per_step: f64,
    /// A few test scenes, with what the first seed predicts and the graphs it uses.
    pub scenes: Vec<SceneRecord>,
    /// Whether the learner has a degree k of its own, or neighbours were counted.
    pub has_k: bool,
    /// Degrees of all agents in all observed frames of the test scenes: the others in the frame, and the
    /// learned degree of the first seed.
    pub degrees: DegreeHistogram,
}

/// One seed of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectorySeedRecord {
    /// The seed.
    pub seed: u64,
    /// Average displacement of the best sample per agent on validation scenes, at the best epoch.
    pub valid: f64,
    /// The epoch that validation chose, from 1.
    pub best_epoch: usize,
    /// Epochs trained.
    pub epochs: usize,
    /// Wall-clock time of the seed.
    pub seconds: f64,
    /// Errors on the test scenes, read once, at the best epoch.
    #[serde(flatten)]
    pub test: Scores,
    /// Every epoch, in order.
    pub curve: Vec<TrajectoryEpoch>,
}

/// Errors of predictions that need no training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaselineScores {
    /// Everybody goes on as in the last observed step.
    pub constant_velocity: Scores,
    /// The same, turned by a random angle per agent and sample.
    pub constant_velocity_with_noise: Scores,
}

impl TrajectoryRecord {
    /// One number of the test errors over the seeds; `None` without seeds.
    pub fn test(&self, pick: impl Fn(&Scores) -> f64) -> Option<Summary> {
        summary(&self.seeds.iter().map(|seed| pick(&seed.test)).collect::<Vec<_>>())
    }

    /// One number of the test errors of this run minus that of `other`, seed by seed; `None` when no
    /// seed is shared.
    pub fn paired_with(&self, other: &Self, pick: impl Fn(&Scores) -> f64) -> Option<Paired> {
        let same = |seed: u64| other.seeds.iter().find(|found| found.seed == seed);
        let pair =
            |seed: &TrajectorySeedRecord| Some((pick(&seed.test), pick(&same(seed.seed)?.test)));
        paired(&self.seeds.iter().filter_map(pair).collect::<Vec<_>>())
    }
}
