//! The folder of a run: made beside its final place, named when it is complete.
//!
//! | file | what |
//! |---|---|
//! | `run.json` | the [`Plan`]: data, split, learners, seeds |
//! | `config.toml` | the full configuration |
//! | `record.json` | the [`RunRecord`]: numbers, curves, and what the page shows |
//! | `metrics.jsonl` | one line per seed and epoch |
//! | `seed-N.safetensors` | weights and training state of each seed ([`checkpoint`](crate::train::checkpoint)) |
//! | `events.out.tfevents.*` | the curves for TensorBoard |
//! | `report.html` | the page |
//!
//! With several learners there is one such folder for each below the common one, which holds the plan
//! and the report that compares them. With several datasets there is one such common folder for each, below
//! one that lists them and holds the report on all. While training lasts the folder is called `NAME.partial`.

use super::{
    contents::{Contents, Several, leaves, read_contents, read_plan},
    experiment::{Experiment, Teachers},
    observer::Observer,
    plan::Plan,
    record::RunRecord,
    target,
};
use crate::{
    Error, Result, files,
    settings::{Layers, Origins, to_toml},
    task::{Metrics, Settings, Task},
    tensorboard::{self, Point},
    train::EpochRecord,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

/// Folder of the teachers of a learner, in the folder of its run.
pub(super) const TEACHER: &str = "teacher";
/// Folders of the models that validation chooses among begin with this; a finished run has none.
pub(super) const GRAPH: &str = "graph-";
pub(super) const PLAN: &str = "run.json";
pub(super) const CONFIG: &str = "config.toml";
/// Name of the file of a run's numbers.
pub(crate) const RECORD: &str = "record.json";
pub(super) const METRICS: &str = "metrics.jsonl";
/// Name of the page in the folder of a run.
pub const REPORT: &str = "report.html";
pub(super) const PARTIAL: &str = ".partial";

/// A run that is being made.
#[derive(Debug)]
pub struct RunFolder<T: Task> {
    target: PathBuf,
    work: PathBuf,
    overwrite: bool,
    parts: Vec<Part<T>>,
    /// Held for as long as the folder is worked on.
    _lock: Option<File>,
}

/// What a run does with one dataset.
#[derive(Clone, Debug)]
pub struct Part<T: Task> {
    /// The name of its folder, where there are several.
    name: String,
    /// Data, learners and seeds.
    pub plan: Plan,
    /// The configuration of each learner of the plan.
    pub configs: Vec<Layers<T::Config>>,
}

impl<T: Task> Part<T> {
    /// A plan for data of this name.
    pub fn new(dataset: &str, plan: Plan, configs: Vec<Layers<T::Config>>) -> Self {
        Self { name: target::safe(dataset), plan, configs }
    }
}

impl<T: Task> RunFolder<T> {
    /// Makes the working folder of a new run.
    ///
    /// # Errors
    /// If results are there already and `overwrite` is not set, or the folder cannot be made.
    pub fn create(target: &Path, overwrite: bool, mut parts: Vec<Part<T>>) -> Result<Self> {
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
                    "is an unfinished run: resume it with --resume {}, or start again with --overwrite",
                    work.display()
                );
                return Err(Error::Exists { path: work, what });
            }
            target::check(&work, overwrite)?;
            let _lock = target::lock(&work)?;
            fs::remove_dir_all(&work).map_err(Error::file(&work))?;
        }
        for at in 1..parts.len() {
            let name = parts[at].name.clone();
            let mut number = 1;
            while parts[..at].iter().any(|other| other.name == parts[at].name) {
                number += 1;
                parts[at].name = format!("{name}-{number}");
            }
        }
        let mut folder = Self { target, work, overwrite, parts, _lock: None };
        folder.write_plan().inspect_err(|_| folder.remove())?;
        folder._lock = target::lock(&folder.work)?;
        Ok(folder)
    }

    /// What is to be run, dataset by dataset.
    pub fn parts(&self) -> &[Part<T>] {
        &self.parts
    }

    /// The folder while it is being made.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Where the results of every learner will be, dataset by dataset: in the order of the records.
    pub fn results(&self) -> Vec<PathBuf> {
        self.folders(&self.target)
    }

    /// The folders of all learners below a common one.
    fn folders(&self, root: &Path) -> Vec<PathBuf> {
        let of = |part: &Part<T>| {
            let folder = self.of_data(root, part);
            let learners = part.plan.learners.iter();
            learners.map(|learner| of_learner(&folder, &part.plan, learner)).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of).collect()
    }

    /// The folder of a dataset: below the common one when there are several.
    fn of_data(&self, root: &Path, part: &Part<T>) -> PathBuf {
        if self.parts.len() == 1 { root.into() } else { root.join(&part.name) }
    }

    fn write_plan(&self) -> Result<()> {
        for part in &self.parts {
            let folder = self.of_data(&self.work, part);
            for (learner, config) in part.plan.learners.iter().zip(&part.configs) {
                let folder = of_learner(&folder, &part.plan, learner);
                fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
                files::write(&folder.join(CONFIG), to_toml(&config.config).as_bytes())?;
                write_json(&folder.join(PLAN), &part.plan.only(learner))?;
            }
            // Last, because a folder with a plan is one that can be resumed.
            write_json(&folder.join(PLAN), &part.plan)?;
        }
        match &self.parts[..] {
            [_] => Ok(()),
            parts => {
                let names = parts.iter().map(|part| part.name.clone()).collect();
                let several = Several { task: T::NAME.into(), parts: names };
                write_json(&self.work.join(PLAN), &several)
            }
        }
    }

    /// Gives the complete folder its name.
    ///
    /// # Errors
    /// If something got in the way meanwhile; the results stay in the working folder.
    pub fn publish(self) -> Result<PathBuf> {
        target::check(&self.target, self.overwrite)?;
        for folder in self.folders(&self.work).iter().flat_map(|folder| alternatives(folder)) {
            fs::remove_dir_all(&folder).map_err(Error::file(&folder))?;
        }
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
                true => "is complete: there is nothing to resume",
                false => "holds no unfinished run",
            };
            return Err(Error::Format { path: path.into(), what: what.into() });
        }
        target::check(&target, overwrite)?;
        let contents = read_contents(&work)?;
        check_task::<T>(contents.task(), path)?;
        let _lock = target::lock(&work)?;
        let parts = match contents {
            Contents::One(plan) => vec![reopen_part(String::new(), &work, plan)?],
            Contents::Several(several) => {
                let one = |name: String| {
                    let folder = work.join(&name);
                    let plan = read_plan(&folder)?;
                    reopen_part(name, &folder, plan)
                };
                several.parts.into_iter().map(one).collect::<Result<Vec<_>>>()?
            }
        };
        let folder = Self { target, work, overwrite, parts, _lock };
        let folders = folder.folders(&folder.work);
        folders.iter().for_each(|folder| files::remove_leftovers(folder));
        Ok(folder)
    }

    /// What to type to resume the run.
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
        let resumable = self.folders(&self.work).into_iter().any(|folder| {
            let alternatives = alternatives(&folder).into_iter();
            alternatives.chain([folder.join(TEACHER), folder]).any(holds)
        });
        if !resumable {
            self.remove();
        }
        resumable
    }

    fn remove(&self) {
        // What cannot be removed is refused, or replaced, by the next run.
        let _ = fs::remove_dir_all(&self.work);
    }

    /// Trains every learner with every seed on the data of every part and writes all files; resumes where
    /// checkpoints are. `observe` gives the observer of a learner, `page` the report on some records.
    ///
    /// # Errors
    /// The first error of training or writing; checkpoints stay in the working folder.
    pub fn execute<O: Observer>(
        &self,
        data: &[T::Data],
        threads: usize,
        observe: impl Fn(&T::Data, &str) -> O,
        page: impl Fn(&[RunRecord<T>]) -> Result<String>,
    ) -> Result<Vec<RunRecord<T>>> {
        let mut all = Vec::new();
        for (part, data) in self.parts.iter().zip(data) {
            let common = self.of_data(&self.work, part);
            let mut records = Vec::new();
            let mut teachers = Teachers::default();
            let Plan { learners, seeds, command, .. } = &part.plan;
            for (learner, layers) in learners.iter().zip(&part.configs) {
                let folder = of_learner(&common, &part.plan, learner);
                let experiment = Experiment {
                    data,
                    layers,
                    learner,
                    seeds,
                    threads,
                    teachers: &teachers,
                    command,
                };
                let outcome = experiment.run_in(&observe(data, learner), Some(&folder))?;
                teachers.keep(&layers.config, &outcome);
                let page = page(std::slice::from_ref(&outcome.record))?;
                write_results(&folder, &outcome.record, &page)?;
                records.push(outcome.record);
            }
            if records.len() > 1 {
                files::write(&common.join(REPORT), page(&records)?.as_bytes())?;
            }
            all.extend(records);
        }
        if self.parts.len() > 1 {
            files::write(&self.work.join(REPORT), page(&all)?.as_bytes())?;
        }
        Ok(all)
    }
}

