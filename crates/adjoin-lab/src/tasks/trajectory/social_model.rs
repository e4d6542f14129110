//! A learner and Social-STGCNN, joined.

use super::{
    Forecast, Forecaster, GENERATOR_FEATURES, InputGraph, Likelihood, Sampling, SceneBatch,
    SocialStgcnn, SocialStgcnnConfig, TrajectoryConfig, gaussian, kernel_graph,
    learners::{learner, needs_one_graph, prepared},
    motion::Unrest,
    negative_log_likelihood, position_negative_log_likelihood,
};
use crate::{
    Error, Result,
    settings::{HandOn, Handed},
};
use adjoin::{
    Adjacency, Csr, EdgeScores, GraphInput, GraphLearner, Key, LearnedGraph, Pass,
    learner::AnyLearner, loss::reinforce, nn::Encoder,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData},
};

/// More layers than anybody needs, and fewer than fill the memory.
const MOST_EXTRAPOLATORS: usize = 1000;

/// A graph learner and the network that uses its graph, one graph per frame.
///
/// Gradients reach the learner through the weights of its edges, in the one product with the graph;
/// DGM, whose weights are constants, learns from the REINFORCE loss. Evaluation uses the one graph
/// without noise.
#[derive(Module, Debug)]
pub struct SocialModel {
    /// Makes the graph.
    pub learner: AnyLearner,
    /// Makes the features that come with the graph, where the learner does not.
    pub encoder: Option<Encoder>,
    /// Predicts.
    pub network: SocialStgcnn,
    #[module(skip)]
    graph: InputGraph,
    #[module(skip)]
    likelihood: Likelihood,
    #[module(skip)]
    sampling: Sampling,
    relative: bool,
    reinforce: f64,
}

impl SocialModel {
    /// A fresh model; every seed is its own.
    pub fn new(
        config: &TrajectoryConfig,
        network: &SocialStgcnnConfig,
        [observed, predicted]: [usize; 2],
        seed: u64,
        device: &Device,
    ) -> Result<Self> {
        if observed == 0 || predicted == 0 {
            let what = "a trajectory needs at least one observed and one predicted step".into();
            return Err(Error::Config { place: "trajectory".into(), what });
        }
        let SocialStgcnnConfig { extrapolators, norm_momentum, .. } = *network;
        if extrapolators > MOST_EXTRAPOLATORS || !(0.0..=1.0).contains(&norm_momentum) {
            let what = format!(
                "extrapolators must be at most {MOST_EXTRAPOLATORS}, norm_momentum from 0 to 1"
            );
            return Err(Error::Config { place: "network".into(), what });
        }
        let key = Key::new(seed).child(0x7247);
        let learner = learner(&config.learner, GENERATOR_FEATURES, key.child(1), device)?;
        needs_one_graph(&learner, 0)?;
        let handed = network.hand_on.of(&config.learner);
        let encoder = match handed {
            Handed::Encoded(_) => {
                let encoder = HandOn::encoder().with_inputs(GENERATOR_FEATURES);
                Some(encoder.init(key.child(3), device)?)
            }
            Handed::Nothing | Handed::Latent(_) => None,
        };
        let handed = handed.width();
        Ok(Self {
            learner,
            encoder,
            network: network.init([observed, predicted], handed, key.child(2), device)?,
            graph: config.graph,
            likelihood: network.likelihood,
            sampling: network.sampling,
            relative: network.relative,
            reinforce: config.train.reinforce,
        })
    }

    /// The graph of every observed frame.
    pub fn learn(&self, batch: &SceneBatch, pass: Pass) -> Result<LearnedGraph> {
        let graph = match self.graph {
            InputGraph::Complete => None,
            InputGraph::Kernel => Some(kernel_graph(batch)?),
            InputGraph::Isolated => {
                let options = (&batch.steps.device(), batch.steps.dtype());
                Some(Adjacency::unweighted(Csr::empty(batch.nodes(), batch.nodes()), options))
            }
        };
        let input = GraphInput::new(&batch.features, graph.as_ref(), &batch.frames);
        let prepared = prepared(&self.learner, &input, &unrest(batch))?;
        Ok(self.learner.learn(&input.with_prepared(&prepared), pass)?)
    }

    /// Parameters of the distribution of every step, `[agents, 5 predicted]`.
    pub fn forward(&self, batch: &SceneBatch, pass: Pass) -> Result<Tensor<2>> {
        Ok(self.predict(batch, pass)?.0)
    }

    /// The same with the scores of the edges, if the learner has any.
    fn predict(&self, batch: &SceneBatch, pass: Pass) -> Result<(Tensor<2>, Option<EdgeScores>)> {
        let (spread, told, scores) = match &batch.constants {
            Some(spread) => (spread.clone(), None, None),
            None => {
                let of_features = pass.child(3);
                let graph = self.learn(batch, pass.child(1))?;
                let latent = match &self.encoder {
                    Some(encoder) => Some(encoder.forward(&batch.features, None, of_features)?),
                    None => graph.latent,
                };
                let told = match &latent {
                    Some(latent) => self.network.told(batch, &graph.adjacency, latent)?,
                    None => None,
                };
                (self.network.spread(batch, &graph.adjacency)?, told, graph.scores)
            }
        };
        let parameters = self.network.predict(batch, spread, told, pass.child(2))?;
        let parameters = match self.relative {
            true => parameters + carried_on(batch),
            false => parameters,
        };
        Ok((parameters, scores))
    }
}

