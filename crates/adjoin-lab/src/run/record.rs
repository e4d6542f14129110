//! What a finished run leaves behind.

use crate::{
    clock,
    settings::Origins,
    stats::{Paired, Summary, paired, summary},
    task::{Column, Degree, Metrics, Reference, Task},
    train::EpochRecord,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One learner x backbone x dataset, trained with one or more seeds. `record.json` is this, and what
/// `--json` prints is this without curves and exhibit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub struct RunRecord<T: Task> {
    /// Version of the program.
    pub version: String,
    /// `node`, `trajectory` or `points`.
    pub task: String,
    /// Name of the dataset.
    pub dataset: String,
    /// Fingerprint of the dataset: two runs are comparable only when it is the same.
    pub fingerprint: String,
    /// Name of the split, such as `public` or `random:7`; empty where the data has only one.
    pub split: String,
    /// Hash of the split: two runs are comparable only when it is the same.
    pub split_hash: String,
    /// Name of the network.
    pub backbone: String,
    /// Name of the learner.
    pub learner: String,
    /// What runs are compared by.
    pub metric: String,
    /// When the run ended, RFC 3339 in UTC.
    pub created: String,
    /// The command line that makes this run again.
    pub command: String,
    /// The full configuration, defaults included.
    pub config_toml: String,
    /// Where each value of the configuration came from; what is absent is built in.
    pub origins: Origins,
    /// What was done to the data before a model saw it, where anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<String>,
    /// What each seed gave.
    pub seeds: Vec<SeedRecord<T>>,
    /// Predictions that need no training, on the same test data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference<T>>,
    /// Mean wall-clock time of one training step, in milliseconds.
    pub ms_per_step: f64,
    /// Largest resident memory of the process during the run, in bytes; what earlier learners of the same
    /// command left in the hands of the allocator is in it.
    pub peak_rss_bytes: u64,
    /// What a model takes from its training data and needs when that is not there.
    pub fitted: T::Fitted,
    /// What a page shows, of the first seed.
    #[serde(default)]
    pub exhibit: T::Exhibit,
}

/// One seed of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub struct SeedRecord<T: Task> {
    /// The seed.
    pub seed: u64,
    /// Validation at the best epoch.
    pub valid: T::Metrics,
    /// Test data, read once, at the best validation epoch.
    pub test: T::Metrics,
    /// The epoch that validation chose, from 1.
    pub best_epoch: usize,
    /// Epochs trained before stopping.
    pub epochs: usize,
    /// Training steps in all: those of a teacher, and of every graph that validation chose among, are in it.
    #[serde(default)]
    pub steps: u64,
    /// Whether the last epoch came before the patience ended, so that more epochs could have found a better one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
    /// Wall-clock time of the seed, teacher and all graphs included.
    pub seconds: f64,
    /// What validation chose among, where it had a choice of graphs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice<T>>,
    /// Every epoch, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<EpochRecord<T>>,
}

/// The graphs that validation chose among.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub struct Choice<T: Task> {
    /// The graph that was chosen.
    pub chosen: String,
    /// What a model with each of them reached.
    pub alternatives: Vec<Alternative<T>>,
}

/// One graph that validation could choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "", deserialize = ""))]
pub struct Alternative<T: Task> {
    /// Its name.
    pub graph: String,
    /// Validation at the best epoch.
    pub valid: T::Metrics,
    /// The epoch that validation chose, from 1.
    pub best_epoch: usize,
    /// Epochs trained before stopping.
    pub epochs: usize,
}

/// How a graph that validation could choose fared over the seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct ChoiceTally {
    /// Its name.
    pub graph: String,
    /// In how many seeds it was chosen.
    pub chosen: usize,
    /// The main number of the validation over the seeds.
    pub valid: Option<Summary>,
}

impl<T: Task> RunRecord<T> {
    /// Every graph that validation could choose; none where it had no choice.
    pub fn choices(&self) -> Vec<ChoiceTally> {
        let choices = || self.seeds.iter().filter_map(|seed| seed.choice.as_ref());
        let Some(first) = choices().next() else { return Vec::new() };
        let of = |graph: &String| {
            let all = choices().flat_map(|choice| &choice.alternatives);
            let valid = all.filter(|other| other.graph == *graph).map(|one| one.valid.value());
            ChoiceTally {
                graph: graph.clone(),
                chosen: choices().filter(|choice| choice.chosen == *graph).count(),
                valid: summary(&valid.collect::<Vec<_>>()),
            }
        };
        first.alternatives.iter().map(|one| of(&one.graph)).collect()
    }

