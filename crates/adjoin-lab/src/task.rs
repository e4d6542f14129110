//! What differs between kinds of problems. Whatever is not in here is written once.
//!
//! A [`Task`] says how data is read and taken apart, what a model is, how it is measured and what a page
//! shows of it. Training, checkpoints, run folders, records, reports and the command work with any task.

use crate::{
    Error, Result,
    settings::{ChooseBy, Defaults, Layers, TrainConfig, from_toml},
};
use adjoin::{Key, Pass, loss::Baseline, nn::Progress};
use burn::{
    module::{Module, ParamId},
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use std::{fmt::Debug, path::PathBuf};

/// One kind of problem.
pub trait Task: Sized + Clone + Debug + PartialEq + Send + Sync + 'static {
    /// Its name: `node`, `trajectory`, `points`.
    const NAME: &'static str;
    /// What it is, in a few words.
    const ABOUT: &'static str;
    /// The data of a first run.
    const DATASET: &'static str;
    /// The learner that keeps the given or published graph: what others are compared with.
    const PLAIN: &'static str;
    /// The network of a first run.
    const BACKBONE: &'static str;
    /// Text of `defaults/NAME.toml`.
    const DEFAULTS: &'static str;

    /// Network, learner and training.
    type Config: Settings;
    /// The data, labels included.
    type Data: Dataset;
    /// What a model takes from its training data and needs when that is not there.
    type Fitted: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;
    /// What models see of the data apart from labels.
    type Context: Send + Sync;
    /// What a loss may see.
    type Seen: Items;
    /// Validation or test data; labels stay inside.
    type Held: Send + Sync;
    /// Learner and network.
    type Model: Model<Self>;
    /// How well a model does.
    type Metrics: Metrics;
    /// What a page draws.
    type Exhibit: Clone + Debug + PartialEq + Default + Serialize + DeserializeOwned + Send;

    /// Networks with a line of help each.
    fn backbones() -> Vec<Named>;

    /// Learners with a line of help each.
    fn learners() -> Vec<Named>;

    /// The configuration that the names of a network and a learner stand for.
    ///
    /// # Errors
    /// If one of them is not known.
    fn start(backbone: &str, learner: &str) -> Result<Self::Config>;

    /// Reads data to train with.
    ///
    /// # Errors
    /// If it is not found or not understood, or an option is for another task.
    fn load(source: &Source) -> Result<Self::Data>;

    /// Reads other data to use a trained model on.
    ///
    /// # Errors
    /// If it is not found, or does not fit the model.
    fn load_other(source: &Source, fitted: &Self::Fitted, purpose: Purpose) -> Result<Self::Data>;

    /// Changes that the data asks for, such as candidates where there is no graph.
    fn suited(config: Self::Config, _data: &Self::Data) -> Self::Config {
        config
    }

    /// What a model takes from its training data.
    ///
    /// # Errors
    /// If data and configuration do not fit.
    fn fit(config: &Self::Config, data: &Self::Data) -> Result<Self::Fitted>;

    /// The data as models see it.
    ///
    /// # Errors
    /// If data and configuration do not fit.
    fn context(config: &Self::Config, data: &Self::Data, device: &Device) -> Result<Self::Context>;

    /// The training part.
    ///
    /// # Errors
    /// If it is empty.
    fn training(config: &Self::Config, data: &Self::Data, device: &Device) -> Result<Self::Seen>;

    /// A held-out part; none if it is empty.
    ///
    /// # Errors
    /// If it cannot be measured.
    fn held(config: &Self::Config, data: &Self::Data, part: Part) -> Result<Option<Self::Held>>;

    /// A fresh model; every seed is its own.
    ///
    /// # Errors
    /// If a setting is out of range.
    fn model(
        config: &Self::Config,
        fitted: &Self::Fitted,
        context: &Self::Context,
        seed: u64,
        device: &Device,
    ) -> Result<Self::Model>;

    /// Running rewards that the REINFORCE loss compares with.
    fn rewards(_seen: &Self::Seen) -> Baseline {
        Baseline::shared()
    }

    /// The configuration of a teacher, a model trained before, if this one wants one.
    fn teacher(_config: &Self::Config) -> Option<Self::Config> {
        None
    }

    /// The same configuration as that of a teacher, if its models can serve as one.
    fn as_teacher(_config: &Self::Config) -> Option<Self::Config> {
        None
    }

    /// What runs are compared by, in words; runs with other words are not compared.
    fn metric(_config: &Self::Config) -> String {
        Self::Metrics::COLUMNS[0].title.into()
    }

    /// Predictions that need no training, on test data.
    fn references(_config: &Self::Config, _data: &Self::Data, _seed: u64) -> Vec<Reference<Self>> {
        Vec::new()
    }

    /// What a page shows of a trained model.
    ///
    /// # Errors
    /// If data and model do not fit.
    fn exhibit(
        config: &Self::Config,
        data: &Self::Data,
        context: &Self::Context,
        model: &Self::Model,
        seed: u64,
    ) -> Result<Self::Exhibit>;

    /// Predictions of a trained model as CSV.
    ///
    /// # Errors
    /// If data and model do not fit, or an option is for another task.
    fn predictions(
        config: &Self::Config,
        data: &Self::Data,
        context: &Self::Context,
        model: &Self::Model,
        seed: u64,
        wanted: &Predictions,
    ) -> Result<String>;

    /// The configuration of a run of named network and learner, before files and settings.
    ///
    /// # Errors
    /// If a name is not known.
    fn named(backbone: &str, learner: &str) -> Result<Layers<Self::Config>> {
        let defaults = Defaults::read(Self::NAME, Self::DEFAULTS)?;
        let start = Self::start(backbone, crate::settings::split_options(learner).0)?;
        defaults.layers(start, backbone, learner)
    }
}

