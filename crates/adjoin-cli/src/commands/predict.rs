//! `adjoin predict`.

use super::deliver;
use crate::failure::{Done, Failure};
use adjoin_lab::{export, node::Trained, run};
use clap::Args;
use std::path::PathBuf;

/// Write the predicted class of every node as CSV: id, predicted, probability
///
/// Uses the seed with the best validation result, unless another is named.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin predict runs/cora-gcn-dgg | head
  adjoin predict runs/cora-gcn-dgg --out predictions.csv --seed 2
  adjoin predict runs/mine-gcn-dgg --dataset ./newer-graph --out new.csv")]
pub struct Predict {
    /// Folder of the run
    run: PathBuf,
    /// File to write [default: standard output]
    #[arg(long, value_name = "CSV")]
    out: Option<PathBuf>,
    /// The seed whose model is used [default: the best on validation]
    #[arg(long)]
    seed: Option<u64>,
    /// Other data to use
    #[arg(long, value_name = "NAME|DIR")]
    dataset: Option<String>,
    /// Look for data here first
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    overwrite: bool,
}

impl Predict {
    /// Runs the command.
    pub fn run(self) -> Done {
        let trained = Trained::open(&self.run, self.dataset.as_deref(), self.data_dir.as_deref())?;
        let seed = match self.seed {
            Some(seed) => seed,
            None => {
                let record = run::record(&self.run)?;
                let best = record.seeds.iter().max_by(|a, b| a.valid.total_cmp(&b.valid));
                best.ok_or_else(|| Failure::Failed("the run has no seed".into()))?.seed
            }
        };
        let text = export::predictions_csv(&trained.dataset, &trained.evaluate(seed)?);
        deliver(text.as_bytes(), self.out.as_deref(), self.overwrite)
    }
}
