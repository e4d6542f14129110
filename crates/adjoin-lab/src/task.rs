//! What differs between kinds of problems. Whatever is not in here is written once.
//!
//! A [`Task`] says how data is read and taken apart, what a model is, how it is measured and what a page
//! shows of it. Training, checkpoints, run folders, records, reports and the command work with any task.

mod data;
mod measure;
mod model;

pub use data::{Dataset, Items, Part, Purpose, Source, Test, Validation, WrongEdges};
pub(crate) use measure::or_nan;
pub use measure::{Column, Degree, Measure, Metrics, Reference};
pub use model::{Evaluation, Model, Step, Training};

use crate::{
    Error, Result,
    settings::{Defaults, Layers, TrainConfig, from_toml},
};
use adjoin::loss::Baseline;
use burn::tensor::Device;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

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

    /// The data of a first run, and what is shown beside it.
    fn first_sources() -> Vec<Source> {
        vec![Source::named(Self::DATASET)]
    }

    /// Networks with a line of help each.
    fn backbones() -> Vec<Named>;

    /// Learners with a line of help each.
    fn learners() -> Vec<Named>;

    /// The configuration that the names of a network and a learner stand for.
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
    fn fit(config: &Self::Config, data: &Self::Data) -> Result<Self::Fitted>;

    /// What is done to the data before a model sees it, in one line; none where nothing is.
    fn preparation(_fitted: &Self::Fitted) -> Option<String> {
        None
    }

    /// The data as models see it, with what was taken from the training data.
    fn context(
        config: &Self::Config,
        data: &Self::Data,
        fitted: &Self::Fitted,
        device: &Device,
    ) -> Result<Self::Context>;

    /// The training part.
    ///
    /// # Errors
    /// If it is empty.
    fn training(config: &Self::Config, data: &Self::Data, device: &Device) -> Result<Self::Seen>;

    /// A held-out part; none if it is empty.
    fn held(config: &Self::Config, data: &Self::Data, part: Part) -> Result<Option<Self::Held>>;

    /// A fresh model; every seed is its own.
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
    fn check(&self) -> Result<()> {
        self.train().check()
    }

    /// Reads a full configuration; defaults stand in for keys that the text leaves out.
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
