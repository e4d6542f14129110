//! `adjoin evaluate` on trajectories.

use super::{Evaluate, print_json};
use crate::{
    failure::{Done, Failure, print},
    table::{metres, table},
};
use adjoin_data::{
    Locations,
    trajectory::{self, Purpose},
};
use adjoin_lab::{
    record::summary,
    trajectory::{Displacement, Scores, TrajectoryTrained, evaluate_published},
};
use serde::Serialize;
use std::path::Path;

/// The seed of the samples for weights that come without one.
const SEED: u64 = 0;

#[derive(Serialize)]
struct Score {
    seed: u64,
    valid: Option<Scores>,
    test: Scores,
}

#[derive(Serialize)]
struct Json<'a> {
    task: &'a str,
    dataset: &'a str,
    backbone: &'a str,
    learner: &'a str,
    metric: &'a str,
    runs: &'a [Score],
}

/// The models of a run.
pub fn trained(evaluate: &Evaluate, run: &Path) -> Done {
    let Evaluate { dataset, data_dir, json, .. } = evaluate;
    let other = dataset.as_deref().map(|name| (name, Purpose::Compare));
    let trained = TrajectoryTrained::open(run, other, data_dir.as_deref())?;
    let score = |&seed: &u64| {
        let (valid, test) = trained.scores(seed)?;
        Ok(Score { seed, valid, test })
    };
    let scores = trained.seeds.iter().map(score).collect::<Result<Vec<Score>, Failure>>()?;
    let words = [&trained.dataset.name, trained.backbone(), &trained.learner];
    report(words, &scores, *json)
}

/// Weights of the authors of Social-STGCNN.
pub fn published(evaluate: &Evaluate, weights: &Path) -> Done {
    let name = evaluate.dataset.as_deref().unwrap_or_default();
    let dataset = trajectory::load(name, &Locations::from_environment(evaluate.data_dir.clone()))?;
    let test = evaluate_published(weights, &dataset, SEED)?;
    let score = Score { seed: SEED, valid: None, test };
    report([&dataset.name, "social-stgcnn", "kernel"], &[score], evaluate.json)
}

fn report([dataset, backbone, learner]: [&str; 3], scores: &[Score], json: bool) -> Done {
    if json {
        let (task, metric) = ("trajectory", "ade/fde m");
        return print_json(&Json { task, dataset, backbone, learner, metric, runs: scores });
    }
    let ways: [fn(&Scores) -> Displacement; 3] =
        [|scores| scores.per_agent, |scores| scores.per_scene, |scores| scores.likely];
    let titles = ["seed", "per agent", "per scene", "most likely"];
    let mut rows = vec![titles.map(String::from).to_vec()];
    for Score { seed, test, .. } in scores {
        let mut row = vec![seed.to_string()];
        row.extend(ways.map(|way| format!("{:.3} / {:.3}", way(test).ade, way(test).fde)));
        rows.push(row);
    }
    let mean = |pick: &dyn Fn(&Scores) -> f64| {
        let values: Vec<f64> = scores.iter().map(|score| pick(&score.test)).collect();
        summary(&values).map_or_else(String::new, metres)
    };
    let mut row = vec!["mean".to_string()];
    row.extend(ways.map(|way| {
        format!("{} / {}", mean(&|scores| way(scores).ade), mean(&|scores| way(scores).fde))
    }));
    rows.push(row);
    print(format!(
        "{dataset} with {backbone}, learner {learner}: test errors ADE / FDE in metres, best of the \
         samples per agent and per scene\n\n{}",
        table(&rows)
    ))
}
