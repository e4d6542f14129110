//! Several seeds of one configuration, and what came of them.

use super::{PointsBest, PointsConfig, PointsTrainer, state, trainer::evaluate};
use crate::{
    Error, Result,
    checkpoint::{Checkpoint, Origin, Progress},
    clock,
    node::{Observer, checkpoint_path, name_of},
    record::{RunRecord, SeedRecord},
    seeds::side_by_side,
    settings,
};
use adjoin_data::points::{Cloud, PointDataset};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// A crash loses at most this much work, and the epoch that was under way.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(60);

/// A dataset, a configuration and seeds.
#[derive(Clone, Debug)]
pub struct PointsExperiment<'a> {
    /// The clouds, and which are for training, validation and test.
    pub dataset: &'a PointDataset,
    /// Network, learner and training.
    pub config: &'a PointsConfig,
    /// Name of the learner in tables.
    pub learner: &'a str,
    /// The seeds.
    pub seeds: &'a [u64],
    /// Threads to use in all.
    pub threads: usize,
}

/// What an experiment gives: the record, and the best model of every seed.
#[derive(Debug)]
pub struct PointsOutcome {
    /// Numbers and curves.
    pub record: RunRecord,
    /// The best epoch of every seed, in the order of the seeds.
    pub best: Vec<PointsBest>,
}

struct SeedOutcome {
    record: SeedRecord,
    best: PointsBest,
    step_seconds: f64,
}

impl PointsExperiment<'_> {
    /// Runs all seeds, as many at once as there are threads; the result does not depend on how many.
    ///
    /// # Errors
    /// The first error of any seed, or that the observer asked to stop.
    pub fn run(&self, observer: &dyn Observer) -> Result<PointsOutcome> {
        self.run_in(observer, None)
    }

    /// As [`run`](Self::run), with a checkpoint of every seed in a folder: from time to time, when it is
    /// stopped, and at its end. A seed that has one there goes on from it.
    ///
    /// # Errors
    /// As [`run`](Self::run), and when a checkpoint cannot be written or used.
    pub fn run_in(&self, observer: &dyn Observer, folder: Option<&Path>) -> Result<PointsOutcome> {
        let (dataset, split) = (self.dataset.fingerprint(), self.dataset.split.hash());
        let outcomes = side_by_side(self.seeds, self.threads, |&seed| {
            let origin = Origin { dataset: &dataset, split: &split, seed };
            self.run_seed(origin, observer, folder)
        })?;
        let count = outcomes.len().max(1) as f64;
        let ms_per_step = 1e3 * outcomes.iter().map(|o| o.step_seconds).sum::<f64>() / count;
        let (seeds, best) = outcomes.into_iter().map(|o| (o.record, o.best)).unzip();
        let record = RunRecord {
            task: "points".into(),
            dataset: self.dataset.name.clone(),
            split: self.dataset.split.name.clone(),
            split_hash: split,
            backbone: name_of(&self.config.network.kind),
            learner: self.learner.into(),
            metric: "accuracy".into(),
            created: clock::now_utc(),
            command: String::new(),
            config_toml: settings::to_toml(self.config),
            seeds,
            ms_per_step,
            peak_rss_bytes: clock::peak_memory(),
            graph: None,
        };
        Ok(PointsOutcome { record, best })
    }

    fn run_seed(
        &self,
        origin: Origin,
        observer: &dyn Observer,
        folder: Option<&Path>,
    ) -> Result<SeedOutcome> {
        let seed = origin.seed;
        let path = folder.map(|folder| checkpoint_path(folder, seed));
        let mut trainer = PointsTrainer::new(self.config, self.dataset, seed)?;
        let mut progress = match path.as_ref().filter(|path| path.exists()) {
            Some(path) => state::restore(&Checkpoint::load(path)?, &mut trainer, origin)?,
            None => Progress::default(),
        };
        let (started, before) = (Instant::now(), progress.elapsed);
        let mut saved = Instant::now();
        let save = |trainer: &PointsTrainer, progress: &mut Progress| match &path {
            Some(path) if trainer.epoch() > 0 => {
                progress.elapsed = before + started.elapsed();
                state::checkpoint(trainer, progress, origin)?.save(path)
            }
            _ => Ok(()),
        };
        while !trainer.is_finished() {
            let stop = observer.stop();
            if stop || saved.elapsed() > BETWEEN_CHECKPOINTS {
                save(&trainer, &mut progress)?;
                saved = Instant::now();
            }
            if stop {
                return Err(Error::Interrupted { epoch: trainer.epoch(), seed });
            }
            let record = trainer.step()?;
            observer.epoch(seed, &record, self.config.train.epochs);
            progress.curve.push(record);
        }
        save(&trainer, &mut progress)?;
        let best = trainer.best().cloned().ok_or_else(|| Error::Config {
            place: "train.epochs".into(),
            what: "must be at least 1".into(),
        })?;
        // The only place where test clouds are looked at.
        let test: Vec<&Cloud> =
            self.dataset.split.test.iter().map(|&at| &self.dataset.clouds[at as usize]).collect();
        let test = evaluate(&best.model, &test, self.config.points)?.accuracy;
        let record = SeedRecord {
            seed,
            valid: best.accuracy,
            test,
            best_epoch: best.epoch,
            epochs: trainer.epoch(),
            seconds: (before + started.elapsed()).as_secs_f64(),
            curve: progress.curve,
        };
        observer.seed(&record);
        let step_seconds = trainer.step_time().as_secs_f64() / trainer.steps().max(1) as f64;
        Ok(SeedOutcome { record, best, step_seconds })
    }
}
