//! The gates of a gated recurrent unit.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{Real, gru as kernel},
};
use burn::tensor::{Shape, Tensor};

struct Gates {
    nodes: usize,
    width: usize,
}

impl Op<3> for Gates {
    /// The gates.
    type Saved<T: Real> = Vec<T>;

    fn forward<T: Real>(&self, [input, state, h]: [&[T]; 3]) -> (Vec<T>, Shape, Vec<T>) {
        let (out, gates) = kernel::forward(input, state, h, self.width);
        (out, Shape::new([self.nodes, self.width]), gates)
    }

    fn backward<T: Real>(
        &self,
        [_, state, h]: [&[T]; 3],
        _output: &[T],
        gates: &Vec<T>,
        grad: &[T],
        _wanted: [bool; 3],
    ) -> [Option<Vec<T>>; 3] {
        kernel::backward(state, h, gates, grad, self.width).map(Some)
    }
}

/// One step of a gated recurrent unit (Cho et al., 2014), after its matrix products:
/// ```text
/// r  = sigmoid(a_r + b_r)      how much of the state the candidate sees
/// u  = sigmoid(a_u + b_u)      how much of the state stays
/// c  = tanh(a_c + r b_c)
/// h' = (1 - u) c + u h
/// ```
/// `a` is the share of the input, `b` that of the state, each with its bias. Gradients flow to all
/// three arguments.
///
/// # Shapes
/// `a` and `b` `[nodes, 3 width]`, gates in the order r, u, c; `h` and the result `[nodes, width]`.
///
/// # Errors
/// If the shapes do not fit.
pub fn gru(a: &Tensor<2>, b: &Tensor<2>, h: &Tensor<2>) -> Result<Tensor<2>> {
    let [nodes, width] = h.dims();
    for (what, gates) in [("gru: share of the input", a), ("gru: share of the state", b)] {
        if gates.dims() != [nodes, 3 * width] {
            return Err(Error::shape(what, [nodes, 3 * width], gates.dims()));
        }
    }
    apply("gru", Gates { nodes, width }, [a.into(), b.into(), h.into()])
}
