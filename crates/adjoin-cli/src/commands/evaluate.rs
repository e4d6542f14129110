//! `adjoin evaluate`.

mod points;
mod trajectory;

use super::train::summary::Mean;
use crate::{
    failure::{Done, Failure, print},
    table::{mean_deviation, percent, table},
};
use adjoin_lab::{
    Config, node::Trained, plan::Layered, points::PointsConfig, record::summary, run,
    trajectory::TrajectorySetup,
};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Measure the trained models of a run again, from its checkpoints
///
/// Uses the weights of the best validation epoch of every seed and the test nodes of the run's own
/// split. With --dataset, other data with the same features and classes, or, for trajectories, the same
/// numbers of steps: of a graph the test nodes of its own split, or, without one, all nodes with a label, and
/// of a CSV file of trajectories all of it. Errors of trajectories are in metres. Of point clouds, accuracy
/// is given over all test clouds and as a mean over the classes.
///
/// With --weights instead of a run: Social-STGCNN with weights that its authors published, as safetensors
/// with the names of their PyTorch network, on the test scenes of --dataset.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin evaluate runs/cora-gcn-dgg
  adjoin evaluate runs/cora-gcn-none_dgg/dgg --json
      one of several learners that were trained together
  adjoin evaluate runs/mine-gcn-dgg --dataset ./newer-graph
  adjoin evaluate runs/eth-social-stgcnn-dgg --dataset zara1
  adjoin evaluate runs/shapes-dgcnn-knn_dgg/dgg --dataset ./my-shapes
      point clouds, in folders named after the same classes
  adjoin evaluate --weights social-stgcnn-eth.safetensors --dataset eth")]
pub struct Evaluate {
    /// Folder of the run
    #[arg(required_unless_present = "weights", conflicts_with = "weights")]
    run: Option<PathBuf>,
    /// Weights of the authors of Social-STGCNN to measure, on the test scenes of --dataset
    #[arg(long, value_name = "FILE", requires = "dataset")]
    weights: Option<PathBuf>,
    /// Other data to use
    #[arg(long, value_name = "NAME|DIR")]
    dataset: Option<String>,
    /// Look for data here first
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Score {
    seed: u64,
    valid: Option<f64>,
    test: f64,
}

#[derive(Serialize)]
struct Json<'a> {
    task: &'a str,
    dataset: &'a str,
    split: &'a str,
    split_hash: String,
    backbone: &'a str,
    learner: &'a str,
    metric: &'a str,
    runs: &'a [Score],
    test: Mean,
}

impl Evaluate {
    /// Runs the command.
    pub fn run(self) -> Done {
        match (&self.weights, &self.run) {
            (Some(weights), _) => trajectory::published(&self, weights),
            (None, Some(run)) => match run::task(run)?.as_str() {
                TrajectorySetup::TASK => trajectory::trained(&self, run),
                PointsConfig::TASK => points::trained(&self, run),
                _ => self.nodes(run),
            },
            (None, None) => Err(Failure::Usage("name a run, or --weights".into())),
        }
    }

    fn nodes(&self, run: &Path) -> Done {
        let trained = Trained::open(run, self.dataset.as_deref(), self.data_dir.as_deref())?;
        let score = |&seed: &u64| {
            let (valid, test) = trained.scores(&trained.evaluate(seed)?)?;
            Ok(Score { seed, valid, test })
        };
        let scores = trained.seeds.iter().map(score).collect::<Result<Vec<Score>, Failure>>()?;
        let tests: Vec<f64> = scores.iter().map(|score| score.test).collect();
        if self.json {
            let json = Json {
                task: Config::TASK,
                dataset: &trained.dataset.name,
                split: &trained.split.name,
                split_hash: trained.split.hash(),
                backbone: &trained.backbone,
                learner: &trained.learner,
                metric: "accuracy",
                runs: &scores,
                test: summary(&tests).into(),
            };
            return print_json(&json);
        }
        let mut rows = vec![["seed", "validation", "test"].map(String::from).to_vec()];
        let dash = || "-".to_string();
        for Score { seed, valid, test } in &scores {
            rows.push(vec![seed.to_string(), valid.map_or_else(dash, percent), percent(*test)]);
        }
        let column = |pick: fn(&Score) -> Option<f64>| {
            let values: Vec<f64> = scores.iter().filter_map(pick).collect();
            summary(&values).map_or_else(dash, mean_deviation)
        };
        rows.push(vec![
            "mean".into(),
            column(|score| score.valid),
            column(|score| Some(score.test)),
        ]);
        print(format!(
            "{} with learner {} on split {} ({}): accuracy in per cent\n\n{}",
            trained.dataset.name,
            trained.learner,
            trained.split.name,
            trained.split.hash(),
            table(&rows)
        ))
    }
}

fn print_json(json: &impl Serialize) -> Done {
    let text = serde_json::to_string_pretty(json);
    print(text.map_err(|error| Failure::Failed(error.to_string()))? + "\n")
}
