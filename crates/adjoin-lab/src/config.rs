//! The configuration of an experiment: defaults < file < `--set key=value`.

use crate::{Error, LearnerConfig, Result, settings};
use adjoin::{conv::BackboneConfig, learner::DropEdgeConfig};
use serde::{Deserialize, Serialize};

/// Everything that decides a run, but the data and the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The network.
    #[serde(default)]
    pub backbone: BackboneConfig,
    /// The learner of its graph.
    #[serde(default = "no_learner")]
    pub learner: LearnerConfig,
    /// How it is trained.
    #[serde(default)]
    pub train: TrainConfig,
}

fn no_learner() -> LearnerConfig {
    LearnerConfig::None
}

impl Default for Config {
    fn default() -> Self {
        Self {
            backbone: BackboneConfig::default(),
            learner: no_learner(),
            train: TrainConfig::default(),
        }
    }
}

/// How a model is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Most epochs.
    pub epochs: usize,
    /// Epochs without a better validation result before training stops; 0 for never.
    pub patience: usize,
    /// Learning rate of the network.
    pub rate: f64,
    /// Learning rate of the learner.
    pub learner_rate: f64,
    /// Weight decay of the first layer.
    pub first_decay: f64,
    /// Weight decay of the other layers.
    pub rest_decay: f64,
    /// Weight decay of the learner.
    pub learner_decay: f64,
    /// Epochs on the input graph before the learner joins.
    pub warm_up: usize,
    /// Whether the network starts from the weights of its guide, the same network trained on the input graph
    /// to its own best epoch, instead of from fresh ones.
    pub from_guide: bool,
    /// What `rate` is multiplied by when the network goes on from its guide: less than 1 stays close to it.
    pub rate_from_guide: f64,
    /// Share of the edges left out of every step in which the guide is trained, as the learner `dropedge` does; 0
    /// for the whole input graph.
    pub guide_drop: f64,
    /// Whose beliefs about classes a learner looks at, if it looks at any.
    pub beliefs_of: BeliefsOf,
    /// How sure these beliefs are made: the mean of the largest probability of a node, below 1. 0 for as they are.
    pub sureness: f64,
    /// How much of a running mean of the weights every step keeps, below 1; validation, tests and predictions use
    /// that mean. 0 for the weights as they are.
    pub average: f64,
    /// Rows of the features are scaled to sum 1.
    pub normalise_features: bool,
    /// Graphs drawn in every step.
    pub samples: usize,
    /// Weight of the consistency of predictions over the draws.
    pub consistency: f64,
    /// Sharpening of the consistent target.
    pub temperature: f64,
    /// Weight of the reinforced loss, by which learners of hard graphs learn (DGM).
    pub reinforced: f64,
    /// Weight of the intermediate loss at the start (DGG*).
    pub intermediate: f64,
    /// Epoch at which the intermediate loss has faded away.
    pub intermediate_until: usize,
    /// Weight of the sum of leading singular values of the learned graph.
    pub low_rank: f64,
    /// How many singular values.
    pub rank: usize,
    /// Weight of the mean degree of the learned graph.
    pub sparsity: f64,
    /// What validation looks at to choose the epoch.
    pub choose_by: ChooseBy,
}

/// Whose beliefs a learner looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BeliefsOf {
    /// Those of the guide, the same network trained on the input graph.
    #[default]
    Guide,
    /// Those of a perceptron that sees no edges, taught the beliefs of the guide.
    Student,
}

/// What decides which epoch is best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChooseBy {
    /// The highest validation accuracy; among equals the lowest validation loss.
    #[default]
    Accuracy,
    /// The lowest validation loss.
    Loss,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            epochs: 300,
            patience: 100,
            rate: 0.01,
            learner_rate: 0.01,
            first_decay: 5e-4,
            rest_decay: 0.0,
            learner_decay: 5e-4,
            warm_up: 0,
            from_guide: false,
            rate_from_guide: 1.0,
            guide_drop: 0.0,
            beliefs_of: BeliefsOf::Guide,
            sureness: 0.0,
            average: 0.0,
            normalise_features: true,
            samples: 1,
            consistency: 0.0,
            temperature: 0.5,
            reinforced: 1.0,
            intermediate: 0.0,
            intermediate_until: 150,
            low_rank: 0.0,
            rank: 8,
            sparsity: 0.0,
            choose_by: ChooseBy::Accuracy,
        }
    }
}

