//! Published tables, with our own numbers beside them.

mod grid;
mod table;
mod tables;

pub use grid::Options;
pub use table::{Row, Table, heading, line};

use crate::{Error, Result, run::Observer};

/// Names of the tables, with what they show.
pub const TABLES: [(&str, &str); 7] = [
    (
        "structure",
        "what learned neighbourhoods are worth: damaged, misleading, missing and clean graphs, with controls",
    ),
    ("ablation", "Table 1: parts of the generator switched off, GCN on Cora"),
    ("node", "Table 2: learners on four networks, Cora, Citeseer, Pubmed"),
    ("trajectory", "Tables 5 and 6: paths of pedestrians and basketball players"),
    ("points", "Table 7: learners on two networks, ModelNet40"),
    ("corrupted", "point clouds that are damaged in tests only, ModelNet10"),
    ("distractors", "a crowd with people who interact with nobody, and pedestrians"),
];

/// Reproduces a table by name; `done` is called with every finished row.
///
/// # Errors
/// If there is no such table, a name is not in it, data is missing, or a run fails.
pub fn run(
    table: &str,
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table> {
    match table {
        "structure" => tables::structure::run(options, observer, done),
        "ablation" => tables::ablation::run(options, observer, done),
        "node" => tables::node::run(options, observer, done),
        "trajectory" => tables::trajectory::run(options, observer, done),
        "points" => tables::points::run(options, observer, done),
        "corrupted" => tables::corrupted::run(options, observer, done),
        "distractors" => tables::distractors::run(options, observer, done),
        other => {
            let names = TABLES.map(|(name, _)| name).join(", ");
            let what = format!("there is no table `{other}`; choose one of {names}");
            Err(Error::Config { place: "reproduce".into(), what })
        }
    }
}
