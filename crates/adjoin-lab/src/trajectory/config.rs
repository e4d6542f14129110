//! Settings of a trajectory experiment.

use super::{NormOver, SocialStgcnnConfig};
use crate::{Error, LearnerConfig, Result, settings};
use adjoin::learner::DgmConfig;
use serde::{Deserialize, Serialize};

/// Most sampled paths of an agent: more would fill the memory.
pub const MOST_SAMPLES: usize = 10_000;

/// Neighbours of a pedestrian in DGM, as the DGG paper has it.
const PEDESTRIAN_NEIGHBOURS: usize = 2;

/// Settings that were measured to work, for all learners, in a file that can be read and copied.
const PRESET: &str = include_str!("../../presets/social-stgcnn.toml");

/// The same for its generator.
const GENERATOR: &str = include_str!("../../presets/social-stgcnn-dgg.toml");

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
    /// What the loss is the likelihood of.
    pub likelihood: Likelihood,
    /// How paths are drawn from the predicted distributions.
    pub sampling: Sampling,
    /// Whether predicted steps are relative to the last observed one: a network that says nothing then
    /// predicts constant velocity. The published one starts from standing still.
    pub relative: bool,
    /// Weight of the reinforced loss, by which learners of hard graphs learn (DGM).
    pub reinforced: f64,
    /// How it is trained.
    pub train: TrajectoryTrainConfig,
}

/// How a path is drawn from distributions of its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Every step by itself, as published: errors of the steps cancel, paths zigzag.
    Independent,
    /// One draw per path: who starts out faster than expected stays so.
    #[default]
    Shared,
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
    Sgd,
    /// Adam.
    #[default]
    Adam,
}

/// What validation looks at to choose the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChooseEpoch {
    /// The lowest loss, as published.
    Loss,
    /// The lowest average displacement of the best sample per agent.
    #[default]
    Displacement,
}

/// What the loss is the likelihood of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likelihood {
    /// Each step by itself, as published.
    #[default]
    Steps,
    /// The place after each step, which is the sum of steps that are drawn independently: errors in the
    /// same direction step after step make the deviations grow, as sampled paths need it.
    Places,
}

/// How a model is trained.
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
    /// Steps in which both rates rise to what they are, evenly; 0 for full rates at once.
    pub ramp: usize,
    /// Epoch at which both rates are lowered; 0 for never.
    pub lower_at: usize,
    /// What they are multiplied by then.
    pub lower_by: f64,
    /// Whether every training scene is turned by a random angle, and half of them mirrored, each time it
    /// is used.
    pub turn: bool,
    /// Largest norm of the gradient of a weight; 0 for any.
    pub clip: f64,
    /// How much of a running mean of the weights every step keeps, below 1; validation, tests and predictions use
    /// that mean. 0 for the weights as they are.
    pub average: f64,
    /// What validation looks at to choose the epoch.
    pub choose_by: ChooseEpoch,
    /// Sampled paths of an agent in tests.
    pub samples: usize,
}

impl Default for TrajectoryTrainConfig {
    fn default() -> Self {
        Self {
            epochs: 40,
            batch: 128,
            optimiser: OptimiserKind::Adam,
            rate: 0.003,
            learner_rate: 0.003,
            ramp: 0,
            lower_at: 25,
            lower_by: 0.2,
            turn: false,
            clip: 0.0,
            average: 0.0,
            choose_by: ChooseEpoch::Displacement,
            samples: 20,
        }
    }
}

impl TrajectoryTrainConfig {
    /// What the rates are multiplied by in a step of an epoch, both counted from 0.
    pub(super) fn factor(&self, step: u64, epoch: usize) -> f64 {
        let risen = match self.ramp {
            0 => 1.0,
            ramp => ((step + 1) as f64 / ramp as f64).min(1.0),
        };
        let lowered = if self.lower_at > 0 && epoch >= self.lower_at { self.lower_by } else { 1.0 };
        risen * lowered
    }

    /// Checks that the settings are in range.
    ///
    /// # Errors
    /// Names the setting at fault.
    pub fn check(&self) -> Result<()> {
        if self.batch == 0 || self.samples == 0 || self.samples > MOST_SAMPLES {
            let what =
                format!("batch and samples must be at least 1, samples at most {MOST_SAMPLES}");
            return Err(Error::Config { place: "train".into(), what });
        }
        settings::share("average", self.average)?;
        settings::not_negative([
            ("rate", self.rate),
            ("learner_rate", self.learner_rate),
            ("lower_by", self.lower_by),
            ("clip", self.clip),
        ])
    }
}

