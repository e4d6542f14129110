//! Predicted paths as a table; and weights that others trained.

use super::{
    Forecaster, SceneBatch, Scores, SocialModel, SocialStgcnnConfig, TrajectoryConfig,
    data::{check_steps, evaluate, groups, key_of},
    load_published,
};
use crate::{Result, export::field, task::Part};
use adjoin_data::trajectory::{Scene, TrajectoryDataset};
use burn::tensor::Device;
use std::{fmt::Write, path::Path};

/// Steps that the published networks see and predict.
const PUBLISHED_STEPS: [usize; 2] = [8, 12];

/// Predicted paths of all test scenes: `scene,frame,agent,sample,x,y`, frames counted from the first
/// observed one of the scene as 0, samples from 0 and after them `likely`.
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
        let key = key_of(Part::Test, seed).child(at as u64);
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
    check_steps(dataset, PUBLISHED_STEPS)?;
    let (config, network) = (TrajectoryConfig::default(), SocialStgcnnConfig::default());
    let mut model = SocialModel::new(&config, &network, PUBLISHED_STEPS, seed, &Device::flex())?;
    model.network = load_published(&model.network, path)?;
    let key = key_of(Part::Test, seed);
    evaluate(&model, &dataset.test, PUBLISHED_STEPS, config.samples, key)
}
