//! `adjoin evaluate` on point clouds.

use super::{Evaluate, print_json};
use crate::{
    failure::{Done, Failure, print},
    table::{mean_deviation, percent, table},
};
use adjoin_lab::{
    plan::Layered,
    points::{PointsConfig, PointsTrained},
    record::summary,
};
use serde::Serialize;
use std::path::Path;

#[derive(Serialize)]
struct Score {
    seed: u64,
    test: f64,
    mean_class: f64,
}

#[derive(Serialize)]
struct Json<'a> {
    task: &'a str,
    dataset: &'a str,
    split: &'a str,
    backbone: &'a str,
    learner: &'a str,
    metric: &'a str,
    runs: &'a [Score],
}

/// The models of a run.
pub fn trained(evaluate: &Evaluate, run: &Path) -> Done {
    let Evaluate { dataset, data_dir, json, .. } = evaluate;
    let trained = PointsTrained::open(run, dataset.as_deref(), data_dir.as_deref())?;
    let score = |seed: u64| {
        let found = trained.test(seed)?;
        Ok(Score { seed, test: found.accuracy(), mean_class: found.mean_class() })
    };
    let scores = trained.seeds().into_iter().map(score).collect::<Result<Vec<Score>, Failure>>()?;
    let (dataset, learner) = (&trained.dataset.name, &trained.record.run.learner);
    let (backbone, split) = (&trained.record.run.backbone, &trained.dataset.split.name);
    if *json {
        let (task, metric) = (PointsConfig::TASK, "accuracy");
        return print_json(&Json {
            task,
            dataset,
            split,
            backbone,
            learner,
            metric,
            runs: &scores,
        });
    }
    let mut rows = vec![["seed", "test", "mean over classes"].map(String::from).to_vec()];
    for Score { seed, test, mean_class } in &scores {
        rows.push(vec![seed.to_string(), percent(*test), percent(*mean_class)]);
    }
    let column = |pick: fn(&Score) -> f64| {
        let values: Vec<f64> = scores.iter().map(pick).collect();
        summary(&values).map_or_else(String::new, mean_deviation)
    };
    rows.push(vec!["mean".into(), column(|score| score.test), column(|score| score.mean_class)]);
    print(format!(
        "{dataset} with {backbone}, learner {learner}: accuracy on test clouds in per cent\n\n{}",
        table(&rows)
    ))
}
