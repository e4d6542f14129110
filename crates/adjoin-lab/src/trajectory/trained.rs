//! A run that was trained before, ready to be used; and weights that others trained.

use super::{
    Forecaster, SceneBatch, Scores, SocialModel, TrajectoryConfig, TrajectoryRecord,
    TrajectorySetup,
    dagnet::{DagModel, Fitted},
    experiment::{evaluate, test_key},
    load_published,
    trainer::{groups, validation_key},
};
use crate::{
    Result,
    checkpoint::{self, Checkpoint},
    export::field,
    plan::check_steps,
    run,
};
use adjoin_data::trajectory::{Purpose, Scene, TrajectoryDataset};
use burn::tensor::Device;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

/// Steps that the published networks see and predict.
const PUBLISHED_STEPS: [usize; 2] = [8, 12];

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
    /// What DAG-Net took from the scenes that it was trained on.
    fitted: Option<Fitted>,
}

impl TrajectoryTrained {
    /// Opens the folder of one run, to use its models on its own data or on other data for a purpose.
    ///
    /// # Errors
    /// If it is no such folder, its data is not found or has changed, or other data has other numbers of
    /// steps.
    pub fn open(
        folder: &Path,
        other: Option<(&str, Purpose)>,
        data_dir: Option<&Path>,
    ) -> Result<Self> {
        let (plan, setup) = run::open_single::<TrajectorySetup>(folder)?;
        let TrajectoryRecord { steps, mut fitted, .. } = run::record::<TrajectorySetup>(folder)?;
        let is_new = matches!(setup, TrajectorySetup::Social(_)) || fitted.is_some();
        let dataset = match (other, steps.filter(|_| is_new)) {
            (Some((name, purpose)), Some(steps)) => {
                plan.load_new_trajectories(name, data_dir, steps, purpose)?
            }
            // Old runs do not say what they were made of: their data does.
            (other, _) => {
                let own = plan.load_trajectories(data_dir)?;
                if let (TrajectorySetup::Dag(config), None) = (&setup, &fitted) {
                    fitted = Some(Fitted::to(config, &own)?);
                }
                let steps = [own.observed, own.predicted];
                match other {
                    None => own,
                    Some((name, purpose)) => {
                        plan.load_new_trajectories(name, data_dir, steps, purpose)?
                    }
                }
            }
        };
        let learner = plan.learners.first().cloned().unwrap_or_default();
        Ok(Self { folder: folder.into(), setup, seeds: plan.seeds, learner, dataset, fitted })
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
                let fresh = match &self.fitted {
                    Some(fitted) => DagModel::of(config, fitted, seed, &device)?,
                    None => DagModel::new(config, &self.dataset, seed, &device)?,
                };
                Box::new(checkpoint.best_model(fresh)?)
            }
        })
    }

    /// Errors of a seed on validation scenes, if there are any, and on test scenes, with the draws of its
    /// training.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub fn scores(&self, seed: u64) -> Result<(Option<Scores>, Scores)> {
        let model = self.model(seed)?;
        let TrajectoryDataset { observed, predicted, valid, test, .. } = &self.dataset;
        let of = |scenes: &[Scene], key| {
            evaluate(&*model, scenes, [*observed, *predicted], self.samples(), key)
        };
        let validation =
            (!valid.is_empty()).then(|| of(valid, validation_key(seed))).transpose()?;
        Ok((validation, of(test, test_key(seed))?))
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
    for (at, scenes) in groups(&dataset.test, dataset.observed).into_iter().enumerate() {
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
    check_steps(dataset, PUBLISHED_STEPS)?;
    let lengths = PUBLISHED_STEPS;
    let mut model = SocialModel::new(&config, lengths, seed, &Device::flex())?;
    model.network = load_published(&model.network, path)?;
    evaluate(&model, &dataset.test, lengths, config.train.samples, test_key(seed))
}
