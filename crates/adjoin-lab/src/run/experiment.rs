//! Several seeds of one configuration, and what came of them.

use super::{
    GRAPH, TEACHER,
    observer::{Observer, SeedDone, Stage, Tick},
    record::{Alternative, Choice, RunRecord, SeedRecord},
};
use crate::{
    Error, Result, clock, files,
    settings::{Layers, to_toml},
    task::{Column, Dataset, Metrics, Model, Settings, Task, Test, Validation},
    train::{Best, EpochRecord, History, Shelf, Trainer, Visible, file_of, side_by_side, train},
};
use burn::tensor::Device;
use std::{
    cell::Cell,
    path::Path,
    time::{Duration, Instant},
};

/// Data, a configuration and seeds.
pub struct Experiment<'a, T: Task> {
    /// The data.
    pub data: &'a T::Data,
    /// Network, learner and training.
    pub layers: &'a Layers<T::Config>,
    /// Name of the learner in tables.
    pub learner: &'a str,
    /// The seeds.
    pub seeds: &'a [u64],
    /// Threads to use in all.
    pub threads: usize,
    /// Models that need not be trained once more to teach.
    pub teachers: &'a Teachers<T>,
    /// The command line.
    pub command: &'a str,
}

/// What an experiment gives: the record, and the best model of every seed.
pub struct Outcome<T: Task> {
    /// Numbers and curves.
    pub record: RunRecord<T>,
    /// The best epoch of every seed, in the order of the seeds.
    pub best: Vec<Best<T>>,
}

/// The data taken apart. Only an experiment has the test part.
struct Parts<T: Task> {
    device: Device,
    fitted: T::Fitted,
    context: T::Context,
    training: T::Seen,
    validation: Validation<T>,
    test: Test<T>,
}

impl<T: Task> Parts<T> {
    fn of(config: &T::Config, data: &T::Data) -> Result<Self> {
        let device = Device::flex();
        let fitted = T::fit(config, data)?;
        Ok(Self {
            context: T::context(config, data, &fitted, &device)?,
            fitted,
            training: T::training(config, data, &device)?,
            validation: Validation::of(config, data)?,
            test: Test::of(config, data)?,
            device,
        })
    }

    fn visible(&self) -> Visible<'_, T> {
        Visible {
            fitted: &self.fitted,
            context: &self.context,
            training: &self.training,
            validation: &self.validation,
        }
    }
}

/// The model that validation preferred.
struct Chosen<'a, T: Task> {
    trainer: Trainer<'a, T>,
    history: History<T>,
    /// What it was compared with; none where there was no choice.
    choice: Option<Choice<T>>,
    /// Training steps of all models.
    steps: u64,
    /// Whether one of them was still improving when its epochs ended.
    cut_short: bool,
}

struct SeedOutcome<T: Task> {
    record: SeedRecord<T>,
    best: Best<T>,
    step_seconds: f64,
}

