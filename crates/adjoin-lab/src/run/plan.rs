//! What a run is to do: data, learners, seeds, and the configuration of each learner.

use crate::{
    Error, Result,
    settings::{Layers, Origins, keys, recipe},
    task::{Dataset, Settings, Source, Task},
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Everything but the configurations that is needed to run again, or to resume.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The task: `node`, `trajectory` or `points`.
    pub task: String,
    /// Where the data is.
    pub source: Source,
    /// Fingerprint of the dataset.
    pub fingerprint: String,
    /// Hash of the split.
    pub split_hash: String,
    /// Names of the learners.
    pub learners: Vec<String>,
    /// Where the values of the configuration of each came from.
    pub origins: Vec<Origins>,
    /// The seeds of each learner.
    pub seeds: Vec<u64>,
    /// The command line.
    pub command: String,
}

impl Plan {
    /// A plan for some data.
    pub fn new<T: Task>(
        source: &Source,
        data: &T::Data,
        configs: &[Configured<T>],
        seeds: Vec<u64>,
        command: String,
    ) -> Self {
        Self {
            task: T::NAME.into(),
            source: data.source(source),
            fingerprint: data.fingerprint(),
            split_hash: data.split_hash(),
            learners: configs.iter().map(|(name, _)| name.clone()).collect(),
            origins: configs.iter().map(|(_, layers)| layers.origins.clone()).collect(),
            seeds,
            command,
        }
    }

    /// The same plan for one of its learners.
    pub(super) fn only(&self, learner: &str) -> Self {
        let at = self.learners.iter().position(|name| name == learner);
        let origins = at.and_then(|at| self.origins.get(at)).cloned().unwrap_or_default();
        Self { learners: vec![learner.into()], origins: vec![origins], ..self.clone() }
    }

    /// The data of the plan.
    ///
    /// # Errors
    /// If it is not found, or no longer what it was when the plan was made.
    pub fn load<T: Task>(&self, data_dir: Option<PathBuf>) -> Result<T::Data> {
        let data_dir = data_dir.or_else(|| self.source.data_dir.clone());
        let data = T::load(&Source { data_dir, ..self.source.clone() })?;
        self.check("the data", [&self.fingerprint, &data.fingerprint()])?;
        // What was trained with must not be tested with.
        self.check("the split", [&self.split_hash, &data.split_hash()])?;
        Ok(data)
    }

    fn check(&self, which: &str, [then, now]: [&str; 2]) -> Result<()> {
        if now == then {
            return Ok(());
        }
        let what = format!(
            "{which} has changed since the run was made ({then} then, {now} now): put back what it was, or train \
             again; to use finished models on it as it is, name it with --dataset"
        );
        Err(Error::Format { path: PathBuf::from(&self.source.name), what })
    }
}

/// What a user asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The network, if named.
    pub backbone: Option<&'a str>,
    /// The learners, if named.
    pub learners: Option<&'a [String]>,
    /// Recipes instead of names.
    pub recipes: &'a [String],
    /// A configuration file: its name and its text.
    pub file: Option<(&'a str, &'a str)>,
    /// `key=value` settings.
    pub settings: &'a [String],
}

/// A learner's name in tables, and its configuration.
pub type Configured<T> = (String, Layers<<T as Task>::Config>);

