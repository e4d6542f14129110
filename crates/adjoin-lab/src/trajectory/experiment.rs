//! Several seeds of one configuration, and what came of them.

use super::{
    Forecaster, Scores, SocialModel, TrajectoryBest, TrajectoryConfig, TrajectoryEpoch,
    TrajectoryTrainer,
    trainer::{batches, score},
};
use crate::{Error, Result, seeds::side_by_side};
use adjoin::Key;
use adjoin_data::trajectory::{Scene, TrajectoryDataset};
use burn::tensor::Device;

/// A dataset, a configuration and seeds.
#[derive(Clone, Debug)]
pub struct TrajectoryExperiment<'a> {
    /// The scenes.
    pub dataset: &'a TrajectoryDataset,
    /// Network, learner and training.
    pub config: &'a TrajectoryConfig,
    /// The seeds.
    pub seeds: &'a [u64],
    /// Threads to use in all.
    pub threads: usize,
}

/// What one seed gave.
#[derive(Debug)]
pub struct TrajectorySeed {
    /// The seed.
    pub seed: u64,
    /// Every epoch, in order.
    pub curve: Vec<TrajectoryEpoch>,
    /// The epoch that validation chose, and its model.
    pub best: TrajectoryBest<SocialModel>,
    /// Errors on the test scenes, read once, at that epoch.
    pub test: Scores,
    /// Mean time of the training steps of an epoch, in seconds.
    pub epoch_seconds: f64,
}

/// What an experiment gives.
#[derive(Debug)]
pub struct TrajectoryOutcome {
    /// In the order of the seeds.
    pub seeds: Vec<TrajectorySeed>,
}

impl TrajectoryExperiment<'_> {
    /// Runs all seeds, as many at once as there are threads; the result does not depend on how many.
    /// `observe` is told of every epoch of every seed, and says whether to go on.
    ///
    /// # Errors
    /// The first error of any seed, or that the observer asked to stop.
    pub fn run(
        &self,
        observe: &(dyn Fn(u64, &TrajectoryEpoch) -> bool + Sync),
    ) -> Result<TrajectoryOutcome> {
        let seeds = side_by_side(self.seeds, self.threads, |&seed| self.run_seed(seed, observe))?;
        Ok(TrajectoryOutcome { seeds })
    }

    fn run_seed(
        &self,
        seed: u64,
        observe: &(dyn Fn(u64, &TrajectoryEpoch) -> bool + Sync),
    ) -> Result<TrajectorySeed> {
        let device = Device::flex();
        let lengths = [self.dataset.observed, self.dataset.predicted];
        let model = SocialModel::new(self.config, lengths, seed, &device.clone().autodiff())?;
        let train = &self.config.train;
        let mut trainer = TrajectoryTrainer::new(train, self.dataset, model, seed, &device)?;
        let mut curve = Vec::new();
        while !trainer.is_finished() {
            let record = trainer.step()?;
            curve.push(record);
            if !observe(seed, &record) {
                return Err(Error::Interrupted { epoch: trainer.epoch(), seed });
            }
        }
        let best = trainer.best().cloned().ok_or_else(|| Error::Config {
            place: "train.epochs".into(),
            what: "must be at least 1".into(),
        })?;
        // The only place where test scenes are looked at.
        let key = Key::new(seed).child(0x7e57);
        let test = evaluate(&best.model, &self.dataset.test, lengths, train.samples, key)?;
        let epoch_seconds = trainer.step_time().as_secs_f64() / trainer.epoch().max(1) as f64;
        Ok(TrajectorySeed { seed, curve, best, test, epoch_seconds })
    }
}

/// Errors of a model on scenes, with sampled paths drawn from `key`; call on a model without autodiff.
///
/// # Errors
/// If scenes and model do not fit.
pub fn evaluate(
    model: &impl Forecaster,
    scenes: &[Scene],
    lengths: [usize; 2],
    samples: usize,
    key: Key,
) -> Result<Scores> {
    score(model, scenes, &batches(scenes, lengths, &Device::flex())?, samples, key)
}
