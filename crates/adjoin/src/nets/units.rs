//! Small parts of recurrent networks: MLPs on several inputs, and a gated unit.

use crate::{
    Result,
    kernels::random::Key,
    nn::{Linear, LinearConfig, Start},
    ops,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

/// Slope of every leaky rectifier below zero.
const SLOPE: f64 = 0.01;

/// A linear map, uniform in `+- 1 / sqrt(inputs)`, with biases at 0.
///
/// # Errors
/// If a width is out of range.
pub fn linear(inputs: usize, outputs: usize, key: Key, device: &Device) -> Result<Linear> {
    LinearConfig::new(inputs, outputs).with_start(Start::Uniform(inputs)).init(key, device)
}

/// `leaky(y + b)`, or `relu` for a slope of 0.
///
/// # Errors
/// If the widths differ.
pub fn rectified(linear: &Linear, y: Tensor<2>, slope: f64) -> Result<Tensor<2>> {
    match &linear.bias {
        Some(bias) => ops::bias_leaky(&y, &bias.val(), slope),
        None => Ok(burn::tensor::activation::leaky_relu(y, slope)),
    }
}

fn layer(linear: &Linear, x: Tensor<2>) -> Result<Tensor<2>> {
    rectified(linear, x.matmul(linear.weight.val()), SLOPE)
}

/// The rows of the matrix that belong to each of several inputs side by side: `[a, b] W = a A + b B`.
pub fn rows_of<const N: usize>(linear: &Linear, widths: [usize; N]) -> [Tensor<2>; N] {
    let mut first = 0;
    widths.map(|width| {
        first += width;
        linear.weight.val().slice(first - width..first)
    })
}

/// Settings of an [`Mlp`].
#[derive(Clone, Copy, Debug)]
pub struct MlpConfig {
    /// Width of all inputs together.
    pub inputs: usize,
    /// Width of both hidden layers.
    pub hidden: usize,
    /// Width of the result.
    pub outputs: usize,
}

impl MlpConfig {
    /// The MLP, with weights drawn from `key`.
    ///
    /// # Errors
    /// If a width is out of range.
    pub fn init(&self, key: Key, device: &Device) -> Result<Mlp> {
        let Self { inputs, hidden, outputs } = *self;
        Ok(Mlp {
            first: linear(inputs, hidden, key.child(1), device)?,
            second: linear(hidden, hidden, key.child(2), device)?,
            last: linear(hidden, outputs, key.child(3), device)?,
        })
    }
}

/// Two leaky layers and a linear one. The product of the inputs with the first matrix is left to the
/// caller, who may have parts of it already.
#[derive(Module, Debug)]
pub struct Mlp {
    /// The first layer, on several inputs side by side.
    pub first: Linear,
    /// The second layer.
    pub second: Linear,
    /// The result.
    pub last: Linear,
}

impl Mlp {
    /// The result, from the product of the inputs with the first matrix.
    ///
    /// # Errors
    /// If the product has another width.
    pub fn forward(&self, product: Tensor<2>) -> Result<Tensor<2>> {
        let hidden = layer(&self.second, rectified(&self.first, product, SLOPE)?)?;
        Ok(self.last.forward_dense(hidden))
    }
}

/// `leaky(leaky(x W + b) V + c)`.
#[derive(Module, Debug)]
pub struct Extractor {
    /// `W` and `b`.
    pub first: Linear,
    /// `V` and `c`.
    pub second: Linear,
}

impl Extractor {
    /// With weights drawn from `key`.
    ///
    /// # Errors
    /// If a width is out of range.
    pub fn new(inputs: usize, width: usize, key: Key, device: &Device) -> Result<Self> {
        Ok(Self {
            first: linear(inputs, width, key.child(1), device)?,
            second: linear(width, width, key.child(2), device)?,
        })
    }

    /// The result `[rows, width]`.
    ///
    /// # Errors
    /// If the widths differ.
    pub fn forward(&self, x: Tensor<2>) -> Result<Tensor<2>> {
        layer(&self.second, layer(&self.first, x)?)
    }
}

/// A gated recurrent unit; the gates are those of [`crate::ops::gru`].
#[derive(Module, Debug)]
pub struct Gru {
    /// The share of the input in the gates, `[inputs, 3 width]`.
    pub input: Linear,
    /// The share of the state, `[width, 3 width]`.
    pub state: Linear,
}

impl Gru {
    /// With weights drawn from `key`.
    ///
    /// # Errors
    /// If a width is out of range.
    pub fn new(inputs: usize, width: usize, key: Key, device: &Device) -> Result<Self> {
        let start = |inputs| LinearConfig::new(inputs, 3 * width).with_start(Start::Uniform(width));
        Ok(Self {
            input: start(inputs).init(key.child(1), device)?,
            state: start(width).init(key.child(2), device)?,
        })
    }

    /// The next state from the product of the input with its matrix, and the state.
    ///
    /// # Errors
    /// If the shapes do not fit.
    pub fn forward(&self, product: Tensor<2>, h: &Tensor<2>) -> Result<Tensor<2>> {
        ops::gru(&self.input.add_bias(product), &self.state.forward_dense(h.clone()), h)
    }
}
