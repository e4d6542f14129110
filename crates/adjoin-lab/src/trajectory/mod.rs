//! Trajectory prediction: where do the agents of a scene go next?
//!
//! Agents have no given graph, so one is made per frame by the same learners as elsewhere. Scenes of
//! different sizes are one block-diagonal [`SceneBatch`]; there is no loop over scenes, frames or
//! agents in the network.

pub mod dagnet;

mod baseline;
mod batch;
mod config;
mod experiment;
mod features;
mod forecast;
mod gaussian;
mod kernel;
mod metrics;
mod model;
mod propagation;
mod record;
mod run;
mod scene_norm;
mod scenes;
mod setup;
mod social_stgcnn;
mod state;
mod trained;
mod trainer;
mod weights;

pub use baseline::{Baseline, constant_velocity, constant_velocity_with_noise};
pub use batch::SceneBatch;
pub use config::{
    ChooseEpoch, InputGraph, Likelihood, MOST_SAMPLES, OptimiserKind, Sampling, TrajectoryConfig,
    TrajectoryTrainConfig,
};
pub use experiment::{TrajectoryExperiment, TrajectoryObserver, TrajectorySeed, evaluate};
pub use features::GENERATOR_FEATURES;
pub use forecast::{Forecast, Forecaster, Trainable};
pub use gaussian::{negative_log_likelihood, place_negative_log_likelihood};
pub use kernel::kernel_graph;
pub use metrics::{Displacement, Scores, Tally};
pub use model::SocialModel;
pub use propagation::{Propagation, propagate};
pub use record::{BaselineScores, TrajectoryRecord, TrajectorySeedRecord};
pub(crate) use run::Part;
pub use scene_norm::{NormOver, SceneNorm, SceneNormConfig};
pub use scenes::{Link, SceneRecord};
pub use setup::{TRAJECTORY_BACKBONES, TRAJECTORY_LEARNERS, TrajectorySetup};
pub use social_stgcnn::{SocialStgcnn, SocialStgcnnConfig};
pub use trained::{TrajectoryTrained, evaluate_published, predictions_csv};
pub use trainer::{TrajectoryBest, TrajectoryEpoch, TrajectoryTrainer};
pub use weights::load_published;