impl Default for TrajectoryConfig {
    /// What was measured to work best on validation scenes: Adam needs a sixth of the published epochs,
    /// statistics of the whole mini-batch make validation steady, and paths of one draw cover what
    /// happens better than steps that are drawn one by one.
    fn default() -> Self {
        Self {
            network: SocialStgcnnConfig { norm_over: NormOver::Batch, ..Default::default() },
            sampling: Sampling::Shared,
            train: TrajectoryTrainConfig::default(),
            ..Self::published()
        }
    }
}

impl TrajectoryConfig {
    /// What the authors of Social-STGCNN did.
    pub fn published() -> Self {
        Self {
            network: SocialStgcnnConfig::default(),
            graph: InputGraph::Kernel,
            learner: LearnerConfig::None,
            likelihood: Likelihood::Steps,
            sampling: Sampling::Independent,
            relative: false,
            reinforced: 1.0,
            train: TrajectoryTrainConfig {
                epochs: 250,
                optimiser: OptimiserKind::Sgd,
                rate: 0.01,
                lower_at: 150,
                choose_by: ChooseEpoch::Loss,
                ..TrajectoryTrainConfig::default()
            },
        }
    }

    /// The settings of a named learner: `kernel` is the published graph, `none` joins all agents of a
    /// frame, and the others learn.
    ///
    /// # Errors
    /// If there is no such learner.
    pub fn named(learner: &str) -> Result<Self> {
        let (graph, learner) = match learner {
            "kernel" => (InputGraph::Kernel, LearnerConfig::None),
            "none" => (InputGraph::None, LearnerConfig::None),
            "dgg" => (InputGraph::Kernel, LearnerConfig::named(learner)?),
            "dgm" => {
                // One graph without noise at evaluation, not several drawn ones.
                let (k, evaluation_draws) = (PEDESTRIAN_NEIGHBOURS, 0);
                let config = DgmConfig { k, evaluation_draws, ..DgmConfig::default() };
                (InputGraph::None, LearnerConfig::Dgm(config))
            }
            other => (InputGraph::Kernel, LearnerConfig::named(other)?),
        };
        let generates = matches!(learner, LearnerConfig::Dgg(_));
        let config = Self { graph, learner, ..Self::default() };
        let config = Self::from_toml("preset social-stgcnn.toml", PRESET, &config)?;
        match generates {
            true => Self::from_toml("preset social-stgcnn-dgg.toml", GENERATOR, &config),
            false => Ok(config),
        }
    }

    /// Reads a configuration, the values of `base` standing in for what the text leaves out.
    ///
    /// # Errors
    /// Says which key is unknown, with the nearest known one, or which value does not fit.
    pub fn from_toml(place: &str, text: &str, base: &Self) -> Result<Self> {
        settings::from_toml(place, text, base)
    }

    /// The configuration with `key=value` settings applied, e.g. `train.epochs=100`.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn with_settings<'a>(&self, settings: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        settings::with_settings(self, settings)
    }

    /// The full configuration as a file that can be edited and given back.
    pub fn to_toml(&self) -> String {
        settings::to_toml(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::Propagation;

    #[test]
    fn the_preset_is_for_every_learner_and_graphs_are_their_own() {
        for learner in ["kernel", "none", "dgm", "dgg"] {
            let config = TrajectoryConfig::named(learner).unwrap();
            assert!(config.relative, "{learner}");
            assert_eq!(config.network.propagation, Propagation::Laplacian);
            assert_eq!(config.graph == InputGraph::Kernel, ["kernel", "dgg"].contains(&learner));
            let LearnerConfig::Dgg(dgg) = &config.learner else { continue };
            assert!(!dgg.keep_weights && dgg.encoder.width == 16, "{dgg:?}");
        }
        let published = TrajectoryConfig::published();
        assert!(!published.relative && published.network.propagation == Propagation::Laplacian);
    }

    #[test]
    fn rates_rise_evenly_and_are_lowered_once() {
        let base = TrajectoryTrainConfig::default();
        let train = TrajectoryTrainConfig { ramp: 4, lower_at: 2, lower_by: 0.5, ..base };
        let factors: Vec<f64> = (0..6).map(|step| train.factor(step, 0)).collect();
        assert_eq!(factors, [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]);
        assert_eq!((train.factor(9, 1), train.factor(9, 2)), (1.0, 0.5));
        let at_once = TrajectoryTrainConfig { ramp: 0, lower_at: 0, ..train };
        assert_eq!((at_once.factor(0, 0), at_once.factor(9, 99)), (1.0, 1.0));
    }

    #[test]
    fn rates_below_zero_are_refused() {
        let train = TrajectoryTrainConfig { learner_rate: f64::NAN, ..Default::default() };
        let wrong = train.check().unwrap_err().to_string();
        assert!(wrong.contains("train.learner_rate: is NaN"), "{wrong}");
        TrajectoryTrainConfig::default().check().unwrap();
    }
}
