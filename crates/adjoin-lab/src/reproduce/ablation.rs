//! Table 1 of the paper: parts of the generator switched off, GCN on Cora, task loss alone.
//!
//! The table is about the two noises and the learned degree. So both noises are on, nothing else
//! leaves edges out, nothing is believed or trained beforehand, and the candidates are the input edges,
//! whatever the preset says.

use super::{Options, Row, Table, check_names, generator, measure, wanted};
use crate::{
    Result,
    node::{Guides, Observer},
    presets,
};
use adjoin::{DggConfig, dgg::DegreeConfig};

/// A row: its name, the published accuracy, and what is changed.
type Ablation = (&'static str, f64, fn(DggConfig) -> DggConfig);

const ROWS: [Ablation; 8] = [
    ("fixed k = 1", 49.7, |dgg| dgg.with_fixed_degree(1.0)),
    ("fixed k = 5", 78.9, |dgg| dgg.with_fixed_degree(5.0)),
    ("fixed k = 10", 55.0, |dgg| dgg.with_fixed_degree(10.0)),
    ("fixed k = 100", 37.0, |dgg| dgg.with_fixed_degree(100.0)),
    ("deterministic edges and degrees", 82.4, |dgg| {
        dgg.without_edge_noise().without_degree_noise()
    }),
    ("deterministic edges", 82.7, DggConfig::without_edge_noise),
    ("deterministic degrees", 82.8, DggConfig::without_degree_noise),
    ("DGG", 83.2, |dgg| dgg),
];

pub(super) fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table<Row>> {
    let learners = ROWS.map(|(name, ..)| name);
    check_names(options, [&["cora"], &["gcn"], &learners])?;
    options.check_settings(std::iter::once(presets::config("cora", "gcn", "dgg")))?;
    let dataset = adjoin_data::load("cora", &options.locations)?;
    let mut table = Table::new("Ablation: GCN on Cora, public split, task loss alone");
    let wished = |row: &Ablation| wanted(&options.learners, row.0);
    for (name, published, change) in ROWS.into_iter().filter(wished) {
        let mut config = presets::config("cora", "gcn", "dgg")?;
        let dgg = generator(&mut config)?;
        let degree = DegreeConfig { stochastic: true, ..dgg.degree.clone() };
        let (augment, agreement, edge_dropout) = (None, false, 0.0);
        let base = DggConfig { augment, agreement, edge_dropout, degree, ..dgg.clone() };
        *dgg = change(base);
        config.train.from_guide = false;
        let config = options.on_top(config)?;
        let (cell, guides) = (["ablation", name], &mut Guides::default());
        let (ours, _) = measure(&dataset, &config, &cell, options, observer, guides)?;
        let row = Row {
            backbone: "gcn".into(),
            learner: name.into(),
            dataset: "cora".into(),
            ours,
            gain: None,
            published: Some(published / 100.0),
        };
        done(&row);
        table.rows.push(row);
    }
    Ok(table)
}
