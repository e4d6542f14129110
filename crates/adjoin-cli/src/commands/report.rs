//! `adjoin report`.

use crate::failure::{Done, print};
use adjoin_lab::{files, report, run};
use clap::Args;
use std::path::PathBuf;

/// Write one page on one or more runs: curves, degrees, neighbourhoods, comparison
///
/// The page is a single file without network requests; open it in any browser.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin report runs/cora-gcn-none runs/cora-gcn-dgg --out compare.html
  adjoin report runs/cora-gcn-none_dgg --out page.html
      all learners that were trained together")]
pub struct Report {
    /// Folders of runs
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// File to write
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    overwrite: bool,
}

impl Report {
    /// Runs the command.
    pub fn run(self) -> Done {
        let mut records = Vec::new();
        for folder in &self.runs {
            records.extend(run::records(folder)?.into_iter().map(|(_, record)| record));
        }
        let page = report::render(&records).map_err(adjoin_lab::Error::from)?;
        files::write_new(&self.out, page.as_bytes(), self.overwrite)?;
        print(format!("report: {}\n", self.out.display()))
    }
}