impl<T: Task> Experiment<'_, T> {
    /// Runs all seeds, as many at once as there are threads; the result does not depend on how many.
    ///
    /// # Errors
    /// The first error of any seed, or that the observer asked to stop.
    pub fn run(&self, observer: &dyn Observer) -> Result<Outcome<T>> {
        self.run_in(observer, None)
    }

    /// As [`run`](Self::run), with a checkpoint of every seed in a folder: from time to time, when it is
    /// stopped, and at its end. A seed that has one there resumes from it.
    ///
    /// # Errors
    /// As [`run`](Self::run), and when a checkpoint cannot be written or used.
    pub fn run_in(&self, observer: &dyn Observer, folder: Option<&Path>) -> Result<Outcome<T>> {
        clock::forget_peak_memory();
        let config = &self.layers.config;
        config.check()?;
        let parts = Parts::of(config, self.data)?;
        let shelf = folder.map(|folder| Shelf {
            folder,
            dataset: self.data.fingerprint(),
            split: self.data.split_hash(),
            config,
        });
        let outcomes = side_by_side(self.seeds, self.threads, |&seed| {
            self.run_seed(seed, &parts, observer, shelf.as_ref())
        })?;
        self.outcome(parts, outcomes)
    }

    fn run_seed(
        &self,
        seed: u64,
        parts: &Parts<T>,
        observer: &dyn Observer,
        shelf: Option<&Shelf<T>>,
    ) -> Result<SeedOutcome<T>> {
        let config = &self.layers.config;
        let started = Instant::now();
        let mut trainer = Trainer::new(config, parts.visible(), seed, &parts.device)?;
        let mut before = started.elapsed();
        let mut steps_before = 0;
        if let Some(teacher) = T::teacher(config) {
            let (teacher, elapsed, steps) = self.teacher(&teacher, seed, parts, observer, shelf)?;
            let started = Instant::now();
            let distilled = Cell::new(0);
            trainer.take_teacher(&teacher, &|epoch, epochs| {
                distilled.set(epoch as u64);
                let message = "distilled MLP".into();
                let stage = Stage::Distillation;
                observer.tick(&Tick { seed, stage, epoch, epochs, message });
            })?;
            before += elapsed + started.elapsed();
            steps_before = steps + distilled.get();
        }
        let graphs = trainer.model().alternatives();
        let chosen = match graphs {
            [] => {
                let seen = |epoch: &EpochRecord<T>| {
                    observer.tick(&tick(seed, Stage::Training, epoch, config.train().epochs));
                };
                let history = train(&mut trainer, shelf, || observer.stop(), seen)?;
                let (steps, cut_short) = (trainer.steps(), trainer.was_cut_short());
                Chosen { trainer, history, choice: None, steps, cut_short }
            }
            graphs => self.choose(graphs, trainer, parts, observer, shelf)?,
        };
        let Chosen { trainer, history, choice, steps, cut_short } = chosen;
        let best = trainer.best().cloned().ok_or_else(no_epochs)?;
        // The only place where test data is looked at.
        let test = best.model.evaluate(&parts.context, parts.test.held(), seed)?.metrics;
        let record = SeedRecord {
            seed,
            valid: best.valid.clone(),
            test,
            best_epoch: best.epoch,
            epochs: trainer.epoch(),
            steps: steps_before + steps,
            cut_short,
            seconds: (before + history.elapsed).as_secs_f64(),
            choice,
            curve: history.curve,
        };
        observer.seed(&SeedDone {
            seed,
            valid: match &record.choice {
                Some(choice) => format!("{}, graph {}", spoken(&record.valid), choice.chosen),
                None => spoken(&record.valid),
            },
            best_epoch: record.best_epoch,
            epochs: record.epochs,
            seconds: record.seconds,
        });
        let step_seconds = trainer.step_time().as_secs_f64() / trainer.steps().max(1) as f64;
        Ok(SeedOutcome { record, best, step_seconds })
    }

    /// Trains one model with each of several graphs and keeps the one that validation prefers; `first` is
    /// for the first of them. The time of all is in its history. Every model has its checkpoints in a folder
    /// of its own, and those of the chosen one become those of the seed.
    fn choose<'p>(
        &'p self,
        graphs: &[&'static str],
        first: Trainer<'p, T>,
        parts: &'p Parts<T>,
        observer: &dyn Observer,
        shelf: Option<&Shelf<T>>,
    ) -> Result<Chosen<'p, T>> {
        let (config, seed) = (&self.layers.config, first.seed());
        let mut first = Some(first);
        let mut trained: Vec<(Trainer<T>, History<T>)> = Vec::new();
        let mut alternatives: Vec<Alternative<T>> = Vec::new();
        for (at, &graph) in graphs.iter().enumerate() {
            let mut trainer = match first.take() {
                Some(first) => first,
                None => {
                    let (visible, device) = (parts.visible(), &parts.device);
                    Trainer::of_alternative(config, visible, seed, device, at)?
                }
            };
            let folder = shelf.map(|shelf| shelf.folder.join(format!("{GRAPH}{graph}")));
            let shelf = Shelf::within(shelf, folder.as_deref(), config)?;
            let stage = if at == 0 { Stage::Training } else { Stage::Alternative(graph) };
            let seen = |epoch: &EpochRecord<T>| {
                observer.tick(&tick(seed, stage, epoch, config.train().epochs));
            };
            let history = train(&mut trainer, shelf.as_ref(), || observer.stop(), seen)?;
            let best = trainer.best().ok_or_else(no_epochs)?;
            alternatives.push(Alternative {
                graph: graph.into(),
                valid: best.valid.clone(),
                best_epoch: best.epoch,
                epochs: trainer.epoch(),
            });
            trained.push((trainer, history));
        }
        let criterion = |at: &usize| alternatives[*at].valid.criterion(config.train().choose_by);
        let better = |a: &usize, b: &usize| {
            criterion(a).partial_cmp(&criterion(b)).unwrap_or(std::cmp::Ordering::Equal)
        };
        let chosen = (0..graphs.len()).min_by(better).unwrap_or(0);
        let elapsed = trained.iter().map(|(_, history)| history.elapsed).sum();
        let steps = trained.iter().map(|(trainer, _)| trainer.steps()).sum();
        let cut_short = trained.iter().any(|(trainer, _)| trainer.was_cut_short());
        let (trainer, history) = trained.swap_remove(chosen);
        if let Some(shelf) = shelf {
            let from = shelf.folder.join(format!("{GRAPH}{}", graphs[chosen]));
            let from = file_of(&from, seed);
            let bytes = std::fs::read(&from).map_err(Error::file(&from))?;
            files::write(&file_of(shelf.folder, seed), &bytes)?;
        }
        let choice = Some(Choice { chosen: graphs[chosen].into(), alternatives });
        let history = History { elapsed, ..history };
        Ok(Chosen { trainer, history, choice, steps, cut_short })
    }

    /// A teacher of the same seed, and the time and the steps it took: from those at hand, or trained now, its checkpoint in
    /// a folder of its own.
    fn teacher(
        &self,
        config: &T::Config,
        seed: u64,
        parts: &Parts<T>,
        observer: &dyn Observer,
        shelf: Option<&Shelf<T>>,
    ) -> Result<(T::Model, Duration, u64)> {
        if let Some(found) = self.teachers.find(config, self.data, seed) {
            return Ok(found);
        }
        let folder = shelf.map(|shelf| shelf.folder.join(TEACHER));
        let shelf = Shelf::within(shelf, folder.as_deref(), config)?;
        let mut trainer = Trainer::new(config, parts.visible(), seed, &parts.device)?;
        let seen = |epoch: &EpochRecord<T>| {
            observer.tick(&tick(seed, Stage::Teacher, epoch, config.train().epochs));
        };
        let history = train(&mut trainer, shelf.as_ref(), || observer.stop(), seen)?;
        let best = trainer.best().ok_or_else(no_epochs)?;
        Ok((best.model.clone(), history.elapsed, trainer.steps()))
    }

    fn outcome(&self, parts: Parts<T>, outcomes: Vec<SeedOutcome<T>>) -> Result<Outcome<T>> {
        let (config, data) = (&self.layers.config, self.data);
        let count = outcomes.len().max(1) as f64;
        let ms_per_step = 1e3 * outcomes.iter().map(|o| o.step_seconds).sum::<f64>() / count;
        // The first seed stands for the run in drawings.
        let exhibit = match (outcomes.first(), self.seeds.first()) {
            (Some(first), Some(&seed)) => {
                T::exhibit(config, data, &parts.context, &first.best.model, seed)?
            }
            _ => T::Exhibit::default(),
        };
        let first = self.seeds.first().copied().unwrap_or_default();
        let (seeds, best) = outcomes.into_iter().map(|o| (o.record, o.best)).unzip();
        let record = RunRecord {
            version: env!("CARGO_PKG_VERSION").into(),
            task: T::NAME.into(),
            dataset: data.name().into(),
            fingerprint: data.fingerprint(),
            split: data.split(),
            split_hash: data.split_hash(),
            backbone: config.backbone(),
            learner: self.learner.into(),
            metric: T::metric(config),
            created: clock::now_utc(),
            command: self.command.into(),
            config_toml: to_toml(config),
            origins: self.layers.origins.clone(),
            preparation: T::preparation(&parts.fitted),
            seeds,
            references: T::references(config, data, first),
            ms_per_step,
            peak_rss_bytes: clock::peak_memory(),
            fitted: parts.fitted,
            exhibit,
        };
        Ok(Outcome { record, best })
    }
}