    /// One number of the test metrics over the seeds; `None` without seeds.
    pub fn test(&self, column: usize) -> Option<Summary> {
        summary(&self.tests(column))
    }

    /// One number of the validation metrics at the best epoch over the seeds; `None` without seeds.
    pub fn valid(&self, column: usize) -> Option<Summary> {
        let value = |seed: &SeedRecord<T>| seed.valid.values()[column];
        summary(&self.seeds.iter().map(value).collect::<Vec<_>>())
    }

    /// One number of the test metrics of every seed.
    pub fn tests(&self, column: usize) -> Vec<f64> {
        self.seeds.iter().map(|seed| seed.test.values()[column]).collect()
    }

    /// Further numbers of the test metrics over the seeds; none of one that no seed has.
    pub fn details(&self) -> Details {
        details(&self.seeds.iter().map(|seed| seed.test.details()).collect::<Vec<_>>())
    }

    /// One number of the test metrics of this run minus that of `other`, seed by seed; `None` when no seed
    /// is shared.
    pub fn paired_with(&self, other: &Self, column: usize) -> Option<Paired> {
        let same = |seed: u64| other.seeds.iter().find(|found| found.seed == seed);
        let pair = |seed: &SeedRecord<T>| {
            let of = |seed: &SeedRecord<T>| seed.test.values()[column];
            Some((of(seed), of(same(seed.seed)?)))
        };
        paired(&self.seeds.iter().filter_map(pair).collect::<Vec<_>>())
    }

    /// Training steps of a seed, and its seconds, on average.
    pub fn budget(&self) -> [f64; 2] {
        let mean = |of: fn(&SeedRecord<T>) -> f64| {
            self.seeds.iter().map(of).sum::<f64>() / self.seeds.len().max(1) as f64
        };
        [mean(|seed| seed.steps as f64), mean(|seed| seed.seconds)]
    }

    /// What a reader of the numbers must know.
    pub fn warnings(&self) -> Vec<String> {
        let cut = self.seeds.iter().filter(|seed| seed.cut_short).count();
        let mut all = Vec::new();
        if cut > 0 {
            all.push(format!(
                "{}: training was cut short in {cut} of {} seeds, whose best epoch is within the patience of the \
                 last: raise train.epochs",
                self.learner,
                self.seeds.len()
            ));
        }
        all
    }

    /// Neighbours in every layer at the best epoch, averaged over the seeds; empty where none are learned.
    pub fn degrees(&self) -> Vec<Degree> {
        let best = |seed: &SeedRecord<T>| {
            let at = seed.curve.iter().find(|epoch| epoch.epoch == seed.best_epoch);
            at.map(|epoch| epoch.degrees.clone()).unwrap_or_default()
        };
        let seeds: Vec<Vec<Degree>> = self.seeds.iter().map(best).collect();
        let layers = seeds.iter().map(Vec::len).min().unwrap_or(0);
        let share = 1.0 / seeds.len().max(1) as f64;
        let layer = |at: usize| {
            let sum = |pick: fn(&Degree) -> f64| {
                seeds.iter().map(|seed| pick(&seed[at])).sum::<f64>() * share
            };
            Degree { mean: sum(|degree| degree.mean), std: sum(|degree| degree.std) }
        };
        (0..layers).map(layer).collect()
    }

    /// The record without what only a page needs.
    pub fn brief(&self) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        let (key, fitted) = ("exhibit", "fitted");
        if let Some(record) = value.as_object_mut() {
            record.remove(key);
            record.remove(fitted);
            for seed in record.get_mut("seeds").and_then(Value::as_array_mut).into_iter().flatten()
            {
                seed.as_object_mut().map(|seed| seed.remove("curve"));
            }
        }
        value
    }
}

/// Further numbers of the test metrics over the seeds; none of one that no seed has.
pub type Details = Vec<(Column, Option<Summary>)>;

