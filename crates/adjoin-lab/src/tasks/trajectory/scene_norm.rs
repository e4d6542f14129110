//! Batch normalisation of nodes that belong to scenes.

use super::SceneBatch;
use adjoin::{Key, Pass, Result, Start};
use burn::{
    module::{Module, Param, RunningState},
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Serialize};

/// Whose mean and variance training uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NormOver {
    /// Those of each scene, as when scenes go through the network one by one (published).
    #[default]
    Scene,
    /// Those of the whole mini-batch.
    Batch,
}

/// Settings of a [`SceneNorm`].
#[derive(Clone, Copy, Debug)]
pub struct SceneNormConfig {
    /// Number of channels.
    pub channels: usize,
    /// Whose statistics training uses.
    pub over: NormOver,
    /// How fast the running statistics follow those of a mini-batch.
    pub momentum: f64,
    /// Added to the variance before the root.
    pub epsilon: f64,
}

impl SceneNormConfig {
    /// The layer.
    pub fn init(&self, device: &Device) -> SceneNorm {
        let vector = |value: f64| {
            Start::Constant(value).tensor([1, self.channels], [1, 1], Key::new(0), device)
        };
        SceneNorm {
            scale: Param::from_tensor(vector(1.0)),
            shift: Param::from_tensor(vector(0.0)),
            running_mean: RunningState::new(vector(0.0)),
            running_variance: RunningState::new(vector(1.0)),
            over: self.over,
            momentum: self.momentum,
            epsilon: self.epsilon,
        }
    }
}

/// `y = (x - mean) / sqrt(variance + eps) * scale + shift`, channel by channel.
#[derive(Module, Debug)]
pub struct SceneNorm {
    /// Factor after normalisation, `[1, channels]`.
    pub scale: Param<Tensor<2>>,
    /// Addend after normalisation, `[1, channels]`.
    pub shift: Param<Tensor<2>>,
    /// The mean that evaluation uses, `[1, channels]`.
    pub running_mean: RunningState<Tensor<2>>,
    /// The variance that evaluation uses, `[1, channels]`.
    pub running_variance: RunningState<Tensor<2>>,
    #[module(skip)]
    over: NormOver,
    momentum: f64,
    epsilon: f64,
}

impl SceneNorm {
    /// Normalises `x` `[nodes, channels]`, in either order of the nodes.
    ///
    /// In training passes with the statistics of the scenes (or of the batch), through which gradients
    /// flow, and whose mean over the scenes moves the running ones; elsewhere with the running ones.
    pub fn forward(&self, x: &Tensor<2>, batch: &SceneBatch, pass: &Pass) -> Result<Tensor<2>> {
        let (scale, shift) = (self.scale.val(), self.shift.val());
        if !pass.has_dropout() {
            let variance = self.running_variance.value_sync() + self.epsilon;
            let scale = scale * variance.sqrt().recip();
            return Ok((x.clone() - self.running_mean.value_sync()) * scale + shift);
        }
        let nodes = batch.nodes();
        let (means, variances, centred, spread) = match self.over {
            NormOver::Scene => {
                let means = batch.scene_means.aggregate(x)?;
                let centred = x.clone() - batch.scene_of_nodes.aggregate(&means)?;
                let variances = batch.scene_means.aggregate(&centred.clone().square())?;
                let inverse = (variances.clone() + self.epsilon).sqrt().recip() * scale;
                let spread = batch.scene_of_nodes.aggregate(&inverse)?;
                (means, variances, centred, spread)
            }
            NormOver::Batch => {
                let means = x.clone().mean_dim(0);
                let centred = x.clone() - means.clone();
                let variances = centred.clone().square().mean_dim(0);
                let spread = (variances.clone() + self.epsilon).sqrt().recip() * scale;
                (means, variances, centred, spread)
            }
        };
        self.follow(&self.running_mean, means.detach().mean_dim(0));
        // Unbiased, as evaluation of the published network has it; exact for scenes of equal size.
        let groups = variances.dims()[0];
        let per_group = nodes as f64 / groups.max(1) as f64;
        let unbiased = per_group / (per_group - 1.0).max(1.0);
        self.follow(&self.running_variance, variances.detach().mean_dim(0) * unbiased);
        Ok(centred * spread + shift)
    }

    fn follow(&self, running: &RunningState<Tensor<2>>, batch: Tensor<2>) {
        let kept = running.value_sync().detach() * (1.0 - self.momentum);
        running.update(kept + batch * self.momentum);
        // An update is held back until it is asked for; saved modules must not miss it.
        running.value_sync();
    }
}
