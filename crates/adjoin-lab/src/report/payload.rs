//! The data of the charts, embedded in the page as JSON.

use super::{ReportError, compare::Run};
use crate::{
    histogram::DegreeHistogram,
    run::SeedRecord,
    stats::mean,
    task::{Degree, Measure, Metrics, Task},
    train::EpochRecord,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Points of a curve that the page carries; longer ones are thinned evenly.
const POINTS: usize = 400;

/// How the page writes what runs are measured by.
#[derive(Serialize)]
struct MeasureData<'a> {
    name: &'a str,
    unit: &'a str,
    factor: f64,
    digits: usize,
    lower: bool,
}

#[derive(Serialize)]
struct RunData<'a> {
    name: &'a str,
    curve: Curve,
    /// Best epoch and validation metric of each seed.
    best: Vec<(usize, f64)>,
}

/// Degrees of a graph.
#[derive(Serialize)]
pub struct GraphData<'a, E> {
    /// The run it is of.
    pub name: &'a str,
    /// Whether the learner has a k, or neighbours were counted.
    pub has_k: bool,
    /// How many have how many neighbours.
    pub degrees: DegreeHistogram,
    /// What is counted.
    pub noun: &'a str,
    /// How its given degree is called, if there is one beside the learned.
    pub input: Option<&'a str>,
    /// What else is shown of it.
    pub explorer: Option<E>,
}

/// Means over the seeds, epoch by epoch, with the range where the page draws a band. A gap is null.
#[derive(Debug, Default, Serialize)]
pub struct Curve {
    pub epoch: Vec<usize>,
    pub loss: Vec<Option<f64>>,
    pub loss_low: Vec<Option<f64>>,
    pub loss_high: Vec<Option<f64>>,
    pub train: Vec<Option<f64>>,
    pub valid: Vec<Option<f64>>,
    pub valid_low: Vec<Option<f64>>,
    pub valid_high: Vec<Option<f64>>,
    pub degree: Vec<Option<f64>>,
    pub degree_deviation: Vec<Option<f64>>,
}

/// What any page needs, with what the section of the task adds, as JSON that can stand inside a script element.
pub fn json<T: Task>(runs: &[Run<T>], section: Value) -> Result<String, ReportError> {
    let mut data = serde_json::json!({ "measure": measure(runs), "runs": run_data(runs) });
    if let (Some(all), Value::Object(more)) = (data.as_object_mut(), section) {
        all.extend(more);
    }
    Ok(escaped(&serde_json::to_string(&data)?))
}

fn measure<'a, T: Task>(runs: &'a [Run<T>]) -> MeasureData<'a> {
    let Measure { unit, factor, digits, lower, .. } = T::Metrics::COLUMNS[0].measure;
    let name = runs.first().filter(|_| lower).map_or("score", |run| &run.record.metric);
    MeasureData { name, unit, factor, digits, lower }
}

fn run_data<'a, T: Task>(runs: &'a [Run<T>]) -> Vec<RunData<'a>> {
    let best = |seed: &SeedRecord<T>| (seed.best_epoch, short(seed.valid.value()).unwrap_or(0.0));
    let one = |run: &'a Run<T>| RunData {
        name: &run.label,
        curve: curve(&run.record.seeds),
        best: run.record.seeds.iter().map(best).collect(),
    };
    runs.iter().map(one).collect()
}

/// Joins the curves of the seeds.
fn curve<T: Task>(seeds: &[SeedRecord<T>]) -> Curve {
    let mut at: BTreeMap<usize, Vec<&EpochRecord<T>>> = BTreeMap::new();
    for record in seeds.iter().flat_map(|s| &s.curve) {
        at.entry(record.epoch).or_default().push(record);
    }
    let stride = at.len().div_ceil(POINTS).max(1);
    let last = at.len().saturating_sub(1);
    let mut out = Curve::default();
    for (i, (epoch, records)) in at.into_iter().enumerate() {
        if i % stride != 0 && i != last {
            continue;
        }
        let of = |pick: fn(&EpochRecord<T>) -> Option<f64>| {
            range(records.iter().filter_map(|r| pick(r)))
        };
        let [loss, loss_low, loss_high] = of(|r| Some(r.loss));
        let [valid, valid_low, valid_high] = of(|r| Some(r.valid.value()));
        out.epoch.push(epoch);
        out.loss.push(loss);
        out.loss_low.push(loss_low);
        out.loss_high.push(loss_high);
        out.valid.push(valid);
        out.valid_low.push(valid_low);
        out.valid_high.push(valid_high);
        out.train.push(of(|r| r.train)[0]);
        out.degree.push(of(|r| layers(r, |degree| degree.mean))[0]);
        out.degree_deviation.push(of(|r| layers(r, |degree| degree.std))[0]);
    }
    out
}

/// The mean over the layers of a number of their degrees.
fn layers<T: Task>(epoch: &EpochRecord<T>, pick: fn(&Degree) -> f64) -> Option<f64> {
    mean(&epoch.degrees.iter().map(pick).collect::<Vec<_>>())
}

/// Mean, lowest and highest of the finite values.
fn range(values: impl Iterator<Item = f64>) -> [Option<f64>; 3] {
    let values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    if values.is_empty() {
        return [None; 3];
    }
    let low = values.iter().copied().fold(f64::MAX, f64::min);
    let high = values.iter().copied().fold(f64::MIN, f64::max);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    [mean, low, high].map(short)
}

/// Five significant digits, to keep the page small.
fn short(value: f64) -> Option<f64> {
    value.is_finite().then(|| format!("{value:.4e}").parse().unwrap_or(value))
}

/// No `<`, so nothing can close the element.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(c),
        }
    }
    out
}
