//! Training of one seed: the loop that all tasks share.

use super::{
    checkpoint::{Checkpoint, Draft},
    ema::Ema,
    optimiser::Optimisers,
};
use crate::{
    Error, Result,
    task::{Degree, Evaluation, Items, Metrics, Model, Settings, Task, Training, Validation},
};
use adjoin::{Key, Pass, loss::Baseline, nn::Progress};
use burn::{module::Module, tensor::Device};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// One epoch of a seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub struct EpochRecord<T: Task> {
    /// The epoch, from 1.
    pub epoch: usize,
    /// Mean training loss over its steps.
    pub loss: f64,
    /// The measure of the task on training data.
    pub train: Option<f64>,
    /// Validation after it.
    pub valid: T::Metrics,
    /// Neighbours of the nodes, layer by layer; empty where none are learned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degrees: Vec<Degree>,
}

/// The best epoch so far, chosen by validation alone.
#[derive(Clone, Debug)]
pub struct Best<T: Task> {
    /// The epoch, from 1.
    pub epoch: usize,
    /// Validation after it.
    pub valid: T::Metrics,
    /// The model of that epoch, without autodiff. A clone would not do: clones share running statistics,
    /// which training moves on.
    pub model: T::Model,
}

/// What a trainer is given: no test label is among it.
pub struct Visible<'a, T: Task> {
    /// What a model takes from its training data.
    pub fitted: &'a T::Fitted,
    /// The data as models see it.
    pub context: &'a T::Context,
    /// The training part.
    pub training: &'a T::Seen,
    /// The part that chooses the epoch.
    pub validation: &'a Validation<T>,
}

/// Trains one model with one seed, an epoch at a time.
pub struct Trainer<'a, T: Task> {
    config: &'a T::Config,
    data: Visible<'a, T>,
    seed: u64,
    model: T::Model,
    ema: Option<Ema>,
    optimisers: Optimisers,
    /// Running rewards, for learners that learn from them.
    rewards: Baseline,
    epoch: usize,
    steps: u64,
    best: Option<Best<T>>,
    step_time: Duration,
}

impl<'a, T: Task> Trainer<'a, T> {
    /// A fresh run.
    ///
    /// # Errors
    /// If a setting is out of range or does not fit the data.
    pub fn new(
        config: &'a T::Config,
        data: Visible<'a, T>,
        seed: u64,
        device: &Device,
    ) -> Result<Self> {
        Self::of_alternative(config, data, seed, device, 0)
    }

