//! A run of trajectories in its folder.

use super::{
    Baseline, BaselineScores, Forecaster, Scores, SocialModel, TrajectoryExperiment,
    TrajectoryObserver, TrajectoryRecord, TrajectorySeed, TrajectorySetup, dagnet::DagModel,
};
use crate::{
    Result, checkpoint,
    clock::{now_utc, peak_memory},
    files,
    plan::{Layered, Plan},
    run::{METRICS, RECORD, RunFolder, json_lines, write_json},
};
use adjoin::Key;
use adjoin_data::trajectory::TrajectoryDataset;
use burn::tensor::Device;
use serde::Serialize;
use std::{collections::BTreeMap, path::Path};

impl RunFolder<TrajectorySetup> {
    /// Trains every learner with every seed and writes all files; `observe` gives the observer of a
    /// learner.
    ///
    /// # Errors
    /// The first error of training or writing.
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
            let record = part.run(&observe(learner), &folder)?;
            files::write(&folder.join(METRICS), &metrics(&record)?)?;
            // Last: a folder with a record is complete.
            write_json(&folder.join(RECORD), &record)?;
            records.push(record);
        }
        Ok(records)
    }
}

/// One learner of a run.
struct Part<'a> {
    plan: &'a Plan,
    learner: &'a str,
    setup: &'a TrajectorySetup,
    dataset: &'a TrajectoryDataset,
    threads: usize,
}

impl Part<'_> {
    fn run(&self, observer: &dyn TrajectoryObserver, folder: &Path) -> Result<TrajectoryRecord> {
        let lengths = [self.dataset.observed, self.dataset.predicted];
        match self.setup {
            TrajectorySetup::Social(config) => {
                let model = |seed: u64, on: &Device| SocialModel::new(config, lengths, seed, on);
                self.run_model(model, observer, folder)
            }
            TrajectorySetup::Dag(config) => {
                let model = |seed: u64, on: &Device| DagModel::new(config, self.dataset, seed, on);
                self.run_model(model, observer, folder)
            }
        }
    }

    fn run_model<M: Forecaster>(
        &self,
        model: impl Fn(u64, &Device) -> Result<M> + Sync,
        observer: &dyn TrajectoryObserver,
        folder: &Path,
    ) -> Result<TrajectoryRecord> {
        let experiment = TrajectoryExperiment {
            dataset: self.dataset,
            train: self.setup.train(),
            seeds: &self.plan.seeds,
            threads: self.threads,
        };
        let seeds = experiment.run(model, observer)?;
        for seed in &seeds {
            let path = folder.join(format!("seed-{}.safetensors", seed.seed));
            checkpoint::save_weights(&path, &seed.best.model, self.about(seed))?;
        }
        Ok(self.record(&seeds))
    }

    /// What the file of the weights says about them.
    fn about<M>(&self, seed: &TrajectorySeed<M>) -> BTreeMap<String, String> {
        let about = [
            ("format", "adjoin trajectory weights 1".to_string()),
            ("backbone", self.setup.backbone().to_string()),
            ("learner", self.learner.to_string()),
            ("seed", seed.seed.to_string()),
            ("best_epoch", seed.best.epoch.epoch.to_string()),
            ("config", self.setup.to_toml()),
            ("dataset", self.plan.fingerprint.clone()),
        ];
        about.into_iter().map(|(key, value)| (key.to_string(), value)).collect()
    }

    fn record<M>(&self, seeds: &[TrajectorySeed<M>]) -> TrajectoryRecord {
        let epochs: f64 = seeds.iter().map(|seed| seed.epoch_seconds).sum();
        TrajectoryRecord {
            task: self.plan.task.clone(),
            dataset: self.dataset.name.clone(),
            fingerprint: self.plan.fingerprint.clone(),
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
        }
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

/// One line per seed and epoch, in that order; nothing in it depends on time or test scenes.
fn metrics(record: &TrajectoryRecord) -> Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Line {
        seed: u64,
        epoch: usize,
        loss: f64,
        valid_loss: f64,
        valid: Option<Scores>,
    }
    let mut lines = Vec::new();
    for seed in &record.seeds {
        lines.extend(seed.curve.iter().map(|epoch| Line {
            seed: seed.seed,
            epoch: epoch.epoch,
            loss: epoch.loss,
            valid_loss: epoch.valid_loss,
            valid: epoch.valid,
        }));
    }
    json_lines(&lines)
}
