//! What is saved of a trainer between epochs.

use super::{Best, Optimisers, Trainer};
use crate::{
    AnyLearner, Config, Result,
    checkpoint::{self, Checkpoint, Draft, Resumable},
    mean_weights::MeanWeights,
    record::EpochRecord,
};
use adjoin::loss::Baseline;
use burn::module::Module;
use std::time::Duration;

impl Resumable for Trainer<'_> {
    type Config = Config;
    type Epoch = EpochRecord;

    fn seed(&self) -> u64 {
        self.seed
    }

    fn epoch(&self) -> usize {
        self.epoch
    }

    fn is_finished(&self) -> bool {
        Trainer::is_finished(self)
    }

    fn step(&mut self) -> Result<EpochRecord> {
        Trainer::step(self)
    }

    fn save(&self, draft: &mut Draft) -> Result<()> {
        if let Some(best) = &self.best {
            draft.models(&best.model, &self.model);
            draft.note("best_epoch", best.epoch);
            draft.note("best_accuracy", best.accuracy);
            draft.note("best_loss", best.loss);
        }
        if self.mean.is_some() {
            draft.mean_model(&self.evaluated());
        }
        draft.optimiser("backbone", &self.optimisers.backbone)?;
        draft.optimiser("learner", &self.optimisers.learner)?;
        if matches!(self.model.learner, AnyLearner::Dgm(_)) {
            let baseline = self.baseline.means();
            draft.floats("baseline", [1, baseline.len()], baseline);
        }
        draft.note("step_nanoseconds", self.step_time.as_nanos());
        Ok(())
    }

    fn restore(&mut self, saved: &Checkpoint) -> Result<()> {
        let model = saved.best_model(self.model.clone())?;
        self.prepared.beliefs = model.beliefs(self.data)?;
        let epoch = saved.number("best_epoch")?;
        let warm_up = epoch < self.config.train.warm_up;
        let evaluation = model.valid().evaluate(self.data, &self.prepared, warm_up)?;
        let (accuracy, loss) = (saved.number("best_accuracy")?, saved.number("best_loss")?);
        self.best = Some(Best { epoch, accuracy, loss, model, evaluation });
        self.model = saved.last_model(self.model.clone())?;
        self.epoch = saved.number("epoch")?;
        if self.mean.is_some() {
            let mean = saved.mean_model(self.model.clone())?;
            let (average, steps) = (self.config.train.average, self.epoch as u64);
            self.mean = MeanWeights::wanted(average, steps, &mean);
        }
        let fresh = Optimisers::new(self.config);
        self.optimisers = Optimisers {
            backbone: saved.optimiser("backbone", fresh.backbone)?,
            learner: saved.optimiser("learner", fresh.learner)?,
        };
        if matches!(self.model.learner, AnyLearner::Dgm(_)) {
            self.baseline = Baseline::from_means(saved.floats("baseline")?);
        }
        self.step_time = Duration::from_nanos(saved.number("step_nanoseconds")?);
        Ok(())
    }

    fn columns(&self) -> usize {
        checkpoint::COLUMNS
    }

    fn row(epoch: &EpochRecord) -> Vec<f64> {
        checkpoint::row(epoch)
    }

    fn epoch_of(row: &[f64]) -> EpochRecord {
        checkpoint::epoch_of(row)
    }
}
