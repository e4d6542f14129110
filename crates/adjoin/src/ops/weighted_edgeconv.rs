//! EdgeConv aggregation with edge weights.

use super::bridge::{Op, apply};
use super::edgeconv::{channels, not_negative, vector};
use crate::{
    Error, Result,
    kernels::{
        Real,
        batch_norm::Parameters,
        weighted_edgeconv::{self as kernel, EdgeWeighting, Messages},
    },
    topology::Csr,
};
use burn::tensor::{Shape, Tensor};

struct Weighted {
    topology: Csr,
    weighting: EdgeWeighting,
    slope: f64,
    eps: f64,
}

impl Weighted {
    fn inputs<'a, T: Real>(
        &self,
        [p, q, weights, statistics, scale, shift]: [&'a [T]; 6],
    ) -> (Messages<'a, T>, Parameters<'a, T>) {
        let (slope, eps) = (T::from_f64(self.slope), T::from_f64(self.eps));
        (Messages { p, q, weights }, Parameters { statistics, scale, shift, slope, eps })
    }
}

impl Op<6> for Weighted {
    /// The edge that each value came from.
    type Saved<T: Real> = Vec<u32>;

    fn forward<T: Real>(&self, inputs: [&[T]; 6]) -> (Vec<T>, Shape, Vec<u32>) {
        let (messages, parameters) = self.inputs(inputs);
        let width = parameters.scale.len();
        let (out, chosen) = kernel::forward(&self.topology, messages, parameters, self.weighting);
        (out, Shape::new([self.topology.rows(), width]), chosen)
    }

    fn backward<T: Real>(
        &self,
        inputs: [&[T]; 6],
        output: &[T],
        chosen: &Vec<u32>,
        grad: &[T],
        _wanted: [bool; 6],
    ) -> [Option<Vec<T>>; 6] {
        let (messages, parameters) = self.inputs(inputs);
        let found = (output, &chosen[..]);
        kernel::backward(&self.topology, messages, parameters, self.weighting, found, grad)
            .map(Some)
    }
}

/// EdgeConv over a graph with weights: `y_i = leaky(max_j g(a_ij, z_ij))` with
/// `z_ijc = (p_jc + q_ic - mean_c) / sqrt(variance_c + eps) * scale_c + shift_c`, and `g` one of
/// [`EdgeWeighting`].
///
/// Gradients flow to `p` and the weight at the edge that won, to weights of 0 as [`EdgeWeighting`] says, to
/// `q`, the statistics, `scale` and `shift`: so both the choice of neighbours and, by way of the weights, the size of a neighbourhood are
/// learned. Nothing of size `[edges, C]` is built. Rows without edges give 0.
///
/// # Shapes
/// `weights` `[edges]`, `p` `[columns, C]`, `q` `[rows, C]`, `statistics` `[2, C]` (mean, variance), `scale` and `shift`
/// `[C]`; result `[rows, C]`.
///
/// # Errors
/// If the shapes do not fit, or the slope or `eps` is negative or not finite.
#[allow(clippy::too_many_arguments)] // as the unweighted form, and how weights enter
pub fn edgeconv_weighted(
    topology: &Csr,
    weights: &Tensor<1>,
    weighting: EdgeWeighting,
    p: &Tensor<2>,
    q: &Tensor<2>,
    statistics: &Tensor<2>,
    scale: &Tensor<1>,
    shift: &Tensor<1>,
    slope: f64,
    eps: f64,
) -> Result<Tensor<2>> {
    let width = channels(topology, p, q)?;
    if weights.dims() != [topology.edges()] {
        return Err(Error::shape("edgeconv: weights", [topology.edges()], weights.dims()));
    }
    vector("edgeconv: scale", scale, width)?;
    vector("edgeconv: shift", shift, width)?;
    if statistics.dims() != [2, width] {
        return Err(Error::shape("edgeconv: statistics", [2, width], statistics.dims()));
    }
    not_negative([("slope", slope), ("eps", eps)])?;
    let op = Weighted { topology: topology.clone(), weighting, slope, eps };
    let inputs =
        [p.into(), q.into(), weights.into(), statistics.into(), scale.into(), shift.into()];
    apply("edgeconv_weighted", op, inputs)
}
