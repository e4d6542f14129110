//! `adjoin reproduce`.

use super::{all_threads, command_line, deliver};
use crate::{
    failure::Done,
    progress::{Show, Watch, catch_interrupts},
};
use adjoin_data::Locations;
use adjoin_lab::{
    clock,
    reproduce::{self, Options, Row, TABLES, Table},
};
use clap::{Args, builder::PossibleValuesParser};
use std::path::PathBuf;

/// Run a published table again: ours (mean, deviation, seeds), published, difference
///
/// Tables: ablation (Table 1 of the paper, the parts of the generator), node (Table 2, node
/// classification on Cora, Citeseer and Pubmed) and points (Table 7, point clouds of ModelNet40; with
/// --reduced in about an hour on two cores, without in weeks). Rows are shown as they are finished; the result is
/// Markdown.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin reproduce ablation
  adjoin reproduce node --datasets cora --backbones gcn,gat --seeds 3
      a part of the table, quickly
  adjoin reproduce node --seeds 10 --out table2.md
  adjoin reproduce points --reduced
      fewer clouds, points and epochs, the same for every row; three seeds")]
pub struct Reproduce {
    /// Which table
    #[arg(value_parser = PossibleValuesParser::new(TABLES))]
    table: String,
    /// Seeds of every row [default: 10; of points 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: Option<u64>,
    /// The smaller setting of a table that has one (points)
    #[arg(long)]
    reduced: bool,
    /// Only these datasets, with commas between
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    datasets: Vec<String>,
    /// Only these backbones
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    backbones: Vec<String>,
    /// Only these learners
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    learners: Vec<String>,
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
        let seeds = self.seeds.unwrap_or(if self.table == "points" { 3 } else { 10 });
        let options = Options {
            seeds: (0..seeds).collect(),
            reduced: self.reduced,
            threads: self.threads.map_or_else(all_threads, usize::from),
            locations: Locations::from_environment(self.data_dir),
            datasets: self.datasets,
            backbones: self.backbones,
            learners: self.learners,
        };
        catch_interrupts();
        if !self.quiet {
            eprintln!("{}", Table::HEADING);
        }
        let mut done = |row: &Row| {
            if !self.quiet {
                eprintln!("{}", row.to_markdown());
            }
        };
        // Rows are progress enough; the watch is there for Ctrl-C.
        let watch = Watch::new(&self.table, Show::Nothing);
        let table = reproduce::run(&self.table, &options, &watch, &mut done)?;
        let text = table.to_markdown(&command_line(), &clock::now_utc());
        deliver(text.as_bytes(), self.out.as_deref(), self.overwrite)
    }
}
