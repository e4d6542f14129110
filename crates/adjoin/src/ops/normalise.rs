//! Scaling a graph by its degrees.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{
        Real,
        normalise::{self as kernel, Normalisation},
    },
    topology::Csr,
};
use burn::tensor::{Shape, Tensor};

struct Normalise {
    topology: Csr,
    normalisation: Normalisation,
}

impl Op<1> for Normalise {
    type Saved<T: Real> = kernel::Degrees<T>;

    fn forward<T: Real>(&self, [weights]: [&[T]; 1]) -> (Vec<T>, Shape, kernel::Degrees<T>) {
        let (scaled, degrees) = kernel::forward(&self.topology, weights, self.normalisation);
        (scaled, Shape::new([weights.len()]), degrees)
    }

    fn backward<T: Real>(
        &self,
        [weights]: [&[T]; 1],
        _output: &[T],
        degrees: &kernel::Degrees<T>,
        grad: &[T],
        _wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        let Self { topology, normalisation } = self;
        [Some(kernel::backward(topology, weights, *normalisation, degrees, grad))]
    }
}

/// Weights scaled by the degrees `d_i = sum_j a_ij`: `a_ij / sqrt(d_i d_j)` or `a_ij / d_i`.
///
/// Differentiable through the degrees; edges at nodes without a positive degree become 0.
///
/// # Errors
/// If the number of weights is not the number of edges, or the graph is not square.
pub fn normalise(
    topology: &Csr,
    weights: &Tensor<1>,
    normalisation: Normalisation,
) -> Result<Tensor<1>> {
    if weights.dims() != [topology.edges()] {
        return Err(Error::shape("normalise: weights", [topology.edges()], weights.dims()));
    }
    if normalisation == Normalisation::Symmetric && topology.rows() != topology.columns() {
        let found = [topology.rows(), topology.columns()];
        return Err(Error::shape("normalise: graph", [topology.rows(); 2], found));
    }
    apply("normalise", Normalise { topology: topology.clone(), normalisation }, [weights.into()])
}
