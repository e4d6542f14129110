//! The folder of a run: made beside its final place, named when it is complete.
//!
//! | file | what |
//! |---|---|
//! | `run.json` | the [`Plan`]: data, split, learners, seeds |
//! | `config.toml` | the full configuration |
//! | `record.json` | the [`RunRecord`], or that of trajectories or point clouds: numbers, curves, graph |
//! | `metrics.jsonl` | one line per seed and epoch |
//! | `seed-N.safetensors` | weights and training state of each seed ([`checkpoint`](crate::checkpoint)) |
//! | `events.out.tfevents.*` | the curves for TensorBoard |
//! | `report.html` | the page |
//!
//! With several learners there is one such folder for each below the common one, which holds the plan
//! and the report that compares them. While training lasts the folder is called `NAME.partial`.

mod target;

pub use target::default_target;

use crate::{
    Config, Error, Result, files,
    node::{Experiment, Guides, Observer},
    plan::{Layered, Plan},
    record::{EpochRecord, RunRecord},
    report,
    tensorboard::{self, Point},
};
use adjoin_data::{NodeDataset, Split};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

/// Folder of the networks that guide a learner, in the folder of its run.
pub(crate) const GUIDE: &str = "guide";
const PLAN: &str = "run.json";
const CONFIG: &str = "config.toml";
/// Name of the file of a run's numbers.
pub(crate) const RECORD: &str = "record.json";
const METRICS: &str = "metrics.jsonl";
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
    /// Held for as long as the folder is worked on.
    _lock: Option<File>,
}

impl<C: Layered> RunFolder<C> {
    /// Makes the working folder of a new run.
    ///
    /// # Errors
    /// If results are there already and `overwrite` is not set, or the folder cannot be made.
    pub fn create(target: &Path, overwrite: bool, plan: Plan, configs: Vec<C>) -> Result<Self> {
        if target.file_name().is_none() {
            let what = "is no name for a new folder: choose one with --out".into();
            return Err(Error::Exists { path: target.into(), what });
        }
        let target = target::behind_links(target)?;
        target::check(&target, overwrite)?;
        let work = files::sibling(&target, PARTIAL);
        if work.exists() {
            if !overwrite {
                let what = format!(
                    "is an unfinished run: go on with --resume {}, or start again with --overwrite",
                    work.display()
                );
                return Err(Error::Exists { path: work, what });
            }
            target::check(&work, overwrite)?;
            let _lock = target::lock(&work)?;
            fs::remove_dir_all(&work).map_err(Error::file(&work))?;
        }
        let mut folder = Self { target, work, overwrite, plan, configs, _lock: None };
        folder.write_plan().inspect_err(|_| folder.remove())?;
        folder._lock = target::lock(&folder.work)?;
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
        target::check(&self.target, self.overwrite)?;
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

    /// Opens a run that was stopped, by its final name or by that of the working folder.
    ///
    /// # Errors
    /// If there is no such run, or results have its name and `overwrite` is not set.
    pub fn reopen(path: &Path, overwrite: bool) -> Result<Self> {
        let (target, work) = both_names(path);
        if !work.join(PLAN).is_file() {
            let what = match target.join(PLAN).is_file() {
                true => "is complete: there is nothing to go on with",
                false => "holds no unfinished run",
            };
            return Err(Error::Format { path: path.into(), what: what.into() });
        }
        target::check(&target, overwrite)?;
        let plan = read_plan(&work)?;
        check_task::<C>(&plan, path)?;
        let _lock = target::lock(&work)?;
        let folder = |learner| part(&work, &plan, learner);
        let configs = plan.learners.iter().map(|learner| read_config(&folder(learner)));
        let configs = configs.collect::<Result<Vec<C>>>()?;
        plan.learners.iter().for_each(|learner| files::remove_leftovers(&folder(learner)));
        Ok(Self { target, work, overwrite, plan, configs, _lock })
    }

    /// What to type to go on with the run.
    pub fn resume_command(&self) -> String {
        let overwrite = if self.overwrite { " --overwrite" } else { "" };
        format!("adjoin train --resume {}{overwrite}", self.work.display())
    }

    /// After an error: removes the working folder unless it holds a checkpoint; says whether it does.
    pub fn abandon(self) -> bool {
        let is_checkpoint = |path: &Path| path.extension().is_some_and(|e| e == "safetensors");
        let holds = |folder: PathBuf| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.into_iter().any(|entry| is_checkpoint(&entry.path()))
        };
        let mut folders = self.plan.learners.iter().map(|learner| self.part(learner));
        let resumable = folders.any(|folder| holds(folder.join(GUIDE)) || holds(folder));
        if !resumable {
            self.remove();
        }
        resumable
    }

