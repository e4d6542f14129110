//! GCNII.

use super::Conv;
use crate::{
    Error, Result,
    graph::{Adjacency, Features},
    kernels::{normalise::Normalisation, random::Key},
    nn::{LinearConfig, Start},
    ops::identity,
    pass::Pass,
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};

/// Settings of a [`GcnII`] layer.
#[derive(Clone, Copy, Debug)]
pub struct GcnIIConfig {
    /// Width of input and output.
    pub width: usize,
    /// Share `a` of the initial features.
    pub alpha: f64,
    /// Share `b` of the weight matrix; `ln(lambda / l + 1)` for layer l as published.
    pub beta: f64,
    /// Two matrices: one for the propagated and one for the initial features.
    pub variant: bool,
}

impl GcnIIConfig {
    /// Layer `l` (from 1) of a deep network with the given lambda.
    pub fn of_depth(width: usize, lambda: f64, layer: usize) -> Self {
        let beta = (lambda / layer.max(1) as f64 + 1.0).ln();
        Self { width, alpha: 0.1, beta, variant: false }
    }

    /// The layer, with weights drawn from `key`, uniform in `+- 1 / sqrt(width)`.
    ///
    /// # Errors
    /// If there would be too many weights.
    pub fn init(&self, key: Key, device: &Device) -> Result<GcnII> {
        let linear = LinearConfig::new(self.width, self.width)
            .with_bias(None)
            .with_start(Start::Uniform(self.width));
        let weight = |child| Ok(linear.init(key.child(child), device)?.weight);
        Ok(GcnII {
            weight: weight(0)?,
            initial: self.variant.then(|| weight(1)).transpose()?,
            alpha: self.alpha,
            beta: self.beta,
        })
    }
}

/// A layer of GCNII (Chen et al., 2020): `H' = ((1 - a) P H + a H_0) ((1 - b) I + b W)`, or with two
/// matrices `(1 - a) P H ((1 - b) I + b W_1) + a H_0 ((1 - b) I + b W_2)`; the activation is the caller's.
///
/// `P = D^-1/2 (A + I) D^-1/2` as in [`Gcn`](super::Gcn), `H_0` the features before the first layer,
/// `b = ln(lambda / l + 1)` in layer l of a network.
///
/// # Shapes
/// All features `[nodes, width]`, matrices `[width, width]`.
///
/// # Gradients
/// Flow to the matrices, `H`, `H_0`, and the weights of the graph, through `D` too.
#[derive(Module, Debug)]
pub struct GcnII {
    /// `W` (or `W_1`).
    pub weight: Param<Tensor<2>>,
    /// `W_2` of the variant.
    pub initial: Option<Param<Tensor<2>>>,
    alpha: f64,
    beta: f64,
}

impl GcnII {
    /// The layer applied to `h`, with `initial` the features before the first layer; all `[nodes,
    /// width]`. The activation is the caller's.
    ///
    /// # Errors
    /// If the shapes do not fit.
    pub fn forward_from(
        &self,
        h: &Tensor<2>,
        initial: &Tensor<2>,
        graph: &Adjacency,
    ) -> Result<Tensor<2>> {
        if h.dims() != initial.dims() {
            return Err(Error::shape("GCNII: initial features", h.dims(), initial.dims()));
        }
        let [width, _] = self.weight.dims();
        if h.dims()[1] != width {
            return Err(Error::shape("GCNII: features", [h.dims()[0], width], h.dims()));
        }
        Error::same_type("GCNII", h.dtype(), self.weight.val().dtype())?;
        Error::same_type("GCNII: initial features", h.dtype(), initial.dtype())?;
        let graph = graph.prepare(Normalisation::Symmetric, true)?;
        // The identity goes into the small matrix, not into another pass over all nodes.
        let mixed = |weight: &Param<Tensor<2>>| {
            let weight = weight.val();
            let eye = identity(width, &weight);
            weight * self.beta + eye * (1.0 - self.beta)
        };
        match &self.initial {
            None => {
                let (own, from) = (1.0 - self.alpha, self.alpha);
                let joined = graph.aggregate_onto(h, initial, own, from)?;
                Ok(joined.matmul(mixed(&self.weight)))
            }
            Some(second) => {
                let propagated =
                    graph.aggregate(h)?.matmul(mixed(&self.weight) * (1.0 - self.alpha));
                Ok(propagated + initial.clone().matmul(mixed(second) * self.alpha))
            }
        }
    }
}

impl Conv for GcnII {
    /// With the input itself as the initial features.
    fn forward(&self, x: &Features, graph: &Adjacency, _pass: Pass) -> Result<Tensor<2>> {
        let x = x.to_dense()?;
        self.forward_from(&x, &x, graph)
    }
}
