//! How a model is trained, whatever its task.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How a model is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Most epochs.
    pub epochs: usize,
    /// Epochs without a better validation result before training stops; 0 for never.
    pub patience: usize,
    /// Scenes or clouds in a step; nodes are always trained all at once.
    pub batch: usize,
    /// The optimiser of the network; that of the learner is Adam.
    pub optimiser: OptimiserKind,
    /// Momentum of SGD.
    pub momentum: f64,
    /// Learning rate of the network.
    pub rate: f64,
    /// Learning rate of the learner.
    pub learner_rate: f64,
    /// How both rates fall.
    pub schedule: Schedule,
    /// Steps in which both rates rise to what they are, evenly; 0 for full rates at once.
    pub warmup_steps: usize,
    /// Weight decay of the network, but for its first layer where the backbone names one.
    pub decay: f64,
    /// Weight decay of that first layer.
    pub first_decay: f64,
    /// Weight decay of the learner.
    pub learner_decay: f64,
    /// Largest norm of the gradient of a weight; 0 for any.
    pub clip: f64,
    /// How much an exponential moving average of the weights keeps of itself, below 1. Validation, tests and
    /// predictions use that average. 0 for the weights as they are.
    pub ema: f64,
    /// Share of the epochs that is spent on the given or published graph, before the learner joins. Only
    /// later epochs can be the best.
    pub learner_start: f64,
    /// Weight of the REINFORCE loss, by which learners of hard graphs learn (DGM).
    pub reinforce: f64,
    /// What validation looks at to choose the epoch.
    pub choose_by: ChooseBy,
}

/// The optimiser of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptimiserKind {
    /// Adam.
    #[default]
    Adam,
    /// Stochastic gradient descent, with momentum.
    Sgd,
}

/// How learning rates change over training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Not at all.
    #[default]
    Constant,
    /// Along a cosine, down to this rate of the network at the end; the learner's falls alike.
    Cosine(f64),
    /// Once, from an epoch on.
    Step {
        /// The epoch, from 0.
        at: usize,
        /// What the rates are multiplied by.
        by: f64,
    },
}

/// What decides which epoch is best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChooseBy {
    /// The measure of the task on validation data; among equals the lowest validation loss.
    #[default]
    Measure,
    /// The lowest validation loss.
    Loss,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            epochs: 300,
            patience: 0,
            batch: 32,
            optimiser: OptimiserKind::Adam,
            momentum: 0.9,
            rate: 0.01,
            learner_rate: 0.01,
            schedule: Schedule::Constant,
            warmup_steps: 0,
            decay: 0.0,
            first_decay: 0.0,
            learner_decay: 0.0,
            clip: 0.0,
            ema: 0.0,
            learner_start: 0.0,
            reinforce: 1.0,
            choose_by: ChooseBy::Measure,
        }
    }
}

impl TrainConfig {
    /// Checks that the settings are in range.
    pub fn check(&self) -> Result<()> {
        if self.epochs == 0 || self.batch == 0 {
            let name = if self.epochs == 0 { "epochs" } else { "batch" };
            return Err(wrong(name, "must be at least 1"));
        }
        let (last, by) = match self.schedule {
            Schedule::Constant => (0.0, 0.0),
            Schedule::Cosine(last) => (last, 0.0),
            Schedule::Step { by, .. } => (0.0, by),
        };
        for (name, value) in [
            ("rate", self.rate),
            ("learner_rate", self.learner_rate),
            ("schedule.cosine", last),
            ("schedule.step.by", by),
            ("decay", self.decay),
            ("first_decay", self.first_decay),
            ("learner_decay", self.learner_decay),
            ("clip", self.clip),
            ("reinforce", self.reinforce),
        ] {
            not_negative("train", name, value)?;
        }
        for (name, value) in
            [("ema", self.ema), ("learner_start", self.learner_start), ("momentum", self.momentum)]
        {
            share("train", name, value)?;
        }
        Ok(())
    }

    /// What both rates are multiplied by in a step, all counted from 0; `within` is the share of the epoch
    /// that is done.
    pub fn factor(&self, step: u64, epoch: usize, within: f64) -> f64 {
        let risen = match self.warmup_steps {
            0 => 1.0,
            steps => ((step + 1) as f64 / steps as f64).min(1.0),
        };
        let fallen = match self.schedule {
            Schedule::Constant => 1.0,
            Schedule::Cosine(last) => {
                let done = (epoch as f64 + within) / self.epochs as f64;
                let last = if self.rate > 0.0 { last / self.rate } else { 1.0 };
                last + (1.0 - last) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
            }
            Schedule::Step { at, by } if epoch >= at => by,
            Schedule::Step { .. } => 1.0,
        };
        risen * fallen
    }

    /// Epochs before the learner joins; never all.
    pub fn epochs_without_learner(&self) -> usize {
        (self.learner_start * self.epochs as f64) as usize
    }

    /// Another number of epochs; rates fall after the same part of them.
    pub fn shorten(&mut self, epochs: usize) {
        if let Schedule::Step { at, .. } = &mut self.schedule {
            *at = (*at * epochs).div_ceil(self.epochs.max(1));
        }
        self.epochs = epochs;
    }

    /// The same, to stop when another one does, where that decides how long is trained and not what is
    /// computed.
    pub(crate) fn stopping_as(&mut self, other: &Self) {
        self.patience = other.patience;
        let timeless = !matches!(self.schedule, Schedule::Cosine(_)) && self.learner_start == 0.0;
        if timeless {
            self.epochs = other.epochs;
        }
    }
}

/// Refuses a setting below 0, or not a number.
pub(crate) fn not_negative(table: &str, name: &str, value: f64) -> Result<()> {
    if (0.0..f64::INFINITY).contains(&value) {
        return Ok(());
    }
    let what = format!("is {value}, but must be a number of at least 0");
    Err(Error::Config { place: format!("{table}.{name}"), what })
}

/// Refuses a setting that must be a share: 0 or more, and below 1.
pub(crate) fn share(table: &str, name: &str, value: f64) -> Result<()> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    let what = format!("is {value}, but must be at least 0 and below 1");
    Err(Error::Config { place: format!("{table}.{name}"), what })
}

fn wrong(name: &str, what: &str) -> Error {
    Error::Config { place: format!("train.{name}"), what: what.into() }
}
