//! NeuralSparse.

use super::{Shape, table::Settings};
use crate::{
    Error, Result,
    graph::{Adjacency, Features, GraphInput, Progress},
    kernels::random::Key,
    nn::{EdgeScores, GraphLearner, LearnedGraph, Linear, LinearConfig, NEEDS_INPUTS, Start},
    ops::{self, PairNetwork},
    pass::Pass,
    topology::Csr,
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Serialize};

/// Least `1 - s` of a relaxed draw: its logarithm stays finite where one neighbour takes all.
const LEAST_REST: f64 = 1e-12;

/// Weights of the edges that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SparseWeights {
    /// One relaxed draw; a row sums to at most 1.
    #[default]
    Soft,
    /// The sum of k relaxed draws without replacement; a row sums to at most k.
    Khot,
}

/// Settings of [`NeuralSparse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NeuralSparseConfig {
    /// Width of the features, set by [`with_inputs`](Self::with_inputs); no part of a configuration file.
    #[serde(skip)]
    pub inputs: Option<usize>,
    /// Most neighbours of a node.
    pub k: usize,
    /// Width of the hidden layer of the scorer.
    pub hidden: usize,
    /// Weights of the edges that are kept.
    pub weights: SparseWeights,
    /// `r` of the temperature `max(lowest, exp(-r epoch))` in training.
    pub cooling: f64,
    /// Epochs between two changes of the temperature.
    pub every: usize,
    /// Lowest temperature.
    pub lowest: f64,
}

impl Default for NeuralSparseConfig {
    fn default() -> Self {
        Self {
            inputs: None,
            k: 5,
            hidden: 32,
            weights: SparseWeights::Soft,
            cooling: 1e-3,
            every: 50,
            lowest: 0.05,
        }
    }
}

impl NeuralSparseConfig {
    /// The default settings, for features of width `inputs`.
    pub fn new(inputs: usize) -> Self {
        Self::default().with_inputs(inputs)
    }

    /// The same for features of another width.
    #[must_use]
    pub fn with_inputs(self, inputs: usize) -> Self {
        Self { inputs: Some(inputs), ..self }
    }

    /// The learner, with weights drawn from `key`.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, key: Key, device: &Device) -> Result<NeuralSparse> {
        let inputs = Error::width(self.inputs, "inputs", NEEDS_INPUTS)?;
        Error::positive(self.k, "k", "must be at least 1")?;
        Error::positive(self.hidden, "hidden", "must be at least 1")?;
        Error::positive(self.every, "every", "must be at least 1")?;
        let setting = |name, value: f64, expected, holds: bool| {
            let value = value.to_string();
            if holds { Ok(()) } else { Err(Error::Setting { name, value, expected }) }
        };
        let (cooling, lowest) = (self.cooling, self.lowest);
        let rises = cooling >= 0.0 && cooling.is_finite();
        setting("cooling", cooling, "must be a number from 0", rises)?;
        let within = lowest > 0.0 && lowest <= 1.0;
        setting("lowest", lowest, "must be above 0 and at most 1", within)?;
        let linear = LinearConfig::new(inputs, self.hidden);
        let vector = |fans, child| {
            let start = Start::Glorot;
            Param::from_tensor(start.tensor([self.hidden], fans, key.child(child), device))
        };
        Ok(NeuralSparse {
            receiver: linear.init(key.child(1), device)?,
            sender: linear.with_bias(None).init(key.child(2), device)?,
            edge: vector([1, self.hidden], 3),
            output: vector([self.hidden, 1], 4),
            config: self.clone(),
        })
    }
}

impl Settings for NeuralSparseConfig {
    type Learner = NeuralSparse;

