//! Several seeds of one configuration, and what came of them.

use super::{Best, Guides, NodeData, Trainer, data::input_graph};
use crate::{
    Config, Error, Result,
    checkpoint::{self, Shelf},
    clock,
    labels::SplitLabels,
    record::{EpochRecord, GraphRecord, RunRecord, SeedRecord},
    run::GUIDE,
    seeds::side_by_side,
};
use adjoin::conv::Backbone;
use adjoin_data::{NodeDataset, Split};
use burn::tensor::{Device, Tensor};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// A dataset, a split, a configuration and seeds.
#[derive(Clone, Debug)]
pub struct Experiment<'a> {
    /// The data.
    pub dataset: &'a NodeDataset,
    /// Which nodes are for training, validation and test.
    pub split: &'a Split,
    /// Network, learner and training.
    pub config: &'a Config,
    /// Name of the learner in tables.
    pub learner: &'a str,
    /// The seeds.
    pub seeds: &'a [u64],
    /// Threads to use in all.
    pub threads: usize,
    /// Networks that need not be trained once more to guide the learner.
    pub guides: &'a Guides,
}

/// Watches an experiment, from several threads.
pub trait Observer: Sync {
    /// An epoch of a seed is done, of at most `most` epochs.
    fn epoch(&self, seed: u64, record: &EpochRecord, most: usize);

    /// An epoch of the network that guides the learner of a seed is done.
    fn guide(&self, _seed: u64, _record: &EpochRecord, _most: usize) {}

    /// An epoch of the student of that network is done, of `most`.
    fn student(&self, _seed: u64, _epoch: usize, _most: usize) {}

    /// A seed is done.
    fn seed(&self, record: &SeedRecord);

    /// Whether to stop now.
    fn stop(&self) -> bool {
        false
    }
}

/// An observer that does not look.
pub struct Unobserved;

impl Observer for Unobserved {
    fn epoch(&self, _: u64, _: &EpochRecord, _: usize) {}
    fn seed(&self, _: &SeedRecord) {}
}

/// What an experiment gives: the record, and the best model of every seed.
#[derive(Debug)]
pub struct Outcome {
    /// Numbers and curves.
    pub record: RunRecord,
    /// The best epoch of every seed, in the order of the seeds.
    pub best: Vec<Best>,
}

struct SeedOutcome {
    record: SeedRecord,
    best: Best,
    step_seconds: f64,
}

