//! How long a training step and a search for neighbours take on random points.

use super::{Points, PointsConfig};
use crate::{
    Result, clock,
    train::{median_milliseconds, side_by_side, step_time},
};
use adjoin::{Batch, Key, Metric, kernels::knn::nearest};
use adjoin_data::{
    Split,
    points::{Cloud, PointDataset},
};
use std::{sync::Arc, time::Duration};

/// Median time in milliseconds of a training step of a configuration on `clouds` clouds of random points,
/// within a budget of time, and the most memory the process has held so far, in bytes.
pub fn step(
    config: &PointsConfig,
    clouds: usize,
    threads: usize,
    budget: Duration,
) -> Result<(f64, u64)> {
    let cloud = |at: usize| {
        let key = Key::new(at as u64);
        let place = |n: u64| [3 * n, 3 * n + 1, 3 * n + 2].map(|m| key.normal(m) as f32);
        let points = (0..config.points as u64).map(place).collect();
        Cloud { name: at.to_string(), class: (at % 40) as u32, points }
    };
    let (train, valid) = ((0..clouds as u32).collect(), vec![clouds as u32]);
    let dataset = Arc::new(PointDataset {
        name: "random".into(),
        class_names: (0..40).map(|class| class.to_string()).collect(),
        clouds: (0..clouds + 2).map(cloud).collect(),
        split: Split::new("bench", train, valid, vec![clouds as u32 + 1])?,
        corruption: None,
    });
    let mut config = config.clone();
    config.train.batch = clouds;
    let median = side_by_side(&[0], threads, |_: &u64| {
        step_time::<Points>(&config, &dataset, budget).map(|time| time.milliseconds)
    })?;
    Ok((median[0], clock::peak_memory()))
}

/// Median time in milliseconds of a search for the `k` nearest of all points of `clouds` clouds of random
/// points of `width` features.
pub fn nearest_search(
    [clouds, points, width]: [usize; 3],
    k: usize,
    threads: usize,
    budget: Duration,
) -> Result<f64> {
    let batch = Batch::of_sizes(vec![points; clouds]);
    let count = (clouds * points * width) as u64;
    let values: Vec<f32> = (0..count).map(|n| Key::new(1).normal(n) as f32).collect();
    let median = side_by_side(&[0], threads, |_: &u64| {
        median_milliseconds(budget, || {
            nearest(&values, width, k, Metric::Euclidean, true, &batch)?;
            Ok(())
        })
    })?;
    Ok(median[0])
}
