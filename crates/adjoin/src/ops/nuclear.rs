//! The low-rank term: leading singular values of a sparse matrix.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{
        Real,
        nuclear::{self as kernel, Convergence, Leading},
        random::Key,
    },
    topology::Csr,
};
use burn::tensor::{Shape, Tensor};

struct Nuclear {
    topology: Csr,
    rank: usize,
    convergence: Convergence,
    key: Key,
}

impl Op<1> for Nuclear {
    type Saved<T: Real> = Leading<T>;

    fn forward<T: Real>(&self, [weights]: [&[T]; 1]) -> (Vec<T>, Shape, Leading<T>) {
        let (sum, leading) =
            kernel::forward(&self.topology, weights, self.rank, self.convergence, self.key);
        (vec![sum], Shape::new([1]), leading)
    }

    fn backward<T: Real>(
        &self,
        _inputs: [&[T]; 1],
        _output: &[T],
        leading: &Leading<T>,
        grad: &[T],
        wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        [wanted[0].then(|| kernel::backward(&self.topology, leading, grad[0]))]
    }
}

/// Sum of the `rank` largest singular values of the sparse matrix with these weights: with `rank`
/// at the smaller side of the matrix its nuclear norm, a convex stand-in for its rank.
///
/// Found by randomised subspace iteration: start vectors from `key`, then products with the matrix and its
/// transpose until the singular vectors are as right as `convergence` says; a few are enough when the singular
/// values fall off, flat spectra take many. The matrix is never densified. The gradient is `sum_k u_ik v_jk` with
/// the singular vectors u and v, at the stored edges only; singular values below 1e-7 of the
/// largest count as 0 and pass no gradient on.
///
/// # Shapes
/// `weights` `[edges]`; result `[1]`.
///
/// # Errors
/// If the weights do not fit the topology, or `rank` is 0.
pub fn nuclear(
    topology: &Csr,
    weights: &Tensor<1>,
    rank: usize,
    convergence: Convergence,
    key: Key,
) -> Result<Tensor<1>> {
    if weights.dims() != [topology.edges()] {
        return Err(Error::shape("nuclear: weights", [topology.edges()], weights.dims()));
    }
    if rank == 0 {
        return Err(Error::Setting { name: "rank", value: "0".into(), expected: "at least 1" });
    }
    let op = Nuclear { topology: topology.clone(), rank, convergence, key };
    apply("nuclear", op, [weights.into()])
}
