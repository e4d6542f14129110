//! The folder of a run: made beside its final place, named when it is complete.
//!
//! | file | what |
//! |---|---|
//! | `run.json` | the [`Plan`]: data, split, learners, seeds |
//! | `config.toml` | the full configuration |
//! | `record.json` | the [`RunRecord`]: numbers, curves, graph |
//! | `metrics.jsonl` | one line per seed and epoch |
//! | `seed-N.safetensors` | weights and training state of each seed ([`checkpoint`](crate::checkpoint)) |
//! | `events.out.tfevents.*` | the curves for TensorBoard |
//! | `report.html` | the page |
//!
//! With several learners there is one such folder for each below the common one, which holds the plan
//! and the report that compares them. While training lasts the folder is called `NAME.partial`.
//!
//! Runs of point clouds have all of these, and `clouds.json`: a few test clouds with what was predicted and
//! how many neighbours every point has in every layer.
//!
//! Runs of trajectories have plan, configuration, record, metrics and weights, but neither curves for
//! TensorBoard nor a page, and cannot be resumed.

use crate::{
    Config, Error, Result, files,
    node::{Experiment, Observer},
    plan::{Layered, Plan},
    points::PointsConfig,
    record::RunRecord,
    report, settings, tensorboard,
};
use adjoin_data::{NodeDataset, Split};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

const PLAN: &str = "run.json";
const CONFIG: &str = "config.toml";
/// Name of the file of a run's numbers.
pub(crate) const RECORD: &str = "record.json";
/// Name of the file of a run's curves.
pub(crate) const METRICS: &str = "metrics.jsonl";
/// Name of the page in the folder of a run.
pub const REPORT: &str = "report.html";
const PARTIAL: &str = ".partial";

/// A run that is being made, of the task whose configurations it holds.
#[derive(Debug)]
pub struct RunFolder<C = Config> {
    target: PathBuf,
    work: PathBuf,
    overwrite: bool,
    plan: Plan,
    configs: Vec<C>,
}

/// Where a run goes when no folder is named: the first free `runs/DATASET-BACKBONE-LEARNERS[-N]`.
pub fn default_target(dataset: &str, config: &impl Layered, learners: &[String]) -> PathBuf {
    let safe = |c: char| if c.is_alphanumeric() || "._".contains(c) { c } else { '_' };
    let dataset: String = dataset.chars().map(safe).collect();
    let backbone = config.backbone_name();
    let name = format!("{dataset}-{backbone}-{}", learners.join("_"));
    let free = |path: &PathBuf| !path.exists() && !files::sibling(path, PARTIAL).exists();
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let names = std::iter::once(name.clone()).chain(numbered);
    let found = names.map(|name| Path::new("runs").join(name)).find(free);
    found.unwrap_or_else(|| Path::new("runs").join(&name))
}

impl<C: Layered> RunFolder<C> {
    /// Makes the working folder of a new run.
    ///
    /// # Errors
    /// If results are there already and `overwrite` is not set, or the folder cannot be made.
    pub fn create(target: &Path, overwrite: bool, plan: Plan, configs: Vec<C>) -> Result<Self> {
        check_target(target, overwrite)?;
        let work = files::sibling(target, PARTIAL);
        if work.exists() {
            if !overwrite {
                let what = match plan.task.as_str() {
                    "node" | "points" => format!(
                        "is an unfinished run: go on with --resume {}, or start again with --overwrite",
                        work.display()
                    ),
                    _ => "is an unfinished run: start again with --overwrite".into(),
                };
                return Err(Error::Exists { path: work, what });
            }
            check_target(&work, overwrite)?;
            fs::remove_dir_all(&work).map_err(Error::file(&work))?;
        }
        let folder = Self { target: target.into(), work, overwrite, plan, configs };
        folder.write_plan().inspect_err(|_| folder.remove())?;
        Ok(folder)
    }

    /// What is to be run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The configuration of each learner of the plan.
    pub fn configs(&self) -> &[C] {
        &self.configs
    }

    /// The folder while it is being made.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Where the results of a learner will be.
    pub fn result_of(&self, learner: &str) -> PathBuf {
        part(&self.target, &self.plan, learner)
    }

    fn write_plan(&self) -> Result<()> {
        for (learner, config) in self.plan.learners.iter().zip(&self.configs) {
            let folder = self.part(learner);
            fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
            files::write(&folder.join(CONFIG), config.to_toml().as_bytes())?;
            write_json(&folder.join(PLAN), &self.plan.only(learner))?;
        }
        // Last, because a folder with a plan is one that can be resumed.
        write_json(&self.work.join(PLAN), &self.plan)
    }

