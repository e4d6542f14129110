//! What is saved of a trainer between epochs.

use super::{PointsBest, PointsConfig, PointsTrainer, trainer::Optimisers};
use crate::{
    Result,
    checkpoint::{self, Checkpoint, Draft, Resumable},
    record::EpochRecord,
};
use adjoin::loss::Baseline;
use burn::module::Module;
use std::time::Duration;

impl Resumable for PointsTrainer<'_> {
    type Config = PointsConfig;
    type Epoch = EpochRecord;

    fn seed(&self) -> u64 {
        self.seed
    }

    fn epoch(&self) -> usize {
        self.epoch
    }

    fn is_finished(&self) -> bool {
        PointsTrainer::is_finished(self)
    }

    fn step(&mut self) -> Result<EpochRecord> {
        PointsTrainer::step(self)
    }

    fn save(&self, draft: &mut Draft) -> Result<()> {
        if let Some(best) = &self.best {
            draft.models(&best.model, &self.model);
            draft.note("best_epoch", best.epoch);
            draft.note("best_accuracy", best.accuracy);
            draft.note("best_loss", best.loss);
        }
        draft.optimiser("backbone", &self.optimisers.network)?;
        draft.optimiser("learner", &self.optimisers.learners)?;
        let baseline = self.baseline.means();
        draft.floats("baseline", [1, baseline.len()], baseline);
        draft.note("steps", self.steps);
        draft.note("step_nanoseconds", self.step_time.as_nanos());
        Ok(())
    }

    fn restore(&mut self, saved: &Checkpoint) -> Result<()> {
        self.best = Some(PointsBest {
            epoch: saved.number("best_epoch")?,
            accuracy: saved.number("best_accuracy")?,
            loss: saved.number("best_loss")?,
            // Not a clone: clones share running statistics.
            model: saved.best_model(self.model.valid())?,
        });
        self.model = saved.last_model(self.model.clone())?;
        let fresh = Optimisers::new(&self.config.train);
        self.optimisers = Optimisers {
            network: saved.optimiser("backbone", fresh.network)?,
            learners: saved.optimiser("learner", fresh.learners)?,
        };
        self.baseline = Baseline::from_means(saved.floats("baseline")?);
        self.epoch = saved.number("epoch")?;
        self.steps = saved.number("steps")?;
        self.step_time = Duration::from_nanos(saved.number("step_nanoseconds")?);
        Ok(())
    }

    /// Two more for every layer.
    fn columns(&self) -> usize {
        checkpoint::COLUMNS + 2 * self.model.network.layers()
    }

    fn row(epoch: &EpochRecord) -> Vec<f64> {
        checkpoint::row(epoch)
    }

    fn epoch_of(row: &[f64]) -> EpochRecord {
        checkpoint::epoch_of(row)
    }
}
