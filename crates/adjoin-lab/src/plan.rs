//! What a run is to do: data, split, learners, seeds, and the configuration of each learner.

use crate::{
    Config, Error, LearnerConfig, Result, node::name_of, presets, record::RunRecord, schema::Schema,
};
use adjoin_data::{
    Locations, NodeDataset, Split, SplitSpec,
    points::{self, PointDataset},
    trajectory::{self, Purpose, TableConfig, TrajectoryDataset},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::{Path, PathBuf};

/// Everything but the configurations that is needed to run again, or to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The task: `node`, `trajectory` or `points`.
    pub task: String,
    /// Name of the dataset, or its path.
    pub dataset: String,
    /// Where data is looked for first.
    pub data_dir: Option<PathBuf>,
    /// The split, as it is written on the command line; of point clouds the number to train with of every
    /// class; empty where the dataset decides, of trajectories all but a user's own.
    pub split: String,
    /// Hash of the split of nodes, which the fingerprint leaves out; empty for other tasks, and in old runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub split_hash: String,
    /// Fingerprint of the dataset.
    pub fingerprint: String,
    /// Classes and features of the nodes of a graph; none for other tasks, and in old runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// Whether the edges of the graph are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_graph: bool,
    /// Names of the learners.
    pub learners: Vec<String>,
    /// The seeds of each learner.
    pub seeds: Vec<u64>,
    /// The command line.
    pub command: String,
}

impl Plan {
    /// The same plan for one of its learners.
    pub(crate) fn only(&self, learner: &str) -> Self {
        Self { learners: vec![learner.to_string()], ..self.clone() }
    }

    /// The data of the plan, or other data to use with its models, whose classes and features are then
    /// matched with those of the plan by name.
    ///
    /// # Errors
    /// If the data is not found, or no longer what it was when the plan was made.
    pub fn load(
        &self,
        other: Option<&str>,
        data_dir: Option<&Path>,
    ) -> Result<(NodeDataset, Split)> {
        let name = other.unwrap_or(&self.dataset);
        let mut dataset = adjoin_data::load(name, &self.locations(data_dir))?;
        if self.no_graph {
            dataset = dataset.without_edges();
        }
        if other.is_none() {
            let spec: SplitSpec = self.split.parse()?;
            self.check_data("the data", [self.fingerprint.clone(), dataset.fingerprint()])?;
            let split = dataset.split(&spec)?;
            if !self.split_hash.is_empty() {
                // Nodes that were trained with must not be tested with.
                self.check_data("the split", [self.split_hash.clone(), split.hash()])?;
            }
            return Ok((dataset, split));
        }
        if let Some(schema) = &self.schema {
            dataset = schema.fit(dataset)?;
        }
        // Other data was not trained with: what has labels, if anything, is all there to test with, unless
        // the data says otherwise.
        let stored = dataset.splits.iter().find(|split| split.name == self.split);
        let split = match stored.or(dataset.splits.first()) {
            Some(split) => split.clone(),
            None => {
                let labelled = |node: &u32| dataset.label(*node).is_some();
                let nodes = (0..dataset.nodes() as u32).filter(labelled).collect();
                Split::new("all", vec![], vec![], nodes)?
            }
        };
        Ok((dataset, split))
    }

    /// The trajectories of the plan.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_trajectories(&self, data_dir: Option<&Path>) -> Result<TrajectoryDataset> {
        let table = match self.split.is_empty() {
            true => TableConfig::default(),
            false => self.split.parse()?,
        };
        let dataset = trajectory::load_with(&self.dataset, &self.locations(data_dir), &table)?;
        self.check_data("the data", [self.fingerprint.clone(), dataset.fingerprint()])?;
        Ok(dataset)
    }

    /// Other trajectories to use with its models, which see and predict so many steps.
    ///
    /// # Errors
    /// If the data is not found, or has scenes of other numbers of steps.
    pub fn load_new_trajectories(
        &self,
        name: &str,
        data_dir: Option<&Path>,
        [observed, predicted]: [usize; 2],
        purpose: Purpose,
    ) -> Result<TrajectoryDataset> {
        let table = TableConfig { observed, predicted, ..TableConfig::default() };
        let dataset = trajectory::load_new(name, &self.locations(data_dir), &table, purpose)?;
        check_steps(&dataset, [observed, predicted])?;
        Ok(dataset)
    }

    /// The same for point clouds.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_points(
        &self,
        other: Option<&str>,
        data_dir: Option<&Path>,
    ) -> Result<PointDataset> {
        let dataset = points::load(other.unwrap_or(&self.dataset), &self.locations(data_dir))?;
        if other.is_some() {
            return Ok(dataset);
        }
        let dataset = some_of_every_class(dataset, self.split.parse().ok())?;
        self.check_data("the data", [self.fingerprint.clone(), dataset.fingerprint()])?;
        Ok(dataset)
    }

    fn locations(&self, data_dir: Option<&Path>) -> Locations {
        let data_dir = data_dir.map(Path::to_path_buf).or_else(|| self.data_dir.clone());
        Locations::from_environment(data_dir)
    }

    fn check_data(&self, which: &str, [then, now]: [String; 2]) -> Result<()> {
        if now == then {
            return Ok(());
        }
        let what = format!(
            "{which} has changed since the run was made ({then} then, {now} now): put back what it was, or train \
             again; to use finished models on it as it is, name it with --dataset"
        );
        Err(Error::Format { path: PathBuf::from(&self.dataset), what })
    }
}

