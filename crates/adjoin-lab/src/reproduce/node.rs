//! Table 2 of the paper: learners on four backbones, citation graphs, public split.

use super::{Options, Row, Table, check_names, measure, wanted};
use crate::{
    Result,
    node::{Guides, Observer},
    presets,
    record::paired,
};

const DATASETS: [&str; 3] = ["cora", "citeseer", "pubmed"];

/// Learners of the table, the fixed graph that the generator's preset starts from, and the ones that
/// compare like with like under consistency.
const LEARNERS: [&str; 8] = [
    "none",
    "pagerank",
    "dropedge",
    "dgg",
    "dgg-star",
    "none+consistency",
    "dropedge+consistency",
    "dgg+consistency",
];

/// Published accuracy on Cora, Citeseer and Pubmed.
fn published(backbone: &str, learner: &str) -> Option<[f64; 3]> {
    Some(match (backbone, learner) {
        ("gcn", "none") => [81.1, 70.3, 79.0],
        ("gcn", "dropedge") => [80.9, 72.2, 78.5],
        ("gcn", "dgg") => [83.2, 72.6, 80.2],
        ("gcn", "dgg-star") => [84.1, 74.9, 84.0],
        ("sage", "none") => [79.2, 67.6, 76.7],
        ("sage", "dgg") => [79.4, 68.2, 77.6],
        ("sage", "dgg-star") => [80.5, 70.8, 80.2],
        ("gat", "none") => [83.0, 72.1, 79.0],
        ("gat", "dropedge") => [83.2, 70.9, 77.9],
        ("gat", "dgg") => [84.6, 73.2, 79.7],
        ("gat", "dgg-star") => [85.3, 76.4, 82.0],
        ("gcnii", "none") => [85.3, 73.2, 80.2],
        ("gcnii", "dropedge") => [84.9, 73.4, 79.4],
        ("gcnii", "dgg") => [86.9, 74.5, 81.5],
        ("gcnii", "dgg-star") => [87.8, 75.7, 81.9],
        _ => return None,
    })
}

pub(super) fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table<Row>> {
    check_names(options, [&DATASETS, &presets::BACKBONES, &LEARNERS])?;
    let backbones = || presets::BACKBONES.into_iter().filter(|b| wanted(&options.backbones, b));
    let learners = || LEARNERS.into_iter().filter(|l| wanted(&options.learners, l));
    let cells = backbones().flat_map(|backbone| learners().map(move |learner| (backbone, learner)));
    options.check_settings(
        cells.map(|(backbone, learner)| presets::config(DATASETS[0], backbone, learner)),
    )?;
    let mut table = Table::new("Node classification, public split");
    // All data first: what is missing is better said before hours of work than after.
    let datasets = DATASETS.into_iter().enumerate().filter(|(_, d)| wanted(&options.datasets, d));
    let load = |(at, name)| Ok((at, name, adjoin_data::load(name, &options.locations)?));
    for (at, name, dataset) in datasets.map(load).collect::<Result<Vec<_>>>()? {
        for backbone in backbones() {
            // Gains are over the plain backbone, or the plain backbone with consistency.
            let mut plain: [Option<Vec<f64>>; 2] = [None, None];
            let mut guides = Guides::default();
            for learner in learners() {
                let config = options.on_top(presets::config(name, backbone, learner)?)?;
                let cell = [name, backbone, learner];
                let (ours, tests) =
                    measure(&dataset, &config, &cell, options, observer, &mut guides)?;
                let baseline = &mut plain[usize::from(learner.ends_with("+consistency"))];
                let gain = baseline.as_ref().and_then(|baseline| {
                    let pairs: Vec<_> =
                        tests.iter().copied().zip(baseline.iter().copied()).collect();
                    paired(&pairs)
                });
                if learner.starts_with("none") {
                    *baseline = Some(tests);
                }
                let row = Row {
                    backbone: backbone.into(),
                    learner: learner.into(),
                    dataset: name.into(),
                    ours,
                    gain,
                    published: published(backbone, learner).map(|numbers| numbers[at] / 100.0),
                };
                done(&row);
                table.rows.push(row);
            }
        }
    }
    table.not_empty()
}
