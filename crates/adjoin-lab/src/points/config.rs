//! Settings of an experiment on point clouds.

use super::{Augmentation, PointNetworkConfig};
use crate::{Error, LearnerConfig, Result, settings};
use serde::{Deserialize, Serialize};

/// Everything that decides a run, but the data and the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PointsConfig {
    /// Points of a cloud that are used; 0 for all.
    pub points: usize,
    /// The network.
    pub network: PointNetworkConfig,
    /// The learner of the graph of every layer; `none` for the published graph.
    pub learner: LearnerConfig,
    /// How it is trained.
    pub train: PointsTrainConfig,
}

impl Default for PointsConfig {
    fn default() -> Self {
        Self {
            points: 1024,
            network: PointNetworkConfig::default(),
            learner: LearnerConfig::None,
            train: PointsTrainConfig::default(),
        }
    }
}

/// How a model is trained. The defaults are those of DGCNN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PointsTrainConfig {
    /// Epochs.
    pub epochs: usize,
    /// Clouds in a step; steps of an epoch have about the same number.
    pub batch: usize,
    /// Learning rate of the network at the start, for SGD with momentum.
    pub rate: f64,
    /// What it has fallen to at the end, along a cosine.
    pub last_rate: f64,
    /// Momentum.
    pub momentum: f64,
    /// Weight decay of the network.
    pub decay: f64,
    /// Learning rate of the learners at the start, for Adam; it falls as that of the network does.
    pub learner_rate: f64,
    /// Weight decay of the learners.
    pub learner_decay: f64,
    /// Probability that the target gives to the other classes together.
    pub smoothing: f64,
    /// Random factors and shifts of every axis, as published.
    pub scale: bool,
    /// Random rotations: for shapes that have no upright pose.
    pub rotate: bool,
    /// Weight of the reinforced loss, by which learners of hard graphs learn (DGM).
    pub reinforced: f64,
    /// Share of the epochs that is spent on the published graphs, before the learners join; only later
    /// epochs can be the best.
    pub warm_up: f64,
}

impl Default for PointsTrainConfig {
    fn default() -> Self {
        Self {
            epochs: 250,
            batch: 32,
            rate: 0.1,
            last_rate: 0.001,
            momentum: 0.9,
            decay: 1e-4,
            learner_rate: 0.001,
            learner_decay: 0.0,
            smoothing: 0.2,
            scale: true,
            rotate: false,
            reinforced: 1.0,
            warm_up: 0.0,
        }
    }
}

impl PointsTrainConfig {
    /// Checks that the settings are in range.
    ///
    /// # Errors
    /// Names the setting at fault.
    pub fn check(&self) -> Result<()> {
        let wrong = |place: &str, what: &str| {
            Err(Error::Config { place: format!("train.{place}"), what: what.into() })
        };
        if self.epochs == 0 || self.batch == 0 {
            return wrong("epochs", "epochs and batch must be at least 1");
        }
        if !(0.0..1.0).contains(&self.warm_up) {
            return wrong("warm_up", "must be in [0, 1)");
        }
        if !(0.0..1.0).contains(&self.smoothing) || !(0.0..1.0).contains(&self.momentum) {
            return wrong("smoothing", "smoothing and momentum must be in [0, 1)");
        }
        settings::not_negative([
            ("rate", self.rate),
            ("last_rate", self.last_rate),
            ("decay", self.decay),
            ("learner_rate", self.learner_rate),
            ("learner_decay", self.learner_decay),
            ("reinforced", self.reinforced),
        ])
    }

    /// Epochs without the learners; never all.
    pub(super) fn warm_up_epochs(&self) -> usize {
        (self.warm_up * self.epochs as f64) as usize
    }

    /// What rates are multiplied by when this share of training is done: a cosine from 1 down to
    /// `last_rate / rate`.
    pub(super) fn factor(&self, done: f64) -> f64 {
        let last = if self.rate > 0.0 { self.last_rate / self.rate } else { 1.0 };
        last + (1.0 - last) * 0.5 * (1.0 + (std::f64::consts::PI * done).cos())
    }

    pub(super) fn augmentation(&self) -> Augmentation {
        Augmentation { scale: self.scale, rotate: self.rotate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_fall_along_a_cosine() {
        let train = PointsTrainConfig::default();
        let rate = |done| train.rate * train.factor(done);
        assert!((rate(0.0) - 0.1).abs() < 1e-12);
        assert!((rate(0.5) - 0.0505).abs() < 1e-12);
        assert!((rate(1.0) - 0.001).abs() < 1e-12);
    }

    #[test]
    fn learners_join_before_the_last_epoch() {
        let train = |warm_up, epochs| PointsTrainConfig { warm_up, epochs, ..Default::default() };
        for (warm_up, epochs, expected) in [(0.5, 12, 6), (0.5, 5, 2), (0.99, 1, 0), (0.0, 9, 0)] {
            assert_eq!(train(warm_up, epochs).warm_up_epochs(), expected);
        }
        assert!(train(1.0, 5).check().is_err() && train(0.99, 5).check().is_ok());
    }

    #[test]
    fn rates_below_zero_are_refused() {
        let wrong = PointsTrainConfig { rate: -0.1, ..Default::default() }.check().unwrap_err();
        assert!(wrong.to_string().contains("train.rate: is -0.1"), "{wrong}");
    }
}