/// Something a user can choose by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// One line of help.
    pub about: String,
}

impl Named {
    /// A name with its line of help.
    pub fn new(name: &str, about: &str) -> Self {
        Self { name: name.into(), about: about.into() }
    }

    /// Names with their lines of help, `first` first.
    pub(crate) fn all(pairs: Vec<(String, String)>, first: &str) -> Vec<Self> {
        let mut all: Vec<Self> =
            pairs.into_iter().map(|(name, about)| Self { name, about }).collect();
        all.sort_by_key(|one| one.name != first);
        all
    }

    /// Refuses a name that is not in a list.
    ///
    /// # Errors
    /// With the names that are.
    pub fn check(place: &str, name: &str, known: &[Self]) -> Result<()> {
        if known.iter().any(|one| one.name == name) {
            return Ok(());
        }
        let near = known.iter().min_by_key(|one| strsim::levenshtein(&one.name, name));
        let near = near.filter(|one| strsim::levenshtein(&one.name, name) <= 2);
        let hint = near.map_or(String::new(), |one| format!(" (did you mean `{}`?)", one.name));
        let names: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
        let what = format!("there is no `{name}`{hint}; choose one of {}", names.join(", "));
        Err(Error::Config { place: place.into(), what })
    }
}

/// A configuration of a task.
pub trait Settings:
    Clone + Debug + PartialEq + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The key of the network in files.
    const BACKBONE_KEY: &'static str;
    /// The keys that say which graph is used.
    const LEARNER_KEYS: &'static [&'static str];

    /// How it is trained.
    fn train(&self) -> &TrainConfig;

    /// How it is trained, to be changed.
    fn train_mut(&mut self) -> &mut TrainConfig;

    /// The name of the network.
    fn backbone(&self) -> String;

    /// The name of the kind of learner, or of the graph that takes its place.
    fn learner(&self) -> String;

    /// Takes the network of another configuration.
    fn keep_backbone(&mut self, of: &Self);

    /// Takes the learner of another configuration, and what belongs to it.
    fn keep_learner(&mut self, of: &Self);

    /// Checks what can be checked without data.
    ///
    /// # Errors
    /// Names the setting at fault.
    fn check(&self) -> Result<()> {
        self.train().check()
    }

    /// Reads a full configuration; defaults stand in for keys that the text leaves out.
    ///
    /// # Errors
    /// If a key or a value is not known.
    fn read(place: &str, text: &str) -> Result<Self> {
        from_toml(place, text, &Self::default())
    }

    /// The same, to stop when another one does.
    #[must_use]
    fn stopping_as(&self, other: &Self) -> Self {
        let mut config = self.clone();
        config.train_mut().stopping_as(other.train());
        config
    }
}

/// Where data comes from, as a user says it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// A known name, or a path.
    pub name: String,
    /// Where data is looked for first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<PathBuf>,
    /// The split, as it is written on the command line; none for the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Whether the edges of a graph are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_graph: bool,
    /// Only so many training clouds of every class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subset: Option<usize>,
}

