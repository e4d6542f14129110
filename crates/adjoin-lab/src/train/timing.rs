//! How long things take.

use super::{Trainer, Visible};
use crate::{
    Result,
    task::{Items, Settings, Task, Validation},
};
use adjoin::{Key, nn::Progress};
use burn::tensor::Device;
use std::time::{Duration, Instant};

/// Runs that are not counted: the first ones fill caches and pools.
const UNCOUNTED: usize = 2;

/// Median time of a run in milliseconds, within a budget of time.
pub fn median_milliseconds(budget: Duration, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let (mut times, started) = (Vec::new(), Instant::now());
    while started.elapsed() < budget || times.len() < UNCOUNTED + 3 {
        let before = Instant::now();
        run()?;
        times.push(1e3 * before.elapsed().as_secs_f64());
    }
    let mut settled = times.split_off(UNCOUNTED);
    settled.sort_by(f64::total_cmp);
    Ok(settled[settled.len() / 2])
}

/// Steps that are timed together: a learner may rest in most of them, and the others must count too.
const ROUND: usize = 16;

/// How long training takes.
pub struct StepTime {
    /// Time of a training step (forward, backward, optimiser) in milliseconds: the mean of sixteen that follow each
    /// other, and of those the median.
    pub milliseconds: f64,
    /// What was done before the first step, in seconds: the model was made, and its learner fitted.
    pub before: f64,
}

/// Times the training steps of a configuration within a budget of time.
///
/// # Errors
/// If the data does not fit the configuration.
pub fn step_time<T: Task>(
    config: &T::Config,
    data: &T::Data,
    budget: Duration,
) -> Result<StepTime> {
    let device = Device::flex();
    let fitted = T::fit(config, data)?;
    let context = T::context(config, data, &fitted, &device)?;
    let training = T::training(config, data, &device)?;
    let validation = Validation::of(config, data)?;
    let visible = Visible {
        fitted: &fitted,
        context: &context,
        training: &training,
        validation: &validation,
    };
    let started = Instant::now();
    let mut trainer = Trainer::<T>::new(config, visible, 0, &device)?;
    let before = started.elapsed().as_secs_f64();
    let batches = training.batches(config.train().batch, Key::new(0));
    let epochs = config.train().epochs;
    let round = median_milliseconds(budget, || {
        for epoch in 0..ROUND {
            trainer.first_step(&batches[0], Progress { epoch, epochs })?;
        }
        Ok(())
    })?;
    Ok(StepTime { milliseconds: round / ROUND as f64, before })
}
