//! `adjoin evaluate`.

use super::{
    print_json,
    summary::{known, shown},
};
use crate::{
    failure::{Done, Failure, print},
    table::{number, spread, table},
};
use adjoin_data::{Locations, trajectory};
use adjoin_lab::{
    run::{self, Trained},
    stats::summary,
    task::{Dataset, Metrics, Purpose, Task},
    tasks::trajectory::evaluate_published,
    with_task,
};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The seed of the samples for weights that come without one.
const SEED: u64 = 0;

/// Measure the trained models of a run again, from its checkpoints
///
/// Uses the weights of the best validation epoch of every seed and the test data of the run's own
/// split. With --dataset, other data with the same features and classes, or, for trajectories, the same
/// numbers of steps: of a graph the test nodes of its own split, or, without one, all nodes with a label, and
/// of a CSV file of trajectories all of it.
///
/// Of a graph with planted neighbourhoods or injected edges (`adjoin data generate --planted`, `adjoin data
/// convert --wrong-edges`) also: AUC of the learned weights, and rank correlation of the learned sizes with the
/// planted numbers.
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
    #[arg(long, value_name = "NAME|PATH")]
    dataset: Option<String>,
    /// Look for data here first
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Score<M> {
    seed: u64,
    valid: Option<M>,
    test: M,
}

#[derive(Serialize)]
struct Json<'a, M> {
    task: &'a str,
    dataset: &'a str,
    split: String,
    split_hash: String,
    backbone: &'a str,
    learner: &'a str,
    runs: &'a [Score<M>],
}

impl Evaluate {
    /// Runs the command.
    pub fn run(self) -> Done {
        match (&self.weights, &self.run) {
            (Some(weights), _) => self.published(weights),
            (None, Some(run)) => {
                with_task!(run::task(run)?.as_str(), T => self.trained::<T>(run))
            }
            (None, None) => Err(Failure::Usage("name a run, or --weights".into())),
        }
    }

    fn trained<T: Task>(&self, run: &Path) -> Done {
        let other = self.dataset.as_deref().map(|name| (name, Purpose::Compare));
        let trained = Trained::<T>::open(run, other, self.data_dir.clone())?;
        let score = |seed: u64| {
            let (valid, test) = trained.scores(seed)?;
            Ok(Score { seed, valid, test })
        };
        let seeds = trained.seeds().into_iter();
        let scores = seeds.map(score).collect::<Result<Vec<_>, Failure>>()?;
        let (data, record) = (&trained.data, &trained.record);
        if self.json {
            return print_json(&Json {
                task: T::NAME,
                dataset: data.name(),
                split: data.split(),
                split_hash: data.split_hash(),
                backbone: &record.backbone,
                learner: &record.learner,
                runs: &scores,
            });
        }
        let columns = shown::<T>();
        let main = T::Metrics::COLUMNS[0].measure;
        let mut rows = vec![vec!["seed".to_string(), "validation".into()]];
        rows[0].extend(columns.iter().map(|(_, column)| column.title.to_string()));
        for Score { seed, valid, test } in &scores {
            let valid = valid.as_ref().map_or("-".into(), |valid| number(main, valid.value()));
            let mut row = vec![seed.to_string(), valid];
            let values = test.values();
            row.extend(columns.iter().map(|(at, column)| number(column.measure, values[*at])));
            rows.push(row);
        }
        let valid: Vec<f64> =
            scores.iter().filter_map(|s| s.valid.as_ref()).map(Metrics::value).collect();
        let mut row = vec!["mean".to_string(), spread(main, summary(&valid))];
        row.extend(columns.iter().map(|(at, column)| {
            let tests: Vec<f64> = scores.iter().map(|score| score.test.values()[*at]).collect();
            spread(column.measure, summary(&tests))
        }));
        rows.push(row);
        let split = match data.split().is_empty() {
            true => String::new(),
            false => format!(" on split {} ({})", data.split(), data.split_hash()),
        };
        let details = scores.iter().map(|score| score.test.details()).collect::<Vec<_>>();
        let known = known(&[(record.learner.clone(), run::details(&details))]);
        print(format!(
            "{} with {}, learner {}{split}: test results in {}\n\n{}{known}",
            data.name(),
            record.backbone,
            record.learner,
            main.unit,
            table(&rows)
        ))
    }

    /// Weights of the authors of Social-STGCNN.
    fn published(&self, weights: &Path) -> Done {
        let name = self.dataset.as_deref().unwrap_or_default();
        let locations = Locations::from_environment(self.data_dir.clone());
        let dataset = trajectory::load(name, &locations)?;
        let test = evaluate_published(weights, &dataset, SEED)?;
        if self.json {
            let runs = &[Score { seed: SEED, valid: None, test }];
            return print_json(&Json {
                task: "trajectory",
                dataset: &dataset.name,
                split: String::new(),
                split_hash: dataset.fingerprint(),
                backbone: "social-stgcnn",
                learner: "kernel",
                runs,
            });
        }
        let ways = [test.per_agent, test.per_scene, test.likely];
        let cells = ways.map(|way| format!("{:.3} / {:.3}", way.ade, way.fde));
        let titles = ["per agent", "per scene", "most likely"].map(String::from);
        print(format!(
            "{} with the published weights of social-stgcnn: test errors ADE / FDE in metres\n\n{}",
            dataset.name,
            table(&[titles.to_vec(), cells.to_vec()])
        ))
    }
}
