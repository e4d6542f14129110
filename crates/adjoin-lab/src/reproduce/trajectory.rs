//! Tables 5 and 6 of the paper: trajectories of pedestrians and of basketball players.
//!
//! Social-STGCNN is for ETH and UCY, DAG-Net for SDD and SportVU, as in the paper. A cell is one learner
//! on one dataset; it can be kept in a folder, from which it is taken the next time.

use super::{Options, Table, TableRow};
use crate::{
    Error, Result,
    plan::{Layered, Plan},
    record::{Paired, Summary, mean, paired, summary},
    run::{RECORD, read_json, write_json},
    trajectory::{
        Displacement, Part, Scores, TRAJECTORY_LEARNERS, TrajectoryObserver, TrajectoryRecord,
        TrajectorySetup,
    },
};
use adjoin_data::trajectory::{TrajectoryDataset, load};
use serde::Serialize;
use std::path::Path;

/// Average and final displacement.
type Pair = [f64; 2];

/// A dataset of the tables.
struct Case {
    dataset: &'static str,
    backbone: &'static str,
    /// Of the original graph, in metres.
    published: Pair,
    /// Gains of DGM and of DGG, in per cent.
    gains: [Pair; 2],
}

/// Datasets whose mean is a row.
struct Group {
    name: &'static str,
    cases: &'static [Case],
    /// Means as printed; of one dataset there is none.
    mean: Option<(Pair, [Pair; 2])>,
}

const fn case(
    dataset: &'static str,
    backbone: &'static str,
    published: Pair,
    gains: [Pair; 2],
) -> Case {
    Case { dataset, backbone, published, gains }
}

const STGCNN: &str = "social-stgcnn";
const DAGNET: &str = "dagnet";

const GROUPS: [Group; 3] = [
    Group {
        name: "ETH/UCY mean",
        cases: &[
            case("eth", STGCNN, [0.64, 1.11], [[2.4, 6.4], [7.8, 21.4]]),
            case("hotel", STGCNN, [0.49, 0.85], [[14.2, 18.9], [22.7, 37.5]]),
            case("univ", STGCNN, [0.44, 0.79], [[6.2, 3.5], [11.8, 14.9]]),
            case("zara1", STGCNN, [0.34, 0.53], [[3.8, 13.7], [7.7, 23.8]]),
            case("zara2", STGCNN, [0.30, 0.48], [[5.0, 5.0], [12.8, 17.3]]),
        ],
        mean: Some(([0.44, 0.75], [[6.3, 10.6], [12.6, 23.0]])),
    },
    Group {
        name: "SDD",
        cases: &[case("sdd", DAGNET, [0.53, 1.04], [[1.9, 3.0], [10.9, 9.5]])],
        mean: None,
    },
    Group {
        name: "SportVU mean",
        cases: &[
            case("nba-atk-10", DAGNET, [2.74, 4.29], [[-0.4, -0.2], [6.7, 5.1]]),
            case("nba-def-10", DAGNET, [2.09, 2.97], [[-0.5, -0.1], [9.7, 6.4]]),
            case("nba-atk-20", DAGNET, [2.03, 3.98], [[0.1, 0.1], [7.2, 8.2]]),
            case("nba-def-20", DAGNET, [1.53, 3.07], [[0.2, 0.3], [21.4, 19.1]]),
            case("nba-atk-40", DAGNET, [0.81, 1.71], [[1.3, 0.9], [15.5, 17.0]]),
            case("nba-def-40", DAGNET, [0.72, 1.49], [[0.8, 0.8], [10.9, 16.2]]),
        ],
        mean: Some(([1.65, 2.92], [[0.3, 0.3], [11.9, 12.0]])),
    },
];

/// The original graph, which gains are over.
const ORIGINAL: &str = "kernel";
/// Scenes to train, to choose and to test with in the reduced setting, at most.
const REDUCED_SCENES: [usize; 3] = [2400, 150, 300];
/// The learners of the tables; others are run when they are named.
const LEARNERS: [&str; 3] = [ORIGINAL, "dgm", "dgg"];

/// Gain over the original graph in per cent of its error, seed by seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// Of the average displacement.
    pub ade: Paired,
    /// Of the final displacement.
    pub fde: Paired,
}

