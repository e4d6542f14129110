//! Several seeds of one configuration, and what came of them.

use super::{PointsBest, PointsConfig, PointsEvaluation, PointsTrainer};
use crate::{
    Error, Result,
    checkpoint::{self, Shelf},
    clock,
    node::Observer,
    plan::Layered,
    record::{EpochRecord, RunRecord, SeedRecord},
    seeds::side_by_side,
};
use adjoin_data::points::{Cloud, PointDataset};
use std::path::Path;

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

/// What an experiment gives: the record, and the best model of every seed with what it does in the test.
#[derive(Debug)]
pub struct PointsOutcome {
    /// Numbers and curves.
    pub record: RunRecord,
    /// The best epoch of every seed, in the order of the seeds.
    pub best: Vec<PointsBest>,
    /// What these models make of the test clouds.
    pub tests: Vec<PointsEvaluation>,
}

struct SeedOutcome {
    record: SeedRecord,
    best: PointsBest,
    test: PointsEvaluation,
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
        clock::forget_peak_memory();
        let shelf = folder.map(|folder| Shelf {
            folder,
            dataset: self.dataset.fingerprint(),
            split: self.dataset.split.hash(),
            config: self.config,
        });
        let outcomes = side_by_side(self.seeds, self.threads, |&seed| {
            self.run_seed(seed, observer, shelf.as_ref())
        })?;
        let count = outcomes.len().max(1) as f64;
        let ms_per_step = 1e3 * outcomes.iter().map(|o| o.step_seconds).sum::<f64>() / count;
        let (mut seeds, mut best, mut tests) = (Vec::new(), Vec::new(), Vec::new());
        for outcome in outcomes {
            seeds.push(outcome.record);
            best.push(outcome.best);
            tests.push(outcome.test);
        }
        let record = RunRecord {
            task: PointsConfig::TASK.into(),
            dataset: self.dataset.name.clone(),
            split: self.dataset.split.name.clone(),
            split_hash: self.dataset.split.hash(),
            fingerprint: self.dataset.fingerprint(),
            backbone: self.config.backbone_name(),
            learner: self.learner.into(),
            metric: "accuracy".into(),
            created: clock::now_utc(),
            command: String::new(),
            config_toml: self.config.to_toml(),
            seeds,
            ms_per_step,
            peak_rss_bytes: clock::peak_memory(),
            graph: None,
        };
        Ok(PointsOutcome { record, best, tests })
    }

    fn run_seed(
        &self,
        seed: u64,
        observer: &dyn Observer,
        shelf: Option<&Shelf<PointsConfig>>,
    ) -> Result<SeedOutcome> {
        let mut trainer = PointsTrainer::new(self.config, self.dataset, seed)?;
        let seen = |record: &EpochRecord| observer.epoch(seed, record, self.config.train.epochs);
        let progress = checkpoint::train(&mut trainer, shelf, || observer.stop(), seen)?;
        let best = trainer.best().cloned().ok_or_else(|| Error::Config {
            place: "train.epochs".into(),
            what: "must be at least 1".into(),
        })?;
        // The only place where test clouds are looked at.
        let test = &self.dataset.split.test;
        let test =
            PointsEvaluation::of(&best.model, &chosen(self.dataset, test), self.config.points)?;
        let record = SeedRecord {
            seed,
            valid: best.accuracy,
            test: test.accuracy(),
            best_epoch: best.epoch,
            epochs: trainer.epoch(),
            seconds: progress.elapsed.as_secs_f64(),
            curve: progress.curve,
        };
        observer.seed(&record);
        let step_seconds = trainer.step_time().as_secs_f64() / trainer.steps().max(1) as f64;
        Ok(SeedOutcome { record, best, test, step_seconds })
    }
}

/// Clouds of a dataset by their numbers.
pub(super) fn chosen<'a>(dataset: &'a PointDataset, numbers: &[u32]) -> Vec<&'a Cloud> {
    numbers.iter().map(|&at| &dataset.clouds[at as usize]).collect()
}
