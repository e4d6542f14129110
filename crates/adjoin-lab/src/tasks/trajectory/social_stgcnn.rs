//! Social-STGCNN (Mohamed et al., 2020): graph convolution per frame, convolution over time, then
//! convolutions that turn observed steps into predicted ones.
//!
//! All convolutions are dense products here: a small kernel is written out as a banded matrix that
//! acts on the whole past of an agent. The published network has two quirks, which are kept:
//! * between its halves memory is reinterpreted, not transposed: position `c T + t` of channel c at
//!   time t becomes channel `(c T + t) / 5`, feature `(c T + t) mod 5`; here that is an index map;
//! * the second half convolves over agents in the order in which they are numbered, so an agent
//!   sees the two that happen to be beside it in the list.

use super::{NormOver, SceneBatch, SceneNorm, SceneNormConfig, gaussian::PARAMETERS};
use crate::settings::HandOn;
use adjoin::{
    Adjacency, Key, Linear, LinearConfig, Pass, Result, Start,
    nets::{Propagation, propagate},
    ops,
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::relu},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Width of every convolution, over time, agents and features.
const KERNEL: usize = 3;
/// Channels of the first half; the network only fits together if they are as many as the parameters.
const CHANNELS: usize = PARAMETERS;
/// Where the slopes of the rectifiers start.
const SLOPE: f64 = 0.25;

/// Settings of the network; the defaults are the published ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SocialStgcnnConfig {
    /// How the graph acts on steps.
    pub propagation: Propagation,
    /// Layers that extrapolate in time, before the last one.
    pub extrapolators: usize,
    /// Whose statistics batch normalisation uses in training.
    pub norm_over: NormOver,
    /// How fast its running statistics follow.
    pub norm_momentum: f64,
    /// What the loss is the likelihood of.
    pub likelihood: Likelihood,
    /// How paths are drawn from the predicted distributions.
    pub sampling: Sampling,
    /// Whether predicted steps are relative to the last observed one: a network that says nothing then
    /// predicts constant velocity. The published one starts from standing still.
    pub relative: bool,
    /// Features that come with the graph.
    pub hand_on: HandOn,
}

/// How a path is drawn from distributions of its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Every step by itself, as published: errors of the steps cancel, paths zigzag.
    #[default]
    Independent,
    /// One draw per path: who starts out faster than expected stays so.
    Shared,
}

/// What the loss is the likelihood of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likelihood {
    /// Each step by itself, as published.
    #[default]
    Steps,
    /// The position after each step, which is the sum of steps that are drawn independently: errors in the
    /// same direction step after step make the variances grow, as sampled paths need it.
    Positions,
}

impl Default for SocialStgcnnConfig {
    fn default() -> Self {
        let (propagation, norm_over) = (Propagation::default(), NormOver::default());
        Self {
            propagation,
            extrapolators: 4,
            norm_over,
            norm_momentum: 0.1,
            likelihood: Likelihood::Steps,
            sampling: Sampling::Independent,
            relative: false,
            hand_on: HandOn::default(),
        }
    }
}

impl SocialStgcnnConfig {
    /// The network that predicts so many steps from so many, with weights drawn from `key`; `handed` is the width of
    /// the features that come with the graph, if any do.
    pub fn init(
        &self,
        [observed, predicted]: [usize; 2],
        handed: Option<usize>,
        key: Key,
        device: &Device,
    ) -> Result<SocialStgcnn> {
        let start = |shape: &[usize], fan_in: usize, child: u64| {
            let count = shape.iter().product();
            Start::Uniform(fan_in).tensor([count], [fan_in, 1], key.child(child), device)
        };
        let norm = SceneNormConfig {
            channels: CHANNELS,
            over: self.norm_over,
            momentum: self.norm_momentum,
            epsilon: 1e-5,
        };
        let point = |child: u64| {
            let config = LinearConfig::new(2, CHANNELS).with_start(Start::Uniform(2));
            let bias = Param::from_tensor(start(&[CHANNELS], 2, child + 100));
            Ok::<_, adjoin::Error>(Linear {
                bias: Some(bias),
                ..config.init(key.child(child), device)?
            })
        };
        let slope = || Param::from_tensor(Start::Constant(SLOPE).tensor([1], [1, 1], key, device));
        let fan = CHANNELS * KERNEL;
        let extrapolator = |at: usize, layout: Layout| {
            let inputs = if at == 0 { observed } else { predicted };
            let fan = inputs * KERNEL * KERNEL;
            let child = 10 + 2 * at as u64;
            Extrapolator {
                kernel: Param::from_tensor(start(&[predicted * fan], fan, child)),
                bias: Param::from_tensor(start(&[predicted], fan, child + 1)),
                matrix: Arc::new(extrapolation(inputs, predicted, layout)),
                inputs,
                outputs: predicted,
            }
        };
        let layers = self.extrapolators;
        Ok(SocialStgcnn {
            spatial: point(1)?,
            handed: handed
                .map(|width| {
                    let config = LinearConfig::new(width, CHANNELS);
                    config.with_start(Start::Uniform(width)).init(key.child(5), device)
                })
                .transpose()?,
            spatial_norm: norm.init(device),
            spatial_slope: slope(),
            temporal: Param::from_tensor(start(&[CHANNELS * fan], fan, 2)),
            temporal_bias: Param::from_tensor(start(&[1, CHANNELS], fan, 3).reshape([1, CHANNELS])),
            temporal_norm: norm.init(device),
            residual: point(4)?,
            residual_norm: norm.init(device),
            slope: slope(),
            extrapolators: (0..layers)
                .map(|at| {
                    extrapolator(at, if at == 0 { Layout::TimeFirst } else { Layout::Reshaped })
                })
                .collect(),
            slopes: (0..layers).map(|_| slope()).collect(),
            output: extrapolator(
                layers,
                if layers == 0 { Layout::TimeFirst } else { Layout::Reshaped },
            ),
            bands: Arc::new(temporal_bands(observed)),
            propagation: self.propagation,
            observed,
        })
    }
}

