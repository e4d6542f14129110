//! Attention through features of queries and keys.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{
        Real,
        feature_attention::{self as kernel, Inputs},
    },
};
use burn::tensor::{Shape, Tensor};

struct FeatureAttention([usize; 3]);

impl Op<4> for FeatureAttention {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [queries, keys, values, weights]: [&[T]; 4]) -> (Vec<T>, Shape, ()) {
        let shape = self.0;
        let out = kernel::forward(Inputs { queries, keys, values, weights, shape });
        (out, Shape::new([shape[0], shape[2]]), ())
    }

    fn backward<T: Real>(
        &self,
        [queries, keys, values, weights]: [&[T]; 4],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 4],
    ) -> [Option<Vec<T>>; 4] {
        let inputs = Inputs { queries, keys, values, weights, shape: self.0 };
        let [queries, keys, values] = kernel::backward(inputs, grad);
        [Some(queries), Some(keys), Some(values), None]
    }
}

/// `z_i = 1/K sum_k (sum_j <p_i, r_j> a_kj v_j) / (sum_j <p_i, r_j> a_kj)`: every node attends to all, in time linear in
/// their number.
///
/// Gradients flow to p, r and v; the weights a are constants.
///
/// # Shapes
/// Queries p and keys r `[nodes, features]`, both above 0; values v `[nodes, width]`; weights a `[draws, nodes]`; result
/// `[nodes, width]`.
///
/// # Errors
/// If the shapes do not fit.
pub fn feature_attention(
    queries: &Tensor<2>,
    keys: &Tensor<2>,
    values: &Tensor<2>,
    weights: &Tensor<2>,
) -> Result<Tensor<2>> {
    let ([nodes, features], [_, width]) = (queries.dims(), values.dims());
    Error::expect_shape("feature_attention: keys", [nodes, features], keys.dims())?;
    Error::expect_shape("feature_attention: values", [nodes, width], values.dims())?;
    let draws = weights.dims()[0];
    Error::expect_shape("feature_attention: weights", [draws, nodes], weights.dims())?;
    let inputs = [queries.into(), keys.into(), values.into(), weights.into()];
    apply("feature_attention", FeatureAttention([nodes, features, width]), inputs)
}