impl Experiment<'_> {
    /// Runs all seeds, as many at once as there are threads; the result does not depend on how many.
    ///
    /// # Errors
    /// The first error of any seed, or that the observer asked to stop.
    pub fn run(&self, observer: &dyn Observer) -> Result<Outcome> {
        self.run_in(observer, None)
    }

    /// As [`run`](Self::run), with a checkpoint of every seed in a folder: from time to time, when it is
    /// stopped, and at its end. A seed that has one there goes on from it.
    ///
    /// # Errors
    /// As [`run`](Self::run), and when a checkpoint cannot be written or used.
    pub fn run_in(&self, observer: &dyn Observer, folder: Option<&Path>) -> Result<Outcome> {
        clock::forget_peak_memory();
        let device = Device::flex();
        let data = NodeData::new(self.dataset, self.config.train.normalise_features, &device)?;
        let labels = SplitLabels::new(self.dataset, self.split)?;
        let fingerprint = folder.map(|_| self.dataset.fingerprint()).unwrap_or_default();
        let shelf = folder.map(|folder| Shelf {
            folder,
            dataset: fingerprint,
            split: self.split.hash(),
            config: self.config,
        });
        let outcomes = side_by_side(self.seeds, self.threads, |&seed| {
            self.run_seed(seed, &data, &labels, &device, observer, shelf.as_ref())
        })?;
        self.outcome(outcomes)
    }

    fn run_seed(
        &self,
        seed: u64,
        data: &NodeData,
        labels: &SplitLabels,
        device: &Device,
        observer: &dyn Observer,
        shelf: Option<&Shelf<Config>>,
    ) -> Result<SeedOutcome> {
        let SplitLabels { training, validation, test } = labels;
        let mut trainer = Trainer::new(self.config, data, training, validation, seed, device)?;
        let mut before = Duration::ZERO;
        if self.config.wants_guide() {
            let (guide, elapsed) = self.guide(seed, data, labels, device, observer, shelf)?;
            let taking_over = Instant::now();
            let student = |epoch, most| observer.student(seed, epoch, most);
            trainer.guided_by(guide, student)?;
            before = elapsed + taking_over.elapsed();
        }
        let most = self.config.train.epochs;
        let seen = |record: &EpochRecord| observer.epoch(seed, record, most);
        let progress = checkpoint::train(&mut trainer, shelf, || observer.stop(), seen)?;
        let epochs = trainer.epoch();
        let step_seconds = trainer.step_time().as_secs_f64() / epochs.max(1) as f64;
        let best = trainer.best().cloned().ok_or_else(no_epochs)?;
        // The only place where test labels are looked at.
        let record = SeedRecord {
            seed,
            valid: best.accuracy,
            test: test.accuracy(&best.evaluation.predicted),
            best_epoch: best.epoch,
            epochs,
            seconds: (before + progress.elapsed).as_secs_f64(),
            curve: progress.curve,
        };
        observer.seed(&record);
        Ok(SeedOutcome { record, best, step_seconds })
    }

    /// The network of the same seed trained on the input graph, which is what training without a learner
    /// gives, and the time that took: from those at hand, or trained now, its checkpoint in a folder of its own.
    fn guide(
        &self,
        seed: u64,
        data: &NodeData,
        labels: &SplitLabels,
        device: &Device,
        observer: &dyn Observer,
        shelf: Option<&Shelf<Config>>,
    ) -> Result<(Backbone, Duration)> {
        let config = self.config.of_guide();
        if let Some(found) = self.guides.find(&config, self.dataset, self.split, seed) {
            return Ok(found);
        }
        let folder = shelf.map(|shelf| shelf.folder.join(GUIDE));
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        }
        let shelf = shelf.zip(folder.as_deref()).map(|(shelf, folder)| Shelf {
            folder,
            dataset: shelf.dataset.clone(),
            split: shelf.split.clone(),
            config: &config,
        });
        let SplitLabels { training, validation, .. } = labels;
        let mut trainer = Trainer::new(&config, data, training, validation, seed, device)?;
        let seen = |record: &EpochRecord| observer.guide(seed, record, config.train.epochs);
        let stop = || observer.stop();
        let progress = checkpoint::train(&mut trainer, shelf.as_ref(), stop, seen)?;
        let best = trainer.best().ok_or_else(no_epochs)?;
        Ok((best.model.backbone.clone(), progress.elapsed))
    }

    fn outcome(&self, outcomes: Vec<SeedOutcome>) -> Result<Outcome> {
        let count = outcomes.len().max(1) as f64;
        let ms_per_step = 1e3 * outcomes.iter().map(|o| o.step_seconds).sum::<f64>() / count;
        // The graph of the first seed stands for the run.
        let graph = outcomes.first().map(|outcome| self.graph_record(&outcome.best)).transpose()?;
        let (seeds, best) = outcomes.into_iter().map(|o| (o.record, o.best)).unzip();
        let record = RunRecord {
            task: "node".into(),
            dataset: self.dataset.name.clone(),
            split: self.split.name.clone(),
            split_hash: self.split.hash(),
            fingerprint: self.dataset.fingerprint(),
            backbone: name_of(&self.config.backbone.kind),
            learner: self.learner.into(),
            metric: "accuracy".into(),
            created: clock::now_utc(),
            command: String::new(),
            config_toml: self.config.to_toml(),
            seeds,
            ms_per_step,
            peak_rss_bytes: clock::peak_memory(),
            graph,
        };
        Ok(Outcome { record, best })
    }

    fn graph_record(&self, best: &Best) -> Result<GraphRecord> {
        let nodes = self.dataset.nodes();
        let graph = input_graph(self.dataset, &Device::flex())?;
        let input = graph.topology();
        let learned = &best.evaluation.graph;
        let mut part = vec![0u8; nodes];
        let Split { train, valid, test, .. } = self.split;
        for (number, members) in [(1, train), (2, valid), (3, test)] {
            members.iter().for_each(|&node| part[node as usize] = number);
        }
        Ok(GraphRecord {
            // Some formats have no names for nodes: their numbers stand in.
            node_ids: match self.dataset.node_ids.is_empty() {
                true => (0..nodes).map(|node| node.to_string()).collect(),
                false => self.dataset.node_ids.clone(),
            },
            class_names: self.dataset.class_names.clone(),
            labels: (0..nodes as u32).map(|node| self.dataset.label(node)).collect(),
            predicted: best.evaluation.predicted.clone(),
            part,
            input_pointers: input.pointers().to_vec(),
            input_indices: input.indices().to_vec(),
            input_weights: match self.dataset.weights {
                Some(_) => floats(graph.weights()),
                None => Vec::new(),
            },
            learned_pointers: learned.adjacency.topology().pointers().to_vec(),
            learned_indices: learned.adjacency.topology().indices().to_vec(),
            learned_weights: floats(learned.adjacency.weights()),
            degrees: learned.degrees.as_ref().map(floats).unwrap_or_default(),
        })
    }
}

fn floats(values: &Tensor<1>) -> Vec<f32> {
    values.to_data().convert::<f32>().iter::<f32>().collect()
}

fn no_epochs() -> Error {
    Error::Config { place: "train.epochs".into(), what: "must be at least 1".into() }
}

/// The name a setting has in configuration files.
pub(crate) fn name_of(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "unknown".into(),
    }
}
