//! Batch normalisation of rows, alone or with pooling over the graphs of a batch.

use super::Start;
use crate::{
    Result,
    kernels::random::Key,
    ops::{self, NormStatistics},
    pass::Pass,
    topology::Batch,
};
use burn::{
    module::{Module, Param, RunningState},
    tensor::{Device, Tensor, activation::leaky_relu},
};

/// Settings of a [`RunningNorm`].
#[derive(Clone, Copy, Debug)]
pub struct RunningNormConfig {
    /// Number of channels.
    pub channels: usize,
    /// Slope of the leaky rectifier that follows.
    pub slope: f64,
    /// How fast the running statistics follow those of a mini-batch.
    pub momentum: f64,
    /// Added to the variance before the root.
    pub epsilon: f64,
}

impl RunningNormConfig {
    /// The usual settings.
    pub fn new(channels: usize, slope: f64) -> Self {
        Self { channels, slope, momentum: 0.1, epsilon: 1e-5 }
    }

    /// The layer; nothing in it is drawn from `key`.
    ///
    /// # Errors
    /// None: all settings are in range.
    pub fn init(&self, _key: Key, device: &Device) -> Result<RunningNorm> {
        let vector = |value: f64| {
            Start::Constant(value).tensor([self.channels], [1, 1], Key::new(0), device)
        };
        Ok(RunningNorm {
            scale: Param::from_tensor(vector(1.0)),
            shift: Param::from_tensor(vector(0.0)),
            running_mean: RunningState::new(vector(0.0)),
            running_variance: RunningState::new(vector(1.0)),
            slope: self.slope,
            momentum: self.momentum,
            epsilon: self.epsilon,
        })
    }
}

/// `y = leaky((x - mean) / sqrt(variance + eps) * scale + shift)`, channel by channel.
///
/// In training passes with the statistics of the rows, through which gradients flow and which move the
/// running ones; elsewhere with the running ones.
#[derive(Module, Debug)]
pub struct RunningNorm {
    /// Factor after normalisation, `[channels]`.
    pub scale: Param<Tensor<1>>,
    /// Addend after normalisation, `[channels]`.
    pub shift: Param<Tensor<1>>,
    /// The mean that evaluation uses, `[channels]`.
    pub running_mean: RunningState<Tensor<1>>,
    /// The variance that evaluation uses, `[channels]`.
    pub running_variance: RunningState<Tensor<1>>,
    slope: f64,
    momentum: f64,
    epsilon: f64,
}

impl RunningNorm {
    /// `y` `[rows, channels]` of few rows.
    pub fn forward(&self, x: Tensor<2>, pass: &Pass) -> Tensor<2> {
        let (mean, variance) = match pass.has_dropout() {
            true => {
                let mean = x.clone().mean_dim(0);
                let variance = (x.clone() - mean.clone()).square().mean_dim(0);
                self.follow(&Tensor::cat(vec![mean.clone(), variance.clone()], 0), x.dims()[0]);
                (mean, variance)
            }
            false => {
                let [mean, variance] = [&self.running_mean, &self.running_variance]
                    .map(|running| running.value_sync().unsqueeze());
                (mean, variance)
            }
        };
        let factor = (variance + self.epsilon).sqrt().recip() * self.scale.val().unsqueeze();
        leaky_relu((x - mean) * factor + self.shift.val().unsqueeze(), self.slope)
    }

    /// The largest and the mean of `y` over the nodes of every graph, `[graphs, 2 channels]`.
    ///
    /// # Errors
    /// If `x` `[nodes, channels]` is not over the nodes of the batch.
    pub fn pool(&self, x: &Tensor<2>, batch: &Batch, pass: &Pass) -> Result<Tensor<2>> {
        let (scale, shift) = (self.scale.val(), self.shift.val());
        let pool = |statistics| {
            ops::norm_pool(x, batch, statistics, &scale, &shift, self.slope, self.epsilon)
        };
        Ok(if pass.has_dropout() {
            let statistics = ops::column_statistics(x)?;
            self.follow(&statistics, x.dims()[0]);
            pool(NormStatistics::Batch(&statistics))?
        } else {
            let running = [&self.running_mean, &self.running_variance];
            let statistics = Tensor::stack(running.map(RunningState::value_sync).to_vec(), 0);
            pool(NormStatistics::Given(&statistics))?
        })
    }

    /// Moves the running statistics towards those of `rows` rows, `[2, channels]`.
    fn follow(&self, statistics: &Tensor<2>, rows: usize) {
        let width = statistics.dims()[1];
        let row = |n| statistics.clone().detach().slice([n..n + 1, 0..width]).reshape([width]);
        // Evaluation wants the variance of all there is, not of these rows.
        let unbiased = rows as f64 / (rows as f64 - 1.0).max(1.0);
        let new = [(&self.running_mean, row(0)), (&self.running_variance, row(1) * unbiased)];
        for (running, new) in new {
            let kept = running.value_sync().detach() * (1.0 - self.momentum);
            running.update(kept + new * self.momentum);
            // An update is held back until it is asked for; saved modules must not miss it.
            running.value_sync();
        }
    }
}
