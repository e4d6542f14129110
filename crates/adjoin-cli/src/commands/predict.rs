//! `adjoin predict`.

use super::deliver;
use crate::failure::Done;
use adjoin_lab::{
    run::{self, Trained},
    task::{Predictions, Purpose, Task},
    tasks::trajectory::MOST_SAMPLES,
    with_task,
};
use clap::Args;
use std::path::PathBuf;

/// Write predictions as CSV: classes of nodes or of point clouds, or paths of the agents
///
/// Uses the seed with the best validation result, unless another is named. Nodes are written as id,
/// predicted, probability; test clouds as cloud, class, predicted, probability. Trajectories are written for
/// the test scenes as scene, frame, agent, sample, x, y: frames are counted from the first observed one
/// as 0, samples from 0, and the most likely path has the sample `likely`. Of a CSV file named with
/// --dataset, everybody who is seen for as many steps as the model needs is predicted, from every frame.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin predict runs/cora-gcn-dgg | head
  adjoin predict runs/cora-gcn-dgg --out predictions.csv --seed 2
  adjoin predict runs/cora-gcn-dgg --probabilities --out soft.csv
  adjoin predict runs/mine-gcn-dgg --dataset ./newer-graph --out new.csv
  adjoin predict runs/crowd-social-stgcnn-dgg --samples 0 --out likely.csv
      the most likely paths alone
  adjoin predict runs/zara1-social-stgcnn-dgg --dataset ./seen-today.csv --out today.csv
      paths that go on from recordings of 8 steps or more
  adjoin predict runs/shapes-dgcnn-dgg --out shapes.csv
      classes of the test clouds")]
pub struct Predict {
    /// Folder of the run
    run: PathBuf,
    /// File to write [default: standard output]
    #[arg(long, value_name = "CSV")]
    out: Option<PathBuf>,
    /// The seed whose model is used [default: the best on validation]
    #[arg(long)]
    seed: Option<u64>,
    /// Probabilities of all classes besides, a column p_CLASS each, for nodes
    #[arg(long)]
    probabilities: bool,
    /// Sampled paths of every agent, for trajectories [default: as in the tests of the run]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..=MOST_SAMPLES as i64))]
    samples: Option<u16>,
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
        with_task!(run::task(&self.run)?.as_str(), T => self.of_task::<T>())
    }

    fn of_task<T: Task>(&self) -> Done {
        let other = self.dataset.as_deref().map(|name| (name, Purpose::Predict));
        let trained = Trained::<T>::open(&self.run, other, self.data_dir.clone())?;
        let seed = match self.seed {
            Some(seed) => seed,
            None => trained.best_seed()?,
        };
        let samples = self.samples.map(usize::from);
        let wanted = Predictions { probabilities: self.probabilities, samples };
        let text = trained.predictions(seed, &wanted)?;
        deliver(text.as_bytes(), self.out.as_deref(), self.overwrite)
    }
}
