//! Trajectory prediction: where do the agents of a scene go next?
//!
//! Agents have no given graph, so one is made per frame by the same learners as elsewhere. Scenes of
//! different sizes are one block-diagonal [`SceneBatch`]; there is no loop over scenes, frames or
//! agents in the network.

pub mod dagnet;

mod baseline;
mod batch;
mod config;
mod data;
mod features;
mod forecast;
mod gaussian;
mod kernel;
mod learners;
mod metrics;
mod model;
mod motion;
mod predict;
mod scene_norm;
mod scenes;
mod section;
mod social_model;
mod social_stgcnn;
mod weights;

pub use baseline::{Baseline, constant_velocity, constant_velocity_with_noise};
pub use batch::SceneBatch;
pub use config::{InputGraph, MOST_SAMPLES, NetworkConfig, TrajectoryConfig};
pub use data::{HeldScenes, TrainingScenes, evaluate};
pub use features::GENERATOR_FEATURES;
pub use forecast::{Forecast, Forecaster};
pub use gaussian::{negative_log_likelihood, position_negative_log_likelihood};
pub use kernel::kernel_graph;
pub use metrics::{Displacement, Scores, Tally, TrajectoryMetrics};
pub use model::{TrajectoryFitted, TrajectoryModel};
pub use predict::{evaluate_published, predictions_csv};
pub use scene_norm::{NormOver, SceneNorm, SceneNormConfig};
pub use scenes::{Link, SceneExhibit, SceneRecord};
pub use social_model::SocialModel;
pub use social_stgcnn::{Likelihood, Sampling, SocialStgcnn, SocialStgcnnConfig};
pub use weights::load_published;

use crate::{
    Result,
    settings::Defaults,
    task::{Named, Part, Predictions, Purpose, Reference, Source, Task},
};
use adjoin::{Key, learner::LearnerConfig};
use adjoin_data::trajectory::TrajectoryDataset;
use burn::tensor::Device;
use dagnet::DagConfig;
use std::sync::Arc;

/// Trajectory prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory;

impl Task for Trajectory {
    const NAME: &'static str = "trajectory";
    const ABOUT: &'static str = "trajectory prediction";
    const DATASET: &'static str = "crowd";
    const PLAIN: &'static str = "kernel";
    const BACKBONE: &'static str = "social-stgcnn";
    const DEFAULTS: &'static str = include_str!("../../../defaults/trajectory.toml");

    type Config = TrajectoryConfig;
    type Data = Arc<TrajectoryDataset>;
    type Fitted = TrajectoryFitted;
    type Context = ();
    type Seen = TrainingScenes;
    type Held = HeldScenes;
    type Model = TrajectoryModel;
    type Metrics = TrajectoryMetrics;
    type Exhibit = SceneExhibit;

    fn backbones() -> Vec<Named> {
        Named::all(Defaults::named(Self::DEFAULTS, |defaults| &defaults.backbones), Self::BACKBONE)
    }

    fn learners() -> Vec<Named> {
        Named::all(Defaults::named(Self::DEFAULTS, |defaults| &defaults.learners), Self::PLAIN)
    }

    fn start(backbone: &str, learner: &str) -> Result<TrajectoryConfig> {
        Named::check("--learner", learner, &Self::learners())?;
        Named::check("--backbone", backbone, &Self::backbones())?;
        let network = match backbone {
            "dagnet" => NetworkConfig::Dagnet(DagConfig::default()),
            _ => NetworkConfig::default(),
        };
        // A learner of the library has the settings it has there; other names are graphs.
        let learner = LearnerConfig::named(learner).unwrap_or(LearnerConfig::None);
        Ok(TrajectoryConfig { network, learner, ..TrajectoryConfig::default() })
    }

    fn load(source: &Source) -> Result<Arc<TrajectoryDataset>> {
        data::load(source)
    }

    fn load_other(
        source: &Source,
        fitted: &TrajectoryFitted,
        purpose: Purpose,
    ) -> Result<Arc<TrajectoryDataset>> {
        data::load_other(source, fitted.steps, purpose)
    }

    fn fit(config: &TrajectoryConfig, data: &Arc<TrajectoryDataset>) -> Result<TrajectoryFitted> {
        TrajectoryFitted::to(config, data)
    }

    fn context(
        _: &TrajectoryConfig,
        _: &Arc<TrajectoryDataset>,
        _: &Self::Fitted,
        _: &Device,
    ) -> Result<()> {
        Ok(())
    }

    fn training(
        _config: &TrajectoryConfig,
        data: &Arc<TrajectoryDataset>,
        device: &Device,
    ) -> Result<TrainingScenes> {
        TrainingScenes::new(data, device)
    }

    fn held(
        config: &TrajectoryConfig,
        data: &Arc<TrajectoryDataset>,
        part: Part,
    ) -> Result<Option<HeldScenes>> {
        HeldScenes::new(data, part, config.samples)
    }

    fn model(
        config: &TrajectoryConfig,
        fitted: &TrajectoryFitted,
        _context: &(),
        seed: u64,
        device: &Device,
    ) -> Result<TrajectoryModel> {
        TrajectoryModel::new(config, fitted, seed, device)
    }

    /// The best of more paths is better: such runs are not to be compared.
    fn metric(config: &TrajectoryConfig) -> String {
        match config.samples {
            20 => "ADE".into(),
            samples => format!("ADE (best of {samples})"),
        }
    }

    /// Walking straight on, and the same with sampled turns.
    fn references(
        config: &TrajectoryConfig,
        data: &Arc<TrajectoryDataset>,
        seed: u64,
    ) -> Vec<Reference<Self>> {
        let key = Key::new(seed).child(0xc5);
        let one = |(name, kind): (&str, Baseline)| {
            let scores = kind.scores(&data.test, data::lengths(data), config.samples, key);
            let test = TrajectoryMetrics { scores, loss: f64::NAN };
            Reference { name: name.into(), test }
        };
        let kinds = [
            ("constant velocity", Baseline::ConstantVelocity),
            ("constant velocity, sampled turns", Baseline::ConstantVelocityWithNoise),
        ];
        kinds.map(one).to_vec()
    }

    fn exhibit(
        config: &TrajectoryConfig,
        data: &Arc<TrajectoryDataset>,
        _context: &(),
        model: &TrajectoryModel,
        seed: u64,
    ) -> Result<SceneExhibit> {
        scenes::exhibit(model, data, config.samples, seed)
    }

    fn predictions(
        config: &TrajectoryConfig,
        data: &Arc<TrajectoryDataset>,
        _context: &(),
        model: &TrajectoryModel,
        seed: u64,
        wanted: &Predictions,
    ) -> Result<String> {
        wanted.refuse_probabilities()?;
        let samples = wanted.samples.unwrap_or(config.samples);
        predict::predictions_csv(model, data, samples, seed)
    }
}
