//! `adjoin predict`.

use super::deliver;
use crate::failure::{Done, Failure};
use adjoin_data::trajectory::Purpose;
use adjoin_lab::{
    Config, export,
    node::Trained,
    plan::Layered,
    points::{PointsConfig, PointsTrained},
    run,
    trajectory::{MOST_SAMPLES, TrajectorySetup, TrajectoryTrained},
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
        let task = run::task(&self.run)?;
        if self.samples.is_some() && task != TrajectorySetup::TASK {
            return Err(Failure::Usage("--samples is for trajectories".into()));
        }
        if self.probabilities && task != Config::TASK {
            return Err(Failure::Usage("--probabilities is for nodes".into()));
        }
        let text = match task.as_str() {
            TrajectorySetup::TASK => self.paths()?,
            PointsConfig::TASK => self.clouds()?,
            _ => self.classes()?,
        };
        deliver(text.as_bytes(), self.out.as_deref(), self.overwrite)
    }

    fn classes(&self) -> Result<String, Failure> {
        let trained = Trained::open(&self.run, self.dataset.as_deref(), self.data_dir.as_deref())?;
        let record = run::record::<Config>(&self.run)?;
        let seeds = record.seeds.iter().map(|seed| (seed.seed, -seed.valid));
        let evaluation = trained.evaluate(self.seed(seeds)?)?;
        Ok(export::predictions_csv(&trained.dataset, &evaluation, self.probabilities))
    }

    fn paths(&self) -> Result<String, Failure> {
        let other = self.dataset.as_deref().map(|name| (name, Purpose::Predict));
        let trained = TrajectoryTrained::open(&self.run, other, self.data_dir.as_deref())?;
        let record = run::record::<TrajectorySetup>(&self.run)?;
        let seed = self.seed(record.seeds.iter().map(|seed| (seed.seed, seed.valid)))?;
        Ok(trained.predictions(seed, self.samples.map_or(trained.samples(), usize::from))?)
    }

    fn clouds(&self) -> Result<String, Failure> {
        let (dataset, data_dir) = (self.dataset.as_deref(), self.data_dir.as_deref());
        let trained = PointsTrained::open(&self.run, dataset, data_dir)?;
        let seeds = trained.record.run.seeds.iter().map(|seed| (seed.seed, -seed.valid));
        Ok(trained.predictions(self.seed(seeds)?)?)
    }

    /// The seed that was named, or else the one with the least validation error.
    fn seed(&self, seeds: impl Iterator<Item = (u64, f64)>) -> Result<u64, Failure> {
        let best = || seeds.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(seed, _)| seed);
        let seed = self.seed.or_else(best);
        seed.ok_or_else(|| Failure::Failed("the run has no seed".into()))
    }
}
