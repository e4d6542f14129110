//! Sparse times dense.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    graph::Csr,
    kernels::{Real, spmm as kernel},
};
use burn::tensor::{Shape, Tensor};

struct Spmm {
    topology: Csr,
    width: usize,
}

impl Op<2> for Spmm {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [weights, x]: [&[T]; 2]) -> (Vec<T>, Shape, ()) {
        let y = kernel::forward(&self.topology, weights, x, self.width);
        (y, Shape::new([self.topology.rows(), self.width]), ())
    }

    fn backward<T: Real>(
        &self,
        [weights, x]: [&[T]; 2],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        wanted: [bool; 2],
    ) -> [Option<Vec<T>>; 2] {
        [
            wanted[0].then(|| kernel::backward_weights(&self.topology, x, grad, self.width)),
            wanted[1].then(|| kernel::backward_features(&self.topology, weights, grad, self.width)),
        ]
    }
}

/// `Y = A X`: node i receives the weighted sum `y_i = sum_j a_ij x_j` of its neighbours.
///
/// Gradients flow to the weights (`da_ij = <dy_i, x_j>`) and to the features (`dX = A^T dY`).
///
/// # Shapes
/// `weights` `[edges]`, `x` `[columns, d]`; result `[rows, d]`.
///
/// # Errors
/// If the shapes do not fit the topology.
pub fn spmm(topology: &Csr, weights: &Tensor<1>, x: &Tensor<2>) -> Result<Tensor<2>> {
    if weights.dims() != [topology.edges()] {
        return Err(Error::shape("spmm: weights", [topology.edges()], weights.dims()));
    }
    let [rows, width] = x.dims();
    if rows != topology.columns() {
        return Err(Error::shape("spmm: features", [topology.columns(), width], [rows, width]));
    }
    let op = Spmm { topology: topology.clone(), width };
    apply("spmm", op, [weights.into(), x.into()])
}