/// One learner on one dataset, or the mean of it over several. Errors are in metres, gains in per cent.
#[derive(Clone, Debug, Serialize)]
pub struct TrajectoryRow {
    /// The data.
    pub dataset: String,
    /// The network; empty without one.
    pub backbone: String,
    /// The learner, or the prediction without training.
    pub learner: String,
    /// ADE and FDE of the best sample of every agent.
    pub per_agent: [Summary; 2],
    /// Of the best sample for all agents of a scene.
    pub per_scene: [Summary; 2],
    /// Of the most likely path.
    pub likely: [Summary; 2],
    /// Gain over the original graph in the error of the best sample per agent.
    pub gain_per_agent: Option<Gain>,
    /// The same per scene.
    pub gain_per_scene: Option<Gain>,
    /// Published errors of the original graph.
    pub published: Option<[f64; 2]>,
    /// Published gains of the learner.
    pub published_gain: Option<[f64; 2]>,
}

impl TableRow for TrajectoryRow {
    const HEADING: &'static str = "| dataset | network | graph | per agent ADE / FDE, m | per scene ADE / FDE, m | most likely ADE / FDE, m | seeds | gain per agent, % | gain per scene, % | published ADE / FDE, m | published gain, % |\n|---|---|---|---|---|---|---|---|---|---|---|";

    fn to_markdown(&self) -> String {
        let errors = |errors: &[Summary; 2]| {
            let one = |error: &Summary| match error.deviation {
                Some(deviation) => format!("{:.3} ± {deviation:.3}", error.mean),
                None => format!("{:.3}", error.mean),
            };
            errors.each_ref().map(one).join(" / ")
        };
        let gain = |gain: &Option<Gain>| {
            let one = |gain: &Paired| {
                let spread = gain.difference.deviation;
                let spread = spread.map_or(String::new(), |d| format!(" ± {d:.1}"));
                let p = gain.p.map_or(String::new(), |p| format!(" (p = {p:.3})"));
                format!("{:+.1}{spread}{p}", gain.difference.mean)
            };
            gain.as_ref().map_or(String::new(), |gain| [&gain.ade, &gain.fde].map(one).join(" / "))
        };
        let published = self.published.map_or("-".into(), |[a, f]| format!("{a:.2} / {f:.2}"));
        let published_gain =
            self.published_gain.map_or("-".into(), |[a, f]| format!("{a:+.1} / {f:+.1}"));
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {published} | {published_gain} |",
            self.dataset,
            self.backbone,
            self.learner,
            errors(&self.per_agent),
            errors(&self.per_scene),
            errors(&self.likely),
            self.per_agent[0].n,
            gain(&self.gain_per_agent),
            gain(&self.gain_per_scene),
        )
    }
}

/// Reproduces the tables; `done` is called with every finished row.
///
/// # Errors
/// If a name is not in the tables, data is missing, or a run fails.
pub fn run(
    options: &Options,
    observer: &dyn TrajectoryObserver,
    done: &mut dyn FnMut(&TrajectoryRow),
) -> Result<Table<TrajectoryRow>> {
    let learners = check(options)?;
    let mut table = Table::new("Trajectory prediction");
    table.notes = vec![
        "best of 20 samples, chosen for every agent (as Social-STGCNN counts) or for all agents \
         of a scene (as DAG-Net counts); gains are over the graph `kernel`, seed by seed"
            .into(),
    ];
    if options.reduced {
        let [train, valid, test] = REDUCED_SCENES;
        table.notes.push(format!(
            "**reduced**: at most {train}, {valid} and {test} scenes to train, to choose and to test \
             with, evenly spaced: to be compared with each other, not with the published numbers"
        ));
    }
    let mut add = |row: TrajectoryRow, table: &mut Table<TrajectoryRow>| {
        done(&row);
        table.rows.push(row);
    };
    for group in GROUPS {
        let mut cells: Vec<Vec<Cell>> = Vec::new();
        for case in group.cases.iter().filter(|case| is_wanted(case, options)) {
            let mut dataset = load(case.dataset, &options.locations)?;
            if options.reduced {
                dataset = dataset.subset(REDUCED_SCENES);
            }
            let mut of_case: Vec<Cell> = Vec::new();
            for &learner in &learners {
                let (cell, note) = measure(case, &dataset, learner, options, observer)?;
                if of_case.is_empty() {
                    for row in cell.baselines(case) {
                        add(row, &mut table);
                    }
                }
                if !table.notes.contains(&note) {
                    table.notes.push(note);
                }
                of_case.push(cell);
                let published = (case.published, case.gains);
                let cells: Vec<&[Cell]> = vec![&of_case];
                let row = row(case.dataset, case.backbone, learner, &cells, Some(published))?;
                add(row, &mut table);
            }
            cells.push(of_case);
        }
        if group.mean.is_some() && cells.len() == group.cases.len() {
            let cells: Vec<&[Cell]> = cells.iter().map(Vec::as_slice).collect();
            for &learner in &learners {
                let row = row(group.name, group.cases[0].backbone, learner, &cells, group.mean)?;
                add(row, &mut table);
            }
        }
    }
    table.not_empty()
}

