//! Graph attention.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{
        Real,
        attention::{self as kernel, Inputs, Saved, Settings},
        random::Key,
    },
    topology::Csr,
};
use burn::tensor::{Shape, Tensor};

/// How [`attention`] weighs neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Attention {
    /// Number of heads; the features are split among them.
    pub heads: usize,
    /// Slope of the leaky rectifier for negative logits (0.2 in the GAT paper).
    pub slope: f64,
    /// Dropout on the attention coefficients in training: the random stream of this step and
    /// layer, and the rate in `[0, 1)`.
    pub dropout: Option<(Key, f64)>,
}

struct Attend {
    topology: Csr,
    settings: Settings,
}

impl Attend {
    fn run<T: Real>(&self, inputs: Inputs<T>) -> (Vec<T>, Shape, Saved<T>) {
        let (out, saved) = kernel::forward(&self.topology, self.settings, inputs);
        let width = self.settings.heads * self.settings.features;
        (out, Shape::new([self.topology.rows(), width]), saved)
    }
}

impl Op<3> for Attend {
    type Saved<T: Real> = Saved<T>;

    fn forward<T: Real>(&self, [h, a_src, a_dst]: [&[T]; 3]) -> (Vec<T>, Shape, Saved<T>) {
        self.run(Inputs { h, a_src, a_dst, log_weights: None })
    }

    fn backward<T: Real>(
        &self,
        [h, a_src, a_dst]: [&[T]; 3],
        _output: &[T],
        saved: &Saved<T>,
        grad: &[T],
        _wanted: [bool; 3],
    ) -> [Option<Vec<T>>; 3] {
        let inputs = Inputs { h, a_src, a_dst, log_weights: None };
        let grads = kernel::backward(&self.topology, self.settings, inputs, saved, grad);
        [Some(grads.h), Some(grads.a_src), Some(grads.a_dst)]
    }
}

impl Op<4> for Attend {
    type Saved<T: Real> = Saved<T>;

    fn forward<T: Real>(&self, [h, a_src, a_dst, w]: [&[T]; 4]) -> (Vec<T>, Shape, Saved<T>) {
        self.run(Inputs { h, a_src, a_dst, log_weights: Some(w) })
    }

    fn backward<T: Real>(
        &self,
        [h, a_src, a_dst, w]: [&[T]; 4],
        _output: &[T],
        saved: &Saved<T>,
        grad: &[T],
        _wanted: [bool; 4],
    ) -> [Option<Vec<T>>; 4] {
        let inputs = Inputs { h, a_src, a_dst, log_weights: Some(w) };
        let grads = kernel::backward(&self.topology, self.settings, inputs, saved, grad);
        [Some(grads.h), Some(grads.a_src), Some(grads.a_dst), grads.log_weights]
    }
}

/// Graph attention (GAT) with `H` heads of `F` features, in one fused pass:
/// ```text
/// alpha_ij = softmax_j(leaky(<a_src, h_j> + <a_dst, h_i>) + log w_ij)     per head
/// y_i      = sum_j dropout(alpha_ij) h_j                                  heads side by side
/// ```
/// A learned weight enters through its logarithm, so that a soft graph gets its gradient and a
/// weight of 0 (minus infinity) removes the edge. A node without neighbours gives 0. Dropout is a
/// function of the key, the edge and the head, so it is the same for any thread count; a kept
/// coefficient is divided by one minus the rate.
///
/// Gradients flow to the features, both attention vectors and the logarithms of the weights.
///
/// # Shapes
/// `h` `[N, H F]`, `a_src` and `a_dst` `[H F]`, `log_weights` `[edges]`; result `[N, H F]`.
///
/// # Errors
/// If the graph is not square, the shapes do not fit it, the heads do not divide the width, or the
/// dropout rate is not in `[0, 1)`.
pub fn attention(
    topology: &Csr,
    h: &Tensor<2>,
    a_src: &Tensor<1>,
    a_dst: &Tensor<1>,
    log_weights: Option<&Tensor<1>>,
    options: Attention,
) -> Result<Tensor<2>> {
    let [rows, width] = h.dims();
    let nodes = topology.rows();
    if topology.columns() != nodes {
        return Err(Error::shape("attention: graph", [nodes; 2], [nodes, topology.columns()]));
    }
    if rows != nodes {
        return Err(Error::shape("attention: features", [nodes, width], [rows, width]));
    }
    let Attention { heads, slope, dropout } = options;
    if heads == 0 || width == 0 || !width.is_multiple_of(heads) {
        let expected = "at least 1 and a divisor of the (non-zero) width of the features";
        return Err(Error::Setting { name: "heads", value: heads.to_string(), expected });
    }
    if !slope.is_finite() {
        let value = slope.to_string();
        return Err(Error::Setting { name: "slope", value, expected: "a finite number" });
    }
    if let Some((_, rate)) = dropout.filter(|(_, rate)| !(0.0..1.0).contains(rate)) {
        let value = rate.to_string();
        return Err(Error::Setting { name: "dropout", value, expected: "at least 0 and below 1" });
    }
    for (what, vector) in [("attention: a_src", a_src), ("attention: a_dst", a_dst)] {
        if vector.dims() != [width] {
            return Err(Error::shape(what, [width], vector.dims()));
        }
    }
    let settings = Settings { heads, features: width / heads, slope, dropout };
    let op = Attend { topology: topology.clone(), settings };
    match log_weights {
        None => apply("attention", op, [h.into(), a_src.into(), a_dst.into()]),
        Some(w) if w.dims() != [topology.edges()] => {
            Err(Error::shape("attention: log weights", [topology.edges()], w.dims()))
        }
        Some(w) => apply("attention", op, [h.into(), a_src.into(), a_dst.into(), w.into()]),
    }
}
