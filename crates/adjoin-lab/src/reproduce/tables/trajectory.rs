//! Tables 5 and 6 of the paper: trajectories of pedestrians and of basketball players.
//!
//! Social-STGCNN is for ETH and UCY, DAG-Net for SDD and SportVU, as in the paper.

use super::{first, source};
use crate::{
    Result,
    reproduce::{
        Options, Row, Table,
        grid::Cell,
        table::{or_dash, spread},
    },
    run::{Observer, RunRecord, Teachers, recipe_layers},
    settings::Layers,
    stats::{Paired, mean, paired, summary},
    task::{Measure, Metrics, Task},
    tasks::{
        Trajectory,
        trajectory::{TrajectoryConfig, TrajectoryMetrics},
    },
};
use adjoin_data::trajectory::TrajectoryDataset;
use std::sync::Arc;

/// Average and final displacement.
type Pair = [f64; 2];

/// A dataset of the tables.
struct Case {
    dataset: &'static str,
    backbone: &'static str,
    /// Recipes are `SETTING-BACKBONE-LEARNER`.
    setting: &'static str,
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
    (backbone, setting): (&'static str, &'static str),
    published: Pair,
    gains: [Pair; 2],
) -> Case {
    Case { dataset, backbone, setting, published, gains }
}

const BACKBONES: [&str; 2] = ["social-stgcnn", "dagnet"];
const STGCNN: (&str, &str) = (BACKBONES[0], "pedestrians");
const DAGNET: (&str, &str) = (BACKBONES[1], "pedestrians");
const NBA: (&str, &str) = (BACKBONES[1], "basketball");
const NBA_40: (&str, &str) = (BACKBONES[1], "basketball-40");

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
            case("nba-atk-10", NBA, [2.74, 4.29], [[-0.4, -0.2], [6.7, 5.1]]),
            case("nba-def-10", NBA, [2.09, 2.97], [[-0.5, -0.1], [9.7, 6.4]]),
            case("nba-atk-20", NBA, [2.03, 3.98], [[0.1, 0.1], [7.2, 8.2]]),
            case("nba-def-20", NBA, [1.53, 3.07], [[0.2, 0.3], [21.4, 19.1]]),
            case("nba-atk-40", NBA_40, [0.81, 1.71], [[1.3, 0.9], [15.5, 17.0]]),
            case("nba-def-40", NBA_40, [0.72, 1.49], [[0.8, 0.8], [10.9, 16.2]]),
        ],
        mean: Some(([1.65, 2.92], [[0.3, 0.3], [11.9, 12.0]])),
    },
];

/// The original graph, which gains are over.
const ORIGINAL: &str = "kernel";
/// Scenes to train, to validate and to test with in the reduced setting, at most.
const REDUCED_SCENES: [usize; 3] = [2400, 150, 300];
/// The learners of the tables; the others are run when they are named.
const LEARNERS: [&str; 5] = [ORIGINAL, "dgm", "dgg", "complete", "isolated"];
const USUAL: usize = 3;

/// One learner on one dataset.
struct Measured {
    learner: &'static str,
    record: RunRecord<Trajectory>,
}

