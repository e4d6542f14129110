//! EdgeConv (Wang et al., 2019): `y_i = max_j leaky(bn([x_j - x_i, x_i] W))`.
//!
//! The linear map splits into two node-level products, `message_ij = p_j + q_i`, and the maximum
//! over neighbours commutes with the per-channel batch norm and activation up to the sign of the
//! scale: nothing of size `[edges, channels]` is built.

use super::Conv;
use crate::{Adjacency, Features, Key, LinearConfig, Linear, Pass, Result, Start, ops};
use burn::{
    module::{Module, Param, RunningState},
    tensor::{Device, Tensor},
};

/// Settings of an [`EdgeConv`] layer.
#[derive(Clone, Copy, Debug)]
pub struct EdgeConvConfig {
    /// Width of the input.
    pub inputs: usize,
    /// Width of the output.
    pub outputs: usize,
    /// Slope of the LeakyReLU below zero.
    pub slope: f64,
    /// Added to the variance before the root.
    pub epsilon: f64,
    /// How fast the running statistics follow.
    pub momentum: f64,
}

impl EdgeConvConfig {
    /// A layer as in DGCNN.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        Self { inputs, outputs, slope: 0.2, epsilon: 1e-5, momentum: 0.1 }
    }

    /// The layer, with weights drawn from `key`.
    pub fn init(&self, key: Key, device: &Device) -> EdgeConv {
        let linear = LinearConfig::new(self.inputs, self.outputs)
            .with_bias(None)
            .with_start(Start::Uniform(2 * self.inputs));
        let vector = |value: f64| {
            Start::Constant(value).tensor([self.outputs], [1, 1], key, device)
        };
        EdgeConv {
            difference: linear.init(key.child(0), device),
            centre: linear.init(key.child(1), device),
            scale: Param::from_tensor(vector(1.0)),
            shift: Param::from_tensor(vector(0.0)),
            running_mean: RunningState::new(vector(0.0)),
            running_variance: RunningState::new(vector(1.0)),
            slope: self.slope,
            epsilon: self.epsilon,
            momentum: self.momentum,
        }
    }
}

/// A layer of EdgeConv with batch norm over all messages.
#[derive(Module, Debug)]
pub struct EdgeConv {
    /// The half of `W` that sees `x_j - x_i`.
    pub difference: Linear,
    /// The half of `W` that sees `x_i`.
    pub centre: Linear,
    /// Scale of the batch norm.
    pub scale: Param<Tensor<1>>,
    /// Shift of the batch norm.
    pub shift: Param<Tensor<1>>,
    /// Mean of the messages, as evaluation uses it.
    pub running_mean: RunningState<Tensor<1>>,
    /// Their variance, as evaluation uses it.
    pub running_variance: RunningState<Tensor<1>>,
    slope: f64,
    epsilon: f64,
    momentum: f64,
}

impl Conv for EdgeConv {
    /// Uses the topology of the graph; in training passes the statistics of this batch, which also
    /// move the running ones, elsewhere the running ones.
    fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> Result<Tensor<2>> {
        let from_neighbour = self.difference.product(x)?;
        let from_centre = self.centre.product(x)? - from_neighbour.clone();
        let topology = graph.topology();
        let (scale, shift) = (self.scale.val(), self.shift.val());
        let (p, q) = (&from_neighbour, &from_centre);
        if !pass.has_dropout() {
            let running = [&self.running_mean, &self.running_variance];
            let statistics = Tensor::stack(running.map(RunningState::value_sync).to_vec(), 0);
            let extremes = ops::edgeconv_extremes(topology, p, q, &scale)?;
            let (slope, epsilon) = (self.slope, self.epsilon);
            return ops::edgeconv_normalise(
                topology, &extremes, &statistics, &scale, &shift, slope, epsilon,
            );
        }
        let (y, mean, variance) =
            ops::edgeconv(topology, p, q, &scale, &shift, self.slope, self.epsilon)?;
        for (running, batch) in [(&self.running_mean, mean), (&self.running_variance, variance)] {
            let kept = running.value_sync().detach() * (1.0 - self.momentum);
            running.update(kept + batch.detach() * self.momentum);
            // An update is held back until it is asked for; saved modules must not miss it.
            running.value_sync();
        }
        Ok(y)
    }
}