/// The learners to run; refuses names that are not in the tables, and settings that are for none of their rows.
fn check(options: &Options) -> Result<Vec<&'static str>> {
    let cases = || GROUPS.iter().flat_map(|group| group.cases);
    let datasets: Vec<&str> = cases().map(|case| case.dataset).collect();
    let learners = TRAJECTORY_LEARNERS;
    super::check_names(options, [&datasets, &[STGCNN, DAGNET], &learners])?;
    if options.epochs == Some(0) || options.seeds.is_empty() {
        let what = "epochs and seeds must be at least 1".into();
        return Err(Error::Config { place: "reproduce".into(), what });
    }
    let learners: Vec<_> = match options.learners.is_empty() {
        true => LEARNERS.to_vec(),
        false => learners.into_iter().filter(|l| super::wanted(&options.learners, l)).collect(),
    };
    let cells = cases().filter(|case| is_wanted(case, options));
    let cells = cells.flat_map(|case| learners.iter().map(move |learner| (case, learner)));
    let preset = |(case, learner): (&Case, &&str)| {
        TrajectorySetup::named(case.dataset, case.backbone, learner)
    };
    options.check_settings(cells.map(preset))?;
    Ok(learners)
}

fn is_wanted(case: &Case, options: &Options) -> bool {
    super::wanted(&options.datasets, case.dataset)
        && super::wanted(&options.backbones, case.backbone)
}

/// The measured errors of a learner on a dataset.
struct Cell {
    learner: &'static str,
    record: TrajectoryRecord,
}

impl Cell {
    /// One error of every seed.
    fn errors(&self, pick: Pick) -> Vec<f64> {
        self.record.seeds.iter().map(|seed| pick(&seed.test)).collect()
    }

    /// Predictions without training on the same scenes.
    fn baselines(&self, case: &Case) -> [TrajectoryRow; 2] {
        let baselines = &self.record.baselines;
        [
            ("(constant velocity)", &baselines.constant_velocity),
            ("(constant velocity, sampled turns)", &baselines.constant_velocity_with_noise),
        ]
        .map(|(learner, scores)| {
            let one = |mean: f64| Summary { mean, deviation: None, n: 1 };
            let both = |way: Displacement| [one(way.ade), one(way.fde)];
            TrajectoryRow {
                dataset: case.dataset.into(),
                backbone: String::new(),
                learner: learner.into(),
                per_agent: both(scores.per_agent),
                per_scene: both(scores.per_scene),
                likely: both(scores.likely),
                gain_per_agent: None,
                gain_per_scene: None,
                published: None,
                published_gain: None,
            }
        })
    }
}

type Pick = fn(&Scores) -> f64;

const PER_AGENT: [Pick; 2] = [|s| s.per_agent.ade, |s| s.per_agent.fde];
const PER_SCENE: [Pick; 2] = [|s| s.per_scene.ade, |s| s.per_scene.fde];
const LIKELY: [Pick; 2] = [|s| s.likely.ade, |s| s.likely.fde];