impl Request<'_> {
    /// The configuration of every learner, checked. Names beat the file; a setting of one learner leaves the
    /// others alone.
    ///
    /// # Errors
    /// If a name, a key or a value is not known, or a setting is for another network or for none of the learners.
    pub fn configs<T: Task>(&self) -> Result<Vec<Configured<T>>> {
        let mut used = vec![false; self.settings.len()];
        let mut configs: Vec<Configured<T>> = Vec::new();
        // What a whole file does not have is absent, not left to the defaults.
        let whole = self.told::<T>()?.is_some_and(|(table, told)| keys(&table) == keys(&told));
        for (name, mut layers) in self.starts::<T>()? {
            if let Some((place, text)) = self.file {
                let below = if whole { Layers::built_in() } else { layers.clone() };
                layers = kept(&layers, below.text(place, text)?).0;
            }
            layers = with_settings(layers, self.settings, &mut used)?;
            if configs.iter().any(|(known, _)| *known == name) {
                let what = format!("{name} is named twice");
                return Err(Error::Config { place: "--learner".into(), what });
            }
            configs.push((name, layers));
        }
        refuse_unused(self.settings, &used, "--backbone or --learner")?;
        Ok(configs)
    }

    /// Names and defaults, or recipes, before file and settings.
    fn starts<T: Task>(&self) -> Result<Vec<Configured<T>>> {
        if !self.recipes.is_empty() {
            let one = |name: &String| Ok((name.clone(), recipe_layers::<T>(name)?));
            return self.recipes.iter().map(one).collect();
        }
        let told = self.told::<T>()?;
        let has = |key: &&str| told.as_ref().is_some_and(|(table, _)| table.contains_key(*key));
        let told = told.as_ref().map(|(_, config)| config);
        let from_file = told.filter(|_| has(&T::Config::BACKBONE_KEY)).map(Settings::backbone);
        let backbone = self.backbone.or(from_file.as_deref()).unwrap_or(T::BACKBONE);
        let names_learner = T::Config::LEARNER_KEYS.iter().any(has);
        let learners = match (self.learners, told.filter(|_| names_learner)) {
            (Some(named), _) => named.to_vec(),
            (None, Some(told)) => vec![told.learner()],
            (None, None) => [T::PLAIN, "dgg"].map(String::from).to_vec(),
        };
        learners.into_iter().map(|name| Ok((name.clone(), T::named(backbone, &name)?))).collect()
    }

    /// The file as a table, and as a configuration of its own.
    fn told<T: Task>(&self) -> Result<Option<(toml::Table, T::Config)>> {
        let Some((place, text)) = self.file else { return Ok(None) };
        let config = T::Config::read(place, text)?;
        Ok(Some((text.parse().unwrap_or_default(), config)))
    }
}

/// A whole configuration by the name of its recipe.
///
/// # Errors
/// If there is no such recipe for the task.
pub fn recipe_layers<T: Task>(name: &str) -> Result<Layers<T::Config>> {
    let found = recipe(T::NAME, name)?;
    Layers::built_in().text(&format!("recipe {name}"), found.text)
}

/// A configuration with `key=value` settings on top, checked. Settings of another network or learner leave it as
/// it is; `used` marks the others.
pub(crate) fn with_settings<C: Settings>(
    mut layers: Layers<C>,
    settings: &[String],
    used: &mut [bool],
) -> Result<Layers<C>> {
    for (setting, used) in settings.iter().zip(used) {
        let (next, replaced) = kept(&layers, layers.set(setting)?);
        *used |= !replaced;
        layers = next;
    }
    layers.config.check()?;
    Ok(layers)
}

/// Refuses a setting that no configuration used, before hours are spent without it.
pub(crate) fn refuse_unused(settings: &[String], used: &[bool], options: &str) -> Result<()> {
    match settings.iter().zip(used).find(|(_, used)| !**used) {
        None => Ok(()),
        Some((setting, _)) => Err(Error::Config {
            place: format!("--set {setting}"),
            what: format!(
                "is a setting of a network or a learner that is not run: name it with {options}"
            ),
        }),
    }
}

/// A layer may set up the network and the learner but not replace them; says whether it tried to.
fn kept<C: Settings>(before: &Layers<C>, after: Layers<C>) -> (Layers<C>, bool) {
    let (was, mut config) = (&before.config, after.config.clone());
    let [learner, backbone] =
        [config.learner() != was.learner(), config.backbone() != was.backbone()];
    if learner {
        config.keep_learner(was);
    }
    if backbone {
        config.keep_backbone(was);
    }
    let origin = "named on the command line";
    let changed = config != after.config;
    (if changed { after.changed(origin, config) } else { after }, learner || backbone)
}
