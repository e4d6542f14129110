//! Training that can be stopped at any epoch and resumes as if it had not been.

use super::{
    checkpoint::{Checkpoint, Identity},
    trainer::{EpochRecord, Trainer},
};
use crate::{Error, Result, task::Task};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// A crash loses at most this much work.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(20);

/// What a run wants back besides the trainer itself.
#[derive(Clone, Debug)]
pub struct History<T: Task> {
    /// All epochs so far.
    pub curve: Vec<EpochRecord<T>>,
    /// Time spent so far.
    pub elapsed: Duration,
}

impl<T: Task> Default for History<T> {
    fn default() -> Self {
        Self { curve: Vec::new(), elapsed: Duration::ZERO }
    }
}

/// Where the checkpoints of an experiment are, and what they must agree with.
pub(crate) struct Shelf<'a, T: Task> {
    pub folder: &'a Path,
    /// Fingerprint of the dataset.
    pub dataset: String,
    /// Hash of the split.
    pub split: String,
    pub config: &'a T::Config,
}

impl<'a, T: Task> Shelf<'a, T> {
    /// A shelf in a folder below another one, which is made.
    pub(crate) fn within(
        above: Option<&Shelf<T>>,
        folder: Option<&'a Path>,
        config: &'a T::Config,
    ) -> Result<Option<Self>> {
        let Some((above, folder)) = above.zip(folder) else { return Ok(None) };
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let (dataset, split) = (above.dataset.clone(), above.split.clone());
        Ok(Some(Self { folder, dataset, split, config }))
    }

    fn identity(&self, seed: u64) -> Identity<'_, T> {
        Identity { config: self.config, dataset: &self.dataset, split: &self.split, seed }
    }

    fn save(&self, trainer: &Trainer<T>, history: &History<T>) -> Result<()> {
        let seed = trainer.seed();
        let checkpoint = Checkpoint::of(trainer, history, &self.identity(seed))?;
        checkpoint.save(&file_of(self.folder, seed))
    }

    fn restore(&self, trainer: &mut Trainer<T>) -> Result<History<T>> {
        let path = file_of(self.folder, trainer.seed());
        if !path.exists() {
            return Ok(History::default());
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
fn placed<T: Task>(error: Error, trainer: &Trainer<T>) -> Error {
    match error {
        Error::Graph(adjoin::Error::NotFinite { what: stage, value, .. }) => {
            Error::NotFinite { stage, value, epoch: trainer.epoch(), seed: trainer.seed() }
        }
        other => other,
    }
}

/// Trains to the end, from the checkpoint on the shelf if there is one. Leaves one there from time to time, when
/// `stop` says so, and at the end; one that is of the end is left alone. `seen` is told of every new epoch.
pub(crate) fn train<T: Task>(
    trainer: &mut Trainer<T>,
    shelf: Option<&Shelf<T>>,
    stop: impl Fn() -> bool,
    seen: impl Fn(&EpochRecord<T>),
) -> Result<History<T>> {
    let mut history = match shelf {
        Some(shelf) => shelf.restore(trainer)?,
        None => History::default(),
    };
    let started = Instant::now();
    let (before, kept) = (history.elapsed, trainer.epoch());
    let mut saved = Instant::now();
    while !trainer.is_finished() {
        let stop = stop();
        if let Some(shelf) = shelf
            && trainer.epoch() > 0
            && (stop || saved.elapsed() > BETWEEN_CHECKPOINTS)
        {
            history.elapsed = before + started.elapsed();
            shelf.save(trainer, &history)?;
            saved = Instant::now();
        }
        if stop {
            return Err(Error::Interrupted { epoch: trainer.epoch(), seed: trainer.seed() });
        }
        let epoch = trainer.epoch_step().map_err(|error| placed(error, trainer))?;
        seen(&epoch);
        history.curve.push(epoch);
    }
    if trainer.epoch() > kept {
        history.elapsed = before + started.elapsed();
        if let Some(shelf) = shelf {
            shelf.save(trainer, &history)?;
        }
    }
    Ok(history)
}