pub fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table> {
    let cases = || GROUPS.iter().flat_map(|group| group.cases);
    let datasets: Vec<&str> = cases().map(|case| case.dataset).collect();
    options.check_names([&datasets, &BACKBONES, &LEARNERS])?;
    let learners = match options.learners.is_empty() {
        true => &LEARNERS[..USUAL],
        false => &LEARNERS[..],
    };
    let wanted = |case: &Case, learner: &str| options.wants([case.dataset, case.backbone, learner]);
    let mut table = Table::new("Trajectory prediction");
    table.notes = vec![
        "best of 20 samples, chosen for every agent (as Social-STGCNN counts) or for all agents \
         of a scene (as DAG-Net counts); gains are over the graph `kernel`, seed by seed"
            .into(),
    ];
    if options.reduced {
        let [train, valid, test] = REDUCED_SCENES;
        table.notes.push(format!(
            "**reduced**: at most {train}, {valid} and {test} scenes to train, to validate and to test \
             with, evenly spaced: to be compared with each other, not with the published numbers"
        ));
    }
    let mut configs = Vec::new();
    for case in cases() {
        for learner in learners.iter().filter(|learner| wanted(case, learner)) {
            let (layers, note) = layers(case, learner, options.epochs)?;
            if !table.notes.contains(&note) {
                table.notes.push(note);
            }
            configs.push(layers);
        }
    }
    let mut configs = options.on_top(configs)?.into_iter();
    let mut add = |row: Row, table: &mut Table| {
        done(&row);
        table.rows.push(row);
    };
    for group in GROUPS {
        let mut of_group: Vec<Vec<Measured>> = Vec::new();
        for case in group.cases {
            let learners: Vec<&str> =
                learners.iter().copied().filter(|learner| wanted(case, learner)).collect();
            if learners.is_empty() {
                continue;
            }
            let data = load(case, options)?;
            let mut of_case: Vec<Measured> = Vec::new();
            for learner in learners {
                let Some(layers) = configs.next() else { break };
                let epochs = layers.config.train.epochs.to_string();
                let setting = if options.reduced { "epochs-reduced" } else { "epochs" };
                let names = vec![case.dataset, case.backbone, &epochs, setting, learner];
                let cell = Cell { names, data: &data, layers };
                let record = options.measure(&cell, observer, &mut Teachers::default())?;
                if of_case.is_empty() {
                    references(case, &record).into_iter().for_each(|row| add(row, &mut table));
                }
                of_case.push(Measured { learner, record });
                let published = (case.published, case.gains);
                let names = [case.dataset, case.backbone, learner];
                add(row(names, &[&of_case], Some(published))?, &mut table);
            }
            of_group.push(of_case);
        }
        if group.mean.is_some() && of_group.len() == group.cases.len() {
            let all: Vec<&[Measured]> = of_group.iter().map(Vec::as_slice).collect();
            let learners: Vec<&str> = all[0].iter().map(|measured| measured.learner).collect();
            for learner in learners {
                let names = [group.name, group.cases[0].backbone, learner];
                add(row(names, &all, group.mean)?, &mut table);
            }
        }
    }
    table.not_empty()
}

fn load(case: &Case, options: &Options) -> Result<Arc<TrajectoryDataset>> {
    let data = Trajectory::load(&source(case.dataset, None, &options.locations))?;
    Ok(match options.reduced {
        true => Arc::new(Arc::unwrap_or_clone(data).subset(REDUCED_SCENES)),
        false => data,
    })
}

/// The recipe of a cell, with a note on its epochs.
fn layers(
    case: &Case,
    learner: &str,
    epochs: Option<usize>,
) -> Result<(Layers<TrajectoryConfig>, String)> {
    let Case { dataset, backbone, setting, .. } = case;
    let layers = recipe_layers::<Trajectory>(&format!("{setting}-{backbone}-{learner}"))?;
    let usual = layers.config.train.epochs;
    let mut config = layers.config.clone();
    if let Some(epochs) = epochs {
        config.shorten(epochs);
    }
    let family = dataset.split('-').next().unwrap_or_default();
    let now = config.train.epochs;
    let note = match now == usual {
        true => format!("{backbone} on {family}: {usual} epochs, as in its recipe"),
        false => format!(
            "**reduced**: {backbone} on {family}: {now} epochs, not the {usual} of its recipe"
        ),
    };
    Ok((layers.changed("--epochs", config), note))
}

/// Predictions without training on the same scenes.
fn references(case: &Case, record: &RunRecord<Trajectory>) -> Vec<Row> {
    let one = |reference: &crate::task::Reference<Trajectory>| {
        let values = TrajectoryMetrics::values(&reference.test);
        let pair = |at: usize| {
            let number = |at: usize| Measure::METRES.number(values[at]);
            format!("{} / {}", number(at), number(at + 1))
        };
        cells(
            [case.dataset, "", &format!("({})", reference.name)],
            [0, 2, 4].map(pair),
            1,
            Default::default(),
        )
    };
    record.references.iter().map(one).collect()
}