/// A row from the cells of one or more datasets; seeds are averaged over the datasets first.
fn row(
    dataset: &str,
    backbone: &str,
    learner: &'static str,
    cells: &[&[Cell]],
    published: Option<(Pair, [Pair; 2])>,
) -> Result<TrajectoryRow> {
    let of = |cells: &[Cell], learner: &str, pick: Pick| -> Option<Vec<f64>> {
        cells.iter().find(|cell| cell.learner == learner).map(|cell| cell.errors(pick))
    };
    let over_datasets = |values: Vec<Vec<f64>>| -> Vec<f64> {
        let seeds = values.iter().map(Vec::len).min().unwrap_or(0);
        let at = |seed: usize| values.iter().map(|v| v[seed]).collect::<Vec<f64>>();
        (0..seeds).filter_map(|seed| mean(&at(seed))).collect()
    };
    let errors = |picks: [Pick; 2]| -> Result<[Summary; 2]> {
        let one = |pick: Pick| {
            let values = cells.iter().filter_map(|cells| of(cells, learner, pick)).collect();
            summary(&over_datasets(values)).ok_or_else(|| Error::Config {
                place: "--seeds".into(),
                what: "must be at least 1".into(),
            })
        };
        Ok([one(picks[0])?, one(picks[1])?])
    };
    let gain = |picks: [Pick; 2]| -> Option<Gain> {
        let one = |pick: Pick| {
            let mut gains = Vec::new();
            for cells in cells {
                let (ours, original) = (of(cells, learner, pick)?, of(cells, ORIGINAL, pick)?);
                let both = ours.iter().zip(&original);
                gains.push(both.map(|(ours, from)| 100.0 * (from - ours) / from).collect());
            }
            let gains: Vec<(f64, f64)> =
                over_datasets(gains).into_iter().map(|gain| (gain, 0.0)).collect();
            paired(&gains)
        };
        if learner == ORIGINAL {
            return None;
        }
        Some(Gain { ade: one(picks[0])?, fde: one(picks[1])? })
    };
    Ok(TrajectoryRow {
        dataset: dataset.into(),
        backbone: backbone.into(),
        learner: learner.into(),
        per_agent: errors(PER_AGENT)?,
        per_scene: errors(PER_SCENE)?,
        likely: errors(LIKELY)?,
        gain_per_agent: gain(PER_AGENT),
        gain_per_scene: gain(PER_SCENE),
        published: published.filter(|_| learner == ORIGINAL).map(|published| published.0),
        published_gain: published.and_then(|(_, [dgm, dgg])| match learner {
            "dgm" => Some(dgm),
            "dgg" => Some(dgg),
            _ => None,
        }),
    })
}

/// Trains all seeds of a cell, or takes it from where it is kept; with a note on its settings.
fn measure(
    case: &Case,
    dataset: &TrajectoryDataset,
    learner: &'static str,
    options: &Options,
    observer: &dyn TrajectoryObserver,
) -> Result<(Cell, String)> {
    let mut setup = TrajectorySetup::named(case.dataset, case.backbone, learner)?;
    let preset = setup.train().epochs;
    if let Some(epochs) = options.epochs {
        setup.shorten(epochs);
    }
    let setup = options.on_top(setup)?;
    let family = case.dataset.split('-').next().unwrap_or_default();
    let epochs = setup.train().epochs;
    let note = match epochs == preset {
        true => format!("{} on {family}: {preset} epochs, as in its preset", case.backbone),
        false => format!(
            "**reduced**: {} on {family}: {epochs} epochs, not the {preset} of its preset",
            case.backbone
        ),
    };
    let plan = Plan {
        task: TrajectorySetup::TASK.into(),
        dataset: case.dataset.into(),
        data_dir: None,
        split: String::new(),
        split_hash: String::new(),
        fingerprint: dataset.fingerprint(),
        schema: None,
        no_graph: false,
        learners: vec![learner.into()],
        seeds: options.seeds.clone(),
        command: format!("adjoin reproduce {}", super::TRAJECTORY),
    };
    let setting = if options.reduced { "epochs-reduced" } else { "epochs" };
    let cell = [case.dataset, case.backbone, learner, &epochs.to_string(), setting];
    let folder = options.folder(&cell)?;
    if let Some(folder) = &folder
        && let Some(record) = kept(&folder.join(RECORD), &plan, &setup)?
    {
        return Ok((Cell { learner, record }, note));
    }
    let part = Part { plan: &plan, learner, setup: &setup, dataset, threads: options.threads };
    let record = part.run(observer, folder.as_deref())?;
    if let Some(folder) = &folder {
        write_json(&folder.join(RECORD), &record)?;
    }
    Ok((Cell { learner, record }, note))
}

/// A cell that was finished before, with the same data, settings and seeds.
fn kept(path: &Path, plan: &Plan, setup: &TrajectorySetup) -> Result<Option<TrajectoryRecord>> {
    if !path.is_file() {
        return Ok(None);
    }
    let record: TrajectoryRecord = read_json(path)?;
    let seeds: Vec<u64> = record.seeds.iter().map(|seed| seed.seed).collect();
    let then = TrajectorySetup::read(&path.display().to_string(), &record.config_toml)?;
    let same = seeds == plan.seeds && record.fingerprint == plan.fingerprint && then == *setup;
    Ok(same.then_some(record))
}

#[cfg(test)]
mod tests;