/// The network.
#[derive(Module, Debug)]
pub struct SocialStgcnn {
    /// The map of steps that the graph spreads.
    pub spatial: Linear,
    /// What the first layer gets of the features that come with the graph, if it gets any.
    pub handed: Option<Linear>,
    /// Normalisation after the graph.
    pub spatial_norm: SceneNorm,
    /// Slope of the rectifier after it, `[1]`.
    pub spatial_slope: Param<Tensor<1>>,
    /// Kernel over time, `[channels out, channels in, 3]` flat.
    pub temporal: Param<Tensor<1>>,
    /// Its bias, `[1, channels]`.
    pub temporal_bias: Param<Tensor<2>>,
    /// Normalisation after it.
    pub temporal_norm: SceneNorm,
    /// The map of steps that goes past graph and time.
    pub residual: Linear,
    /// Its normalisation.
    pub residual_norm: SceneNorm,
    /// Slope of the rectifier after the sum, `[1]`.
    pub slope: Param<Tensor<1>>,
    /// From observed to predicted steps, then over predicted steps.
    pub extrapolators: Vec<Extrapolator>,
    /// Slopes of the rectifiers after each, `[1]`.
    pub slopes: Vec<Param<Tensor<1>>>,
    /// The last layer.
    pub output: Extrapolator,
    #[module(skip)]
    bands: Arc<Vec<u32>>,
    #[module(skip)]
    propagation: Propagation,
    observed: usize,
}

impl SocialStgcnn {
    /// Parameters of the distribution of the steps, `[agents, 5 predicted]`: see
    /// [`negative_log_likelihood`](super::negative_log_likelihood).
    ///
    /// The graph is over the nodes of the batch in frame order. Its product with the steps comes
    /// first, `A (x W + b) = (A x) W + (A 1) b`, so that edges carry three numbers instead of five and
    /// a constant graph needs no backward pass. Gradients flow to all weights and to those of the
    /// graph.
    pub fn forward(&self, batch: &SceneBatch, graph: &Adjacency, pass: Pass) -> Result<Tensor<2>> {
        self.predict(batch, self.spread(batch, graph)?, None, pass)
    }

    /// What the graph makes of the features that come with it, `D^-1 (A + I) V x^` in agent order,
    /// `[nodes, channels]`; nothing if the network takes none.
    pub(super) fn told(
        &self,
        batch: &SceneBatch,
        graph: &Adjacency,
        latent: &Tensor<2>,
    ) -> Result<Option<Tensor<2>>> {
        let Some(handed) = &self.handed else { return Ok(None) };
        let told = propagate(graph, &handed.forward_dense(latent.clone()), Propagation::Row)?;
        batch.to_agents.aggregate(&told).map(Some)
    }

    /// What the graph makes of the steps, in agent order, `[nodes, 3]`.
    pub(super) fn spread(&self, batch: &SceneBatch, graph: &Adjacency) -> Result<Tensor<2>> {
        let spread = propagate(graph, &batch.steps, self.propagation)?;
        batch.to_agents.aggregate(&spread)
    }

    /// The rest of [`forward`](Self::forward), from what the graph made of the steps and of the features that came
    /// with it.
    pub(super) fn predict(
        &self,
        batch: &SceneBatch,
        spread: Tensor<2>,
        told: Option<Tensor<2>>,
        pass: Pass,
    ) -> Result<Tensor<2>> {
        let x = spread.matmul(affine(&self.spatial));
        let x = match told {
            Some(told) => x + told,
            None => x,
        };
        let x = self.spatial_norm.forward(&x, batch, &pass)?;
        let x = self.over_time(prelu(x, self.spatial_slope.val()))?;
        let x = self.temporal_norm.forward(&x, batch, &pass)?;
        let past = batch.steps_by_agent.clone().matmul(affine(&self.residual));
        let x = x + self.residual_norm.forward(&past, batch, &pass)?;
        let mut x = self.by_agent(prelu(x, self.slope.val()));
        for (at, (layer, slope)) in self.extrapolators.iter().zip(&self.slopes).enumerate() {
            let y = prelu(layer.forward(&x, batch)?, slope.val());
            x = if at == 0 { y } else { y + x };
        }
        self.output.forward(&x, batch)
    }

