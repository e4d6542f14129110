//! Classification of point clouds: which shape is this?
//!
//! Points have no given graph. The networks, DGCNN and ResGCN, build one in feature space at every layer,
//! from fixed numbers of nearest neighbours; learners take the place of that. Clouds of a mini-batch are
//! one block-diagonal [`CloudBatch`].

mod batch;
mod config;
mod evaluation;
mod experiment;
mod inspect;
mod model;
mod network;
mod norm;
mod record;
mod run;
mod setup;
mod state;
mod timing;
mod trained;
mod trainer;

pub use batch::{Augmentation, CloudBatch};
pub use config::{PointsConfig, PointsTrainConfig};
pub use evaluation::{CloudPrediction, PointsEvaluation};
pub use experiment::{PointsExperiment, PointsOutcome};
pub use inspect::{CloudRecord, inspect};
pub use model::{PointModel, PointOutput};
pub use network::{PointNetwork, PointNetworkConfig, PointNetworkKind};
pub use norm::{Norm, NormConfig};
pub use record::PointsRecord;
pub(crate) use setup::REDUCED;
pub use setup::{POINTS_BACKBONES, POINTS_LEARNERS, points_config};
pub use timing::{nearest_search, points_step};
pub use trained::PointsTrained;
pub use trainer::{PointsBest, PointsTrainer, smoothed_cross_entropy};