/// Refuses scenes of other numbers of steps than a model sees and predicts.
pub(crate) fn check_steps(
    dataset: &TrajectoryDataset,
    [observed, predicted]: [usize; 2],
) -> Result<()> {
    if [dataset.observed, dataset.predicted] == [observed, predicted] {
        return Ok(());
    }
    let what = format!(
        "its scenes have {} steps to see and {} to predict, but the model sees {observed} and predicts {predicted}",
        dataset.observed, dataset.predicted
    );
    Err(Error::Config { place: dataset.name.clone(), what })
}

/// At most so many training clouds of every class, and a quarter as many to choose and to test with.
///
/// # Errors
/// If there would be none.
pub fn some_of_every_class(dataset: PointDataset, count: Option<usize>) -> Result<PointDataset> {
    let Some(count) = count else { return Ok(dataset) };
    let fewer = count.div_ceil(4);
    Ok(dataset.subset([count, fewer, fewer], 0)?)
}

/// What a user asks for, in layers: preset < file < settings, and names beat the file.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// Name of the dataset.
    pub dataset: &'a str,
    /// Whether the data has edges, for learners that can do without.
    pub has_edges: bool,
    /// The network, if named.
    pub backbone: Option<&'a str>,
    /// The learners, if named.
    pub learners: Option<&'a [String]>,
    /// A configuration file: its name and its text.
    pub file: Option<(&'a str, &'a str)>,
    /// `key=value` settings.
    pub settings: &'a [String],
}

impl Wishes<'_> {
    /// The configuration of every learner, by name.
    ///
    /// # Errors
    /// If a name, a key or a value is not known, or a setting is for none of the learners.
    pub fn configs(&self) -> Result<Vec<(String, Config)>> {
        let told = match self.file {
            Some((place, text)) => Told::read(place, text)?,
            None => Told::default(),
        };
        let backbone = self.backbone.or(told.backbone.as_deref()).unwrap_or("gcn");
        let learners = match (self.learners, told.learner) {
            (Some(named), _) => named.to_vec(),
            (None, Some(learner)) => vec![learner],
            (None, None) => vec!["none".to_string(), "dgg".to_string()],
        };
        self.layered(learners, |learner| {
            let config = presets::config(self.dataset, backbone, learner)?;
            Ok(if self.has_edges { config } else { presets::without_edges(config) })
        })
    }

    /// Presets of some learners, with file and settings on top.
    pub(crate) fn layered<C: Layered>(
        &self,
        learners: Vec<String>,
        preset: impl Fn(&str) -> Result<C>,
    ) -> Result<Vec<(String, C)>> {
        let mut used = vec![false; self.settings.len()];
        let mut configs: Vec<(String, C)> = Vec::new();
        for learner in learners {
            let mut config = preset(&learner)?;
            if let Some((place, text)) = self.file {
                let next = config.with_file(place, text)?;
                config = keep_learner(&config, next).0;
            }
            for (setting, used) in self.settings.iter().zip(&mut used) {
                let (next, fits) = with_setting(&config, setting)?;
                *used |= fits;
                config = next;
            }
            if configs.iter().any(|(name, _)| *name == learner) {
                let what = format!("{learner} is named twice");
                return Err(Error::Config { place: "--learner".into(), what });
            }
            configs.push((learner, config));
        }
        match used.iter().position(|used| !used) {
            None => Ok(configs),
            Some(at) => Err(Error::Config {
                place: format!("--set {}", self.settings[at]),
                what: "is a setting of a learner that is not run: name it with --learner".into(),
            }),
        }
    }
}

/// A configuration with a `key=value` on top, and whether it fits: settings of another learner are passed over.
///
/// # Errors
/// If the key or the value is not known.
pub(crate) fn with_setting<C: Layered>(config: &C, setting: &str) -> Result<(C, bool)> {
    let (next, kept) = keep_learner(config, config.with_setting(setting)?);
    Ok((next, !kept))
}

/// A configuration that is put together in layers, and written into the folder of its run.
pub trait Layered: Clone + PartialEq {
    /// The task it is a configuration of.
    const TASK: &'static str;

    /// What a run of the task leaves behind.
    type Record: Serialize + DeserializeOwned;

    /// Reads a full configuration; defaults stand in for keys that are younger than the text.
    ///
    /// # Errors
    /// If a key or a value is not known.
    fn read(place: &str, text: &str) -> Result<Self>;

    /// The same, to stop when another one does: that decides how long, not what is computed.
    fn stopping_as(&self, other: &Self) -> Self;

    /// The values of a file on top.
    ///
    /// # Errors
    /// If a key or a value is not known.
    fn with_file(&self, place: &str, text: &str) -> Result<Self>;

