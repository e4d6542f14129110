//! Training that can be stopped at any epoch and goes on as if it had not been.

use super::{Checkpoint, Draft, Identity};
use crate::{Error, Result, plan::Layered};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// A crash loses at most this much work.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(20);

/// Trains one model with one seed, an epoch at a time, and can be saved between epochs.
pub trait Resumable {
    /// What decides all it computes, but data and seed.
    type Config: Layered;
    /// What is seen of an epoch.
    type Epoch;

    /// The seed.
    fn seed(&self) -> u64;

    /// Epochs done.
    fn epoch(&self) -> usize;

    /// Whether there is nothing more to do.
    fn is_finished(&self) -> bool;

    /// The next epoch.
    ///
    /// # Errors
    /// If a number stops being one.
    fn step(&mut self) -> Result<Self::Epoch>;

    /// Adds its state after an epoch to a checkpoint: weights, optimisers, and what else it needs.
    ///
    /// # Errors
    /// If something cannot be packed.
    fn save(&self, draft: &mut Draft) -> Result<()>;

    /// Takes the state back, when it is fresh.
    ///
    /// # Errors
    /// If an entry is missing or does not fit.
    fn restore(&mut self, saved: &Checkpoint) -> Result<()>;

    /// Numbers of an epoch.
    fn columns(&self) -> usize;

    /// An epoch as a row of [`columns`](Self::columns) numbers; what is absent is NaN.
    fn row(epoch: &Self::Epoch) -> Vec<f64>;

    /// An epoch from its row.
    fn epoch_of(row: &[f64]) -> Self::Epoch;
}

/// What else a run wants back, apart from the trainer itself.
#[derive(Clone, Debug)]
pub struct Progress<E> {
    /// All epochs so far.
    pub curve: Vec<E>,
    /// Time spent so far.
    pub elapsed: Duration,
}

impl<E> Default for Progress<E> {
    fn default() -> Self {
        Self { curve: Vec::new(), elapsed: Duration::ZERO }
    }
}

/// Where the checkpoints of an experiment are, and what they must agree with.
pub(crate) struct Shelf<'a, C> {
    pub folder: &'a Path,
    /// Fingerprint of the dataset.
    pub dataset: String,
    /// Hash of the split.
    pub split: String,
    pub config: &'a C,
}

impl<C: Layered> Shelf<'_, C> {
    fn identity(&self, seed: u64) -> Identity<'_, C> {
        Identity { config: self.config, dataset: &self.dataset, split: &self.split, seed }
    }

    fn save<T: Resumable<Config = C>>(
        &self,
        trainer: &T,
        progress: &Progress<T::Epoch>,
    ) -> Result<()> {
        let seed = trainer.seed();
        let checkpoint = Checkpoint::of(trainer, progress, &self.identity(seed))?;
        checkpoint.save(&file_of(self.folder, seed))
    }

    fn restore<T: Resumable<Config = C>>(&self, trainer: &mut T) -> Result<Progress<T::Epoch>> {
        let path = file_of(self.folder, trainer.seed());
        if !path.exists() {
            return Ok(Progress::default());
        }
        let checkpoint = Checkpoint::load(&path)?;
        checkpoint.check(&self.identity(trainer.seed()))?;
        checkpoint.restore(trainer)
    }
}

/// Where the checkpoint of a seed is in the folder of its run.
pub(crate) fn file_of(folder: &Path, seed: u64) -> PathBuf {
    folder.join(format!("seed-{seed}.safetensors"))
}

/// A number that stopped being one inside the library, with epoch and seed.
fn placed(error: Error, trainer: &impl Resumable) -> Error {
    match error {
        Error::Graph(adjoin::Error::NotFinite { what: stage, value, .. }) => {
            Error::NotFinite { stage, value, epoch: trainer.epoch(), seed: trainer.seed() }
        }
        other => other,
    }
}

/// Trains to the end, from the checkpoint on the shelf if there is one, and leaves one there from time to
/// time, when `stop` says so, and at the end; one that is of the end is left alone. `seen` is told of every
/// new epoch.
pub(crate) fn train<T: Resumable>(
    trainer: &mut T,
    shelf: Option<&Shelf<T::Config>>,
    stop: impl Fn() -> bool,
    seen: impl Fn(&T::Epoch),
) -> Result<Progress<T::Epoch>> {
    let mut progress = match shelf {
        Some(shelf) => shelf.restore(trainer)?,
        None => Progress::default(),
    };
    let started = Instant::now();
    let (before, kept) = (progress.elapsed, trainer.epoch());
    let mut saved = Instant::now();
    while !trainer.is_finished() {
        let stop = stop();
        if let Some(shelf) = shelf
            && trainer.epoch() > 0
            && (stop || saved.elapsed() > BETWEEN_CHECKPOINTS)
        {
            progress.elapsed = before + started.elapsed();
            shelf.save(trainer, &progress)?;
            saved = Instant::now();
        }
        if stop {
            return Err(Error::Interrupted { epoch: trainer.epoch(), seed: trainer.seed() });
        }
        let epoch = trainer.step().map_err(|error| placed(error, trainer))?;
        seen(&epoch);
        progress.curve.push(epoch);
    }
    if trainer.epoch() > kept {
        progress.elapsed = before + started.elapsed();
        if let Some(shelf) = shelf {
            shelf.save(trainer, &progress)?;
        }
    }
    Ok(progress)
}