    /// The folder of a learner while it is being made.
    pub(crate) fn part(&self, learner: &str) -> PathBuf {
        part(&self.work, &self.plan, learner)
    }

    /// Writes the page on all learners together.
    pub(crate) fn write_page(&self, page: &str) -> Result<()> {
        files::write(&self.work.join(REPORT), page.as_bytes())
    }

    fn remove(&self) {
        // What cannot be removed is refused, or replaced, by the next run.
        let _ = fs::remove_dir_all(&self.work);
    }
}

impl RunFolder {
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
        let mut guides = Guides::default();
        for (learner, config) in self.plan.learners.iter().zip(&self.configs) {
            let folder = self.part(learner);
            let seeds = &self.plan.seeds;
            let experiment =
                Experiment { dataset, split, config, learner, seeds, threads, guides: &guides };
            let outcome = experiment.run_in(&observe(learner), Some(&folder))?;
            guides.keep(config, &outcome);
            let mut record = outcome.record;
            record.command = self.plan.command.clone();
            let page = report::render(std::slice::from_ref(&record))?;
            write_results(&folder, &record, &epochs(&record), &curves(&record), &page)?;
            records.push(record);
        }
        if records.len() > 1 {
            self.write_page(&report::render(&records)?)?;
        }
        Ok(records)
    }
}

/// The folder of a learner: below the common one when there are several.
fn part(folder: &Path, plan: &Plan, learner: &str) -> PathBuf {
    if plan.learners.len() == 1 { folder.into() } else { folder.join(learner) }
}

/// Writes what a learner leaves behind: metrics, one line per seed and epoch, of which nothing depends on
/// time or test data; curves, the page, and the record.
pub(crate) fn write_results(
    folder: &Path,
    record: &impl Serialize,
    metrics: &[impl Serialize],
    curves: &[Point],
    page: &str,
) -> Result<()> {
    files::write(&folder.join(METRICS), &json_lines(metrics)?)?;
    tensorboard::write(folder, curves)?;
    files::write(&folder.join(REPORT), page.as_bytes())?;
    // Last: a folder with a record is complete.
    write_json(&folder.join(RECORD), record)
}

/// A line of the metrics.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    seed: u64,
    #[serde(flatten)]
    epoch: &'a EpochRecord,
}

pub(crate) fn epochs(record: &RunRecord) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for seed in &record.seeds {
        lines.extend(seed.curve.iter().map(|epoch| Line { seed: seed.seed, epoch }));
    }
    lines
}

pub(crate) fn curves(record: &RunRecord) -> Vec<Point> {
    let point = |Line { seed, epoch }: Line| Point {
        seed,
        epoch: epoch.epoch,
        values: vec![
            ("loss", Some(epoch.loss)),
            ("train", Some(epoch.train)),
            ("valid", Some(epoch.valid)),
            ("mean_degree", epoch.mean_degree),
            ("std_degree", epoch.std_degree),
        ],
    };
    epochs(record).into_iter().map(point).collect()
}