/// What a stopped run was to do with a dataset.
fn reopen_part<T: Task>(name: String, folder: &Path, plan: Plan) -> Result<Part<T>> {
    let layers = |(learner, origins): (&String, &Origins)| {
        let config = read_config::<T>(&of_learner(folder, &plan, learner))?;
        Ok(Layers { config, origins: origins.clone() })
    };
    let configs = plan.learners.iter().zip(&plan.origins).map(layers);
    let configs = configs.collect::<Result<Vec<_>>>()?;
    Ok(Part { name, plan, configs })
}

/// Folders of the models that validation chooses among, in the folder of a learner.
fn alternatives(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with(GRAPH).then(|| entry.path())
    };
    entries.filter_map(of).filter(|path| path.is_dir()).collect()
}

/// The folder of a learner: below the common one when there are several.
pub(super) fn of_learner(folder: &Path, plan: &Plan, learner: &str) -> PathBuf {
    if plan.learners.len() == 1 { folder.into() } else { folder.join(learner) }
}

/// Writes what a learner leaves behind: metrics, one line per seed and epoch, of which nothing depends on
/// time or test data; curves, the page, and the record.
fn write_results<T: Task>(folder: &Path, record: &RunRecord<T>, page: &str) -> Result<()> {
    let epochs = || {
        let seeds = record.seeds.iter();
        seeds.flat_map(|seed| seed.curve.iter().map(|epoch| Line { seed: seed.seed, epoch }))
    };
    files::write(&folder.join(METRICS), &json_lines(epochs())?)?;
    tensorboard::write(folder, &epochs().map(|line| line.point()).collect::<Vec<_>>())?;
    files::write(&folder.join(REPORT), page.as_bytes())?;
    // Last: a folder with a record is complete.
    write_json(&folder.join(RECORD), record)
}

