//! The exponential linear unit in one pass.

use super::bridge::{Op, apply};
use crate::{
    Result,
    kernels::{Real, elu as kernel},
};
use burn::tensor::{Shape, Tensor};

struct Elu(Shape);

impl Op<1> for Elu {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [x]: [&[T]; 1]) -> (Vec<T>, Shape, ()) {
        (kernel::forward(x), self.0.clone(), ())
    }

    fn backward<T: Real>(
        &self,
        _inputs: [&[T]; 1],
        output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        [Some(kernel::backward(output, grad))]
    }
}

/// `y = x` above zero, `e^x - 1` below; gradients flow to `x`. Any shape.
///
/// # Errors
/// If `x` is of an element type the kernels do not serve.
pub fn elu<const D: usize>(x: &Tensor<D>) -> Result<Tensor<D>> {
    apply("elu", Elu(x.shape()), [x.into()])
}