/// What other data is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To compare predictions with what is known.
    Compare,
    /// To predict what is not.
    Predict,
}

/// Data of a task.
pub trait Dataset: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Tells datasets apart by their content.
    fn fingerprint(&self) -> String;

    /// The name of its split; empty where there is only one.
    fn split(&self) -> String;

    /// Hash of the split; that of all data where it has no hash of its own.
    fn split_hash(&self) -> String;

    /// A known name or an absolute path, and the split that was taken: what finds the same data again.
    fn source(&self, from: &Source) -> Source;

    /// Sizes in one line.
    fn heading(&self) -> String;
}

/// Training data of a task, in parts that make a step.
pub trait Items: Send + Sync {
    /// The steps of an epoch: numbers of items, in an order drawn from `key`, `size` at most in a step.
    fn batches(&self, size: usize, key: Key) -> Vec<Vec<u32>>;
}

/// The part that chooses epochs and settings. None can be made of test data.
pub struct Validation<T: Task>(T::Held);

/// The part that gives the final number.
pub struct Test<T: Task>(T::Held);

impl<T: Task> Validation<T> {
    /// The validation part of some data.
    ///
    /// # Errors
    /// If it is empty or cannot be measured.
    pub fn of(config: &T::Config, data: &T::Data) -> Result<Self> {
        let held = T::held(config, data, Part::Validation)?;
        Ok(Self(held.ok_or_else(|| no_part(data, "validation"))?))
    }

    /// What a model is evaluated on.
    pub fn held(&self) -> &T::Held {
        &self.0
    }
}

impl<T: Task> Test<T> {
    /// The test part of some data.
    ///
    /// # Errors
    /// If it is empty or cannot be measured.
    pub fn of(config: &T::Config, data: &T::Data) -> Result<Self> {
        let held = T::held(config, data, Part::Test)?;
        Ok(Self(held.ok_or_else(|| no_part(data, "test"))?))
    }

    /// What a model is evaluated on.
    pub fn held(&self) -> &T::Held {
        &self.0
    }
}

fn no_part(data: &impl Dataset, part: &str) -> Error {
    let what = format!("there is no {part} data to measure with");
    Error::Config { place: data.name().into(), what }
}

/// A held-out part of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Chooses epochs and settings.
    Validation,
    /// Gives the final number.
    Test,
}

/// Learner and network of a task.
pub trait Model<T: Task>: Module + Sync {
    /// Works out what stays the same for some data. Called before anything else, and again when weights
    /// were loaded.
    ///
    /// # Errors
    /// If data and model do not fit.
    fn bind(self, _context: &T::Context) -> Result<Self> {
        Ok(self)
    }

    /// Takes over what a teacher knows; `seen` is told of the epochs this takes, and of how many.
    ///
    /// # Errors
    /// If data and teacher do not fit.
    fn taught_by(
        self,
        _teacher: &Self,
        _context: &T::Context,
        _config: &T::Config,
        _seed: u64,
        _seen: &dyn Fn(usize, usize),
    ) -> Result<Self> {
        Ok(self)
    }

    /// Told before every epoch of training: whether the learner takes part.
    fn begin_epoch(&mut self, _at: Progress, _learner_joined: bool) {}

    /// The loss of a step on some items.
    ///
    /// # Errors
    /// If data and model do not fit.
    fn loss(&self, data: Training<'_, T>, pass: Pass, rewards: &mut Baseline) -> Result<Step>;

    /// How well it does on held-out data; call it on a model without autodiff.
    ///
    /// # Errors
    /// If data and model do not fit.
    fn evaluate(&self, context: &T::Context, held: &T::Held, seed: u64) -> Result<Evaluation<T>>;

    /// The parameters that train at the learner's rate.
    fn learner_parameters(&self) -> Vec<ParamId>;

    /// Rates of network and learner in a step before warm-up and schedule; none for a part that rests.
    fn rates(&self, config: &T::Config, _at: Progress) -> [Option<f64>; 2] {
        [Some(config.train().rate), Some(config.train().learner_rate)]
    }

    /// Parts of the paths of the parameters that have a weight decay of their own.
    fn first_parameters(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

/// What a step of training looks at.
pub struct Training<'a, T: Task> {
    /// Network, learner and training.
    pub config: &'a T::Config,
    /// The data as models see it.
    pub context: &'a T::Context,
    /// The training part.
    pub seen: &'a T::Seen,
    /// The items of the step.
    pub batch: &'a [u32],
    /// Where training stands.
    pub at: Progress,
    /// The seed of the run.
    pub seed: u64,
}

/// What a step gives.
pub struct Step {
    /// `[1]`.
    pub loss: Tensor<1>,
    /// The measure of the task on the items, where a step tells it.
    pub measure: Option<f64>,
}

/// What is seen of a model on held-out data.
#[derive(Clone, Debug)]
pub struct Evaluation<T: Task> {
    /// How well it does.
    pub metrics: T::Metrics,
    /// The measure on training data, where the same pass tells it.
    pub train: Option<f64>,
    /// Neighbours of the nodes, layer by layer; empty where none are learned.
    pub degrees: Vec<Degree>,
}

/// How many neighbours nodes have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Degree {
    /// Their mean number.
    pub mean: f64,
    /// Its standard deviation over the nodes.
    pub std: f64,
}

impl Degree {
    /// Of a list of degrees.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        Self { mean, std: variance.sqrt() }
    }
}

