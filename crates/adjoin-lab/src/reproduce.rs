//! Published tables, run again.

use crate::{Error, Result};
use std::path::PathBuf;

/// The tables that can be reproduced, with what each holds.
pub const TABLES: [(&str, &str); 2] = [
    ("ablation", "the parts of the generator left out one by one (Table 1)"),
    ("node", "node classification on Cora, Citeseer and Pubmed (Table 2)"),
];

/// How to reproduce a table.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seeds per cell.
    pub seeds: u64,
    /// Threads to use in all.
    pub threads: usize,
    /// Where data is looked for first.
    pub data_dir: Option<PathBuf>,
}

/// Runs a table and gives it back as Markdown; `log` is told how far it is.
///
/// # Errors
/// If there is no such table, or a run of it fails.
pub fn run(table: &str, _options: &Options, _log: &dyn Fn(&str)) -> Result<String> {
    let names = TABLES.map(|(name, _)| name).join(", ");
    let what = match TABLES.iter().any(|(name, _)| *name == table) {
        true => format!("the table {table:?} cannot be reproduced yet"),
        false => format!("there is no table {table:?}; choose one of {names}"),
    };
    Err(Error::Config { place: "reproduce".into(), what })
}