/// Values as JSON, one a line.
fn json_lines(values: &[impl Serialize]) -> Result<Vec<u8>> {
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

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).map_err(Error::file(path))?;
    serde_json::from_str(&text)
        .map_err(|error| Error::Format { path: path.into(), what: error.to_string() })
}

fn read_config<C: Layered>(folder: &Path) -> Result<C> {
    let path = folder.join(CONFIG);
    let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
    C::read(&path.display().to_string(), &text)
}

/// The final name of a run and that of its working folder, from either.
fn both_names(path: &Path) -> (PathBuf, PathBuf) {
    let text = path.as_os_str().to_string_lossy();
    let bare = text.trim_end_matches('/');
    let target = PathBuf::from(bare.strip_suffix(PARTIAL).unwrap_or(bare));
    let work = files::sibling(&target, PARTIAL);
    (target, work)
}

/// The task of a run, finished or not.
///
/// # Errors
/// If there is no such run.
pub fn task(path: &Path) -> Result<String> {
    let (target, work) = both_names(path);
    let folder = if work.join(PLAN).is_file() { work } else { target };
    Ok(read_plan(&folder)?.task)
}

/// Folders and records of a run, or of all learners of a common one.
///
/// # Errors
/// If there is no complete run of the task.
pub fn records<C: Layered>(folder: &Path) -> Result<Vec<(PathBuf, C::Record)>> {
    let plan = read_plan(folder)?;
    check_task::<C>(&plan, folder)?;
    let one = |learner: &String| {
        let folder = part(folder, &plan, learner);
        let record = read_record::<C>(&folder)?;
        Ok((folder, record))
    };
    plan.learners.iter().map(one).collect()
}

/// The record of a folder that holds one run.
///
/// # Errors
/// If there is none, or several.
pub fn record<C: Layered>(folder: &Path) -> Result<C::Record> {
    open_single::<C>(folder)?;
    read_record::<C>(folder)
}

fn read_record<C: Layered>(folder: &Path) -> Result<C::Record> {
    let path = folder.join(RECORD);
    if path.is_file() {
        return read_json(&path);
    }
    let what = "is not finished: there are no results in it yet".into();
    Err(Error::Format { path: folder.into(), what })
}

/// Plan and configuration of a folder that holds one run.
pub(crate) fn open_single<C: Layered>(folder: &Path) -> Result<(Plan, C)> {
    let plan = read_plan(folder)?;
    check_task::<C>(&plan, folder)?;
    if plan.learners.len() > 1 {
        let parts: Vec<String> =
            plan.learners.iter().map(|l| folder.join(l).display().to_string()).collect();
        let what = format!("holds several runs: choose one of {}", parts.join(", "));
        return Err(Error::Format { path: folder.into(), what });
    }
    Ok((plan, read_config(folder)?))
}

/// Refuses a seed that a run does not have.
pub(crate) fn check_seed(folder: &Path, seeds: &[u64], seed: u64) -> Result<()> {
    if seeds.contains(&seed) {
        return Ok(());
    }
    let what = format!("the run has no seed {seed}; it has {seeds:?}");
    Err(Error::Config { place: folder.display().to_string(), what })
}

fn check_task<C: Layered>(plan: &Plan, folder: &Path) -> Result<()> {
    if plan.task == C::TASK {
        return Ok(());
    }
    let what =
        format!("is a run of --task {}; this is there for --task {} only", plan.task, C::TASK);
    Err(Error::Format { path: folder.into(), what })
}

fn read_plan(folder: &Path) -> Result<Plan> {
    let path = folder.join(PLAN);
    if path.is_file() {
        return read_json(&path);
    }
    let (_, unfinished) = both_names(folder);
    let what = match unfinished.join(PLAN).is_file() {
        true => format!("is not finished: adjoin train --resume {}", unfinished.display()),
        false => format!("is no folder of a run (there is no {PLAN} in it)"),
    };
    Err(Error::Format { path: folder.into(), what })
}
