//! Either network with its learner, as one model.

use super::{
    Forecast, Forecaster, HeldScenes, NetworkConfig, SceneBatch, SocialModel, Trajectory,
    TrajectoryConfig, TrajectoryMetrics,
    dagnet::{DagModel, Fitted},
};
use crate::{
    Error, Result,
    task::{Evaluation, Model, Step, Training},
};
use adjoin::{Adjacency, Key, LearnedGraph, Pass, loss::Baseline, nn::Progress};
use adjoin_data::trajectory::TrajectoryDataset;
use burn::{
    module::{Module, ParamId, list_param_ids},
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Serialize};

/// A graph learner and the network that uses its graphs.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // one per run: boxing would buy nothing
pub enum TrajectoryModel {
    /// Social-STGCNN.
    Social(SocialModel),
    /// DAG-Net.
    Dag(DagModel),
}

/// What a model takes from its training scenes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryFitted {
    /// Steps that are seen and predicted.
    pub steps: [usize; 2],
    /// Goals of DAG-Net.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goals: Option<Fitted>,
}

impl TrajectoryFitted {
    pub(super) fn to(config: &TrajectoryConfig, dataset: &TrajectoryDataset) -> Result<Self> {
        let goals = match &config.network {
            NetworkConfig::SocialStgcnn(_) => None,
            NetworkConfig::Dagnet(network) => Some(Fitted::to(network, dataset)?),
        };
        Ok(Self { steps: [dataset.observed, dataset.predicted], goals })
    }
}

impl TrajectoryModel {
    /// A fresh model; every seed is its own.
    pub fn new(
        config: &TrajectoryConfig,
        fitted: &TrajectoryFitted,
        seed: u64,
        device: &Device,
    ) -> Result<Self> {
        Ok(match (&config.network, &fitted.goals) {
            (NetworkConfig::SocialStgcnn(network), _) => {
                Self::Social(SocialModel::new(config, network, fitted.steps, seed, device)?)
            }
            (NetworkConfig::Dagnet(network), Some(goals)) => {
                Self::Dag(DagModel::new(config, network, goals, seed, device)?)
            }
            (NetworkConfig::Dagnet(_), None) => {
                let what = "the goals of DAG-Net are missing from its record".into();
                return Err(Error::Config { place: "network.dagnet".into(), what });
            }
        })
    }

    /// The loss of a batch, every scene counting the same, `[1]`.
    pub fn loss(&self, batch: &SceneBatch, pass: Pass) -> Result<Tensor<1>> {
        match self {
            Self::Social(model) => model.loss(batch, pass),
            Self::Dag(model) => model.loss(batch, pass),
        }
    }

    /// What it makes of a batch whatever is learned, if anything.
    pub fn constants(&self, batch: &SceneBatch) -> Result<Option<Tensor<2>>> {
        match self {
            Self::Social(model) => model.constants(batch),
            Self::Dag(_) => Ok(None),
        }
    }

    fn forecaster(&self) -> &dyn Forecaster {
        match self {
            Self::Social(model) => model,
            Self::Dag(model) => model,
        }
    }
}

impl Forecaster for TrajectoryModel {
    fn forecast(&self, batch: &SceneBatch, samples: usize, key: Key) -> Result<Vec<Forecast>> {
        self.forecaster().forecast(batch, samples, key)
    }

    fn graphs(&self, batch: &SceneBatch) -> Result<LearnedGraph> {
        self.forecaster().graphs(batch)
    }

    fn published_graphs(&self, batch: &SceneBatch) -> Result<Adjacency> {
        self.forecaster().published_graphs(batch)
    }
}

impl Model<Trajectory> for TrajectoryModel {
    fn begin_epoch(&mut self, _: &(), at: Progress, _learner_joined: bool) -> Result<()> {
        if let Self::Dag(model) = self {
            model.begin_epoch(at.epoch);
        }
        Ok(())
    }

    fn loss(
        &self,
        data: Training<'_, Trajectory>,
        pass: Pass,
        _rewards: &mut Baseline,
    ) -> Result<Step> {
        let Training { config, seen, batch, at, seed, .. } = data;
        let batch = match config.turn {
            true => {
                let key = Key::new(seed).child(0x7412).child(at.epoch as u64);
                seen.turned(batch, key)?
            }
            false => seen.batch(self, batch)?,
        };
        Ok(Step { loss: TrajectoryModel::loss(self, &batch, pass)?, measure: None })
    }

    fn evaluate(
        &self,
        _context: &(),
        held: &HeldScenes,
        seed: u64,
    ) -> Result<Evaluation<Trajectory>> {
        let batches = held.batches(self)?;
        let mut loss = 0.0;
        for batch in &batches {
            let of_batch = TrajectoryModel::loss(self, batch, Pass::evaluate())?;
            loss += of_batch.into_scalar::<f64>() * batch.scenes.graphs() as f64;
        }
        loss /= held.count() as f64;
        let scores = held.score(self, &batches, seed)?;
        let metrics = TrajectoryMetrics { scores, loss };
        Ok(Evaluation { metrics, train: None, degrees: Vec::new() })
    }

    fn learner_parameters(&self) -> Vec<ParamId> {
        match self {
            Self::Social(model) => list_param_ids(&model.learner),
            Self::Dag(model) => list_param_ids(&model.learner),
        }
    }
}
