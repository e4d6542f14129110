//! How long a training step takes.

use super::{PointsConfig, PointsTrainer};
use crate::{Result, clock};
use adjoin::Key;
use adjoin_data::{
    Split,
    points::{Cloud, PointDataset},
};
use std::time::{Duration, Instant};

/// Steps that are not counted: the first ones fill caches and pools.
const WARM_UP: usize = 2;

/// Median time in milliseconds of a training step of a configuration on `batch` clouds of random points,
/// within a budget of time, and the most memory the process has held so far, in bytes.
///
/// # Errors
/// If a setting is out of range.
pub fn points_step(config: &PointsConfig, batch: usize, budget: Duration) -> Result<(f64, u64)> {
    let cloud = |at: usize| {
        let key = Key::new(at as u64);
        let place = |n: u64| [3 * n, 3 * n + 1, 3 * n + 2].map(|m| key.normal(m) as f32);
        let points = (0..config.points as u64).map(place).collect();
        Cloud { name: at.to_string(), class: (at % 40) as u32, points }
    };
    let (train, valid) = ((0..batch as u32).collect(), vec![batch as u32]);
    let dataset = PointDataset {
        name: "random".into(),
        class_names: (0..40).map(|class| class.to_string()).collect(),
        clouds: (0..batch + 2).map(cloud).collect(),
        split: Split::new("bench", train, valid, vec![batch as u32 + 1])?,
    };
    let mut trainer = PointsTrainer::new(config, &dataset, 0)?;
    let clouds: Vec<&Cloud> = dataset.clouds[..batch].iter().collect();
    let (mut times, started) = (Vec::new(), Instant::now());
    while started.elapsed() < budget || times.len() < WARM_UP + 3 {
        let before = Instant::now();
        trainer.train_step(&clouds, 0.0)?;
        times.push(before.elapsed().as_secs_f64());
    }
    let mut settled = times.split_off(WARM_UP);
    settled.sort_by(f64::total_cmp);
    Ok((1e3 * settled[settled.len() / 2], clock::peak_memory()))
}
