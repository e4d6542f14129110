//! A learner and Social-STGCNN, joined.

use super::{
    Forecast, Forecaster, GENERATOR_FEATURES, InputGraph, SceneBatch, SocialStgcnn,
    TrajectoryConfig, gaussian, kernel_graph, negative_log_likelihood,
};
use crate::{AnyLearner, Error, Result};
use adjoin::{GraphInput, Key, LearnedGraph, Learner, Pass};
use burn::{
    module::{Module, ParamId, list_param_ids},
    tensor::{Device, Tensor},
};

/// A graph learner and the network that uses its graph, one graph per frame.
#[derive(Module, Debug)]
pub struct SocialModel {
    /// Makes the graph.
    pub learner: AnyLearner,
    /// Predicts.
    pub network: SocialStgcnn,
    #[module(skip)]
    graph: InputGraph,
}

impl SocialModel {
    /// A fresh model; every seed is its own.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(
        config: &TrajectoryConfig,
        [observed, predicted]: [usize; 2],
        seed: u64,
        device: &Device,
    ) -> Result<Self> {
        if observed == 0 || predicted == 0 {
            let what = "a trajectory needs at least one observed and one predicted step".into();
            return Err(Error::Config { place: "trajectory".into(), what });
        }
        let key = Key::new(seed).child(0x7247);
        Ok(Self {
            learner: config.learner.init(GENERATOR_FEATURES, key.child(1), device)?,
            network: config.network.init([observed, predicted], key.child(2), device),
            graph: config.graph,
        })
    }

    /// The graph of every observed frame.
    ///
    /// # Errors
    /// If batch and learner do not fit.
    pub fn learn(&self, batch: &SceneBatch, pass: Pass) -> Result<LearnedGraph> {
        let graph = match self.graph {
            InputGraph::None => None,
            InputGraph::Kernel => Some(kernel_graph(batch)?),
        };
        let input = GraphInput::new(&batch.features, graph.as_ref(), &batch.frames);
        Ok(self.learner.learn(&input, pass)?)
    }

    /// Parameters of the distribution of every step, `[agents, 5 predicted]`.
    ///
    /// # Errors
    /// If batch and model do not fit.
    pub fn forward(&self, batch: &SceneBatch, pass: Pass) -> Result<Tensor<2>> {
        let graph = self.learn(batch, pass.child(1))?;
        Ok(self.network.forward(batch, &graph.adjacency, pass.child(2))?)
    }
}

impl Forecaster for SocialModel {
    fn loss(&self, batch: &SceneBatch, pass: Pass) -> Result<Tensor<1>> {
        let parameters = self.forward(batch, pass)?;
        Ok(negative_log_likelihood(&parameters, &batch.targets, &batch.shares))
    }

    fn forecast(&self, batch: &SceneBatch, samples: usize, key: Key) -> Result<Vec<Forecast>> {
        let parameters = self.forward(batch, Pass::evaluate())?.into_data().convert::<f32>();
        let parameters: Vec<f32> = parameters.iter::<f32>().collect();
        let (steps, width) = (batch.predicted, gaussian::PARAMETERS * batch.predicted);
        let of_scene = |(at, range): (usize, std::ops::Range<usize>)| {
            let rows = &parameters[range.start * width..range.end * width];
            gaussian::forecast(rows, &batch.origins[range], steps, samples, key.child(at as u64))
        };
        Ok(batch.scenes.ranges().enumerate().map(of_scene).collect())
    }

    fn learner_parameters(&self) -> Vec<ParamId> {
        list_param_ids(&self.learner)
    }
}