    /// A fresh run with one of the graphs that validation chooses among; the first is the learned one.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_alternative(
        config: &'a T::Config,
        data: Visible<'a, T>,
        seed: u64,
        device: &Device,
        alternative: usize,
    ) -> Result<Self> {
        config.check()?;
        let device = device.clone().autodiff();
        let mut model = T::model(config, data.fitted, data.context, seed, &device)?;
        if alternative == 0 {
            model = model.fitted(data.context, data.training, seed)?;
        } else {
            model = model.choose(alternative);
        }
        let model = model.bind(data.context)?;
        Ok(Self {
            ema: Ema::wanted(config.train().ema, 0, &model),
            optimisers: Optimisers::new(config.train(), model.first_parameters()),
            rewards: T::rewards(data.training),
            config,
            data,
            seed,
            model,
            epoch: 0,
            steps: 0,
            best: None,
            step_time: Duration::ZERO,
        })
    }

    /// Hands over a model that was trained before; `seen` is told of the epochs it takes to learn from it.
    pub fn take_teacher(&mut self, teacher: &T::Model, seen: &dyn Fn(usize, usize)) -> Result<()> {
        let (context, seed) = (self.data.context, self.seed);
        let model = self.model.clone().taught_by(teacher, context, self.config, seed, seen)?;
        self.model = model.bind(context)?;
        self.ema = Ema::wanted(self.config.train().ema, 0, &self.model);
        Ok(())
    }

    /// Whether the epochs or the patience are used up.
    pub fn is_finished(&self) -> bool {
        let train = self.config.train();
        let waited = self.epoch - self.best.as_ref().map_or(0, |best| best.epoch);
        let patience = train.patience.max(train.epochs_without_learner() + 1);
        self.epoch >= train.epochs || (train.patience > 0 && waited >= patience)
    }

    /// Whether the epochs ended before the patience did.
    pub fn was_cut_short(&self) -> bool {
        let train = self.config.train();
        let waited = self.epoch - self.best.as_ref().map_or(0, |best| best.epoch);
        self.epoch >= train.epochs && waited < train.patience
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The best epoch so far.
    pub fn best(&self) -> Option<&Best<T>> {
        self.best.as_ref()
    }

    /// Epochs done.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// Training steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Time spent in training steps, evaluation left out.
    pub fn step_time(&self) -> Duration {
        self.step_time
    }

    /// The model as it is after the last step.
    pub fn model(&self) -> &T::Model {
        &self.model
    }

    /// One epoch of training and one look at the validation data.
    ///
    /// # Errors
    /// If the loss or an output stops being a number.
    pub fn epoch_step(&mut self) -> Result<EpochRecord<T>> {
        let train = self.config.train();
        let joined = self.epoch >= train.epochs_without_learner();
        let at = Progress { epoch: self.epoch, epochs: train.epochs };
        let started = Instant::now();
        self.model.begin_epoch(self.data.context, at, joined)?;
        let order = Key::new(self.seed).child(0x5f).child(self.epoch as u64);
        let batches = self.data.training.batches(train.batch, order);
        let (mut losses, mut measures, mut items) = (0.0, 0.0, 0.0);
        for (number, batch) in batches.iter().enumerate() {
            let within = number as f64 / batches.len() as f64;
            let (loss, measure) = self.step(batch, at, within)?;
            if batches.len() == 1 {
                (losses, measures, items) = (loss, measure, 1.0);
                break;
            }
            losses += loss * batch.len() as f64;
            measures += measure * batch.len() as f64;
            items += batch.len() as f64;
        }
        self.step_time += started.elapsed();
        self.epoch += 1;

        let model = self.evaluated()?;
        let Evaluation { metrics, train, degrees } =
            model.evaluate(self.data.context, self.data.validation.held(), self.seed)?;
        self.finite("validation loss", metrics.loss())?;
        if self.is_better(&metrics, joined) {
            let (epoch, valid) = (self.epoch, metrics.clone());
            self.best = Some(Best { epoch, valid, model });
        }
        let stepped = measures / items;
        Ok(EpochRecord {
            epoch: self.epoch,
            loss: losses / items,
            train: train.or((!stepped.is_nan()).then_some(stepped)),
            valid: metrics,
            degrees,
        })
    }

    /// The first training step of an epoch, to be timed: no look at the validation data.
    ///
    /// # Errors
    /// If the loss stops being a number.
    pub(crate) fn first_step(&mut self, batch: &[u32], at: Progress) -> Result<()> {
        self.model.begin_epoch(self.data.context, at, true)?;
        self.step(batch, at, 0.0).map(|_| ())
    }

    /// One training step on some items; gives its loss and measure.
    ///
    /// # Errors
    /// If the loss stops being a number.
    pub fn step(&mut self, batch: &[u32], at: Progress, within: f64) -> Result<(f64, f64)> {
        let Visible { context, training: seen, .. } = self.data;
        let (config, seed) = (self.config, self.seed);
        let data = Training { config, context, seen, batch, at, seed };
        let step = self.model.loss(data, Pass::train(seed, self.steps), &mut self.rewards)?;
        let train = config.train();
        let factor = train.factor(self.steps, at.epoch, within);
        self.steps += 1;
        let value = step.loss.clone().into_scalar::<f64>();
        self.finite("training loss", value)?;
        let mut grads = step.loss.backward();
        let rates = self.model.rates(config, at).map(|rate| rate.map(|rate| rate * factor));
        let learner = self.model.learner_parameters();
        self.model = self.optimisers.step(self.model.clone(), &mut grads, &learner, rates);
        if let Some(ema) = &mut self.ema {
            ema.follow(&self.model);
        }
        Ok((value, step.measure.unwrap_or(f64::NAN)))
    }

    /// The model as validation, tests and predictions use it: without autodiff, with averaged weights if
    /// training keeps them.
    ///
    /// # Errors
    /// If a model does not fit the data.
    pub fn evaluated(&self) -> Result<T::Model> {
        let model = self.model.valid();
        match &self.ema {
            Some(ema) => ema.fill(model).bind(self.data.context),
            None => Ok(model),
        }
    }

    fn is_better(&self, metrics: &T::Metrics, joined: bool) -> bool {
        let train = self.config.train();
        let criterion = |metrics: &T::Metrics| metrics.criterion(train.choose_by);
        self.best.as_ref().is_none_or(|best| {
            // The first epoch with the learner takes the place of all without it.
            let first = joined && best.epoch <= train.epochs_without_learner();
            first || criterion(metrics) < criterion(&best.valid)
        })
    }

    fn finite(&self, stage: &'static str, value: f64) -> Result<()> {
        if value.is_finite() {
            return Ok(());
        }
        Err(Error::NotFinite { stage, value, epoch: self.epoch, seed: self.seed })
    }

    /// Adds its state after an epoch to a checkpoint.
    pub(super) fn save(&self, draft: &mut Draft) -> Result<()> {
        if let Some(best) = &self.best {
            draft.models(&best.model, &self.model);
            let values = best.valid.values();
            draft.note("best_epoch", best.epoch);
            draft.floats("best_valid", [1, values.len()], &values);
        }
        if self.ema.is_some() {
            draft.ema_model(&self.evaluated()?);
        }
        draft.optimiser("backbone", &self.optimisers.network)?;
        draft.optimiser("learner", &self.optimisers.learner)?;
        let rewards = self.rewards.means();
        draft.floats("rewards", [1, rewards.len()], rewards);
        draft.note("steps", self.steps);
        draft.note("step_nanoseconds", self.step_time.as_nanos());
        Ok(())
    }

    /// Takes its state back, when it is fresh.
    pub(super) fn restore(&mut self, saved: &Checkpoint) -> Result<()> {
        let context = self.data.context;
        self.best = Some(Best {
            epoch: saved.number("best_epoch")?,
            valid: T::Metrics::from_values(&saved.floats("best_valid")?),
            // Not a clone: clones share running statistics.
            model: saved.best_model(self.model.valid())?.bind(context)?,
        });
        self.model = saved.last_model(self.model.clone())?.bind(context)?;
        self.epoch = saved.number("epoch")?;
        self.steps = saved.number("steps")?;
        if self.ema.is_some() {
            let model = saved.ema_model(self.model.valid())?;
            self.ema = Ema::wanted(self.config.train().ema, self.steps, &model);
        }
        let fresh = Optimisers::new(self.config.train(), self.model.first_parameters());
        self.optimisers = Optimisers {
            network: saved.optimiser("backbone", fresh.network)?,
            learner: saved.optimiser("learner", fresh.learner)?,
        };
        self.rewards = Baseline::from_means(saved.floats("rewards")?);
        self.step_time = Duration::from_nanos(saved.number("step_nanoseconds")?);
        Ok(())
    }
}

impl<T: Task> EpochRecord<T> {
    /// The epoch as a row of numbers; what is absent is NaN.
    pub(super) fn row(&self) -> Vec<f64> {
        let mut row = vec![self.epoch as f64, self.loss, self.train.unwrap_or(f64::NAN)];
        row.extend(self.valid.values());
        row.extend(self.degrees.iter().flat_map(|degree| [degree.mean, degree.std]));
        row
    }

    /// An epoch from its row.
    pub(super) fn of_row(row: &[f64]) -> Self {
        let (head, rest) = row.split_at(row.len().min(3));
        let at = |column: usize| head.get(column).copied().unwrap_or(f64::NAN);
        let (valid, degrees) = rest.split_at(rest.len().min(T::Metrics::COLUMNS.len()));
        let degree =
            |pair: &[f64]| (!pair[0].is_nan()).then_some(Degree { mean: pair[0], std: pair[1] });
        Self {
            epoch: at(0) as usize,
            loss: at(1),
            train: (!at(2).is_nan()).then(|| at(2)),
            valid: T::Metrics::from_values(valid),
            degrees: degrees.chunks_exact(2).filter_map(degree).collect(),
        }
    }
}
