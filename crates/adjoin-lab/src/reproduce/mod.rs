//! Published tables, with our own numbers beside them.

mod ablation;
mod node;
mod points;
mod table;
mod trajectory;

pub use points::{Degrees, PointsRow, run as run_points};
pub use table::{Row, Table, TableRow};
pub use trajectory::{Gain, TrajectoryRow, run as run_trajectories};

use crate::{
    Config, Error, LearnerConfig, Result, files,
    node::{Experiment, Guides, Observer},
    plan::{Layered, with_setting},
    record::Summary,
};
use adjoin_data::{Locations, NodeDataset, SplitSpec};
use std::path::PathBuf;

/// Names of the tables.
pub const TABLES: [&str; 4] = ["ablation", "node", TRAJECTORY, POINTS];

/// The name of the table of trajectories, which has rows of its own ([`run_trajectories`]).
pub const TRAJECTORY: &str = "trajectory";

/// The name of the table of point clouds, which has rows of its own ([`run_points`]).
pub const POINTS: &str = "points";

/// The split of the published tables of node classification.
const SPLIT: &str = "public";

/// How much of a table to reproduce.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seeds of every row.
    pub seeds: Vec<u64>,
    /// Threads to use.
    pub threads: usize,
    /// Where data is sought.
    pub locations: Locations,
    /// Only these datasets; all of the table if empty.
    pub datasets: Vec<String>,
    /// Only these backbones; all of the table if empty.
    pub backbones: Vec<String>,
    /// Only these learners; all of the table if empty.
    pub learners: Vec<String>,
    /// `key=value` on top of the presets; settings of one learner are for its rows only.
    pub settings: Vec<String>,
    /// Another number of epochs than the presets', for trajectories.
    pub epochs: Option<usize>,
    /// Where what is finished is kept, and taken from.
    pub keep: Option<PathBuf>,
    /// The smaller setting, for point clouds and trajectories.
    pub reduced: bool,
}

impl Options {
    /// Refuses settings that are for none of the rows, before hours are spent without them.
    fn check_settings<C: Layered>(&self, presets: impl Iterator<Item = Result<C>>) -> Result<()> {
        let mut unused: Vec<&String> = self.settings.iter().collect();
        for preset in presets {
            let preset = preset?;
            let mut still = Vec::new();
            for setting in unused {
                if !with_setting(&preset, setting)?.1 {
                    still.push(setting);
                }
            }
            unused = still;
        }
        match unused.first() {
            None => Ok(()),
            Some(setting) => Err(Error::Config {
                place: format!("--set {setting}"),
                what: "is a setting of a learner that is not run: name it with --learners".into(),
            }),
        }
    }

    /// A preset with the settings on top.
    fn on_top<C: Layered>(&self, preset: C) -> Result<C> {
        let set = |config, setting: &String| Ok(with_setting(&config, setting)?.0);
        self.settings.iter().try_fold(preset, set)
    }

    /// The folder of a cell, made if it is not there; none if nothing is kept.
    fn folder(&self, cell: &[&str]) -> Result<Option<PathBuf>> {
        let Some(keep) = &self.keep else { return Ok(None) };
        let odd = |c: char| !c.is_ascii_alphanumeric() && !"+-".contains(c);
        let folder = keep.join(cell.join("-").replace(odd, "_"));
        std::fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        files::remove_leftovers(&folder);
        Ok(Some(folder))
    }
}

/// Reproduces a table of node classification by name; `done` is called with every finished row.
///
/// # Errors
/// If there is no such table, data is missing, or a run fails.
pub fn run(
    table: &str,
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table<Row>> {
    match table {
        "ablation" => ablation::run(options, observer, done),
        "node" => node::run(options, observer, done),
        other => {
            let what = format!("there is no table {other:?}; choose one of {TABLES:?}");
            Err(Error::Config { place: "reproduce".into(), what })
        }
    }
}

/// One cell: all seeds of a configuration, test at the best validation epoch. `cell` names it, the learner
/// last; `guides` are from the cells before it, and for those after it.
fn measure(
    dataset: &NodeDataset,
    config: &Config,
    cell: &[&str],
    options: &Options,
    observer: &dyn Observer,
    guides: &mut Guides,
) -> Result<(Summary, Vec<f64>)> {
    let split = dataset.split(&SplitSpec::Stored(SPLIT.into()))?;
    let (seeds, threads) = (&options.seeds, options.threads);
    let learner = cell.last().copied().unwrap_or_default();
    let split = &split;
    let experiment = Experiment { dataset, split, config, learner, seeds, threads, guides };
    let folder = options.folder(cell)?;
    let outcome = experiment.run_in(observer, folder.as_deref())?;
    guides.keep(config, &outcome);
    let record = outcome.record;
    let tests = record.seeds.iter().map(|seed| seed.test).collect();
    let summary = record.test().ok_or_else(|| Error::Config {
        place: "--seeds".into(),
        what: "must be at least 1".into(),
    })?;
    Ok((summary, tests))
}

/// Refuses names that are not in a table: nothing would be run for them.
fn check_names(options: &Options, known: [&[&str]; 3]) -> Result<()> {
    let asked = [
        ("--datasets", &options.datasets),
        ("--backbones", &options.backbones),
        ("--learners", &options.learners),
    ];
    for ((place, names), known) in asked.into_iter().zip(known) {
        if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
            let what = format!("{name:?} is not in the table; choose from {known:?}");
            return Err(Error::Config { place: place.into(), what });
        }
    }
    Ok(())
}

fn wanted(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|item| item == name)
}

/// The generator of a configuration, to be changed for an ablation.
fn generator(config: &mut Config) -> Result<&mut adjoin::DggConfig> {
    match &mut config.learner {
        LearnerConfig::Dgg(dgg) => Ok(dgg),
        other => Err(Error::Config {
            place: "ablation".into(),
            what: format!("needs the generator, not {other:?}"),
        }),
    }
}
