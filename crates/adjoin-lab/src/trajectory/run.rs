//! A run of trajectories in its folder.

use super::{
    Baseline, BaselineScores, Scores, SocialModel, Trainable, TrajectoryEpoch,
    TrajectoryExperiment, TrajectoryObserver, TrajectoryRecord, TrajectorySeed, TrajectorySetup,
    dagnet::{DagModel, Fitted},
    scenes,
};
use crate::{
    Result,
    checkpoint::Shelf,
    clock::{forget_peak_memory, now_utc, peak_memory},
    plan::{Layered, Plan},
    report,
    run::{RunFolder, write_results},
    tensorboard::Point,
};
use adjoin::Key;
use adjoin_data::trajectory::TrajectoryDataset;
use burn::tensor::Device;
use serde::Serialize;
use std::path::Path;

impl RunFolder<TrajectorySetup> {
    /// Trains every learner with every seed and writes all files; goes on where checkpoints are.
    /// `observe` gives the observer of a learner.
    ///
    /// # Errors
    /// The first error of training or writing; checkpoints stay in the working folder.
    pub fn execute<O: TrajectoryObserver>(
        &self,
        dataset: &TrajectoryDataset,
        threads: usize,
        observe: impl Fn(&str) -> O,
    ) -> Result<Vec<TrajectoryRecord>> {
        let mut records = Vec::new();
        for (learner, setup) in self.plan().learners.iter().zip(self.configs()) {
            let folder = self.part(learner);
            let part = Part { plan: self.plan(), learner, setup, dataset, threads };
            let record = part.run(&observe(learner), Some(&folder))?;
            let page = report::render_trajectories(std::slice::from_ref(&record))?;
            write_results(&folder, &record, &lines(&record), &curves(&record), &page)?;
            records.push(record);
        }
        if records.len() > 1 {
            self.write_page(&report::render_trajectories(&records)?)?;
        }
        Ok(records)
    }
}

/// One learner of a run.
pub(crate) struct Part<'a> {
    pub plan: &'a Plan,
    pub learner: &'a str,
    pub setup: &'a TrajectorySetup,
    pub dataset: &'a TrajectoryDataset,
    pub threads: usize,
}

impl Part<'_> {
    /// Trains all seeds, with checkpoints in a folder if one is given, and goes on where they are.
    pub fn run(
        &self,
        observer: &dyn TrajectoryObserver,
        folder: Option<&Path>,
    ) -> Result<TrajectoryRecord> {
        forget_peak_memory();
        let lengths = [self.dataset.observed, self.dataset.predicted];
        match self.setup {
            TrajectorySetup::Social(config) => {
                let model = |seed: u64, on: &Device| SocialModel::new(config, lengths, seed, on);
                self.run_model(model, observer, folder)
            }
            TrajectorySetup::Dag(config) => {
                let fitted = Fitted::to(config, self.dataset)?;
                let model = |seed: u64, on: &Device| DagModel::of(config, &fitted, seed, on);
                let record = self.run_model(model, observer, folder)?;
                Ok(TrajectoryRecord { fitted: Some(fitted), ..record })
            }
        }
    }

    fn run_model<M: Trainable>(
        &self,
        model: impl Fn(u64, &Device) -> Result<M> + Sync,
        observer: &dyn TrajectoryObserver,
        folder: Option<&Path>,
    ) -> Result<TrajectoryRecord> {
        let experiment = TrajectoryExperiment {
            dataset: self.dataset,
            train: self.setup.train(),
            seeds: &self.plan.seeds,
            threads: self.threads,
        };
        let shelf = folder.map(|folder| Shelf {
            folder,
            dataset: self.plan.fingerprint.clone(),
            split: String::new(),
            config: self.setup,
        });
        let seeds = experiment.run_in(model, observer, shelf.as_ref())?;
        self.record(&seeds)
    }

    fn record<M: Trainable>(&self, seeds: &[TrajectorySeed<M>]) -> Result<TrajectoryRecord> {
        let epochs: f64 = seeds.iter().map(|seed| seed.epoch_seconds).sum();
        // The first seed stands for the run in drawings.
        let shown = match seeds.first() {
            Some(seed) => scenes::shown(&seed.best.model, self.dataset, seed.seed)?,
            None => Default::default(),
        };
        Ok(TrajectoryRecord {
            task: self.plan.task.clone(),
            dataset: self.dataset.name.clone(),
            fingerprint: self.plan.fingerprint.clone(),
            steps: Some([self.dataset.observed, self.dataset.predicted]),
            fitted: None,
            backbone: self.setup.backbone().into(),
            learner: self.learner.into(),
            metric: "ade/fde m".into(),
            samples: self.setup.train().samples,
            created: now_utc(),
            command: self.plan.command.clone(),
            config_toml: self.setup.to_toml(),
            seeds: seeds.iter().map(TrajectorySeed::record).collect(),
            baselines: self.baselines(),
            seconds_per_epoch: epochs / seeds.len().max(1) as f64,
            peak_rss_bytes: peak_memory(),
            seconds_per_step: self.dataset.seconds,
            scenes: shown.scenes,
            has_k: shown.has_k,
            degrees: shown.degrees,
        })
    }

    /// On the same test scenes, with as many samples, drawn from the first seed.
    fn baselines(&self) -> BaselineScores {
        let lengths = [self.dataset.observed, self.dataset.predicted];
        let samples = self.setup.train().samples;
        let key = Key::new(self.plan.seeds.first().copied().unwrap_or_default()).child(0xc5);
        let scores = |kind: Baseline| kind.scores(&self.dataset.test, lengths, samples, key);
        BaselineScores {
            constant_velocity: scores(Baseline::ConstantVelocity),
            constant_velocity_with_noise: scores(Baseline::ConstantVelocityWithNoise),
        }
    }
}

/// A line of the metrics.
#[derive(Serialize)]
struct Line {
    seed: u64,
    epoch: usize,
    loss: f64,
    valid_loss: f64,
    valid: Scores,
}

fn lines(record: &TrajectoryRecord) -> Vec<Line> {
    let line = |seed: u64, epoch: &TrajectoryEpoch| Line {
        seed,
        epoch: epoch.epoch,
        loss: epoch.loss,
        valid_loss: epoch.valid_loss,
        valid: epoch.valid,
    };
    let seeds = record.seeds.iter();
    seeds.flat_map(|seed| seed.curve.iter().map(|epoch| line(seed.seed, epoch))).collect()
}

fn curves(record: &TrajectoryRecord) -> Vec<Point> {
    let point = |Line { seed, epoch, loss, valid_loss, valid }: Line| Point {
        seed,
        epoch,
        values: vec![
            ("loss", Some(loss)),
            ("valid_loss", Some(valid_loss)),
            ("valid_ade", Some(valid.per_agent.ade)),
            ("valid_fde", Some(valid.per_agent.fde)),
        ],
    };
    lines(record).into_iter().map(point).collect()
}
