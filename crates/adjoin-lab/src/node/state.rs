//! What is saved of a trainer between epochs.

use super::{Best, Optimisers, Trainer};
use crate::{
    AnyLearner, Config, Result,
    checkpoint::{Checkpoint, Draft, Resumable},
    record::EpochRecord,
};
use adjoin::loss::Baseline;
use burn::module::Module;
use std::time::Duration;

impl Resumable for Trainer<'_> {
    type Config = Config;
    type Epoch = EpochRecord;
    const COLUMNS: usize = 6;

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
        let fresh = Optimisers::new(self.config);
        self.optimisers = Optimisers {
            backbone: saved.optimiser("backbone", fresh.backbone)?,
            learner: saved.optimiser("learner", fresh.learner)?,
        };
        if matches!(self.model.learner, AnyLearner::Dgm(_)) {
            self.baseline = Baseline::from_means(saved.floats("baseline")?);
        }
        self.epoch = saved.number("epoch")?;
        self.step_time = Duration::from_nanos(saved.number("step_nanoseconds")?);
        Ok(())
    }

    fn row(epoch: &EpochRecord) -> Vec<f64> {
        let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let EpochRecord { epoch, loss, train, valid, mean_degree, std_degree } = epoch;
        vec![*epoch as f64, *loss, *train, *valid, or_nan(*mean_degree), or_nan(*std_degree)]
    }

    fn epoch_of(row: &[f64]) -> EpochRecord {
        let or_none = |value: f64| (!value.is_nan()).then_some(value);
        EpochRecord {
            epoch: row[0] as usize,
            loss: row[1],
            train: row[2],
            valid: row[3],
            mean_degree: or_none(row[4]),
            std_degree: or_none(row[5]),
        }
    }
}