fn tick<T: Task>(seed: u64, stage: Stage, epoch: &EpochRecord<T>, epochs: usize) -> Tick {
    let degree = match &epoch.degrees[..] {
        [] => String::new(),
        [one] => format!(", k {:.1}", one.mean),
        many => {
            let mean = many.iter().map(|degree| degree.mean).sum::<f64>() / many.len() as f64;
            format!(", k {mean:.1}")
        }
    };
    let message = format!("loss {:.3}, validation {}{degree}", epoch.loss, spoken(&epoch.valid));
    Tick { seed, stage, epoch: epoch.epoch, epochs, message }
}

/// The main number of some metrics with its unit.
fn spoken<M: Metrics>(metrics: &M) -> String {
    let Column { measure, .. } = M::COLUMNS[0];
    format!("{} {}", measure.number(metrics.value()), measure.unit)
}

fn no_epochs() -> Error {
    Error::Config { place: "train.epochs".into(), what: "must be at least 1".into() }
}

/// Models trained without a learned graph so far. A learner that wants a teacher of the same settings, data
/// and seed takes it from here instead of training it once more; the weights are the same, to the bit.
pub struct Teachers<T: Task> {
    kept: Vec<Kept<T>>,
}

struct Kept<T: Task> {
    config: T::Config,
    fingerprint: String,
    split: String,
    seed: u64,
    model: T::Model,
    elapsed: Duration,
    steps: u64,
}

impl<T: Task> Default for Teachers<T> {
    fn default() -> Self {
        Self { kept: Vec::new() }
    }
}

impl<T: Task> Teachers<T> {
    /// Keeps the models of an experiment if they can teach.
    pub fn keep(&mut self, config: &T::Config, outcome: &Outcome<T>) {
        let Some(config) = T::as_teacher(config) else { return };
        let record = &outcome.record;
        for (seed, best) in record.seeds.iter().zip(&outcome.best) {
            self.kept.push(Kept {
                config: config.clone(),
                fingerprint: record.fingerprint.clone(),
                split: record.split_hash.clone(),
                seed: seed.seed,
                model: best.model.clone(),
                elapsed: Duration::from_secs_f64(seed.seconds),
                steps: seed.steps,
            });
        }
    }

    /// The model of these settings, data and seed, and the time and the steps its training took.
    fn find(
        &self,
        config: &T::Config,
        data: &T::Data,
        seed: u64,
    ) -> Option<(T::Model, Duration, u64)> {
        // Hashes last: of large data they take a while.
        let fits = |kept: &&Kept<T>| {
            kept.seed == seed
                && kept.config == *config
                && kept.split == data.split_hash()
                && kept.fingerprint == data.fingerprint()
        };
        self.kept.iter().find(fits).map(|kept| (kept.model.clone(), kept.elapsed, kept.steps))
    }
}
