//! Data of a task: where it comes from, and the parts it is taken apart into.

use super::Task;
use crate::{Error, Result};
use adjoin::Key;
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, str::FromStr};

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
    /// Wrong edges that are added to those of a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong_edges: Option<WrongEdges>,
    /// Only so many training clouds of every class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subset: Option<usize>,
}

impl Source {
    /// Data by its name alone.
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Refuses what only graphs of nodes have.
    pub(crate) fn refuse_of_graphs(&self) -> Result<()> {
        let given = [("--no-graph", self.no_graph), ("--wrong-edges", self.wrong_edges.is_some())];
        match given.into_iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Error::not_for(option, "--task node")),
            None => Ok(()),
        }
    }
}

/// Wrong edges to add to a graph: written `0.5`, or `0.5:3` to draw others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrongEdges {
    /// How many, as a fraction of the edges there are.
    pub fraction: f64,
    /// The seed that they are drawn from.
    pub seed: u64,
}

impl FromStr for WrongEdges {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (fraction, seed) = text.split_once(':').unwrap_or((text, "0"));
        let parsed = fraction.parse().ok().zip(seed.parse().ok());
        let (fraction, seed) = parsed.ok_or("write FRACTION or FRACTION:SEED, such as 0.5")?;
        match (0.0..=100.0).contains(&fraction) {
            true => Ok(Self { fraction, seed }),
            false => Err("the fraction must be between 0 and 100".into()),
        }
    }
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
