//! Table 1 of the paper: parts of the generator switched off, GCN on Cora, task loss alone.
//!
//! The table is about the two noises and the learned degree. So both noises are on, nothing else leaves edges
//! out, there is no teacher, and the candidates are the input edges, whatever the defaults say.

use super::{accuracy, first, source};
use crate::{
    Error, Result,
    reproduce::{Options, Row, Table, grid::Cell},
    run::{Observer, Teachers},
    settings::Layers,
    task::Task,
    tasks::{Node, node::NodeConfig},
};
use adjoin::{DggConfig, dgg::DegreeConfig, learner::LearnerConfig};

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

fn layers(change: fn(DggConfig) -> DggConfig) -> Result<Layers<NodeConfig>> {
    let base = Node::named("gcn", "dgg")?;
    let mut config = base.config.clone();
    let LearnerConfig::Dgg(dgg) = &mut config.learner else {
        let what = "needs the generator".into();
        return Err(Error::Config { place: "ablation".into(), what });
    };
    let degree = DegreeConfig { stochastic: true, ..dgg.degree.clone() };
    let (augment, agreement, edge_dropout) = (None, false, 0.0);
    let plain = DggConfig { augment, agreement, edge_dropout, degree, ..(**dgg).clone() };
    **dgg = change(plain);
    config.teacher.resume = false;
    Ok(base.changed("ablation", config))
}

pub fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table> {
    options.check_names([&["cora"], &["gcn"], &ROWS.map(|(name, ..)| name)])?;
    let rows = ROWS.into_iter().filter(|(name, ..)| options.wants(["cora", "gcn", name]));
    let rows: Vec<Ablation> = rows.collect();
    let configs = rows.iter().map(|(_, _, change)| layers(*change)).collect::<Result<Vec<_>>>()?;
    let data = Node::load(&source("cora", Some("public"), &options.locations))?;
    let mut table = Table::new("Ablation: GCN on Cora, public split, task loss alone");
    for ((name, published, _), layers) in rows.into_iter().zip(options.on_top(configs)?) {
        let cell = Cell::<Node> { names: vec!["ablation", name], data: &data, layers };
        let record = options.measure(&cell, observer, &mut Teachers::default())?;
        let ours = first(record.test(0))?;
        let row = accuracy(["cora", "gcn", name], &ours, None, Some(published / 100.0));
        done(&row);
        table.rows.push(row);
    }
    table.not_empty()
}