/// Gains per agent and per scene, published errors and published gains.
type Extras = [String; 4];

fn cells(names: [&str; 3], errors: [String; 3], seeds: usize, extras: Extras) -> Row {
    let [dataset, network, graph] = names.map(String::from);
    let [per_agent, per_scene, likely] = errors;
    let [agent, scene, published, published_gain] = extras;
    let dash = |text: String| if text.is_empty() { "-".to_string() } else { text };
    vec![
        ("dataset", dataset),
        ("network", network),
        ("graph", graph),
        ("per agent ADE / FDE, m", per_agent),
        ("per scene ADE / FDE, m", per_scene),
        ("most likely ADE / FDE, m", likely),
        ("seeds", seeds.to_string()),
        ("gain per agent, %", agent),
        ("gain per scene, %", scene),
        ("published ADE / FDE, m", dash(published)),
        ("published gain, %", dash(published_gain)),
    ]
}

/// A row from the cells of one or more datasets; seeds are averaged over the datasets first.
fn row(names: [&str; 3], all: &[&[Measured]], published: Option<(Pair, [Pair; 2])>) -> Result<Row> {
    let learner = names[2];
    let of = |cells: &[Measured], learner: &str, column: usize| -> Option<Vec<f64>> {
        cells.iter().find(|cell| cell.learner == learner).map(|cell| cell.record.tests(column))
    };
    let over_datasets = |values: Vec<Vec<f64>>| -> Vec<f64> {
        let seeds = values.iter().map(Vec::len).min().unwrap_or(0);
        let at = |seed: usize| values.iter().map(|v| v[seed]).collect::<Vec<f64>>();
        (0..seeds).filter_map(|seed| mean(&at(seed))).collect()
    };
    let error = |column: usize| {
        let values = all.iter().filter_map(|cells| of(cells, learner, column)).collect();
        first(summary(&over_datasets(values)))
    };
    let pair = |at: usize| -> Result<String> {
        let metres = Measure::METRES;
        Ok(format!("{} / {}", spread(metres, &error(at)?), spread(metres, &error(at + 1)?)))
    };
    let gain = |column: usize| -> Option<Paired> {
        let mut gains = Vec::new();
        for cells in all.iter().filter(|_| learner != ORIGINAL) {
            let (ours, original) = (of(cells, learner, column)?, of(cells, ORIGINAL, column)?);
            let both = ours.iter().zip(&original);
            gains.push(both.map(|(ours, from)| 100.0 * (from - ours) / from).collect());
        }
        paired(&over_datasets(gains).into_iter().map(|gain| (gain, 0.0)).collect::<Vec<_>>())
    };
    let gains = |at: usize| -> String {
        let one = |found: &Paired| {
            let std = found.difference.std.map_or(String::new(), |std| format!(" ± {std:.1}"));
            let p = found.p.map_or(String::new(), |p| format!(" (p = {p:.3})"));
            format!("{:+.1}{std}{p}", found.difference.mean)
        };
        match (gain(at), gain(at + 1)) {
            (Some(ade), Some(fde)) => format!("{} / {}", one(&ade), one(&fde)),
            _ => String::new(),
        }
    };
    let errors = published.filter(|_| learner == ORIGINAL).map(|published| published.0);
    let published_gain = published.and_then(|(_, [dgm, dgg])| match learner {
        "dgm" => Some(dgm),
        "dgg" => Some(dgg),
        _ => None,
    });
    let extras = [
        gains(0),
        gains(2),
        or_dash(errors, |[ade, fde]| format!("{ade:.2} / {fde:.2}")),
        or_dash(published_gain, |[ade, fde]| format!("{ade:+.1} / {fde:+.1}")),
    ];
    Ok(cells(names, [pair(0)?, pair(2)?, pair(4)?], error(0)?.n, extras))
}

#[cfg(test)]
mod tests;
