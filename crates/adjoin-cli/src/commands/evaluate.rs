//! `adjoin evaluate`.

use crate::{
    failure::{Done, Failure, print},
    table::{mean_deviation, percent, table},
};
use adjoin_lab::{node::Trained, record::summary};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Measure the trained models of a run again, from its checkpoints
///
/// Uses the weights of the best validation epoch of every seed and the test nodes of the run's own
/// split. With --dataset, other data with the same features and classes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin evaluate runs/cora-gcn-dgg
  adjoin evaluate runs/cora-gcn-none_dgg/dgg --json
      one of several learners that were trained together
  adjoin evaluate runs/mine-gcn-dgg --dataset ./newer-graph")]
pub struct Evaluate {
    /// Folder of the run
    run: PathBuf,
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
    valid: f64,
    test: f64,
}

#[derive(Serialize)]
struct Json<'a> {
    dataset: &'a str,
    split: &'a str,
    learner: &'a str,
    metric: &'a str,
    runs: &'a [Score],
}

impl Evaluate {
    /// Runs the command.
    pub fn run(self) -> Done {
        let trained = Trained::open(&self.run, self.dataset.as_deref(), self.data_dir.as_deref())?;
        let score = |&seed: &u64| {
            let (valid, test) = trained.scores(&trained.evaluate(seed)?)?;
            Ok(Score { seed, valid, test })
        };
        let scores = trained.seeds.iter().map(score).collect::<Result<Vec<Score>, Failure>>()?;
        if self.json {
            let json = Json {
                dataset: &trained.dataset.name,
                split: &trained.split.name,
                learner: &trained.learner,
                metric: "accuracy",
                runs: &scores,
            };
            let text = serde_json::to_string_pretty(&json);
            return print(text.map_err(|error| Failure::Failed(error.to_string()))? + "\n");
        }
        let mut rows = vec![["seed", "validation", "test"].map(String::from).to_vec()];
        for Score { seed, valid, test } in &scores {
            rows.push(vec![seed.to_string(), percent(*valid), percent(*test)]);
        }
        let column = |pick: fn(&Score) -> f64| {
            let values: Vec<f64> = scores.iter().map(pick).collect();
            summary(&values).map_or_else(String::new, mean_deviation)
        };
        rows.push(vec!["mean".into(), column(|score| score.valid), column(|score| score.test)]);
        print(format!(
            "{} with learner {} on split {}: accuracy in per cent\n\n{}",
            trained.dataset.name,
            trained.learner,
            trained.split.name,
            table(&rows)
        ))
    }
}
