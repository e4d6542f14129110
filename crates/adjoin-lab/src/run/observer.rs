//! Who watches a run.

/// What a seed is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Its teacher is trained.
    Teacher,
    /// A model without edges learns from the teacher.
    Distillation,
    /// It is trained.
    Training,
    /// It is trained with another graph than the learned one, so that validation can choose.
    Alternative(&'static str),
}

/// An epoch is done.
#[derive(Clone, Debug)]
pub struct Tick {
    /// The seed.
    pub seed: u64,
    /// What it is doing.
    pub stage: Stage,
    /// The epoch, from 1.
    pub epoch: usize,
    /// Most epochs.
    pub epochs: usize,
    /// Loss, validation and neighbours, as a person reads them.
    pub message: String,
}

/// A seed is done. Test numbers are not in here: nobody sees one before the run has ended.
#[derive(Clone, Debug)]
pub struct SeedDone {
    /// The seed.
    pub seed: u64,
    /// Validation at the best epoch, as a person reads it.
    pub valid: String,
    /// The epoch that validation chose.
    pub best_epoch: usize,
    /// Epochs trained.
    pub epochs: usize,
    /// Wall-clock time.
    pub seconds: f64,
}

/// Watches an experiment, from several threads.
pub trait Observer: Sync {
    /// An epoch of a seed is done.
    fn tick(&self, _tick: &Tick) {}

    /// A seed is done.
    fn seed(&self, _done: &SeedDone) {}

    /// Whether to stop now.
    fn stop(&self) -> bool {
        false
    }
}

/// An observer that does not look.
pub struct Unobserved;

impl Observer for Unobserved {}