    /// One `key=value` on top.
    ///
    /// # Errors
    /// As [`with_file`](Self::with_file).
    fn with_setting(&self, setting: &str) -> Result<Self>;

    /// The name of the network.
    fn backbone_name(&self) -> String;

    /// The name of the kind of learner.
    fn learner_kind(&self) -> &'static str;

    /// Takes the learner of another configuration, and what belongs to it.
    fn take_learner(&mut self, from: &Self);

    /// The full configuration as a file that can be given back.
    fn to_toml(&self) -> String;
}

impl Layered for Config {
    const TASK: &'static str = "node";
    type Record = RunRecord;

    fn read(place: &str, text: &str) -> Result<Self> {
        Self::from_toml(place, text, &Self::default())
    }

    fn stopping_as(&self, other: &Self) -> Self {
        let mut config = self.clone();
        config.train.epochs = other.train.epochs;
        config.train.patience = other.train.patience;
        config
    }

    /// A file for another network does not decide about the layers of this one.
    fn with_file(&self, place: &str, text: &str) -> Result<Self> {
        let next = Self::from_toml(place, text, self)?;
        Ok(match next.backbone.kind == self.backbone.kind {
            true => next,
            false => Self { backbone: self.backbone.clone(), ..next },
        })
    }

    fn with_setting(&self, setting: &str) -> Result<Self> {
        self.with_settings([setting])
    }

    fn backbone_name(&self) -> String {
        name_of(&self.backbone.kind)
    }

    fn learner_kind(&self) -> &'static str {
        kind(&self.learner)
    }

    fn take_learner(&mut self, from: &Self) {
        self.learner = from.learner.clone();
    }

    fn to_toml(&self) -> String {
        Self::to_toml(self)
    }
}

/// What a configuration file says about the kinds of things.
#[derive(Default)]
struct Told {
    backbone: Option<String>,
    learner: Option<String>,
}

impl Told {
    fn read(place: &str, text: &str) -> Result<Self> {
        let config = Config::from_toml(place, text, &Config::default())?;
        let table: toml::Table = text.parse().unwrap_or_default();
        let has = |key: &str| table.contains_key(key);
        Ok(Self {
            backbone: has("backbone").then(|| name_of(&config.backbone.kind)),
            learner: has("learner").then(|| kind(&config.learner).to_string()),
        })
    }
}

/// The name of a learner's kind.
pub(crate) fn kind(learner: &LearnerConfig) -> &'static str {
    match learner {
        LearnerConfig::None => "none",
        LearnerConfig::Knn(_) => "knn",
        LearnerConfig::Pagerank(_) => "pagerank",
        LearnerConfig::Dropedge(_) => "dropedge",
        LearnerConfig::Dgm(_) => "dgm",
        LearnerConfig::Dgg(_) => "dgg",
    }
}

/// A layer may set up the learner but not replace it; says whether it tried.
fn keep_learner<C: Layered>(before: &C, mut after: C) -> (C, bool) {
    let replaced = before.learner_kind() != after.learner_kind();
    if replaced {
        after.take_learner(before);
    }
    (after, replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wishes<'a>(learners: Option<&'a [String]>, settings: &'a [String]) -> Wishes<'a> {
        Wishes { dataset: "cora", has_edges: true, backbone: None, learners, file: None, settings }
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn a_setting_of_one_learner_leaves_the_others_alone() {
        let settings = words(&["learner.dgg.symmetric=true", "train.epochs=3"]);
        let configs = wishes(None, &settings).configs().unwrap();
        assert_eq!(configs[0].0, "none");
        assert_eq!(configs[0].1.learner, LearnerConfig::None);
        let LearnerConfig::Dgg(dgg) = &configs[1].1.learner else { panic!("{configs:?}") };
        assert!(dgg.symmetric);
        assert!(configs.iter().all(|(_, config)| config.train.epochs == 3));
    }

    #[test]
    fn a_setting_for_nobody_is_an_error() {
        let settings = words(&["learner.dropedge.drop=0.5"]);
        let learners = words(&["none"]);
        let error = wishes(Some(&learners), &settings).configs().unwrap_err().to_string();
        assert!(error.contains("--learner"), "{error}");
    }

    #[test]
    fn names_beat_the_file_and_the_file_beats_the_default() {
        let text = "[backbone]\nkind = \"gat\"\nhidden = 5\n[learner.dropedge]\ndrop = 0.1\n";
        let file = Some(("x.toml", text));
        let configs = Wishes { file, ..wishes(None, &[]) }.configs().unwrap();
        assert_eq!((configs.len(), configs[0].0.as_str()), (1, "dropedge"));
        assert_eq!(configs[0].1.backbone.hidden, 5);
        let named = words(&["dgg"]);
        let backbone = Some("sage");
        let other = Wishes { file, backbone, ..wishes(Some(&named), &[]) }.configs().unwrap();
        assert_eq!(name_of(&other[0].1.backbone.kind), "sage");
        assert_eq!(kind(&other[0].1.learner), "dgg");
    }

    #[test]
    fn a_learner_twice_is_refused() {
        let learners = words(&["none", "none"]);
        assert!(wishes(Some(&learners), &[]).configs().is_err());
    }
}
