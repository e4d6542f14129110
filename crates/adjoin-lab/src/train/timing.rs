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

/// Median time of a training step (forward, backward, optimiser) in milliseconds, within a budget of time.
pub fn step_milliseconds<T: Task>(
    config: &T::Config,
    data: &T::Data,
    budget: Duration,
) -> Result<f64> {
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
    let mut trainer = Trainer::<T>::new(config, visible, 0, &device)?;
    let batches = training.batches(config.train().batch, Key::new(0));
    let at = Progress { epoch: 0, epochs: config.train().epochs };
    median_milliseconds(budget, || trainer.step(&batches[0], at, 0.0).map(|_| ()))
}
