//! How well a model does, and how such numbers are written.

use super::Task;
use crate::settings::ChooseBy;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// How a number is measured and written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Its unit.
    pub unit: &'static str,
    /// The unit of differences.
    pub points: &'static str,
    /// Numbers as written over numbers in records.
    pub factor: f64,
    /// Digits after the point.
    pub digits: usize,
    /// Whether less is better.
    pub lower: bool,
    /// The least stretch of an axis, as written.
    pub least_span: f64,
}

impl Measure {
    /// Shares of right answers, in per cent.
    pub const PERCENT: Self = Self {
        unit: "%",
        points: "points",
        factor: 100.0,
        digits: 1,
        lower: false,
        least_span: 0.5,
    };
    /// Distances in metres.
    pub const METRES: Self =
        Self { unit: "m", points: "m", factor: 1.0, digits: 3, lower: true, least_span: 0.005 };
    /// A loss.
    pub const LOSS: Self =
        Self { unit: "", points: "", factor: 1.0, digits: 3, lower: true, least_span: 0.01 };

    /// A number as written, `81.5` or `0.312`.
    pub fn number(&self, value: f64) -> String {
        format!("{:.*}", self.digits, self.factor * value)
    }
}

/// A number of the metrics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Its name in records, curves and JSON.
    pub key: &'static str,
    /// Its name in tables.
    pub title: &'static str,
    /// How it is written.
    pub measure: Measure,
}

/// Reads a number of the metrics. One that is none, such as the loss of a prediction without training, is null in
/// JSON.
pub(crate) fn or_nan<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// How well a model does: tables, curves, TensorBoard, checkpoints and JSON are made from its columns. The
/// first is what runs are compared by.
pub trait Metrics:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The numbers, in the order of [`values`](Self::values).
    const COLUMNS: &'static [Column];

    /// The numbers.
    fn values(&self) -> Vec<f64>;

    /// Metrics from their numbers; what is missing is NaN.
    fn from_values(values: &[f64]) -> Self;

    /// The loss on the same data.
    fn loss(&self) -> f64;

    /// Further numbers that only some data has, such as planted neighbourhoods; always the same ones for the
    /// same data. One without a value is none.
    fn details(&self) -> Vec<(Column, Option<f64>)> {
        Vec::new()
    }

    /// What runs are compared by.
    fn value(&self) -> f64 {
        self.values()[0]
    }

    /// What the choice of the epoch minimises, the first number first.
    fn criterion(&self, by: ChooseBy) -> [f64; 2] {
        let sign = if Self::COLUMNS[0].measure.lower { 1.0 } else { -1.0 };
        match by {
            ChooseBy::Measure => [sign * self.value(), self.loss()],
            ChooseBy::Loss => [self.loss(), 0.0],
        }
    }
}

/// How many neighbours nodes have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Degree {
    /// Their mean number.
    pub mean: f64,
    /// Its standard deviation over the nodes.
    pub std: f64,
}

impl Degree {
    /// Of a list of degrees.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        Self { mean, std: variance.sqrt() }
    }
}

/// A prediction without training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub struct Reference<T: Task> {
    /// What it is.
    pub name: String,
    /// How well it does on test data.
    pub test: T::Metrics,
}
