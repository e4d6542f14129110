//! Predictions that need no training, and that any network should beat.

use super::{Forecast, Scores, Tally};
use adjoin::Key;
use adjoin_data::trajectory::Scene;

/// Standard deviation of the sampled turn, in degrees (Schöller et al., 2020).
const TURN_DEGREES: f64 = 25.0;

/// A prediction without training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Everybody goes on as in the last observed step.
    ConstantVelocity,
    /// The same, turned by a random angle per agent and sample.
    ConstantVelocityWithNoise,
}

impl Baseline {
    /// Errors on a set of scenes.
    pub fn scores(
        self,
        scenes: &[Scene],
        [observed, predicted]: [usize; 2],
        samples: usize,
        key: Key,
    ) -> Scores {
        let mut tally = Tally::default();
        for (at, scene) in scenes.iter().enumerate() {
            let forecast = match self {
                Self::ConstantVelocity => constant_velocity(scene, observed, predicted),
                Self::ConstantVelocityWithNoise => {
                    let key = key.child(at as u64);
                    constant_velocity_with_noise(scene, observed, predicted, samples, key)
                }
            };
            tally.add(scene, &forecast);
        }
        tally.scores()
    }
}

/// Every agent repeats its last observed step; one sample, which is the most likely path.
pub fn constant_velocity(scene: &Scene, observed: usize, predicted: usize) -> Forecast {
    turned(scene, observed, predicted, 1, |_, _| 0.0)
}

/// As [`constant_velocity`], each sample of each agent turned by an angle from `N(0, 25 degrees)`.
pub fn constant_velocity_with_noise(
    scene: &Scene,
    observed: usize,
    predicted: usize,
    samples: usize,
    key: Key,
) -> Forecast {
    turned(scene, observed, predicted, samples, |sample, agent| {
        TURN_DEGREES.to_radians() * key.child(agent as u64).normal(sample as u64)
    })
}

fn turned(
    scene: &Scene,
    observed: usize,
    predicted: usize,
    samples: usize,
    angle: impl Fn(usize, usize) -> f64,
) -> Forecast {
    let mut forecast = Forecast::new(samples, scene.agents.len(), predicted);
    for agent in 0..scene.agents.len() {
        let path = scene.path(agent);
        let from = path[observed - 1].map(f64::from);
        let [dx, dy] = super::batch::step(path, observed - 1);
        let walk = |path: &mut [[f32; 2]], angle: f64| {
            let (sin, cos) = angle.sin_cos();
            for (time, slot) in path.iter_mut().enumerate() {
                let n = (time + 1) as f64;
                let step = [cos * dx - sin * dy, sin * dx + cos * dy];
                *slot = [0, 1].map(|axis| (from[axis] + n * step[axis]) as f32);
            }
        };
        walk(forecast.likely_mut(agent), 0.0);
        for sample in 0..samples {
            walk(forecast.path_mut(sample, agent), angle(sample, agent));
        }
    }
    forecast
}