    /// Convolution over the past of every agent: `[nodes, channels]` in agent order.
    fn over_time(&self, x: Tensor<2>) -> Result<Tensor<2>> {
        let nodes = x.dims()[0];
        let width = self.observed * CHANNELS;
        let matrix = ops::take(&self.temporal.val(), self.bands.to_vec(), 0.0)?;
        let y = self.by_agent(x).matmul(matrix.reshape([width, width]));
        Ok(y.reshape([nodes, CHANNELS]) + self.temporal_bias.val())
    }

    /// The past of an agent as a row.
    fn by_agent(&self, x: Tensor<2>) -> Tensor<2> {
        let [nodes, channels] = x.dims();
        x.reshape([nodes / self.observed, self.observed * channels])
    }
}

/// `max(x, 0) + a min(x, 0)`. Burn's own works with masks, which are slow.
fn prelu(x: Tensor<2>, slope: Tensor<1>) -> Tensor<2> {
    let positive = relu(x.clone());
    (x - positive.clone()) * slope.unsqueeze() + positive
}

/// `[W; b]`, for inputs whose last column is 1.
fn affine(linear: &Linear) -> Tensor<2> {
    let weight = linear.weight.val();
    match &linear.bias {
        Some(bias) => Tensor::cat(vec![weight, bias.val().unsqueeze()], 0),
        None => {
            let outputs = weight.dims()[1];
            let zero = Tensor::zeros([1, outputs], (&weight.device(), weight.dtype()));
            Tensor::cat(vec![weight, zero], 0)
        }
    }
}

/// A convolution over (features, agents) whose channels are time steps.
#[derive(Module, Debug)]
pub struct Extrapolator {
    /// `[steps out, steps in, 3 (features), 3 (agents)]`, flat.
    pub kernel: Param<Tensor<1>>,
    /// `[steps out]`.
    pub bias: Param<Tensor<1>>,
    #[module(skip)]
    matrix: Arc<Vec<u32>>,
    inputs: usize,
    outputs: usize,
}

impl Extrapolator {
    /// From `[agents, 5 steps in]` to `[agents, 5 steps out]`: one product gives what every agent sends
    /// to the agents before, at and after it, and a sparse one adds it up within scenes.
    fn forward(&self, x: &Tensor<2>, batch: &SceneBatch) -> Result<Tensor<2>> {
        let agents = x.dims()[0];
        let width = self.outputs * PARAMETERS;
        let matrix = ops::take(&self.kernel.val(), self.matrix.to_vec(), 0.0)?;
        let sent = x.clone().matmul(matrix.reshape([self.inputs * PARAMETERS, KERNEL * width]));
        let y = batch.beside.aggregate(&sent.reshape([KERNEL * agents, width]))?;
        let steps = (0..width).map(|at| (at / PARAMETERS) as u32).collect();
        Ok(y + ops::take(&self.bias.val(), steps, 0.0)?.unsqueeze())
    }
}

/// How the input of an [`Extrapolator`] lies in memory.
#[derive(Clone, Copy)]
enum Layout {
    /// Position `5 t + c`: what the first half of this network gives.
    TimeFirst,
    /// Position `5 step + feature`.
    Reshaped,
}

/// Offset within a kernel of the input `from` seen by the output `to`, if it is within reach.
fn tap(from: usize, to: usize) -> Option<usize> {
    (from + KERNEL / 2).checked_sub(to).filter(|&tap| tap < KERNEL)
}

/// Entries of the `[T C, T C]` matrix of the convolution over time, as places in its kernel.
fn temporal_bands(observed: usize) -> Vec<u32> {
    let flat = |at: usize| (at / CHANNELS, at % CHANNELS);
    let entry = |row: usize, column: usize| {
        let ((from, input), (to, output)) = (flat(row), flat(column));
        tap(from, to).map(|tap| (output * CHANNELS + input) * KERNEL + tap)
    };
    matrix(observed * CHANNELS, observed * CHANNELS, entry)
}

/// Entries of the `[5 inputs, 3 * 5 outputs]` matrix of an [`Extrapolator`], as places in its kernel.
fn extrapolation(inputs: usize, outputs: usize, layout: Layout) -> Vec<u32> {
    let width = outputs * PARAMETERS;
    let entry = |row: usize, column: usize| {
        let published = match layout {
            Layout::TimeFirst => row % CHANNELS * inputs + row / CHANNELS,
            Layout::Reshaped => row,
        };
        let (input, from) = (published / PARAMETERS, published % PARAMETERS);
        let (place, column) = (column / width, column % width);
        let (output, to) = (column / PARAMETERS, column % PARAMETERS);
        tap(from, to).map(|tap| ((output * inputs + input) * KERNEL + tap) * KERNEL + place)
    };
    matrix(inputs * PARAMETERS, KERNEL * width, entry)
}

fn matrix(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> Option<usize>) -> Vec<u32> {
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    places.map(|(row, column)| entry(row, column).map_or(ops::ABSENT, |at| at as u32)).collect()
}
