//! A bias and a leaky rectifier in one pass.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{Real, leaky as kernel},
};
use burn::tensor::{Shape, Tensor};

struct BiasLeaky {
    rows: usize,
    width: usize,
    slope: f64,
}

impl Op<2> for BiasLeaky {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [x, bias]: [&[T]; 2]) -> (Vec<T>, Shape, ()) {
        let y = kernel::forward(x, bias, T::from_f64(self.slope));
        (y, Shape::new([self.rows, self.width]), ())
    }

    fn backward<T: Real>(
        &self,
        _inputs: [&[T]; 2],
        output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 2],
    ) -> [Option<Vec<T>>; 2] {
        let (x, bias) = kernel::backward(output, grad, self.width, T::from_f64(self.slope));
        [Some(x), Some(bias)]
    }
}

/// `y = leaky(x + b)`: what is below zero is multiplied by `slope`; 0 is the plain rectifier.
///
/// Gradients flow to both.
///
/// # Shapes
/// `x` `[rows, width]`, `bias` `[width]`; result `[rows, width]`.
///
/// # Errors
/// If the shapes do not fit, or the slope is negative or not finite.
pub fn bias_leaky(x: &Tensor<2>, bias: &Tensor<1>, slope: f64) -> Result<Tensor<2>> {
    let [rows, width] = x.dims();
    if bias.dims() != [width] {
        return Err(Error::shape("bias_leaky: bias", [width], bias.dims()));
    }
    // With a negative slope the result would not tell which side of zero it came from.
    if !(slope >= 0.0 && slope.is_finite()) {
        let (name, value) = ("slope", slope.to_string());
        return Err(Error::Setting { name, value, expected: "must be at least 0" });
    }
    apply("bias_leaky", BiasLeaky { rows, width, slope }, [x.into(), bias.into()])
}
