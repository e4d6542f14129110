//! What training and evaluation ask of a model.

use super::{Degree, Settings, Task};
use crate::Result;
use adjoin::{Pass, loss::Baseline, nn::Progress};
use burn::{
    module::{Module, ParamId},
    tensor::Tensor,
};

/// Learner and network of a task.
pub trait Model<T: Task>: Module + Sync {
    /// Works out what stays the same for some data. Called before anything else, and again when weights
    /// were loaded.
    fn bind(self, _context: &T::Context) -> Result<Self> {
        Ok(self)
    }

    /// Learns what it can from the training data before the first epoch.
    fn fitted(self, _context: &T::Context, _seen: &T::Seen, _seed: u64) -> Result<Self> {
        Ok(self)
    }

    /// Names of the graphs that validation chooses among; none for no choice.
    fn alternatives(&self) -> &'static [&'static str] {
        &[]
    }

    /// The model set to one of its alternatives.
    #[must_use]
    fn choose(self, _alternative: usize) -> Self {
        self
    }

    /// Takes over what a teacher knows; `seen` is told of the epochs this takes, and of how many.
    fn taught_by(
        self,
        _teacher: &Self,
        _context: &T::Context,
        _config: &T::Config,
        _seed: u64,
        _seen: &dyn Fn(usize, usize),
    ) -> Result<Self> {
        Ok(self)
    }

    /// Told before every epoch of training: whether the learner takes part.
    fn begin_epoch(
        &mut self,
        _context: &T::Context,
        _at: Progress,
        _learner_joined: bool,
    ) -> Result<()> {
        Ok(())
    }

    /// The loss of a step on some items.
    fn loss(&self, data: Training<'_, T>, pass: Pass, rewards: &mut Baseline) -> Result<Step>;

    /// How well it does on held-out data; call it on a model without autodiff.
    fn evaluate(&self, context: &T::Context, held: &T::Held, seed: u64) -> Result<Evaluation<T>>;

    /// The parameters that train at the learner's rate.
    fn learner_parameters(&self) -> Vec<ParamId>;

    /// Rates of network and learner in a step before warm-up and schedule; none for a part that rests.
    fn rates(&self, config: &T::Config, _at: Progress) -> [Option<f64>; 2] {
        [Some(config.train().rate), Some(config.train().learner_rate)]
    }

    /// Parts of the paths of the parameters that have a weight decay of their own.
    fn first_parameters(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

/// What a step of training looks at.
pub struct Training<'a, T: Task> {
    /// Network, learner and training.
    pub config: &'a T::Config,
    /// The data as models see it.
    pub context: &'a T::Context,
    /// The training part.
    pub seen: &'a T::Seen,
    /// The items of the step.
    pub batch: &'a [u32],
    /// Where training stands.
    pub at: Progress,
    /// The seed of the run.
    pub seed: u64,
}

/// What a step gives.
pub struct Step {
    /// `[1]`.
    pub loss: Tensor<1>,
    /// The measure of the task on the items, where a step tells it.
    pub measure: Option<f64>,
}

/// What is seen of a model on held-out data.
#[derive(Clone, Debug)]
pub struct Evaluation<T: Task> {
    /// How well it does.
    pub metrics: T::Metrics,
    /// The measure on training data, where the same pass tells it.
    pub train: Option<f64>,
    /// Neighbours of the nodes, layer by layer; empty where none are learned.
    pub degrees: Vec<Degree>,
}
