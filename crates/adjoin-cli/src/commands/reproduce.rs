//! `adjoin reproduce`.

use super::{all_threads, command_line, deliver};
use crate::{
    failure::{Done, Failure},
    progress::{Show, Watch, catch_interrupts},
};
use adjoin_data::Locations;
use adjoin_lab::{
    clock, files,
    reproduce::{self, Options, Row, TABLES},
};
use clap::{Args, builder::PossibleValuesParser};
use std::path::PathBuf;

/// Run a published table again: ours (mean, standard deviation, seeds), published, difference
///
/// Tables: ablation (Table 1 of the paper, the parts of the generator), node (Table 2, node
/// classification on Cora, Citeseer and Pubmed), trajectory (Tables 5 and 6, paths of pedestrians and
/// basketball players) and points (Table 7, point clouds of ModelNet40; with --reduced in under an hour on
/// two cores, without in weeks). Two tables are not in the paper: corrupted (clouds of ModelNet10 that are
/// damaged in tests only; datasets are kinds of damage) and distractors (a crowd among people who interact
/// with nobody, and pedestrians). Rows are shown as they are finished; the result is Markdown.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin reproduce ablation
  adjoin reproduce node --datasets cora --backbones gcn,gat --seeds 3
      a part of the table, quickly
  adjoin reproduce node --seeds 10 --keep cells --out table2.md
      what is finished stays in the folder, and is not run again the next time
  adjoin reproduce trajectory --datasets eth,hotel,univ,zara1,zara2 --seeds 3 --keep cells
  adjoin reproduce trajectory --datasets sdd --learners kernel,dgg --epochs 10 --seeds 1
      a quick look; the result says that its settings are reduced
  adjoin reproduce trajectory --reduced --datasets nba-atk-20,nba-def-20 --epochs 4 --seeds 3
      basketball with at most 2400 scenes to train with
  adjoin reproduce points --reduced
      fewer clouds, points and epochs, the same for every row; three seeds
  adjoin reproduce corrupted --keep cells
  adjoin reproduce distractors --reduced --datasets crowd-0,crowd-16 --learners isolated,dgg
      numbers of validation scenes, to choose settings by")]
pub struct Reproduce {
    /// Which table
    #[arg(value_parser = PossibleValuesParser::new(TABLES.map(|(name, _)| name)))]
    table: String,
    /// Seeds of every row [default: 10; of points, corrupted and distractors 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: Option<u64>,
    /// The first seed; the others follow it
    #[arg(long, value_name = "K", default_value_t = 0)]
    first_seed: u64,
    /// Change one setting, for all rows that have it (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The smaller setting of a table that has one: fewer clouds, points and epochs, or fewer scenes; of
    /// corrupted and distractors the numbers of validation data, to choose settings by
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
    /// Train for so many epochs instead of the recipe's, where the table is of trajectories
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    epochs: Option<u32>,
    /// Keep what is finished here, and resume from what is there: a table that was stopped, or more seeds
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
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
        let (trajectories, points) = (self.table == "trajectory", self.table == "points");
        if !trajectories && self.epochs.is_some() {
            return Err(Failure::Usage("--epochs is for the table trajectory".into()));
        }
        let validated = ["corrupted", "distractors"].contains(&self.table.as_str());
        if !(points || trajectories || validated) && self.reduced {
            let what = "--reduced is for the tables trajectory, points, corrupted and distractors";
            return Err(Failure::Usage(what.into()));
        }
        if let Some(out) = &self.out {
            files::check_new(out, self.overwrite)?;
        }
        let seeds = self.seeds.unwrap_or(if points || validated { 3 } else { 10 });
        let options = Options {
            seeds: super::seeds(self.first_seed, seeds)?,
            settings: self.set.clone(),
            reduced: self.reduced,
            threads: self.threads.map_or_else(all_threads, usize::from),
            locations: Locations::from_environment(self.data_dir.clone()),
            datasets: self.datasets.clone(),
            backbones: self.backbones.clone(),
            learners: self.learners.clone(),
            epochs: self.epochs.map(|epochs| epochs as usize),
            keep: self.keep.clone(),
        };
        catch_interrupts();
        // Rows are progress enough; the watch is there for Ctrl-C.
        let watch = Watch::new(&self.table, Show::Nothing);
        let mut first = true;
        let mut done = |row: &Row| {
            if !self.quiet {
                if std::mem::take(&mut first) {
                    eprintln!("{}", reproduce::heading(row));
                }
                eprintln!("{}", reproduce::line(row));
            }
        };
        let table = reproduce::run(&self.table, &options, &watch, &mut done)?;
        let text = table.to_markdown(&command_line(), &clock::now_utc());
        deliver(text.as_bytes(), self.out.as_deref(), self.overwrite)
    }
}
