//! `adjoin reproduce`.

use super::{all_threads, deliver};
use crate::failure::Done;
use adjoin_lab::reproduce::{self, Options};
use clap::Args;
use std::path::PathBuf;

/// Run a published table again: ours (mean, deviation, seeds), published, difference
///
/// Tables: ablation (Table 1, the parts of the generator), node (Table 2, node classification on Cora,
/// Citeseer and Pubmed). The result is Markdown.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin reproduce ablation
  adjoin reproduce node --seeds 10 --out table2.md")]
pub struct Reproduce {
    /// ablation or node
    table: String,
    /// Seeds per cell
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Look for data here first
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    overwrite: bool,
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Say nothing on the way
    #[arg(long, short)]
    quiet: bool,
}

impl Reproduce {
    /// Runs the command.
    pub fn run(self) -> Done {
        let options = Options {
            seeds: self.seeds,
            threads: self.threads.map_or_else(all_threads, usize::from),
            data_dir: self.data_dir.clone(),
        };
        let log = |line: &str| {
            if !self.quiet {
                eprintln!("{line}");
            }
        };
        let text = reproduce::run(&self.table, &options, &log)?;
        deliver(text.as_bytes(), self.out.as_deref(), self.overwrite)
    }
}
