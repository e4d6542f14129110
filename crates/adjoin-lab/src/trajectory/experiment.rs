//! Several seeds of one configuration, and what came of them.

use super::{
    Forecaster, Scores, Trainable, TrajectoryBest, TrajectoryEpoch, TrajectorySeedRecord,
    TrajectorySetup, TrajectoryTrainConfig, TrajectoryTrainer,
    trainer::{batches, score},
};
use crate::{
    Error, Result,
    checkpoint::{self, Shelf},
    seeds::side_by_side,
};
use adjoin::Key;
use adjoin_data::trajectory::{Scene, TrajectoryDataset};
use burn::tensor::Device;

/// A dataset, how to train, and seeds; for any network.
#[derive(Clone, Debug)]
pub struct TrajectoryExperiment<'a> {
    /// The scenes.
    pub dataset: &'a TrajectoryDataset,
    /// How to train.
    pub train: &'a TrajectoryTrainConfig,
    /// The seeds.
    pub seeds: &'a [u64],
    /// Threads to use in all.
    pub threads: usize,
}

/// Watches an experiment, from several threads.
pub trait TrajectoryObserver: Sync {
    /// An epoch of a seed is done, of `most`.
    fn epoch(&self, seed: u64, record: &TrajectoryEpoch, most: usize);

    /// A seed is done.
    fn seed(&self, _record: &TrajectorySeedRecord) {}

    /// Whether to stop now.
    fn stop(&self) -> bool {
        false
    }
}

/// What one seed gave.
#[derive(Clone, Debug)]
pub struct TrajectorySeed<M> {
    /// The seed.
    pub seed: u64,
    /// Every epoch, in order.
    pub curve: Vec<TrajectoryEpoch>,
    /// The epoch that validation chose, and its model.
    pub best: TrajectoryBest<M>,
    /// Errors on the test scenes, read once, at that epoch.
    pub test: Scores,
    /// Mean time of the training steps of an epoch, in seconds.
    pub epoch_seconds: f64,
    /// Wall-clock time in all, in seconds.
    pub seconds: f64,
}

impl<M> TrajectorySeed<M> {
    /// All of it but the model.
    pub fn record(&self) -> TrajectorySeedRecord {
        TrajectorySeedRecord {
            seed: self.seed,
            valid: self.best.epoch.valid.per_agent.ade,
            best_epoch: self.best.epoch.epoch,
            epochs: self.curve.len(),
            seconds: self.seconds,
            test: self.test,
            curve: self.curve.clone(),
        }
    }
}

impl TrajectoryExperiment<'_> {
    /// Runs all seeds, as many at once as there are threads; the result does not depend on how many.
    /// `model` makes the fresh model of a seed, on a device that tracks gradients.
    ///
    /// # Errors
    /// The first error of any seed, or that the observer asked to stop.
    pub fn run<M: Trainable>(
        &self,
        model: impl Fn(u64, &Device) -> Result<M> + Sync,
        observer: &dyn TrajectoryObserver,
    ) -> Result<Vec<TrajectorySeed<M>>> {
        self.run_in(model, observer, None)
    }

    /// As [`run`](Self::run), with checkpoints on a shelf, from which seeds go on.
    pub(super) fn run_in<M: Trainable>(
        &self,
        model: impl Fn(u64, &Device) -> Result<M> + Sync,
        observer: &dyn TrajectoryObserver,
        shelf: Option<&Shelf<TrajectorySetup>>,
    ) -> Result<Vec<TrajectorySeed<M>>> {
        side_by_side(self.seeds, self.threads, |&seed| {
            self.run_seed(seed, model(seed, &Device::flex().autodiff())?, observer, shelf)
        })
    }

    fn run_seed<M: Trainable>(
        &self,
        seed: u64,
        model: M,
        observer: &dyn TrajectoryObserver,
        shelf: Option<&Shelf<TrajectorySetup>>,
    ) -> Result<TrajectorySeed<M>> {
        let device = Device::flex();
        let mut trainer = TrajectoryTrainer::new(self.train, self.dataset, model, seed, &device)?;
        let seen = |record: &TrajectoryEpoch| observer.epoch(seed, record, self.train.epochs);
        let progress = checkpoint::train(&mut trainer, shelf, || observer.stop(), seen)?;
        let best = trainer.best().cloned().ok_or_else(|| Error::Config {
            place: "train.epochs".into(),
            what: "must be at least 1".into(),
        })?;
        // The only place where test scenes are looked at.
        let lengths = [self.dataset.observed, self.dataset.predicted];
        let key = test_key(seed);
        let test = evaluate(&best.model, &self.dataset.test, lengths, self.train.samples, key)?;
        let epoch_seconds = trainer.step_time().as_secs_f64() / trainer.epoch().max(1) as f64;
        let (curve, seconds) = (progress.curve, progress.elapsed.as_secs_f64());
        let done = TrajectorySeed { seed, curve, best, test, epoch_seconds, seconds };
        observer.seed(&done.record());
        Ok(done)
    }
}

/// Where the samples of a seed on test scenes are drawn from.
pub(super) fn test_key(seed: u64) -> Key {
    Key::new(seed).child(0x7e57)
}

/// Errors of a model on scenes, with sampled paths drawn from `key`; call on a model without autodiff.
///
/// # Errors
/// If scenes and model do not fit.
pub fn evaluate(
    model: &dyn Forecaster,
    scenes: &[Scene],
    lengths: [usize; 2],
    samples: usize,
    key: Key,
) -> Result<Scores> {
    score(model, scenes, &batches(scenes, lengths, &Device::flex())?, samples, key)
}