/// A line of the metrics.
#[derive(Serialize)]
#[serde(bound(serialize = ""))]
struct Line<'a, T: Task> {
    seed: u64,
    #[serde(flatten)]
    epoch: &'a EpochRecord<T>,
}

impl<T: Task> Line<'_, T> {
    fn point(&self) -> Point {
        let epoch = self.epoch;
        let mut values =
            vec![("loss".to_string(), Some(epoch.loss)), ("train".into(), epoch.train)];
        let valid = T::Metrics::COLUMNS.iter().zip(epoch.valid.values());
        values.extend(valid.map(|(column, value)| (format!("valid_{}", column.key), Some(value))));
        for (layer, degree) in epoch.degrees.iter().enumerate() {
            let name = |what: &str| match epoch.degrees.len() {
                1 => format!("{what}_degree"),
                _ => format!("{what}_degree_{}", layer + 1),
            };
            values.push((name("mean"), Some(degree.mean)));
            values.push((name("std"), Some(degree.std)));
        }
        Point { seed: self.seed, epoch: epoch.epoch, values }
    }
}

/// Values as JSON, one a line.
fn json_lines(values: impl Iterator<Item = impl Serialize>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for value in values {
        serde_json::to_writer(&mut out, &value)
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

fn read_config<T: Task>(folder: &Path) -> Result<T::Config> {
    let path = folder.join(CONFIG);
    let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
    T::Config::read(&path.display().to_string(), &text)
}

/// The final name of a run and that of its working folder, from either.
pub(super) fn both_names(path: &Path) -> (PathBuf, PathBuf) {
    let text = path.as_os_str().to_string_lossy();
    let bare = text.trim_end_matches('/');
    let target = PathBuf::from(bare.strip_suffix(PARTIAL).unwrap_or(bare));
    let work = files::sibling(&target, PARTIAL);
    (target, work)
}

/// The task of a run, finished or not.
pub fn task(path: &Path) -> Result<String> {
    let (target, work) = both_names(path);
    let folder = if work.join(PLAN).is_file() { work } else { target };
    Ok(read_contents(&folder)?.task().into())
}

/// Records of a run, or of all datasets and learners of a common one.
///
/// # Errors
/// If there is no complete run of the task.
pub fn records<T: Task>(folder: &Path) -> Result<Vec<RunRecord<T>>> {
    check_task::<T>(read_contents(folder)?.task(), folder)?;
    leaves(folder)?.iter().map(|folder| read_record(folder)).collect()
}

/// The record of a folder that holds one run.
pub fn record<T: Task>(folder: &Path) -> Result<RunRecord<T>> {
    open_single::<T>(folder)?;
    read_record::<T>(folder)
}

pub(super) fn read_record<T: Task>(folder: &Path) -> Result<RunRecord<T>> {
    let path = folder.join(RECORD);
    if path.is_file() {
        return read_json(&path);
    }
    let what = "is not finished: there are no results in it yet".into();
    Err(Error::Format { path: folder.into(), what })
}

/// Plan and configuration of a folder that holds one run.
pub(super) fn open_single<T: Task>(folder: &Path) -> Result<(Plan, T::Config)> {
    let contents = read_contents(folder)?;
    check_task::<T>(contents.task(), folder)?;
    match contents {
        Contents::One(plan) if plan.learners.len() == 1 => Ok((plan, read_config::<T>(folder)?)),
        _ => {
            let parts = leaves(folder)?;
            let parts: Vec<String> = parts.iter().map(|part| part.display().to_string()).collect();
            let what = format!("holds several runs: choose one of {}", parts.join(", "));
            Err(Error::Format { path: folder.into(), what })
        }
    }
}

/// Refuses a seed that a run does not have.
pub(super) fn check_seed(folder: &Path, seeds: &[u64], seed: u64) -> Result<()> {
    if seeds.contains(&seed) {
        return Ok(());
    }
    let what = format!("the run has no seed {seed}; it has {seeds:?}");
    Err(Error::Config { place: folder.display().to_string(), what })
}

fn check_task<T: Task>(task: &str, folder: &Path) -> Result<()> {
    if task == T::NAME {
        return Ok(());
    }
    let what = format!("is a run of --task {task}; this is there for --task {} only", T::NAME);
    Err(Error::Format { path: folder.into(), what })
}