impl TrainConfig {
    /// Checks that the settings are in range.
    ///
    /// # Errors
    /// Names the setting at fault.
    pub fn check(&self) -> Result<()> {
        if self.samples == 0 {
            let what = "must be at least 1".into();
            return Err(Error::Config { place: "train.samples".into(), what });
        }
        settings::share("average", self.average)?;
        settings::share("sureness", self.sureness)?;
        settings::share("guide_drop", self.guide_drop)?;
        settings::not_negative([
            ("rate", self.rate),
            ("learner_rate", self.learner_rate),
            ("first_decay", self.first_decay),
            ("rest_decay", self.rest_decay),
            ("learner_decay", self.learner_decay),
            ("rate_from_guide", self.rate_from_guide),
            ("consistency", self.consistency),
            ("reinforced", self.reinforced),
            ("intermediate", self.intermediate),
            ("low_rank", self.low_rank),
            ("sparsity", self.sparsity),
        ])
    }
}

impl Config {
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

    /// Whether the network is trained on the input graph first, to guide the learner or to go on from there.
    pub fn wants_guide(&self) -> bool {
        self.train.from_guide || self.learner.wants_beliefs()
    }

    /// What that guide is trained with.
    pub(crate) fn of_guide(&self) -> Self {
        let learner = match self.train.guide_drop {
            drop if drop > 0.0 => LearnerConfig::Dropedge(DropEdgeConfig { drop }),
            _ => LearnerConfig::None,
        };
        Self { learner, ..self.clone() }.as_guide()
    }

    /// The same, with the settings that mean nothing without a learned graph as they are by default, so that networks
    /// trained alike have the same.
    pub(crate) fn as_guide(&self) -> Self {
        let unused = TrainConfig::default();
        let train = TrainConfig {
            learner_rate: unused.learner_rate,
            learner_decay: unused.learner_decay,
            from_guide: unused.from_guide,
            rate_from_guide: unused.rate_from_guide,
            guide_drop: unused.guide_drop,
            beliefs_of: unused.beliefs_of,
            sureness: unused.sureness,
            reinforced: unused.reinforced,
            intermediate: unused.intermediate,
            intermediate_until: unused.intermediate_until,
            low_rank: unused.low_rank,
            rank: unused.rank,
            sparsity: unused.sparsity,
            ..self.train.clone()
        };
        Self { train, ..self.clone() }
    }

    /// The full configuration as a file that can be edited and given back.
    pub fn to_toml(&self) -> String {
        settings::to_toml(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_override_files_and_files_override_defaults() {
        let text = "[train]\nepochs = 7\nrate = 0.5\n[learner.dgg]\nsymmetric = true\n";
        let config = Config::from_toml("x.toml", text, &Config::default()).unwrap();
        let config =
            config.with_settings(["train.rate=0.25", "learner.dgg.sample.noise=1"]).unwrap();
        assert_eq!((config.train.epochs, config.train.rate), (7, 0.25));
        let LearnerConfig::Dgg(dgg) = &config.learner else { panic!("{config:?}") };
        assert!(dgg.symmetric);
        assert_eq!(dgg.sample.noise, 1.0);
        let again = Config::from_toml("again", &config.to_toml(), &Config::default()).unwrap();
        assert_eq!(again, config);
    }

    #[test]
    fn rates_and_weights_are_not_negative() {
        let config = |setting| Config::default().with_settings([setting]).unwrap();
        for setting in ["train.rate=-0.1", "train.rest_decay=nan", "train.rate_from_guide=inf"] {
            let wrong = config(setting).train.check().unwrap_err().to_string();
            let (key, _) = setting.split_once('=').unwrap();
            assert!(wrong.contains(key) && wrong.contains("at least 0"), "{wrong}");
        }
        config("train.rate=0").train.check().unwrap();
    }

    #[test]
    fn unknown_keys_are_errors_with_a_suggestion() {
        let wrong = Config::default().with_settings(["train.epoch=3"]).unwrap_err().to_string();
        assert!(wrong.contains("did you mean `epochs`"), "{wrong}");
        let text = "[train]\nrate = 0.1\nepoch = 3\n";
        let wrong = Config::from_toml("mine.toml", text, &Config::default()).unwrap_err();
        assert!(wrong.to_string().starts_with("mine.toml, line 3: "), "{wrong}");
        let wrong = Config::default().with_settings(["epochs=3"]).unwrap_err().to_string();
        assert!(wrong.contains("did you mean `train.epochs`"), "{wrong}");
        let wrong = Config::default().with_settings(["learner.ddg.symmetric=true"]).unwrap_err();
        assert!(wrong.to_string().contains("did you mean `dgg`"), "{wrong}");
        let wrong = Config::default().with_settings(["nonsense"]).unwrap_err().to_string();
        assert!(wrong.contains("key=value"), "{wrong}");
    }

    #[test]
    fn a_learner_without_settings_is_a_word() {
        let config = Config::default().with_settings(["learner=none"]).unwrap();
        assert_eq!(config.learner, LearnerConfig::None);
        assert!(Config::default().with_settings(["learner=nobody"]).is_err());
    }
}
