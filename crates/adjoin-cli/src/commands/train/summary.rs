//! What `adjoin train` says at its end.

use crate::{
    failure::Failure,
    table::{mean_deviation, p_value, percent, table},
};
use adjoin_data::{NodeDataset, Split};
use adjoin_lab::{
    record::{Paired, RunRecord, Summary},
    report::plain,
    run::RunFolder,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// One line on what is about to happen.
pub fn heading(folder: &RunFolder, dataset: &NodeDataset, split: &Split) -> String {
    let plan = folder.plan();
    format!(
        "{}: {} nodes, {} edges, {} features, {} classes; split {} ({}): {} / {} / {} nodes\n\
         learners {}, {} seeds, into {}",
        dataset.name,
        dataset.nodes(),
        dataset.edges.len(),
        dataset.features.columns(),
        dataset.classes(),
        split.name,
        split.hash(),
        split.train.len(),
        split.valid.len(),
        split.test.len(),
        plan.learners.join(", "),
        plan.seeds.len(),
        folder.work().display(),
    )
}

/// The learner that the others are compared with: the one that leaves the graph as it is, as on the page.
pub fn baseline<'a>(task: &str, learners: impl IntoIterator<Item = &'a str>) -> usize {
    learners.into_iter().position(|learner| learner == plain(task)).unwrap_or(0)
}

/// A table of the learners, compared with one of them, and where the report is.
pub fn text(records: &[RunRecord], report: &Path) -> String {
    let mut rows = vec![
        ["learner", "validation", "test", "difference", "p", "ms/step"].map(String::from).to_vec(),
    ];
    let dash = || "-".to_string();
    let task = records.first().map_or("", |record| &record.task);
    let base = baseline(task, records.iter().map(|record| record.learner.as_str()));
    for (at, record) in records.iter().enumerate() {
        let paired = if at == base { None } else { record.paired_with(&records[base]) };
        rows.push(vec![
            record.learner.clone(),
            record.valid().map_or_else(dash, mean_deviation),
            record.test().map_or_else(dash, mean_deviation),
            paired.map_or_else(dash, difference),
            paired.and_then(|paired| paired.p).map_or_else(dash, p_value),
            format!("{:.2}", record.ms_per_step),
        ]);
    }
    let heading = records.first().map_or_else(String::new, |record| {
        format!(
            "{} with {} on split {} ({}): {} in per cent, mean ± deviation over {} seeds\n",
            record.dataset,
            record.backbone,
            record.split,
            record.split_hash,
            record.metric,
            record.seeds.len()
        )
    });
    let note = match records.len() {
        0 | 1 => String::new(),
        _ => format!(
            "difference: test minus that of {} with the same seed; p: paired t-test\n",
            records[base].learner
        ),
    };
    format!("{heading}\n{}\n{note}report: {}\n", table(&rows), report.display())
}

fn difference(paired: Paired) -> String {
    let sign = if paired.difference.mean >= 0.0 { "+" } else { "" };
    format!("{sign}{}", percent(paired.difference.mean))
}

#[derive(Serialize)]
struct Json<'a> {
    task: &'a str,
    dataset: &'a str,
    split: &'a str,
    backbone: &'a str,
    learner: &'a str,
    metric: &'a str,
    runs: Vec<Run>,
    test: Mean,
    ms_per_step: f64,
    peak_rss_bytes: u64,
    out: String,
}

#[derive(Serialize)]
struct Run {
    seed: u64,
    valid: f64,
    test: f64,
    best_epoch: usize,
    epochs: usize,
    seconds: f64,
}

/// `std` is null below two seeds.
#[derive(Serialize)]
pub struct Mean {
    mean: f64,
    std: Option<f64>,
    n: usize,
}

impl From<Option<Summary>> for Mean {
    fn from(summary: Option<Summary>) -> Self {
        Self {
            mean: summary.map_or(f64::NAN, |summary| summary.mean),
            std: summary.and_then(|summary| summary.deviation),
            n: summary.map_or(0, |summary| summary.n),
        }
    }
}

impl<'a> Json<'a> {
    fn new(record: &'a RunRecord, out: &Path) -> Self {
        let runs = record.seeds.iter().map(|seed| Run {
            seed: seed.seed,
            valid: seed.valid,
            test: seed.test,
            best_epoch: seed.best_epoch,
            epochs: seed.epochs,
            seconds: seed.seconds,
        });
        Self {
            task: &record.task,
            dataset: &record.dataset,
            split: &record.split,
            backbone: &record.backbone,
            learner: &record.learner,
            metric: &record.metric,
            runs: runs.collect(),
            test: record.test().into(),
            ms_per_step: record.ms_per_step,
            peak_rss_bytes: record.peak_rss_bytes,
            out: out.display().to_string(),
        }
    }
}

/// The records as JSON.
///
/// # Errors
/// If a number has no form in JSON.
pub fn json(records: &[RunRecord], outs: &[PathBuf]) -> Result<String, Failure> {
    let all: Vec<Json> =
        records.iter().zip(outs).map(|(record, out)| Json::new(record, out)).collect();
    one_or_several(&all)
}

/// One object, or an array of them for several learners.
///
/// # Errors
/// If a number has no form in JSON.
pub fn one_or_several(all: &[impl Serialize]) -> Result<String, Failure> {
    let text = match all {
        [single] => serde_json::to_string_pretty(single),
        several => serde_json::to_string_pretty(several),
    };
    text.map(|text| text + "\n").map_err(|error| Failure::Failed(error.to_string()))
}
