//! Classification of point clouds: which shape is this?
//!
//! Points have no given graph. The networks, DGCNN and ResGCN, build one in feature space at every layer,
//! from fixed numbers of nearest neighbours; learners take the place of that. Clouds of a mini-batch are
//! one block-diagonal [`CloudBatch`].

mod batch;
mod config;
mod data;
mod density;
mod evaluation;
mod exhibit;
mod graphs;
mod inspect;
mod loss;
mod model;
mod section;
mod timing;

pub use batch::{Augmentation, CloudBatch};
pub use config::PointsConfig;
pub use data::Clouds;
pub use density::follows_density;
pub use evaluation::{CloudPrediction, PointEvaluation, PointMetrics};
pub use exhibit::PointExhibit;
pub use graphs::{PointGraph, RadiusConfig, RemovalConfig};
pub use inspect::{CloudRecord, inspect};
pub use loss::smoothed_cross_entropy;
pub use model::{PointModel, PointOutput};
pub use timing::{nearest_search, step};

use crate::{
    Error, Result,
    export::field,
    settings::Defaults,
    task::{Named, Part, Predictions, Purpose, Source, Task},
};
use adjoin::{learner::LearnerConfig, nets::PointNetworkConfig};
use adjoin_data::points::PointDataset;
use burn::tensor::Device;
use std::{fmt::Write, sync::Arc};

/// Classification of point clouds.
#[derive(Clone, Debug, PartialEq)]
pub struct Points;

impl Task for Points {
    const NAME: &'static str = "points";
    const ABOUT: &'static str = "classification of point clouds";
    const DATASET: &'static str = "shapes";
    const PLAIN: &'static str = "knn";
    const BACKBONE: &'static str = "dgcnn";
    const DEFAULTS: &'static str = include_str!("../../../defaults/points.toml");

    type Config = PointsConfig;
    type Data = Arc<PointDataset>;
    /// Names of the classes, in the order of the model's outputs.
    type Fitted = Vec<String>;
    /// Points of a cloud that are used.
    type Context = usize;
    type Seen = Clouds;
    type Held = Clouds;
    type Model = PointModel;
    type Metrics = PointMetrics;
    type Exhibit = PointExhibit;

    fn backbones() -> Vec<Named> {
        Named::all(Defaults::named(Self::DEFAULTS, |defaults| &defaults.backbones), Self::BACKBONE)
    }

    fn learners() -> Vec<Named> {
        Named::all(Defaults::named(Self::DEFAULTS, |defaults| &defaults.learners), Self::PLAIN)
    }

    fn start(backbone: &str, learner: &str) -> Result<PointsConfig> {
        Named::check("--learner", learner, &Self::learners())?;
        Named::check("--backbone", backbone, &Self::backbones())?;
        let network = match backbone {
            "resgcn" => PointNetworkConfig::resgcn(),
            _ => PointNetworkConfig::dgcnn(),
        };
        // A learner of the library has the settings it has there; other names are graphs.
        let graph = match learner {
            "radius" => PointGraph::Radius(RadiusConfig::default()),
            "outlier-removal" => PointGraph::OutlierRemoval(RemovalConfig::default()),
            _ => PointGraph::Published,
        };
        let learner = LearnerConfig::named(learner).unwrap_or(LearnerConfig::None);
        Ok(PointsConfig { network, graph, learner, ..PointsConfig::default() })
    }

    fn load(source: &Source) -> Result<Arc<PointDataset>> {
        data::load(source)
    }

    fn load_other(
        source: &Source,
        classes: &Vec<String>,
        _purpose: Purpose,
    ) -> Result<Arc<PointDataset>> {
        let source = Source { subset: None, ..source.clone() };
        let dataset = data::load(&source)?;
        if dataset.class_names != *classes {
            let found = &dataset.class_names;
            let what = format!("has the classes {found:?}; the run was trained for {classes:?}");
            return Err(Error::Config { place: dataset.name.clone(), what });
        }
        Ok(dataset)
    }

    fn fit(_config: &PointsConfig, data: &Arc<PointDataset>) -> Result<Vec<String>> {
        Ok(data.class_names.clone())
    }

    fn context(
        config: &PointsConfig,
        data: &Arc<PointDataset>,
        _: &Self::Fitted,
        _: &Device,
    ) -> Result<usize> {
        // A part of a damaged cloud would be damaged less.
        Ok(if data.corruption.is_some() { 0 } else { config.points })
    }

    fn training(
        _config: &PointsConfig,
        data: &Arc<PointDataset>,
        _device: &Device,
    ) -> Result<Clouds> {
        Clouds::training(data)
    }

    fn held(
        _config: &PointsConfig,
        data: &Arc<PointDataset>,
        part: Part,
    ) -> Result<Option<Clouds>> {
        let clouds = Clouds::part(data, part);
        Ok((!clouds.is_empty()).then_some(clouds))
    }

    fn model(
        config: &PointsConfig,
        classes: &Vec<String>,
        _points: &usize,
        seed: u64,
        device: &Device,
    ) -> Result<PointModel> {
        PointModel::new(config, classes.len(), seed, device)
    }

    fn exhibit(
        config: &PointsConfig,
        data: &Arc<PointDataset>,
        _points: &usize,
        model: &PointModel,
        _seed: u64,
    ) -> Result<PointExhibit> {
        PointExhibit::of(model, data, config.points)
    }

    /// `cloud,class,predicted,probability` of all test clouds.
    fn predictions(
        config: &PointsConfig,
        data: &Arc<PointDataset>,
        _points: &usize,
        model: &PointModel,
        _seed: u64,
        wanted: &Predictions,
    ) -> Result<String> {
        wanted.refuse_samples()?;
        wanted.refuse_probabilities()?;
        let name =
            |class: u32| data.class_names.get(class as usize).map_or("".into(), |c| field(c));
        let mut out = String::from("cloud,class,predicted,probability\n");
        let test = Clouds::part(data, Part::Test);
        let found = PointEvaluation::of(model, &test.all(), config.points)?;
        for (cloud, found) in test.all().iter().zip(found.predictions) {
            let (cloud, class) = (field(&cloud.name), name(found.class));
            let (predicted, probability) = (name(found.predicted), found.probability);
            let _ = writeln!(out, "{cloud},{class},{predicted},{probability:.4}");
        }
        Ok(out)
    }
}
