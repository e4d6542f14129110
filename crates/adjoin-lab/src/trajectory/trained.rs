//! A run that was trained before, ready to be used; and weights that others trained.

use super::{
    Forecaster, SceneBatch, Scores, SocialModel, TrajectoryConfig, TrajectorySetup,
    dagnet::DagModel,
    experiment::{evaluate, test_key},
    load_published,
    trainer::{SCENES_AT_ONCE, validation_key},
};
use crate::{
    Result,
    checkpoint::{self, Checkpoint},
    export::field,
    run,
};
use adjoin_data::trajectory::{Scene, TrajectoryDataset};
use burn::tensor::Device;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

/// The models of a run with the data to use them on.
#[derive(Debug)]
pub struct TrajectoryTrained {
    folder: PathBuf,
    setup: TrajectorySetup,
    /// The seeds of the run.
    pub seeds: Vec<u64>,
    /// Name of the learner.
    pub learner: String,
    /// The data: that of the run, or other data that was asked for.
    pub dataset: TrajectoryDataset,
    /// The data of the run, when other data was asked for: networks may depend on it.
    own: Option<TrajectoryDataset>,
}

impl TrajectoryTrained {
    /// Opens the folder of one run.
    ///
    /// # Errors
    /// If it is no such folder, or its data is not found or has changed.
    pub fn open(folder: &Path, dataset: Option<&str>, data_dir: Option<&Path>) -> Result<Self> {
        let (plan, setup) = run::open_single::<TrajectorySetup>(folder)?;
        // Goals of DAG-Net lie on a grid over the scenes that it was trained on.
        let own = match (dataset, &setup) {
            (Some(_), TrajectorySetup::Dag(_)) => Some(plan.load_trajectories(None, data_dir)?),
            _ => None,
        };
        let dataset = plan.load_trajectories(dataset, data_dir)?;
        let learner = plan.learners.first().cloned().unwrap_or_default();
        Ok(Self { folder: folder.into(), setup, seeds: plan.seeds, learner, dataset, own })
    }

    /// Name of the network.
    pub fn backbone(&self) -> &'static str {
        self.setup.backbone()
    }

    /// Sampled paths of every agent in the tests of the run.
    pub fn samples(&self) -> usize {
        self.setup.train().samples
    }

    /// The model of the best epoch of a seed.
    ///
    /// # Errors
    /// If the checkpoint is missing or damaged, or the data has other numbers of steps than the model.
    pub fn model(&self, seed: u64) -> Result<Box<dyn Forecaster>> {
        run::check_seed(&self.folder, &self.seeds, seed)?;
        let checkpoint = Checkpoint::load(&checkpoint::file_of(&self.folder, seed))?;
        let device = Device::flex();
        Ok(match &self.setup {
            TrajectorySetup::Social(config) => {
                let lengths = [self.dataset.observed, self.dataset.predicted];
                let fresh = SocialModel::new(config, lengths, seed, &device)?;
                Box::new(checkpoint.best_model(fresh)?)
            }
            TrajectorySetup::Dag(config) => {
                let own = self.own.as_ref().unwrap_or(&self.dataset);
                Box::new(checkpoint.best_model(DagModel::new(config, own, seed, &device)?)?)
            }
        })
    }

    /// Errors of a seed on validation and on test scenes, with the draws of its training.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub fn scores(&self, seed: u64) -> Result<[Scores; 2]> {
        let model = self.model(seed)?;
        let TrajectoryDataset { observed, predicted, valid, test, .. } = &self.dataset;
        let of = |scenes: &[Scene], key| {
            evaluate(&*model, scenes, [*observed, *predicted], self.samples(), key)
        };
        Ok([of(valid, validation_key(seed))?, of(test, test_key(seed))?])
    }

    /// Predicted paths of all test scenes as CSV.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub fn predictions(&self, seed: u64, samples: usize) -> Result<String> {
        predictions_csv(&*self.model(seed)?, &self.dataset, samples, seed)
    }
}

/// Predicted paths of all test scenes: `scene,frame,agent,sample,x,y`, frames counted from the first
/// observed one of the scene as 0, samples from 0 and after them `likely`.
///
/// # Errors
/// If model and scenes do not fit.
pub fn predictions_csv(
    model: &dyn Forecaster,
    dataset: &TrajectoryDataset,
    samples: usize,
    seed: u64,
) -> Result<String> {
    let lengths = [dataset.observed, dataset.predicted];
    let mut out = String::from("scene,frame,agent,sample,x,y\n");
    for (at, scenes) in dataset.test.chunks(SCENES_AT_ONCE).enumerate() {
        let scenes: Vec<&Scene> = scenes.iter().collect();
        let batch = SceneBatch::new(&scenes, lengths, &Device::flex())?;
        let key = test_key(seed).child(at as u64);
        for (scene, forecast) in scenes.iter().zip(model.forecast(&batch, samples, key)?) {
            let name = field(&scene.name);
            for (agent, number) in scene.agents.iter().enumerate() {
                let mut add = |sample: &str, path: &[[f32; 2]]| {
                    for (frame, [x, y]) in (dataset.observed..).zip(path) {
                        let _ = writeln!(out, "{name},{frame},{number},{sample},{x:.4},{y:.4}");
                    }
                };
                for sample in 0..samples {
                    add(&sample.to_string(), forecast.path(sample, agent));
                }
                add("likely", forecast.likely(agent));
            }
        }
    }
    Ok(out)
}

/// Errors on test scenes of Social-STGCNN with weights that its authors trained, evaluated as they do:
/// their graph, and steps drawn one by one.
///
/// # Errors
/// If the file is no such file, or the data has other numbers of steps.
pub fn evaluate_published(path: &Path, dataset: &TrajectoryDataset, seed: u64) -> Result<Scores> {
    let config = TrajectoryConfig::published();
    let lengths = [dataset.observed, dataset.predicted];
    let mut model = SocialModel::new(&config, lengths, seed, &Device::flex())?;
    model.network = load_published(&model.network, path)?;
    evaluate(&model, &dataset.test, lengths, config.train.samples, test_key(seed))
}