    /// Gives the complete folder its name.
    ///
    /// # Errors
    /// If something got in the way meanwhile; the results stay in the working folder.
    pub fn publish(self) -> Result<PathBuf> {
        check_target(&self.target, self.overwrite)?;
        let aside = files::sibling(&self.target, &format!(".old-{}", std::process::id()));
        let replaced = self.target.exists();
        if replaced {
            fs::rename(&self.target, &aside).map_err(Error::file(&self.target))?;
        }
        if let Err(error) = fs::rename(&self.work, &self.target) {
            if replaced {
                let _ = fs::rename(&aside, &self.target);
            }
            return Err(Error::file(&self.target)(error));
        }
        files::sync_folder(&self.target);
        if replaced {
            fs::remove_dir_all(&aside).map_err(Error::file(&aside))?;
        }
        Ok(self.target)
    }

    /// Opens a run that was stopped, by its final name or by that of the working folder; `read` gives
    /// the configuration from the name and the text of its file.
    fn reopen_with(
        path: &Path,
        task: &str,
        read: impl Fn(&str, &str) -> Result<C>,
    ) -> Result<Self> {
        let text = path.as_os_str().to_string_lossy();
        let bare = text.trim_end_matches('/');
        let target = PathBuf::from(bare.strip_suffix(PARTIAL).unwrap_or(bare));
        let work = files::sibling(&target, PARTIAL);
        if !work.join(PLAN).is_file() {
            let what = match target.join(PLAN).is_file() {
                true => "is complete: there is nothing to go on with",
                false => "holds no unfinished run",
            };
            return Err(Error::Format { path: path.into(), what: what.into() });
        }
        let plan = read_plan(&work)?;
        check_task(&plan, task, path)?;
        let folder = |learner| part(&work, &plan, learner);
        let configs = plan.learners.iter().map(|learner| read_config_with(&folder(learner), &read));
        let configs = configs.collect::<Result<Vec<C>>>()?;
        plan.learners.iter().for_each(|learner| files::remove_leftovers(&folder(learner)));
        Ok(Self { target, work, overwrite: false, plan, configs })
    }

    /// After an error: removes the working folder unless it holds a checkpoint; says whether it can be
    /// resumed.
    pub fn abandon(self) -> bool {
        let is_checkpoint = |path: &Path| path.extension().is_some_and(|e| e == "safetensors");
        let holds = |folder: PathBuf| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.into_iter().any(|entry| is_checkpoint(&entry.path()))
        };
        let mut folders = self.plan.learners.iter().map(|learner| self.part(learner));
        let resumable = folders.any(holds);
        if !resumable {
            self.remove();
        }
        resumable
    }

    /// After an error: removes the working folder.
    pub fn discard(self) {
        self.remove();
    }

    /// The folder of a learner while it is being made.
    pub(crate) fn part(&self, learner: &str) -> PathBuf {
        part(&self.work, &self.plan, learner)
    }

    fn remove(&self) {
        // What cannot be removed is refused, or replaced, by the next run.
        let _ = fs::remove_dir_all(&self.work);
    }
}

impl RunFolder<PointsConfig> {
    /// Opens a run of point clouds that was stopped, by its final name or by that of the working folder.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn reopen_points(path: &Path) -> Result<Self> {
        Self::reopen_with(path, "points", |place, text| {
            settings::from_toml(place, text, &PointsConfig::default())
        })
    }
}

/// The task of a run, finished or not.
///
/// # Errors
/// If there is no such run.
pub fn task(path: &Path) -> Result<String> {
    let text = path.as_os_str().to_string_lossy();
    let bare = text.trim_end_matches('/');
    let target = PathBuf::from(bare.strip_suffix(PARTIAL).unwrap_or(bare));
    let work = files::sibling(&target, PARTIAL);
    let plan = read_plan(if work.join(PLAN).is_file() { &work } else { &target })?;
    Ok(plan.task)
}

impl RunFolder {
    /// Opens a run of nodes that was stopped, by its final name or by that of the working folder.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn reopen(path: &Path) -> Result<Self> {
        Self::reopen_with(path, "node", |place, text| {
            Config::from_toml(place, text, &Config::default())
        })
    }

    /// Trains every learner with every seed and writes all files; goes on where checkpoints are.
    /// `observe` gives the observer of a learner.
    ///
    /// # Errors
    /// The first error of training or writing; checkpoints stay in the working folder.
    pub fn execute<O: Observer>(
        &self,
        dataset: &NodeDataset,
        split: &Split,
        threads: usize,
        observe: impl Fn(&str) -> O,
    ) -> Result<Vec<RunRecord>> {
        let mut records = Vec::new();
        for (learner, config) in self.plan.learners.iter().zip(&self.configs) {
            let folder = self.part(learner);
            let seeds = &self.plan.seeds;
            let experiment = Experiment { dataset, split, config, learner, seeds, threads };
            let mut record = experiment.run_in(&observe(learner), Some(&folder))?.record;
            record.command = self.plan.command.clone();
            write_record(&folder, &record)?;
            records.push(record);
        }
        if records.len() > 1 {
            let page = report::render(&records)?;
            files::write(&self.work.join(REPORT), page.as_bytes())?;
        }
        Ok(records)
    }
}

/// The folder of a learner: below the common one when there are several.
fn part(folder: &Path, plan: &Plan, learner: &str) -> PathBuf {
    if plan.learners.len() == 1 { folder.into() } else { folder.join(learner) }
}

