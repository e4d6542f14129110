//! What is known of nodes and pairs beside the features.

use crate::{
    Error, Result,
    kernels::random::Key,
    nn::{Linear, LinearConfig, SLOPE, Start},
};
use burn::{
    module::{Module, Param},
    tensor::{
        Device, Tensor, TensorData,
        activation::{leaky_relu, log_sigmoid},
    },
};
use serde::{Deserialize, Serialize};

/// What to do about widths that were never set.
const NEEDS_WIDTHS: &str = "call with_extras(widths of nodes and pairs) before init";

/// Settings of a [`PairTerm`], and of the extras of nodes that degrees see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtrasConfig {
    /// Widths of the extras of a node and of a pair, set by
    /// [`DggConfig::with_extras`](super::DggConfig::with_extras); no part of a configuration file.
    #[serde(skip)]
    pub widths: Option<[usize; 2]>,
    /// Width of the hidden layer; 0 for none.
    pub width: usize,
    /// Where `b` starts.
    pub offset: f64,
    /// Where the first entries of `w` start; the others start at 0.
    pub weights: Vec<f64>,
}

impl Default for ExtrasConfig {
    fn default() -> Self {
        Self { widths: None, width: 8, offset: 2.0, weights: Vec::new() }
    }
}

impl ExtrasConfig {
    fn known(&self) -> Result<[usize; 2]> {
        let value = "never set".into();
        self.widths.ok_or(Error::Setting { name: "extras", value, expected: NEEDS_WIDTHS })
    }

    /// Width of the extras of a node.
    pub(super) fn nodes(&self) -> Result<usize> {
        Ok(self.known()?[0])
    }

    /// The term, with weights drawn from `key`.
    ///
    /// # Errors
    /// If the widths were never set, or more weights are given than a pair has extras.
    pub fn init(&self, key: Key, device: &Device) -> Result<PairTerm> {
        let [_, pairs] = self.known()?;
        if self.weights.len() > pairs {
            let value = format!("{:?}", self.weights);
            let expected = "must have no more entries than a pair has extras";
            return Err(Error::Setting { name: "extras.weights", value, expected });
        }
        let finite = self.weights.iter().chain([&self.offset]).all(|value| value.is_finite());
        if !finite {
            let value = format!("{:?}, {:?}", self.weights, self.offset);
            let expected = "must be finite";
            return Err(Error::Setting { name: "extras.weights and offset", value, expected });
        }
        let mut start = self.weights.clone();
        start.resize(pairs, 0.0);
        let linear = Tensor::<2>::from_data(TensorData::new(start, [pairs, 1]), device);
        let offset = Start::Constant(self.offset).tensor([1], [1, 1], key, device);
        let hidden = |inputs, outputs, start, child| {
            let config = LinearConfig::new(inputs, outputs).with_start(start);
            config.init(key.child(child), device)
        };
        let some = self.width > 0;
        Ok(PairTerm {
            linear: Linear {
                weight: Param::from_tensor(linear),
                bias: Some(Param::from_tensor(offset)),
            },
            hidden: some.then(|| hidden(pairs, self.width, Start::Glorot, 1)).transpose()?,
            // At first the term is the one that the settings name.
            output: some
                .then(|| {
                    let config = LinearConfig::new(self.width, 1).with_bias(None);
                    config.with_start(Start::Constant(0.0)).init(key.child(2), device)
                })
                .transpose()?,
        })
    }
}

/// What a pair's extras `f` add to its score: `log sigmoid(<w, f> + b + <v, leaky(f U + u)>)`. The score is then
/// the product of the scorer's and of this share, and stays within (0, 1].
///
/// `w` and `b` start where the settings say and `v` at 0, so that the start is known.
///
/// # Shapes
/// `f` `[pairs, b]`; result `[pairs]`.
///
/// # Gradients
/// Flow to all weights and to `f`.
#[derive(Module, Debug)]
pub struct PairTerm {
    /// `w` and `b`.
    pub linear: Linear,
    /// `U` and `u`.
    pub hidden: Option<Linear>,
    /// `v`.
    pub output: Option<Linear>,
}

impl PairTerm {
    /// The term of every pair, `[pairs]`.
    ///
    /// # Errors
    /// If the extras are of another width.
    pub fn forward(&self, extras: &Tensor<2>) -> Result<Tensor<1>> {
        let [pairs, width] = extras.dims();
        let expected = self.linear.weight.val().dims()[0];
        if width != expected {
            return Err(Error::shape("extras of pairs", [pairs, expected], [pairs, width]));
        }
        if pairs == 0 {
            return Ok(Tensor::zeros([0], (&extras.device(), extras.dtype())));
        }
        let mut logits = self.linear.forward_dense(extras.clone());
        if let (Some(hidden), Some(output)) = (&self.hidden, &self.output) {
            let inner = leaky_relu(hidden.forward_dense(extras.clone()), SLOPE);
            logits = logits + output.forward_dense(inner);
        }
        Ok(log_sigmoid(logits.squeeze_dim(1)))
    }
}
