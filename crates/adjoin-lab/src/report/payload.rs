//! The data of the charts, embedded in the page as JSON.

use super::compare::Run;
use super::graph::{self, Explorer};
use super::measure::Measure;
use crate::points::{CloudRecord, PointsRecord};
use crate::record::{DegreeHistogram, SeedRecord};
use crate::trajectory::{SceneRecord, TrajectoryRecord};
use serde::Serialize;
use std::collections::BTreeMap;

/// Points of a curve that the page carries; longer ones are thinned evenly.
const POINTS: usize = 400;

#[derive(Serialize)]
pub struct Payload<'a> {
    measure: MeasureData<'a>,
    runs: Vec<RunData<'a>>,
    graphs: Vec<GraphData<'a>>,
    /// Scenes of each run of trajectories, in the order of the runs.
    scenes: Vec<&'a [SceneRecord]>,
    /// Seconds between their steps.
    seconds: f64,
    /// Test clouds of each run of point clouds, in the order of the runs.
    clouds: Vec<&'a [CloudRecord]>,
    /// Degrees of each layer of each of them.
    layers: Vec<Vec<GraphData<'a>>>,
}

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

#[derive(Serialize)]
struct GraphData<'a> {
    name: &'a str,
    /// Whether the learner has a k, or neighbours were counted.
    has_k: bool,
    degrees: DegreeHistogram,
    /// What is counted.
    noun: &'a str,
    /// How its given degree is called, if there is one beside the learned.
    input: Option<&'a str>,
    explorer: Option<Explorer<'a>>,
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

/// Collects what the charts of runs on nodes need; `limit` nodes of each graph at most.
pub fn payload<'a>(runs: &'a [Run<'a>], limit: usize) -> Payload<'a> {
    let graphs = runs.iter().filter_map(|run| {
        run.record.graph.as_ref().map(|g| GraphData {
            name: &run.label,
            has_k: !g.degrees.is_empty(),
            degrees: graph::histogram(g),
            noun: "node",
            input: Some("in the input"),
            explorer: Some(graph::explorer(g, limit)),
        })
    });
    Payload { graphs: graphs.collect(), ..curves_alone(runs) }
}

/// Collects what the charts of runs on trajectories need.
pub fn trajectories<'a>(runs: &'a [Run<'a>], records: &'a [TrajectoryRecord]) -> Payload<'a> {
    let graph = |(run, record): (&'a Run, &TrajectoryRecord)| GraphData {
        name: &run.label,
        has_k: record.has_k,
        degrees: record.degrees.clone(),
        noun: "place",
        input: Some("with so many others in the frame"),
        explorer: None,
    };
    Payload {
        graphs: runs.iter().zip(records).map(graph).collect(),
        scenes: records.iter().map(|record| record.scenes.as_slice()).collect(),
        seconds: records.first().map_or(0.0, |record| record.seconds_per_step),
        ..curves_alone(runs)
    }
}

/// Collects what the charts of runs on point clouds need.
pub fn points<'a>(runs: &'a [Run<'a>], records: &'a [PointsRecord]) -> Payload<'a> {
    let layers = |(run, record): (&'a Run, &PointsRecord)| -> Vec<GraphData<'a>> {
        let layer = |degrees: &DegreeHistogram| GraphData {
            name: &run.label,
            has_k: record.has_k,
            degrees: degrees.clone(),
            noun: "point",
            input: None,
            explorer: None,
        };
        record.layers.iter().map(layer).collect()
    };
    Payload {
        clouds: records.iter().map(|record| record.clouds.as_slice()).collect(),
        layers: runs.iter().zip(records).map(layers).collect(),
        ..curves_alone(runs)
    }
}

/// What any page needs.
fn curves_alone<'a>(runs: &'a [Run]) -> Payload<'a> {
    Payload {
        measure: measure(runs),
        runs: run_data(runs),
        graphs: Vec::new(),
        scenes: Vec::new(),
        seconds: 0.0,
        clouds: Vec::new(),
        layers: Vec::new(),
    }
}

fn measure<'a>(runs: &'a [Run]) -> MeasureData<'a> {
    let Some(first) = runs.first() else {
        return MeasureData { name: "", unit: "", factor: 1.0, digits: 0, lower: false };
    };
    let Measure { unit, factor, digits, lower, .. } = first.measure;
    let name = if lower { &first.record.metric } else { "score" };
    MeasureData { name, unit, factor, digits, lower }
}

fn run_data<'a>(runs: &'a [Run]) -> Vec<RunData<'a>> {
    let best = |seed: &SeedRecord| (seed.best_epoch, short(seed.valid).unwrap_or(0.0));
    let one = |run: &'a Run| RunData {
        name: &run.label,
        curve: curve(&run.record.seeds),
        best: run.record.seeds.iter().map(best).collect(),
    };
    runs.iter().map(one).collect()
}

/// Joins the curves of the seeds.
pub fn curve(seeds: &[SeedRecord]) -> Curve {
    let mut at: BTreeMap<usize, Vec<&crate::record::EpochRecord>> = BTreeMap::new();
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
        let of = |pick: fn(&crate::record::EpochRecord) -> Option<f64>| {
            range(records.iter().filter_map(|r| pick(r)))
        };
        let [loss, loss_low, loss_high] = of(|r| Some(r.loss));
        let [valid, valid_low, valid_high] = of(|r| Some(r.valid));
        out.epoch.push(epoch);
        out.loss.push(loss);
        out.loss_low.push(loss_low);
        out.loss_high.push(loss_high);
        out.valid.push(valid);
        out.valid_low.push(valid_low);
        out.valid_high.push(valid_high);
        out.train.push(of(|r| Some(r.train))[0]);
        out.degree.push(of(|r| r.mean_degree)[0]);
        out.degree_deviation.push(of(|r| r.std_degree)[0]);
    }
    out
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

/// JSON that can stand inside a script element: no `<`, so nothing can close it.
pub fn json(payload: &Payload) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(payload)?;
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
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EpochRecord;

    fn seed(valid: &[f64]) -> SeedRecord {
        let curve = valid.iter().enumerate().map(|(epoch, &valid)| EpochRecord {
            epoch,
            loss: if epoch == 1 { f64::NAN } else { 1.0 },
            train: 0.5,
            valid,
            mean_degree: None,
            std_degree: None,
            degrees: Vec::new(),
        });
        let curve: Vec<_> = curve.collect();
        let epochs = curve.len();
        SeedRecord { seed: 0, valid: 0.5, test: 0.5, best_epoch: 0, epochs, seconds: 1.0, curve }
    }

    #[test]
    fn seeds_of_unequal_length_are_joined() {
        let c = curve(&[seed(&[0.2, 0.4]), seed(&[0.4, 0.6, 0.7])]);
        assert_eq!(c.epoch, [0, 1, 2]);
        assert_eq!(c.valid, [Some(0.3), Some(0.5), Some(0.7)]);
        assert_eq!((c.valid_low[1], c.valid_high[1]), (Some(0.4), Some(0.6)));
        assert_eq!(c.loss[1], None);
        assert_eq!(c.degree, [None; 3]);
    }

    #[test]
    fn long_curves_are_thinned_but_keep_their_end() {
        let c = curve(&[seed(&vec![0.5; 1001])]);
        assert!(c.epoch.len() <= POINTS + 1);
        assert_eq!(c.epoch.last(), Some(&1000));
        assert_eq!(curve(&[]).epoch.len(), 0);
    }
}
