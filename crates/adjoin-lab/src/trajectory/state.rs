//! What is saved of a trainer between epochs.

use super::{
    Displacement, Scores, Trainable, TrajectoryBest, TrajectoryEpoch, TrajectorySetup,
    TrajectoryTrainer, trainer::optimiser,
};
use crate::{
    Result,
    checkpoint::{Checkpoint, Draft, Resumable},
    mean_weights::MeanWeights,
};
use std::time::Duration;

/// Names of the optimisers of the network and of the learner.
const OPTIMISERS: [&str; 2] = ["backbone", "learner"];

impl<M: Trainable> Resumable for TrajectoryTrainer<'_, M> {
    type Config = TrajectorySetup;
    type Epoch = TrajectoryEpoch;

    fn seed(&self) -> u64 {
        self.seed
    }

    fn epoch(&self) -> usize {
        self.epoch
    }

    fn is_finished(&self) -> bool {
        TrajectoryTrainer::is_finished(self)
    }

    fn step(&mut self) -> Result<TrajectoryEpoch> {
        TrajectoryTrainer::step(self)
    }

    fn save(&self, draft: &mut Draft) -> Result<()> {
        if let Some(best) = &self.best {
            draft.models(&best.model, &self.model);
            let row = Self::row(&best.epoch);
            draft.floats("best_epoch", [1, row.len()], &row);
        }
        if self.mean.is_some() {
            draft.mean_model(&self.evaluated());
        }
        for (name, optimiser) in OPTIMISERS.into_iter().zip(&self.optimisers) {
            draft.optimiser(name, optimiser)?;
        }
        draft.note("steps", self.steps);
        draft.note("step_nanoseconds", self.step_time.as_nanos());
        Ok(())
    }

    fn restore(&mut self, saved: &Checkpoint) -> Result<()> {
        let epoch = Self::epoch_of(&saved.floats("best_epoch")?);
        // Not a clone: clones share running statistics.
        let model = saved.best_model(self.model.valid())?;
        self.best = Some(TrajectoryBest { epoch, model });
        self.model = saved.last_model(self.model.clone())?;
        for (name, slot) in OPTIMISERS.into_iter().zip(&mut self.optimisers) {
            *slot = saved.optimiser(name, optimiser(self.config))?;
        }
        self.epoch = saved.number("epoch")?;
        self.steps = saved.number("steps")?;
        if self.mean.is_some() {
            let mean = saved.mean_model(self.model.valid())?;
            self.mean = MeanWeights::wanted(self.config.average, self.steps, &mean);
        }
        self.step_time = Duration::from_nanos(saved.number("step_nanoseconds")?);
        Ok(())
    }

    fn columns(&self) -> usize {
        10
    }

    fn row(epoch: &TrajectoryEpoch) -> Vec<f64> {
        let TrajectoryEpoch { epoch, loss, valid_loss, valid, seconds } = *epoch;
        let ways = [valid.per_agent, valid.per_scene, valid.likely];
        let errors = ways.into_iter().flat_map(|way| [way.ade, way.fde]);
        [epoch as f64, loss, valid_loss, seconds].into_iter().chain(errors).collect()
    }

    fn epoch_of(row: &[f64]) -> TrajectoryEpoch {
        let at = |column: usize| row.get(column).copied().unwrap_or(f64::NAN);
        let way = |column: usize| Displacement { ade: at(column), fde: at(column + 1) };
        TrajectoryEpoch {
            epoch: at(0) as usize,
            loss: at(1),
            valid_loss: at(2),
            seconds: at(3),
            valid: Scores { per_agent: way(4), per_scene: way(6), likely: way(8) },
        }
    }
}
