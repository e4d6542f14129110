//! Affine maps of node features, dense or sparse, initialised from a key.

use crate::{Error, Result, graph::Features, kernels::random::Key};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData, activation::leaky_relu},
};

/// How the weights of a layer start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// Uniform in `+- sqrt(6 / (in + out))` (Glorot and Bengio).
    Glorot,
    /// Uniform in `+- 1 / sqrt(bound)` for a given fan.
    Uniform(usize),
    /// Normal of variance `2 / in` (He et al.).
    Kaiming,
    /// A constant.
    Constant(f64),
}

impl Start {
    /// A tensor of starting values of the given shape; `fans` are the numbers of inputs and outputs.
    pub fn tensor<const D: usize>(
        self,
        shape: [usize; D],
        fans: [usize; 2],
        key: Key,
        device: &Device,
    ) -> Tensor<D> {
        let uniform = |bound: f64, at: u64| bound * (2.0 * key.uniform(at) - 1.0);
        let [fan_in, fan_out] = fans.map(|fan| fan.max(1) as f64);
        let value = |at: u64| match self {
            Self::Glorot => uniform((6.0 / (fan_in + fan_out)).sqrt(), at),
            Self::Uniform(fan) => uniform(1.0 / (fan.max(1) as f64).sqrt(), at),
            Self::Kaiming => (2.0 / fan_in).sqrt() * key.normal(at),
            Self::Constant(value) => value,
        };
        let count: usize = shape.iter().product();
        let values: Vec<f64> = (0..count as u64).map(value).collect();
        Tensor::from_data(TensorData::new(values, shape), device)
    }
}

/// `y = x W + b`.
///
/// # Shapes
/// `x` `[nodes, inputs]`, `weight` `[inputs, outputs]`, `bias` `[outputs]`.
#[derive(Module, Debug)]
pub struct Linear {
    /// `W`.
    pub weight: Param<Tensor<2>>,
    /// `b`.
    pub bias: Option<Param<Tensor<1>>>,
}

/// The hidden layers of an MLP, `x = leaky(x W + b)` one after the other, with the slope of the generator.
pub(crate) fn through(layers: &[Linear], x: Tensor<2>) -> Tensor<2> {
    layers.iter().fold(x, |x, layer| leaky_relu(layer.forward_dense(x), super::SLOPE))
}

/// More would not fit the memory of most machines, and is a mistake.
pub(crate) const MOST_WEIGHTS: usize = 1 << 30;

/// Settings of a [`Linear`] map.
#[derive(Clone, Copy, Debug)]
pub struct LinearConfig {
    /// Width of the input.
    pub inputs: usize,
    /// Width of the output.
    pub outputs: usize,
    /// Where the bias starts; none if there is no bias.
    pub bias: Option<f64>,
    /// How the weights start.
    pub start: Start,
}

impl LinearConfig {
    /// A Glorot-initialised map with a bias that starts at 0.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        Self { inputs, outputs, bias: Some(0.0), start: Start::Glorot }
    }

    /// Another start of the bias, or none.
    pub fn with_bias(self, bias: Option<f64>) -> Self {
        Self { bias, ..self }
    }

    /// Another start of the weights.
    pub fn with_start(self, start: Start) -> Self {
        Self { start, ..self }
    }

    /// The map, with weights drawn from `key`.
    ///
    /// # Errors
    /// If there would be more than 2^30 weights.
    pub fn init(&self, key: Key, device: &Device) -> Result<Linear> {
        let fans = [self.inputs, self.outputs];
        if self.inputs.saturating_mul(self.outputs) > MOST_WEIGHTS {
            let value = format!("{} by {}", self.inputs, self.outputs);
            let expected = "a map of more than 2^30 weights is not made";
            return Err(Error::Setting { name: "widths", value, expected });
        }
        let weight = self.start.tensor(fans, fans, key, device);
        let bias = self.bias.map(|value| {
            let start = Start::Constant(value);
            Param::from_tensor(start.tensor([self.outputs], fans, key, device))
        });
        Ok(Linear { weight: Param::from_tensor(weight), bias })
    }
}

impl Linear {
    /// `x W`, without the bias.
    ///
    /// # Errors
    /// If the widths differ.
    pub fn product(&self, x: &Features) -> Result<Tensor<2>> {
        x.matmul(&self.weight.val())
    }

    /// `y + b`, if there is a bias.
    pub fn add_bias(&self, y: Tensor<2>) -> Tensor<2> {
        match &self.bias {
            // A layer without outputs has nothing to add; Burn cannot unsqueeze what is empty.
            Some(bias) if y.dims()[1] > 0 => y + bias.val().unsqueeze(),
            _ => y,
        }
    }

    /// `x W + b`.
    ///
    /// # Errors
    /// If the widths differ.
    pub fn forward(&self, x: &Features) -> Result<Tensor<2>> {
        Ok(self.add_bias(self.product(x)?))
    }

    /// `x W + b` for a dense matrix of the right width.
    pub fn forward_dense(&self, x: Tensor<2>) -> Tensor<2> {
        self.add_bias(x.matmul(self.weight.val()))
    }
}
