//! Sparse times dense.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{Real, rows, spmm as kernel},
    topology::Csr,
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
    let width = check(topology, weights, x)?;
    let op = Spmm { topology: topology.clone(), width };
    apply("spmm", op, [weights.into(), x.into()])
}

struct SpmmOnto {
    product: Spmm,
    scale: f64,
    share: f64,
}

impl Op<3> for SpmmOnto {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [weights, x, z]: [&[T]; 3]) -> (Vec<T>, Shape, ()) {
        let Spmm { topology, width } = &self.product;
        let factors = [self.scale, self.share].map(T::from_f64);
        let y = kernel::forward_onto(topology, weights, x, *width, z, factors);
        (y, Shape::new([topology.rows(), *width]), ())
    }

    fn backward<T: Real>(
        &self,
        [weights, x, _]: [&[T]; 3],
        output: &[T],
        _saved: &(),
        grad: &[T],
        [weights_wanted, x_wanted, z_wanted]: [bool; 3],
    ) -> [Option<Vec<T>>; 3] {
        let scaled = rows::scaled(grad, T::from_f64(self.scale));
        let wanted = [weights_wanted, x_wanted];
        let [dw, dx] = self.product.backward([weights, x], output, &(), &scaled, wanted);
        [dw, dx, z_wanted.then(|| rows::scaled(grad, T::from_f64(self.share)))]
    }
}

/// `Y = scale A X + share Z` in one pass: a propagation step that holds on to earlier features.
///
/// Gradients flow to the weights and to both features.
///
/// # Errors
/// If the shapes do not fit.
pub fn spmm_onto(
    topology: &Csr,
    weights: &Tensor<1>,
    x: &Tensor<2>,
    z: &Tensor<2>,
    [scale, share]: [f64; 2],
) -> Result<Tensor<2>> {
    let width = check(topology, weights, x)?;
    if z.dims() != [topology.rows(), width] {
        return Err(Error::shape("spmm_onto: features", [topology.rows(), width], z.dims()));
    }
    let op = SpmmOnto { product: Spmm { topology: topology.clone(), width }, scale, share };
    apply("spmm_onto", op, [weights.into(), x.into(), z.into()])
}

fn check(topology: &Csr, weights: &Tensor<1>, x: &Tensor<2>) -> Result<usize> {
    if weights.dims() != [topology.edges()] {
        return Err(Error::shape("spmm: weights", [topology.edges()], weights.dims()));
    }
    let [rows, width] = x.dims();
    if rows != topology.columns() {
        return Err(Error::shape("spmm: features", [topology.columns(), width], [rows, width]));
    }
    Ok(width)
}