/// Results are replaced only when asked, and nothing but results is replaced even then.
fn check_target(target: &Path, overwrite: bool) -> Result<()> {
    let exists = |what: &str| Err(Error::Exists { path: target.into(), what: what.into() });
    let entries = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return exists("is a file: choose another name with --out");
        }
        Err(error) => return Err(Error::file(target)(error)),
    };
    if !entries {
        return Ok(());
    }
    match (target.join(PLAN).is_file(), overwrite) {
        (true, true) => Ok(()),
        (true, false) => {
            exists("holds results: choose another folder with --out, or add --overwrite")
        }
        (false, _) => exists("holds files that are no run: choose another folder with --out"),
    }
}

pub(crate) fn write_record(folder: &Path, record: &RunRecord) -> Result<()> {
    files::write(&folder.join(METRICS), &metrics(record)?)?;
    tensorboard::write(folder, record)?;
    let page = report::render(std::slice::from_ref(record))?;
    files::write(&folder.join(REPORT), page.as_bytes())?;
    // Last: a folder with a record is complete.
    write_json(&folder.join(RECORD), record)
}

/// One line per seed and epoch, in that order; nothing in it depends on time or test labels.
fn metrics(record: &RunRecord) -> Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Line<'a> {
        seed: u64,
        #[serde(flatten)]
        epoch: &'a crate::record::EpochRecord,
    }
    let mut lines = Vec::new();
    for seed in &record.seeds {
        lines.extend(seed.curve.iter().map(|epoch| Line { seed: seed.seed, epoch }));
    }
    json_lines(&lines)
}

/// Values as JSON, one a line.
pub(crate) fn json_lines(values: &[impl Serialize]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for value in values {
        serde_json::to_writer(&mut out, value)
            .map_err(|error| Error::Format { path: METRICS.into(), what: error.to_string() })?;
        out.push(b'\n');
    }
    Ok(out)
}

pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(value)
        .map_err(|error| Error::Format { path: path.into(), what: error.to_string() })?;
    files::write(path, text.as_bytes())
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).map_err(Error::file(path))?;
    serde_json::from_str(&text)
        .map_err(|error| Error::Format { path: path.into(), what: error.to_string() })
}

fn read_config_with<C>(folder: &Path, read: impl Fn(&str, &str) -> Result<C>) -> Result<C> {
    let path = folder.join(CONFIG);
    let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
    read(&path.display().to_string(), &text)
}

/// Folders and records of a run, or of all learners of a common one.
///
/// # Errors
/// If there is no complete run.
pub fn records(folder: &Path) -> Result<Vec<(PathBuf, RunRecord)>> {
    if folder.join(RECORD).is_file() {
        if folder.join(PLAN).is_file() {
            check_node(&read_plan(folder)?, folder)?;
        }
        return Ok(vec![(folder.into(), read_json(&folder.join(RECORD))?)]);
    }
    let plan = read_plan(folder)?;
    check_node(&plan, folder)?;
    let one = |learner: &String| {
        let folder = part(folder, &plan, learner);
        let record = read_json(&folder.join(RECORD))?;
        Ok((folder, record))
    };
    plan.learners.iter().map(one).collect()
}

/// The record of a folder that holds one run.
///
/// # Errors
/// If there is none, or several.
pub fn record(folder: &Path) -> Result<RunRecord> {
    open_single(folder)?;
    read_json(&folder.join(RECORD))
}

/// Plan and configuration of a folder that holds one run.
pub(crate) fn open_single(folder: &Path) -> Result<(Plan, Config)> {
    let plan = read_plan(folder)?;
    check_node(&plan, folder)?;
    if plan.learners.len() > 1 {
        let parts: Vec<String> =
            plan.learners.iter().map(|l| folder.join(l).display().to_string()).collect();
        let what = format!("holds several runs: choose one of {}", parts.join(", "));
        return Err(Error::Format { path: folder.into(), what });
    }
    let config =
        read_config_with(folder, |place, text| Config::from_toml(place, text, &Config::default()))?;
    Ok((plan, config))
}

/// What is done with results and checkpoints is there for nodes only.
fn check_node(plan: &Plan, folder: &Path) -> Result<()> {
    check_task(plan, "node", folder)
}

fn check_task(plan: &Plan, task: &str, folder: &Path) -> Result<()> {
    if plan.task == task {
        return Ok(());
    }
    let what = format!(
        "is a run of --task {}; this is there for --task {task} only, but {RECORD} in it has all numbers",
        plan.task
    );
    Err(Error::Format { path: folder.into(), what })
}

fn read_plan(folder: &Path) -> Result<Plan> {
    let path = folder.join(PLAN);
    if path.is_file() {
        return read_json(&path);
    }
    let unfinished = files::sibling(folder, PARTIAL);
    let what = match unfinished.join(PLAN).is_file() {
        true => format!("is not finished: adjoin train --resume {}", unfinished.display()),
        false => format!("is no folder of a run (there is no {PLAN} in it)"),
    };
    Err(Error::Format { path: folder.into(), what })
}
