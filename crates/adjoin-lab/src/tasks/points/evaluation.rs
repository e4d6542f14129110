//! What a trained model predicts of clouds.

use super::{
    CloudBatch, PointModel,
    batch::{device, groups},
    loss::smoothed_cross_entropy,
};
use crate::{
    Result,
    histogram::Tally,
    task::{Column, Degree, Measure, Metrics, or_nan},
};
use adjoin_data::points::Cloud;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Clouds that are evaluated at once.
const CLOUDS_AT_ONCE: usize = 16;

/// How well clouds are classified.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointMetrics {
    /// Fraction of right predictions.
    pub accuracy: f64,
    /// Mean over the classes of the fraction of right predictions in each.
    pub mean_class: f64,
    /// Mean cross-entropy.
    #[serde(deserialize_with = "or_nan")]
    pub loss: f64,
}

impl Metrics for PointMetrics {
    const COLUMNS: &'static [Column] = &[
        Column { key: "accuracy", title: "accuracy", measure: Measure::PERCENT },
        Column { key: "mean_class", title: "mean over classes", measure: Measure::PERCENT },
        Column { key: "loss", title: "loss", measure: Measure::LOSS },
    ];

    fn values(&self) -> Vec<f64> {
        vec![self.accuracy, self.mean_class, self.loss]
    }

    fn from_values(values: &[f64]) -> Self {
        let at = |n: usize| values.get(n).copied().unwrap_or(f64::NAN);
        Self { accuracy: at(0), mean_class: at(1), loss: at(2) }
    }

    fn loss(&self) -> f64 {
        self.loss
    }
}

/// The class of a cloud, and what is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloudPrediction {
    /// Its class.
    pub class: u32,
    /// The most likely class; of equal ones the first.
    pub predicted: u32,
    /// The probability of that class.
    pub probability: f64,
}

impl CloudPrediction {
    /// Whether the prediction is right.
    pub fn is_right(&self) -> bool {
        self.class == self.predicted
    }
}

/// What a model without autodiff predicts of some clouds.
#[derive(Clone, Debug)]
pub struct PointEvaluation {
    /// Cloud by cloud.
    pub predictions: Vec<CloudPrediction>,
    /// Mean cross-entropy.
    pub loss: f64,
    /// Neighbours over all points, by layer.
    pub degrees: Vec<Degree>,
    /// The same, counted.
    pub tallies: Vec<Tally>,
}

impl PointEvaluation {
    /// Evaluates a model on clouds, with `points` of their points.
    pub fn of(model: &PointModel, clouds: &[&Cloud], points: usize) -> Result<Self> {
        let (mut found, mut loss) = (Vec::new(), 0.0);
        let layers = model.network.layers();
        let (mut moments, mut tallies) =
            (vec![Moments::default(); layers], vec![Tally::default(); layers]);
        for group in groups(clouds.len(), CLOUDS_AT_ONCE) {
            let clouds = &clouds[group];
            let batch = CloudBatch::new(clouds.iter().copied(), points, &device());
            let output = model.evaluate(&batch)?;
            let classes: Vec<u32> = clouds.iter().map(|cloud| cloud.class).collect();
            let mean = smoothed_cross_entropy(&output.logits, &classes, 0.0).into_scalar::<f64>();
            loss += mean * clouds.len() as f64;
            found.extend(predictions(&output.logits, &classes));
            for ((moments, tally), degrees) in
                moments.iter_mut().zip(&mut tallies).zip(&output.degrees)
            {
                for &degree in degrees {
                    moments.add(degree);
                    tally.add(degree as f32);
                }
            }
        }
        Ok(Self {
            predictions: found,
            loss: loss / clouds.len().max(1) as f64,
            degrees: moments.iter().map(Moments::degree).collect(),
            tallies,
        })
    }

    /// How well they are classified.
    pub fn metrics(&self) -> PointMetrics {
        let (accuracy, mean_class) = (self.accuracy(), self.mean_class());
        PointMetrics { accuracy, mean_class, loss: self.loss }
    }

    /// Share of right predictions.
    fn accuracy(&self) -> f64 {
        let right = self.predictions.iter().filter(|one| one.is_right()).count();
        right as f64 / self.predictions.len().max(1) as f64
    }

    /// Mean over the classes that are there of the share of right predictions among their clouds: rare
    /// classes count as much as frequent ones.
    fn mean_class(&self) -> f64 {
        let classes = self.predictions.iter().map(|one| one.class as usize + 1).max().unwrap_or(0);
        let mut counts = vec![[0u32; 2]; classes];
        for one in &self.predictions {
            let [right, all] = &mut counts[one.class as usize];
            *right += u32::from(one.is_right());
            *all += 1;
        }
        let there: Vec<f64> = counts
            .iter()
            .filter(|[_, all]| *all > 0)
            .map(|[right, all]| f64::from(*right) / f64::from(*all))
            .collect();
        there.iter().sum::<f64>() / there.len().max(1) as f64
    }
}

/// The most likely class of every row of `logits` `[clouds, classes]`.
pub(super) fn predictions(logits: &Tensor<2>, classes: &[u32]) -> Vec<CloudPrediction> {
    let width = logits.dims()[1].max(1);
    let values: Vec<f64> = logits.to_data().convert::<f64>().iter::<f64>().collect();
    let largest = |(row, &class): (&[f64], &u32)| {
        let larger = |best: usize, at: usize| if row[at] > row[best] { at } else { best };
        let best = (0..row.len()).reduce(larger).unwrap_or(0);
        let probability = 1.0 / row.iter().map(|value| (value - row[best]).exp()).sum::<f64>();
        CloudPrediction { class, predicted: best as u32, probability }
    };
    values.chunks_exact(width).zip(classes).map(largest).collect()
}

#[derive(Clone, Copy, Default)]
struct Moments {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    fn degree(&self) -> Degree {
        let mean = self.sum / self.count.max(1.0);
        let variance = self.squares / self.count.max(1.0) - mean * mean;
        Degree { mean, std: variance.max(0.0).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_classes_count_as_much_as_frequent_ones() {
        let one = |class, predicted| CloudPrediction { class, predicted, probability: 1.0 };
        let found = PointEvaluation {
            predictions: vec![one(0, 0), one(0, 0), one(0, 0), one(0, 3), one(3, 0)],
            loss: 0.0,
            degrees: Vec::new(),
            tallies: Vec::new(),
        };
        assert_eq!(found.accuracy(), 0.6);
        assert_eq!(found.mean_class(), 0.375, "0.75 of one class and nothing of the other");
    }

    #[test]
    fn the_most_likely_class_has_its_probability() {
        let logits = Tensor::<2>::from_data([[0.0, 3f32.ln(), 0.0], [2.0, 2.0, -9.0]], &device());
        let found = predictions(&logits, &[1, 1]);
        assert_eq!((found[0].predicted, found[1].predicted), (1, 0));
        assert!((found[0].probability - 0.6).abs() < 1e-6, "{found:?}");
        assert!(found[0].is_right() && !found[1].is_right());
    }
}
