//! `adjoin report`.

use crate::failure::{Done, Failure, print};
use adjoin_lab::{
    Config, files, plan::Layered, points::PointsConfig, report, run, trajectory::TrajectorySetup,
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
        let page = match &tasks[..] {
            [task] if task == TrajectorySetup::TASK => {
                report::render_trajectories(&self.records::<TrajectorySetup>()?)
            }
            [task] if task == PointsConfig::TASK => {
                report::render_points(&self.records::<PointsConfig>()?)
            }
            [_] => report::render(&self.records::<Config>()?),
            _ => {
                let what = "the runs are of different tasks: write one page for each task";
                return Err(Failure::Usage(what.into()));
            }
        };
        let page = page.map_err(adjoin_lab::Error::from)?;
        files::write_new(&self.out, page.as_bytes(), self.overwrite)?;
        print(format!("report: {}\n", self.out.display()))
    }

    fn records<C: Layered>(&self) -> Result<Vec<C::Record>, Failure> {
        let mut records = Vec::new();
        for folder in &self.runs {
            records.extend(run::records::<C>(folder)?.into_iter().map(|(_, record)| record));
        }
        Ok(records)
    }
}