/// A prediction without training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub struct Reference<T: Task> {
    /// What it is.
    pub name: String,
    /// How well it does on test data.
    pub test: T::Metrics,
}

/// Which predictions are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Predictions {
    /// Probabilities of all classes besides.
    pub probabilities: bool,
    /// Sampled paths of every agent, instead of as many as in tests.
    pub samples: Option<usize>,
}

impl Predictions {
    /// Refuses the probabilities of all classes where there are none.
    pub(crate) fn refuse_probabilities(&self) -> Result<()> {
        match self.probabilities {
            true => Err(Error::not_for("--probabilities", "nodes")),
            false => Ok(()),
        }
    }

    /// Refuses sampled paths where there are none.
    pub(crate) fn refuse_samples(&self) -> Result<()> {
        match self.samples {
            Some(_) => Err(Error::not_for("--samples", "trajectories")),
            None => Ok(()),
        }
    }
}

/// How a number is measured and written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Its unit.
    pub unit: &'static str,
    /// The unit of differences.
    pub points: &'static str,
    /// Numbers as written over numbers in records.
    pub factor: f64,
    /// Digits after the point.
    pub digits: usize,
    /// Whether less is better.
    pub lower: bool,
    /// The least stretch of an axis, as written.
    pub least_span: f64,
}

impl Measure {
    /// Shares of right answers, in per cent.
    pub const PERCENT: Self = Self {
        unit: "%",
        points: "points",
        factor: 100.0,
        digits: 1,
        lower: false,
        least_span: 0.5,
    };
    /// Distances in metres.
    pub const METRES: Self =
        Self { unit: "m", points: "m", factor: 1.0, digits: 3, lower: true, least_span: 0.005 };
    /// A loss.
    pub const LOSS: Self =
        Self { unit: "", points: "", factor: 1.0, digits: 3, lower: true, least_span: 0.01 };

    /// A number as written, `81.5` or `0.312`.
    pub fn number(&self, value: f64) -> String {
        format!("{:.*}", self.digits, self.factor * value)
    }
}

/// A number of the metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Its name in records, curves and JSON.
    pub key: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    /// How it is written.
    pub measure: Measure,
}

/// Reads a number of the metrics. One that is none, such as the loss of a prediction without training, is null in
/// JSON.
pub(crate) fn or_nan<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// How well a model does: tables, curves, TensorBoard, checkpoints and JSON are made from its columns. The
/// first is what runs are compared by.
pub trait Metrics:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The numbers, in the order of [`values`](Self::values).
    const COLUMNS: &'static [Column];

    /// The numbers.
    fn values(&self) -> Vec<f64>;

    /// Metrics from their numbers; what is missing is NaN.
    fn from_values(values: &[f64]) -> Self;

    /// The loss on the same data.
    fn loss(&self) -> f64;

    /// What runs are compared by.
    fn value(&self) -> f64 {
        self.values()[0]
    }

    /// What the choice of the epoch minimises, the first number first.
    fn criterion(&self, by: ChooseBy) -> [f64; 2] {
        let sign = if Self::COLUMNS[0].measure.lower { 1.0 } else { -1.0 };
        match by {
            ChooseBy::Measure => [sign * self.value(), self.loss()],
            ChooseBy::Loss => [self.loss(), 0.0],
        }
    }
}