    fn init_for(
        &self,
        _data: &GraphInput,
        shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<NeuralSparse> {
        self.clone().with_inputs(shape.features).init(key, device)
    }
}

/// NeuralSparse (Zheng et al., 2020): every node keeps at most k of its given neighbours, by a Gumbel draw
/// of learned scores.
///
/// With `w_ij` the weight of a given edge, self-loops left out, and g Gumbel noise:
///
/// `z_ij = <a, relu(W_1 x_i + W_2 x_j + w_ij v + b)>`, `s_ij = softmax_j((z_ij + g_ij) / t)`.
///
/// The k edges of largest `s` stay, of equal ones the first: a draw of k without replacement. Their weights
/// are `s_ij` ([`SparseWeights::Soft`]), or the sum of k relaxed draws
/// `s^n = softmax(a^n / t)`, `a^1 = z + g`, `a^(n+1) = a^n + log(1 - s^n)` ([`SparseWeights::Khot`]).
/// They are not normalised again.
///
/// The temperature in training is `t = max(lowest, exp(-r epoch))`, changed every so many epochs. Evaluation has
/// no noise and `t = 1`. A bias of `z` would cancel in the softmax, so there is none.
///
/// # Shapes
/// Features `[nodes, inputs]`, dense or sparse; at most k edges a node.
///
/// # Gradients
/// Flow through the weights of the kept edges to the scorer, to dense features and to the weights of the
/// given graph. Which edges are kept is a constant.
#[derive(Module, Debug)]
pub struct NeuralSparse {
    /// `W_1` and `b`.
    pub receiver: Linear,
    /// `W_2`.
    pub sender: Linear,
    /// `v`, `[hidden]`.
    pub edge: Param<Tensor<1>>,
    /// `a`, `[hidden]`.
    pub output: Param<Tensor<1>>,
    #[module(skip)]
    config: NeuralSparseConfig,
}

impl NeuralSparse {
    /// The settings this learner was made with.
    pub fn config(&self) -> &NeuralSparseConfig {
        &self.config
    }

    /// `z` of the edges of a graph, `[edges]`, without noise.
    ///
    /// # Errors
    /// If graph and features do not fit.
    pub fn scores(&self, x: &Features, graph: &Adjacency) -> Result<Tensor<1>> {
        let network = PairNetwork {
            receiver: self.receiver.forward(x)?,
            sender: self.sender.product(x)?,
            scalar: Some((graph.weights().clone(), self.edge.val())),
            slope: 0.0,
        };
        ops::pair_logits(graph.topology(), &network, &self.output.val())
    }

    /// The temperature of a step of training.
    pub fn temperature(&self, at: Progress) -> f64 {
        let NeuralSparseConfig { cooling, every, lowest, .. } = self.config;
        let epoch = at.epoch / every * every;
        (-cooling * epoch as f64).exp().max(lowest)
    }

    /// Relaxed draws of all edges, `[edges]`.
    fn relaxed(&self, edges: &Csr, keys: &Tensor<1>, temperature: f64) -> Result<Tensor<1>> {
        let once = |keys: &Tensor<1>| ops::segment_softmax(edges, &(keys.clone() / temperature));
        if self.config.weights == SparseWeights::Soft {
            return once(keys);
        }
        let most = (0..edges.rows()).map(|row| edges.degree(row)).max().unwrap_or(0);
        let degrees = ops::segment_sum(edges, &keys.ones_like())?;
        let degrees = ops::broadcast_rows(edges, &degrees)?;
        let (mut keys, mut sum) = (keys.clone(), keys.zeros_like());
        for draw in 0..self.config.k.min(most) {
            let soft = once(&keys)?;
            // A node draws no more neighbours than it has: 1 where it still draws, 0 where not.
            let draws = (degrees.clone() - draw as f64).clamp(0.0, 1.0);
            sum = sum + soft.clone() * draws;
            keys = keys + (soft.neg() + 1.0).clamp_min(LEAST_REST).log();
        }
        Ok(sum)
    }
}

impl GraphLearner for NeuralSparse {
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph> {
        input.check()?;
        let given = input.graph.ok_or(Error::NoInputGraph("NeuralSparse"))?;
        let given = given.filter(|i, j| i != j)?;
        let edges = given.topology();
        let scores = self.scores(input.features, &given)?;
        let (keys, temperature) = match pass.has_noise() {
            true => {
                let noise = ops::gumbel_noise(edges, pass.key(), false, &scores)?;
                let temperature = input.progress.map_or(1.0, |at| self.temperature(at));
                (scores.clone() + noise, temperature)
            }
            false => (scores.clone(), 1.0),
        };
        let weights = self.relaxed(edges, &keys, temperature)?;
        let kept = edges.largest(&ops::to_f64("scores of edges", &keys)?, self.config.k);
        let total = ops::broadcast_rows(edges, &ops::segment_logsumexp(edges, &scores)?)?;
        let adjacency = Adjacency::new(edges.keep(&kept), ops::take(&weights, kept, 0.0)?)?;
        Ok(LearnedGraph {
            scores: Some(EdgeScores { pairs: edges.clone(), log_scores: scores - total }),
            ..LearnedGraph::plain(adjacency)
        })
    }
}
