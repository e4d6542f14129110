//! GAT.

use super::Conv;
use crate::{
    Error, Result,
    graph::{Adjacency, Features},
    kernels::{normalise::Normalisation, random::Key},
    nn::{Linear, LinearConfig, Start},
    ops::{self, Attention},
    pass::Pass,
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};

/// What a smaller weight counts as, so that its logarithm stays finite.
const SMALLEST: f64 = 1e-20;

/// `log max(a, 1e-20)` with the gradient `1 / max(a, 1e-20)`, below the bound too.
///
/// Attention is `alpha_ij = a_ij e_ij / sum_k a_ik e_ik` with `e` the exponentials of the logits, whose
/// derivative by a weight, `dL/da_ij = e_ij / S_i (g_ij - sum_k alpha_ik g_ik)`, exists at `a = 0` as well:
/// an edge that a hard selector left out learns what it would be worth. A weight of 1e-20 has the derivative
/// of 0 to all digits, and its attention vanishes all the same.
fn log_weights(weights: &Tensor<1>) -> Tensor<1> {
    let raised = weights.clone().clamp_min(SMALLEST) - weights.clone();
    (weights.clone() + raised.detach()).log()
}

/// Settings of a [`Gat`] layer.
#[derive(Clone, Copy, Debug)]
pub struct GatConfig {
    /// Width of the input.
    pub inputs: usize,
    /// Width of the output of one head.
    pub outputs: usize,
    /// Number of heads.
    pub heads: usize,
    /// Average the heads instead of concatenating them.
    pub average: bool,
    /// Dropout of the attention.
    pub dropout: f64,
    /// Slope of the LeakyReLU below zero.
    pub slope: f64,
}

impl GatConfig {
    /// Concatenated heads with the published slope, without dropout.
    pub fn new(inputs: usize, outputs: usize, heads: usize) -> Self {
        Self { inputs, outputs, heads, average: false, dropout: 0.0, slope: 0.2 }
    }

    /// The layer, with weights drawn from `key`.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, key: Key, device: &Device) -> Result<Gat> {
        Error::positive(self.heads, "heads", "must be at least 1")?;
        if !(0.0..1.0).contains(&self.dropout) {
            let (name, value) = ("attention_dropout", self.dropout.to_string());
            return Err(Error::Setting { name, value, expected: "must be in [0, 1)" });
        }
        let width = self.outputs * self.heads;
        let bias = if self.average { self.outputs } else { width };
        let attention = |child| {
            let fans = [self.outputs, 1];
            Param::from_tensor(Start::Glorot.tensor([width], fans, key.child(child), device))
        };
        let linear = LinearConfig::new(self.inputs, width).with_bias(None);
        let bias = Start::Constant(0.0).tensor([bias], [1, 1], key, device);
        Ok(Gat {
            linear: linear.init(key.child(0), device)?,
            source: attention(1),
            target: attention(2),
            bias: Param::from_tensor(bias),
            heads: self.heads,
            average: self.average,
            dropout: self.dropout,
            slope: self.slope,
        })
    }
}

/// A layer of graph attention (Velickovic et al., 2018) over a graph with weights:
/// ```text
/// h        = x W
/// alpha_ij = softmax_j(leaky(<a_src, h_j> + <a_dst, h_i>) + log a_ij)     per head
/// y_i      = sum_j dropout(alpha_ij) h_j + b                              heads side by side, or averaged
/// ```
/// A weight enters as its logarithm, which multiplies the attention before it is normalised: weight 1 is
/// plain GAT, weight 0 is no edge. A self-loop of weight 1 is added where there is none.
///
/// # Shapes
/// `x` `[nodes, inputs]`, dense or sparse; result `[nodes, heads * outputs]`, or `[nodes, outputs]` averaged.
///
/// # Gradients
/// Flow to `W`, both attention vectors, `b`, dense features, and the weights of the graph, those of weight 0
/// included: `dL/da_ij = e_ij / S_i (g_ij - sum_k alpha_ik g_ik)` with `e` the exponentials of the logits,
/// `S_i = sum_k a_ik e_ik`, and `g` the gradient of `alpha`.
#[derive(Module, Debug)]
pub struct Gat {
    /// `W`, all heads side by side.
    pub linear: Linear,
    /// `a_src` of every head, `[heads * outputs]`.
    pub source: Param<Tensor<1>>,
    /// `a_dst` of every head, `[heads * outputs]`.
    pub target: Param<Tensor<1>>,
    /// Added to the result.
    pub bias: Param<Tensor<1>>,
    heads: usize,
    average: bool,
    dropout: f64,
    slope: f64,
}

impl Conv for Gat {
    fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> Result<Tensor<2>> {
        let graph = graph.prepare(Normalisation::None, true)?;
        let settings = Attention {
            heads: self.heads,
            slope: self.slope,
            dropout: pass.has_dropout().then(|| (pass.key(), self.dropout)),
        };
        let h = self.linear.product(x)?;
        let log_weights = (!graph.is_uniform()).then(|| log_weights(graph.weights()));
        let y = ops::attention(
            graph.topology(),
            &h,
            &self.source.val(),
            &self.target.val(),
            log_weights.as_ref(),
            settings,
        )?;
        let y = if self.average {
            let [nodes, width] = y.dims();
            let heads = y.reshape([nodes, self.heads, width / self.heads]);
            heads.mean_dim(1).squeeze_dim(1)
        } else {
            y
        };
        Ok(y + self.bias.val().unsqueeze())
    }
}
