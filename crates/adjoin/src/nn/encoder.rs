//! The node encoder.

use super::{Linear, LinearConfig};
use crate::{
    Error, Result,
    graph::{Adjacency, Features},
    kernels::{normalise::Normalisation, random::Key},
    ops,
    pass::Pass,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor, activation::leaky_relu},
};
use serde::{Deserialize, Serialize};

/// Slope of every LeakyReLU of the generator below zero.
pub(crate) const SLOPE: f64 = 0.01;

/// What to do about a width that was never set.
pub(crate) const NEEDS_INPUTS: &str = "call with_inputs(width of the features) before init";

/// Settings of the node encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderConfig {
    /// Width of the features, set by [`with_inputs`](Self::with_inputs); no part of a configuration file.
    #[serde(skip)]
    pub inputs: Option<usize>,
    /// Width of the latent features.
    pub width: usize,
    /// Further layers of the same width after the first.
    pub extra_layers: usize,
    /// Dropout of the input features.
    pub dropout: f64,
    /// Propagation steps over the normalised input graph before the first activation.
    pub propagation: usize,
}

impl Default for EncoderConfig {
    fn default() -> Self {
        Self { inputs: None, width: 64, extra_layers: 0, dropout: 0.5, propagation: 0 }
    }
}

impl EncoderConfig {
    /// The default settings, for features of width `inputs`.
    pub fn new(inputs: usize) -> Self {
        Self::default().with_inputs(inputs)
    }

    /// The same for features of another width.
    #[must_use]
    pub fn with_inputs(self, inputs: usize) -> Self {
        Self { inputs: Some(inputs), ..self }
    }

    /// The encoder, with weights drawn from `key`.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, key: Key, device: &Device) -> Result<Encoder> {
        let inputs = Error::width(self.inputs, "inputs", NEEDS_INPUTS)?;
        Error::positive(self.width, "encoder.width", "must be at least 1")?;
        if !(0.0..1.0).contains(&self.dropout) {
            let (name, value) = ("encoder.dropout", self.dropout.to_string());
            return Err(Error::Setting { name, value, expected: "must be in [0, 1)" });
        }
        let layer = LinearConfig::new(self.width, self.width);
        Ok(Encoder {
            first: LinearConfig::new(inputs, self.width).init(key, device)?,
            extra: (1..=self.extra_layers as u64)
                .map(|at| layer.init(key.child(at), device))
                .collect::<Result<_>>()?,
            dropout: self.dropout,
            propagation: self.propagation,
        })
    }
}

/// Maps node features to the latent space in which neighbours are ranked:
/// `x^ = leaky(P^r dropout(x) W + b)`, then further layers `leaky(dropout(x^) W' + b')` of the same width.
///
/// `P = D^-1/2 (A + I) D^-1/2` of the input graph is applied r times (`propagation`), after the product,
/// where the features are narrow. LeakyReLU has slope 0.01.
///
/// # Shapes
/// `x` `[nodes, inputs]`, dense or sparse; result `[nodes, width]`.
///
/// # Gradients
/// Flow to all weights, to dense features and to the weights of the input graph.
#[derive(Module, Debug)]
pub struct Encoder {
    /// `W` and `b` of the first layer.
    pub first: Linear,
    /// The layers after it.
    pub extra: Vec<Linear>,
    dropout: f64,
    propagation: usize,
}

impl Encoder {
    /// Latent features `[nodes, width]`. Since propagation is linear it follows the product with
    /// `W`, where the features are narrow; sparse features stay sparse.
    ///
    /// # Errors
    /// If widths differ, or there is propagation and no input graph.
    pub fn forward(
        &self,
        x: &Features,
        graph: Option<&Adjacency>,
        pass: Pass,
    ) -> Result<Tensor<2>> {
        let mut latent = self.first.product(&x.dropout(self.dropout, pass.same())?)?;
        if self.propagation > 0 {
            let graph = graph.ok_or(Error::NoInputGraph("an encoder with propagation"))?;
            let graph = graph.prepare(Normalisation::Symmetric, true)?;
            for _ in 0..self.propagation {
                latent = graph.aggregate(&latent)?;
            }
        }
        latent = leaky_relu(self.first.add_bias(latent), SLOPE);
        for (at, layer) in self.extra.iter().enumerate() {
            let dropped = ops::dropout(&latent, self.dropout, pass.child(at as u64 + 1))?;
            latent = leaky_relu(layer.forward_dense(dropped), SLOPE);
        }
        Ok(latent)
    }
}
