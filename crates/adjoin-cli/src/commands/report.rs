//! `adjoin report`.

use crate::failure::{Done, Failure, print};
use adjoin_lab::{
    files,
    report::{self, Reportable},
    run, with_task,
};
use clap::Args;
use std::path::PathBuf;

/// Write one page on one or more runs: curves, degrees, neighbourhoods, scenes or shapes, comparison
///
/// The page is a single file without network requests; open it in any browser.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin report runs/cora-gcn-none runs/cora-gcn-dgg --out compare.html
  adjoin report runs/cora-gcn-none_dgg --out page.html
      all learners that were trained together
  adjoin report runs/crowd-social-stgcnn-kernel_dgg --out crowd.html
      trajectories: scenes that move, with predictions and graphs
  adjoin report runs/shapes-dgcnn-knn_dgg --out shapes.html
      point clouds: shapes that can be turned, with the degrees of their points")]
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
        let tasks = self.runs.iter().map(|folder| run::task(folder));
        let mut tasks = tasks.collect::<Result<Vec<String>, adjoin_lab::Error>>()?;
        tasks.dedup();
        let [task] = &tasks[..] else {
            let what = "the runs are of different tasks: write one page for each task";
            return Err(Failure::Usage(what.into()));
        };
        let page: String = with_task!(task.as_str(), T => self.page::<T>())?;
        files::write_new(&self.out, page.as_bytes(), self.overwrite)?;
        print(format!("report: {}\n", self.out.display()))
    }

    fn page<T: Reportable>(&self) -> Result<String, Failure> {
        let mut records = Vec::new();
        for folder in &self.runs {
            records.extend(run::records::<T>(folder)?);
        }
        Ok(report::render(&records).map_err(adjoin_lab::Error::from)?)
    }
}
