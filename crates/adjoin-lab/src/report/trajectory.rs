//! The page on runs of trajectories: errors, curves, scenes that move, and degrees.

use super::{
    Parts, ReportError,
    compare::{self, Run},
    fill,
    measure::Measure,
    page, payload,
    table::{Line, cards, comparison, run_line, untrained_line},
    text::{escape, spelling},
};
use crate::{
    record::{EpochRecord, RunRecord, SeedRecord},
    trajectory::{Displacement, Scores, TrajectoryRecord, TrajectorySeedRecord},
};

/// Paths of which the best counts, unless a run says otherwise.
const USUAL_SAMPLES: usize = 20;

const SECTIONS: &str = include_str!("trajectory.html");
const SCRIPTS: [&str; 2] = [include_str!("degrees.js"), include_str!("scenes.js")];

type Way = fn(&Scores) -> Displacement;

/// The three ways of counting errors.
const WAYS: [(&str, Way); 3] = [
    ("Best sample of each agent", |scores| scores.per_agent),
    ("Best sample for the scene", |scores| scores.per_scene),
    ("Most likely path", |scores| scores.likely),
];

/// The page for these runs, in the order given.
///
/// # Errors
/// If there is no run, or one without results.
pub fn render_trajectories(records: &[TrajectoryRecord]) -> Result<String, ReportError> {
    if records.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let views: Vec<RunRecord> = records.iter().map(view).collect();
    let (runs, groups) = compare::compare(&views)?;
    let mut results = comparison(&runs, &groups);
    for group in &groups {
        results.push_str(&all_errors(&runs, records, group));
    }
    let mut degrees = String::new();
    for (at, (run, record)) in runs.iter().zip(records).enumerate() {
        degrees.push_str(&degree_panel(at, run, record));
    }
    let moving = records.iter().any(|record| !record.scenes.is_empty());
    let sections = fill(SECTIONS, |slot| match slot {
        "degrees" => degrees.clone(),
        "has_scenes" => if moving { "" } else { "hidden" }.into(),
        _ => String::new(),
    });
    let nav: &[_] = if moving {
        &[("scenes", "Scenes", true), ("degrees", "Degrees", true)]
    } else {
        &[("degrees", "Degrees", true)]
    };
    let parts = Parts {
        nav,
        results,
        sections,
        drawn: "The curves, the scenes and the degree histograms",
        data: payload::json(&payload::trajectories(&runs, records))?,
        scripts: &SCRIPTS,
    };
    Ok(page(&runs, &groups, &parts))
}

/// What comparisons and curves need, measured by the ADE of the best sample per agent.
fn view(record: &TrajectoryRecord) -> RunRecord {
    let seed = |seed: &TrajectorySeedRecord| SeedRecord {
        seed: seed.seed,
        valid: seed.valid,
        test: seed.test.per_agent.ade,
        best_epoch: seed.best_epoch,
        epochs: seed.epochs,
        seconds: seed.seconds,
        curve: seed
            .curve
            .iter()
            .map(|epoch| EpochRecord {
                epoch: epoch.epoch,
                loss: epoch.loss,
                train: f64::NAN,
                valid: epoch.valid.per_agent.ade,
                mean_degree: None,
                std_degree: None,
                degrees: Vec::new(),
            })
            .collect(),
    };
    RunRecord {
        task: record.task.clone(),
        dataset: record.dataset.clone(),
        split: String::new(),
        split_hash: record.fingerprint.clone(),
        fingerprint: record.fingerprint.clone(),
        backbone: record.backbone.clone(),
        learner: record.learner.clone(),
        metric: match record.samples {
            USUAL_SAMPLES => "ADE".into(),
            // The best of more paths is better: such runs are not to be compared.
            samples => format!("ADE (best of {samples})"),
        },
        created: record.created.clone(),
        command: record.command.clone(),
        config_toml: record.config_toml.clone(),
        seeds: record.seeds.iter().map(seed).collect(),
        ms_per_step: 1e3 * record.seconds_per_epoch,
        peak_rss_bytes: record.peak_rss_bytes,
        graph: None,
    }
}

/// Every way of counting errors, beside predictions that need no training.
fn all_errors(runs: &[Run], records: &[TrajectoryRecord], group: &[usize]) -> String {
    let Some(&first) = group.first() else { return String::new() };
    let first = &records[first];
    let measure = Measure::of_task(&first.task);
    let mut lines: Vec<Line> = Vec::new();
    for &at in group {
        let record = &records[at];
        let number = |pick: &dyn Fn(&Scores) -> f64| {
            record.test(pick).map_or_else(|| "–".into(), |found| measure.summary(&found))
        };
        let cells = WAYS.map(|(_, way)| {
            format!("{} / {}", number(&|scores| way(scores).ade), number(&|s| way(s).fde))
        });
        lines.push(run_line(at, &runs[at], cells.to_vec()));
    }
    for (name, scores) in [
        ("Everybody walks straight on", &first.baselines.constant_velocity),
        ("The same with sampled turns", &first.baselines.constant_velocity_with_noise),
    ] {
        let cells = WAYS.map(|(_, way)| {
            let Displacement { ade, fde } = way(scores);
            format!("{} / {}", measure.number(ade), measure.number(fde))
        });
        lines.push(untrained_line(name, cells.to_vec()));
    }
    let caption = format!(
        "All test errors on the same scenes of {}, ADE / FDE in metres, best of {} samples; lower is better",
        escape(&spelling(&first.dataset)),
        first.samples
    );
    cards("errors", &caption, "Prediction", &WAYS.map(|(way, _)| way), &lines)
}

fn degree_panel(at: usize, run: &Run, record: &TrajectoryRecord) -> String {
    format!(
        r#"<figure class="panel"><h3>{}</h3><p class="legend"><span><i class="box input"></i>others in the frame</span><span><i class="box learned"></i>{}</span></p><div class="chart" data-chart="degrees" data-graph="{at}"></div><p class="readout" data-readout="degrees-{at}">&nbsp;</p></figure>
"#,
        escape(&run.label),
        if record.has_k { "learned k" } else { "neighbours in the graph" },
    )
}