/// Further numbers of some metrics, taken together over the seeds.
pub fn details(seeds: &[Vec<(Column, Option<f64>)>]) -> Details {
    let Some(first) = seeds.first() else { return Vec::new() };
    let of = |column: &Column| {
        let all = seeds.iter().flatten().filter(|(other, _)| other.key == column.key);
        summary(&all.filter_map(|(_, value)| *value).collect::<Vec<_>>())
    };
    first.iter().map(|(column, _)| (*column, of(column))).collect()
}

/// Several runs as one JSON object: the records, and each against the plain one on the same data.
pub fn json<T: Task>(records: &[RunRecord<T>], outs: &[String]) -> Value {
    let run = |(record, out): (&RunRecord<T>, &String)| {
        let mut value = record.brief();
        if let Some(fields) = value.as_object_mut() {
            let columns = T::Metrics::COLUMNS.iter().enumerate();
            let summaries = |pick: &dyn Fn(usize) -> Option<Summary>| {
                let one = |(at, column): (usize, &Column)| {
                    (column.key.to_string(), serde_json::to_value(pick(at)).unwrap_or_default())
                };
                Value::Object(columns.clone().map(one).collect())
            };
            fields.insert("valid".into(), summaries(&|at| record.valid(at)));
            fields.insert("test".into(), summaries(&|at| record.test(at)));
            let details = record.details();
            if !details.is_empty() {
                let one = |(column, found): (Column, Option<Summary>)| {
                    (column.key.to_string(), serde_json::to_value(found).unwrap_or_default())
                };
                let details = details.into_iter().map(one).collect();
                fields.insert("details".into(), Value::Object(details));
            }
            fields.insert("out".into(), out.clone().into());
        }
        value
    };
    let difference = |plain: &RunRecord<T>, record: &RunRecord<T>| {
        let paired = record.paired_with(plain, 0).filter(|_| plain.learner != record.learner)?;
        Some(serde_json::json!({
            "dataset": record.dataset,
            "learner": record.learner,
            "minus": plain.learner,
            "metric": T::Metrics::COLUMNS[0].key,
            "difference": paired.difference,
            "p": paired.p,
        }))
    };
    let differences = |records: &[RunRecord<T>]| -> Vec<Value> {
        let plain = plain_of(records);
        plain
            .into_iter()
            .flat_map(|plain| records.iter().filter_map(|r| difference(plain, r)))
            .collect()
    };
    serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "created": clock::now_utc(),
        "task": T::NAME,
        "runs": records.iter().zip(outs).map(run).collect::<Vec<_>>(),
        "warnings": by_data(records).flat_map(warnings).collect::<Vec<_>>(),
        "differences": by_data(records).flat_map(differences).collect::<Vec<_>>(),
    })
}

/// Records of several datasets, those of each together: runs on other data are not compared.
pub fn by_data<T: Task>(records: &[RunRecord<T>]) -> impl Iterator<Item = &[RunRecord<T>]> {
    let data = |record: &RunRecord<T>| {
        (record.dataset.clone(), record.fingerprint.clone(), record.split_hash.clone())
    };
    records.chunk_by(move |a, b| data(a) == data(b))
}

/// What a reader of several runs must know: of each, and where validation and test disagree on which is better.
pub fn warnings<T: Task>(records: &[RunRecord<T>]) -> Vec<String> {
    let mut all: Vec<String> = records.iter().flat_map(RunRecord::warnings).collect();
    let Some(plain) = plain_of(records) else { return all };
    for record in records {
        let gain = |of: &dyn Fn(&RunRecord<T>) -> Option<Summary>| {
            Some(of(record)?.mean - of(plain)?.mean)
        };
        let gains = gain(&|run| run.valid(0)).zip(gain(&|run| run.test(0)));
        if gains.is_some_and(|(valid, test)| valid * test < 0.0) {
            all.push(format!(
                "{}: validation and test disagree on whether it is better than {}",
                record.learner, plain.learner
            ));
        }
    }
    all
}

/// The run that others are compared with: the plain learner, else the first.
pub fn plain_of<T: Task>(records: &[RunRecord<T>]) -> Option<&RunRecord<T>> {
    records.iter().find(|record| record.learner == T::PLAIN).or(records.first())
}