impl Forecaster for SocialModel {
    fn forecast(&self, batch: &SceneBatch, samples: usize, key: Key) -> Result<Vec<Forecast>> {
        let parameters = self.forward(batch, Pass::evaluate())?.into_data().convert::<f32>();
        let parameters: Vec<f32> = parameters.iter::<f32>().collect();
        let (steps, width) = (batch.predicted, gaussian::PARAMETERS * batch.predicted);
        let of_scene = |(at, range): (usize, std::ops::Range<usize>)| {
            let rows = &parameters[range.start * width..range.end * width];
            gaussian::forecast(
                rows,
                &batch.origins[range],
                steps,
                samples,
                self.sampling,
                key.child(at as u64),
            )
        };
        Ok(batch.scenes.ranges().enumerate().map(of_scene).collect())
    }

    fn graphs(&self, batch: &SceneBatch) -> Result<LearnedGraph> {
        self.learn(batch, Pass::evaluate().child(1))
    }

    fn published_graphs(&self, batch: &SceneBatch) -> Result<Adjacency> {
        kernel_graph(batch)
    }
}

impl SocialModel {
    /// The loss of a batch, every scene counting the same, `[1]`.
    pub fn loss(&self, batch: &SceneBatch, pass: Pass) -> Result<Tensor<1>> {
        let rewarded = pass.has_noise() && self.reinforce > 0.0 && self.learner.is_rewarded();
        let (parameters, scores) = self.predict(batch, pass)?;
        let likelihood = match self.likelihood {
            Likelihood::Steps => negative_log_likelihood,
            Likelihood::Positions => position_negative_log_likelihood,
        };
        let losses = likelihood(&parameters, &batch.targets);
        let loss = (losses.clone() * batch.shares.clone()).sum();
        match scores.filter(|_| rewarded) {
            Some(scores) => {
                let nodes: Vec<u32> = (0..batch.nodes() as u32).collect();
                let advantages = advantages(batch, &losses);
                Ok(loss + reinforce(&scores, &nodes, &advantages)? * self.reinforce)
            }
            None => Ok(loss),
        }
    }

    /// What it makes of every observed node, in agent order, `[nodes, width]`, if that stays the same whatever
    /// is learned: without a learner the graph is a constant, and so is what it makes of the steps. Training
    /// asks once for every scene, and hands it back with every batch, as [`SceneBatch::constants`].
    pub fn constants(&self, batch: &SceneBatch) -> Result<Option<Tensor<2>>> {
        if !self.learner.hands_on() || self.encoder.is_some() {
            return Ok(None);
        }
        let graph = self.learn(batch, Pass::evaluate())?;
        Ok(Some(self.network.spread(batch, &graph.adjacency)?))
    }
}

/// The parameters of everybody going on as in the last observed step: it is the mean of every predicted
/// one, `[agents, 5 predicted]`.
fn carried_on(batch: &SceneBatch) -> Tensor<2> {
    let (steps, width) = (batch.predicted, gaussian::PARAMETERS * batch.predicted);
    let of_axis = |axis: usize, at: usize| f64::from(u8::from(at / steps == axis));
    let places: Vec<f64> = (0..2 * width).map(|at| of_axis(at / width, at % width)).collect();
    let last = batch.last_steps.clone();
    let places = TensorData::new(places, [2, width]);
    last.clone().matmul(Tensor::from_data(places, (&last.device(), last.dtype())))
}

/// How restless every agent was up to every observed frame, in metres, in frame order.
fn unrest(batch: &SceneBatch) -> Vec<f64> {
    let steps: Vec<f32> = batch.steps.to_data().convert::<f32>().iter::<f32>().collect();
    let step = |node: usize| [steps[3 * node], steps[3 * node + 1]];
    let mut means = Vec::with_capacity(batch.nodes());
    let mut first = 0;
    for agents in batch.scenes.ranges().map(|range| range.len()) {
        let mut unrest = vec![Unrest::default(); agents];
        for at in 0..agents * batch.observed {
            // No step ends at the first frame, so that the second has none to be compared with.
            if at >= 2 * agents {
                unrest[at % agents].add(step(first + at), step(first + at - agents));
            }
            means.push(unrest[at % agents].mean());
        }
        first += agents * batch.observed;
    }
    means
}

/// What hard graphs are rewarded with: by how much an agent was better predicted than the average agent
/// of the batch, in units of the standard deviation. All observed frames of an agent share it. Those who are not to be
/// predicted get nothing.
fn advantages(batch: &SceneBatch, losses: &Tensor<2>) -> Vec<f64> {
    let numbers = |tensor: &Tensor<2>| -> Vec<f64> {
        tensor.to_data().convert::<f64>().iter::<f64>().collect()
    };
    let counted: Vec<bool> = numbers(&batch.shares).iter().map(|share| *share > 0.0).collect();
    let per_agent = numbers(losses);
    let of_counted = || per_agent.iter().zip(&counted).filter(|(_, counts)| **counts);
    let count = of_counted().count().max(1) as f64;
    let mean = of_counted().map(|(loss, _)| loss).sum::<f64>() / count;
    let variance = of_counted().map(|(loss, _)| (loss - mean).powi(2)).sum::<f64>() / count;
    let deviation = variance.sqrt().max(1e-12);
    let advantage = |agent: usize| match counted[agent] {
        true => (mean - per_agent[agent]) / deviation,
        false => 0.0,
    };
    let mut advantages = Vec::with_capacity(batch.nodes());
    for range in batch.scenes.ranges() {
        for _ in 0..batch.observed {
            advantages.extend(range.clone().map(advantage));
        }
    }
    advantages
}
