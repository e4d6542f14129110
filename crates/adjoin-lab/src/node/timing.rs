//! How long a training step takes.

use super::{NodeData, Trainer, name_of};
use crate::{Result, labels::SplitLabels, presets};
use adjoin::conv::{BackboneConfig, BackboneKind};
use burn::tensor::Device;
use std::time::{Duration, Instant};

/// Steps that are not counted: the first ones fill caches and pools.
const WARM_UP: usize = 2;

/// Median time of a training step on Cora within a budget of time, in milliseconds.
///
/// # Errors
/// If there is no such learner.
pub fn step_milliseconds(kind: BackboneKind, learner: &str, budget: Duration) -> Result<f64> {
    let dataset = adjoin_data::cora()?;
    let split = dataset.default_split()?;
    let mut config = presets::config(&dataset.name, &name_of(&kind), learner)?;
    // The published networks, whatever the preset chose: these are what the reference runs.
    config.backbone = BackboneConfig::of_kind(kind);
    config.train.samples = 1;
    config.train.epochs = usize::MAX;
    config.train.patience = 0;
    config.train.warm_up = 0;
    let device = Device::flex();
    let data = NodeData::new(&dataset, true, &device)?;
    let labels = SplitLabels::new(&dataset, &split)?;
    let mut trainer =
        Trainer::new(&config, &data, &labels.training, &labels.validation, 0, &device)?;
    let mut times = Vec::new();
    let started = Instant::now();
    while started.elapsed() < budget || times.len() < WARM_UP + 3 {
        let before = trainer.step_time();
        trainer.step()?;
        times.push((trainer.step_time() - before).as_secs_f64());
    }
    let mut settled = times.split_off(WARM_UP);
    settled.sort_by(f64::total_cmp);
    Ok(1e3 * settled[settled.len() / 2])
}
