//! The defaults of a task: one file, the same for every dataset.
//!
//! ```toml
//! [base]                       # for all
//! [backbones.gcn]              # for one network; `about` is its line of help
//! [learners.dgg]               # for one learner; `extends` names another whose part comes first
//! [learners.dgg.with.sage]     # for both together
//! [options.consistency]        # added by `+consistency` after the name of a learner
//! ```
//! Every part is a configuration of the task on top of what comes before it.

use super::{Layers, Origins};
use crate::{Error, Result};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;

/// A named part of the defaults.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Choice {
    /// One line of help.
    pub about: String,
    /// A choice whose part comes first.
    pub extends: Option<String>,
    /// What changes together with a backbone.
    pub with: BTreeMap<String, toml::Table>,
    #[serde(flatten)]
    part: toml::Table,
}

/// The defaults of a task, read from its file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Defaults {
    base: toml::Table,
    /// Parts of networks, by name.
    pub backbones: BTreeMap<String, Choice>,
    /// Parts of learners, by name.
    pub learners: BTreeMap<String, Choice>,
    /// Parts that can be added to any learner with `+NAME`.
    pub options: BTreeMap<String, Choice>,
    #[serde(skip)]
    place: String,
}

impl Defaults {
    /// Reads the file of a task.
    pub fn read(task: &str, text: &str) -> Result<Self> {
        let place = format!("defaults/{task}.toml");
        let read = toml::from_str::<Self>(text);
        let read = read.map_err(|e| Error::Config { place: place.clone(), what: e.to_string() })?;
        Ok(Self { place, ..read })
    }

    /// Names and lines of help of some choices of a file.
    pub fn named(
        text: &str,
        pick: impl Fn(&Self) -> &BTreeMap<String, Choice>,
    ) -> Vec<(String, String)> {
        let defaults = toml::from_str::<Self>(text).unwrap_or_default();
        let one = |(name, choice): (&String, &Choice)| (name.clone(), choice.about.clone());
        pick(&defaults).iter().map(one).collect()
    }

    /// `start`, the configuration that the names stand for, with the parts of backbone and learner on top.
    /// Options follow the name of a learner: `dgg+consistency`.
    ///
    /// # Errors
    /// If an option is not known, or a part holds a key that is not.
    pub fn layers<C: Serialize + DeserializeOwned + Clone + Default>(
        &self,
        start: C,
        backbone: &str,
        learner: &str,
    ) -> Result<Layers<C>> {
        let (learner, options) = split_options(learner);
        let learners = self.chain(learner);
        let mut parts = vec![("base".to_string(), &self.base)];
        if let Some(choice) = self.backbones.get(backbone) {
            parts.push((format!("backbones.{backbone}"), &choice.part));
        }
        for (name, choice) in &learners {
            parts.push((format!("learners.{name}"), &choice.part));
        }
        for option in options {
            let choice = self.options.get(option).ok_or_else(|| self.no_option(option))?;
            parts.push((format!("options.{option}"), &choice.part));
        }
        for (name, choice) in &learners {
            if let Some(both) = choice.with.get(backbone) {
                parts.push((format!("learners.{name}.with.{backbone}"), both));
            }
        }
        let start = Layers { config: start, origins: Origins::default() };
        parts.into_iter().try_fold(start, |layers, (name, part)| {
            layers.table(&format!("{}: {name}", self.place), part)
        })
    }

    /// A learner's part and those it extends, the first one first.
    fn chain<'a>(&'a self, learner: &'a str) -> Vec<(&'a str, &'a Choice)> {
        let mut chain: Vec<(&str, &Choice)> = Vec::new();
        let mut next = Some(learner);
        while let Some((name, choice)) = next.and_then(|name| self.learners.get_key_value(name)) {
            if chain.iter().any(|(known, _)| *known == name.as_str()) {
                break;
            }
            chain.push((name, choice));
            next = choice.extends.as_deref();
        }
        chain.reverse();
        chain
    }

    fn no_option(&self, option: &str) -> Error {
        let known: Vec<&str> = self.options.keys().map(String::as_str).collect();
        let what = format!("there is no option +{option}; known: {known:?}");
        Error::Config { place: "--learner".into(), what }
    }
}

/// The name of a learner and the options behind it: `dgg+consistency`.
pub(crate) fn split_options(learner: &str) -> (&str, Vec<&str>) {
    let mut words = learner.split('+');
    (words.next().unwrap_or_default(), words.collect())
}
