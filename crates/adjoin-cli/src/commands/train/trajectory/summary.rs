//! What `adjoin train --task trajectory` says.

use super::super::summary::{Mean, baseline, one_or_several};
use crate::{
    failure::Failure,
    table::{metres, p_value, table},
};
use adjoin_data::trajectory::{Scene, TrajectoryDataset};
use adjoin_lab::{
    record::{Paired, Summary},
    run::RunFolder,
    trajectory::{BaselineScores, Displacement, Scores, TrajectoryRecord, TrajectorySetup},
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// One line on what is about to happen.
pub fn heading(folder: &RunFolder<TrajectorySetup>, dataset: &TrajectoryDataset) -> String {
    let count = |scenes: &[Scene]| {
        let agents: usize = scenes.iter().map(|scene| scene.agents.len()).sum();
        format!("{} ({agents})", scenes.len())
    };
    let plan = folder.plan();
    format!(
        "{}: {} steps seen, {} to predict; scenes (agents) to train {}, to choose {}, to test {}\n\
         learners {}, {} seeds, into {}",
        dataset.name,
        dataset.observed,
        dataset.predicted,
        count(&dataset.train),
        count(&dataset.valid),
        count(&dataset.test),
        plan.learners.join(", "),
        plan.seeds.len(),
        folder.work().display(),
    )
}

/// The three ways of counting errors.
const WAYS: [fn(&Scores) -> Displacement; 3] =
    [|scores| scores.per_agent, |scores| scores.per_scene, |scores| scores.likely];

/// A table of the learners beside predictions without training, compared with one of them.
pub fn text(records: &[TrajectoryRecord], report: &Path) -> String {
    let Some(first) = records.first() else { return String::new() };
    let heading = format!(
        "{} with {}: test errors ADE / FDE in metres, mean ± deviation over {} seeds; lower is better\n\
         best of {} samples, chosen for every agent or for all of a scene; the most likely path\n",
        first.dataset,
        first.backbone,
        first.seeds.len(),
        first.samples,
    );
    let errors = errors(records, first);
    let base = baseline(&first.task, records.iter().map(|record| record.learner.as_str()));
    let differences = match records.len() {
        1 => String::new(),
        _ => format!(
            "\nbest per agent, minus that of {} with the same seed; p: paired t-test\n\n{}",
            records[base].learner,
            differences(records, base)
        ),
    };
    format!("{heading}\n{errors}{differences}\nreport: {}\n", report.display())
}

fn errors(records: &[TrajectoryRecord], first: &TrajectoryRecord) -> String {
    let titles = ["learner", "per agent", "per scene", "most likely", "s/epoch"];
    let mut rows = vec![titles.map(String::from).to_vec()];
    let pair = |ade: String, fde: String| format!("{ade} / {fde}");
    for record in records {
        let number = |pick: &dyn Fn(&Scores) -> f64| record.test(pick).map_or("-".into(), metres);
        let way = |way: fn(&Scores) -> Displacement| {
            pair(number(&|scores| way(scores).ade), number(&|scores| way(scores).fde))
        };
        let mut row = vec![record.learner.clone()];
        row.extend(WAYS.map(way));
        row.push(format!("{:.3}", record.seconds_per_epoch));
        rows.push(row);
    }
    let BaselineScores { constant_velocity, constant_velocity_with_noise } = &first.baselines;
    for (name, scores) in [
        ("(constant velocity)", constant_velocity),
        ("(with sampled turns)", constant_velocity_with_noise),
    ] {
        let way = |way: fn(&Scores) -> Displacement| {
            let Displacement { ade, fde } = way(scores);
            pair(format!("{ade:.3}"), format!("{fde:.3}"))
        };
        let mut row = vec![name.to_string()];
        row.extend(WAYS.map(way));
        row.push("-".into());
        rows.push(row);
    }
    table(&rows)
}

fn differences(records: &[TrajectoryRecord], base: usize) -> String {
    let titles = ["learner", "ADE", "ADE, %", "p", "FDE", "FDE, %", "p"];
    let mut rows = vec![titles.map(String::from).to_vec()];
    let first = &records[base];
    for (_, record) in records.iter().enumerate().filter(|(at, _)| *at != base) {
        let mut row = vec![record.learner.clone()];
        let picks: [fn(&Scores) -> f64; 2] =
            [|scores| scores.per_agent.ade, |scores| scores.per_agent.fde];
        for pick in picks {
            row.extend(difference(record.paired_with(first, pick), first.test(pick)));
        }
        rows.push(row);
    }
    table(&rows)
}

/// The difference in metres, in per cent of the other learner's mean, and its p.
fn difference(paired: Option<Paired>, of: Option<Summary>) -> [String; 3] {
    let dash = || "-".to_string();
    let (Some(paired), Some(of)) = (paired, of) else { return [dash(), dash(), dash()] };
    let Paired { difference, p } = paired;
    let sign = if difference.mean >= 0.0 { "+" } else { "" };
    [
        format!("{sign}{}", metres(difference)),
        format!("{:+.1}", 100.0 * difference.mean / of.mean),
        p.map_or_else(dash, p_value),
    ]
}

#[derive(Serialize)]
struct Json<'a> {
    task: &'a str,
    dataset: &'a str,
    backbone: &'a str,
    learner: &'a str,
    metric: &'a str,
    samples: usize,
    runs: Vec<Run>,
    test: Means,
    baselines: BaselineScores,
    seconds_per_epoch: f64,
    peak_rss_bytes: u64,
    out: String,
}

#[derive(Serialize)]
struct Run {
    seed: u64,
    valid: f64,
    best_epoch: usize,
    epochs: usize,
    seconds: f64,
    #[serde(flatten)]
    test: Scores,
}

#[derive(Serialize)]
struct Means {
    per_agent: Pair,
    per_scene: Pair,
    likely: Pair,
}

#[derive(Serialize)]
struct Pair {
    ade: Mean,
    fde: Mean,
}

impl<'a> Json<'a> {
    fn new(record: &'a TrajectoryRecord, out: &Path) -> Self {
        let runs = record.seeds.iter().map(|seed| Run {
            seed: seed.seed,
            valid: seed.valid,
            best_epoch: seed.best_epoch,
            epochs: seed.epochs,
            seconds: seed.seconds,
            test: seed.test,
        });
        let [per_agent, per_scene, likely] = WAYS.map(|way| Pair {
            ade: record.test(|scores| way(scores).ade).into(),
            fde: record.test(|scores| way(scores).fde).into(),
        });
        Self {
            task: &record.task,
            dataset: &record.dataset,
            backbone: &record.backbone,
            learner: &record.learner,
            metric: &record.metric,
            samples: record.samples,
            runs: runs.collect(),
            test: Means { per_agent, per_scene, likely },
            baselines: record.baselines,
            seconds_per_epoch: record.seconds_per_epoch,
            peak_rss_bytes: record.peak_rss_bytes,
            out: out.display().to_string(),
        }
    }
}

/// The records as JSON.
///
/// # Errors
/// If a number has no form in JSON.
pub fn json(records: &[TrajectoryRecord], outs: &[PathBuf]) -> Result<String, Failure> {
    let all: Vec<Json> =
        records.iter().zip(outs).map(|(record, out)| Json::new(record, out)).collect();
    one_or_several(&all)
}
