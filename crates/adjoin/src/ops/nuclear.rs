//! The low-rank term: leading singular values of a sparse matrix.

use super::bridge::{Op, apply, to_f64};
use crate::{
    Error, Result,
    kernels::{
        Real,
        nuclear::{self as kernel, Convergence, Leading},
        random::Key,
    },
    topology::Csr,
};
use burn::tensor::{Shape, Tensor, TensorData};

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
    check("nuclear: weights", topology, weights, rank)?;
    let op = Nuclear { topology: topology.clone(), rank, convergence, key };
    apply("nuclear", op, [weights.into()])
}

/// `U S` `[rows, rank]` and `V^T` `[rank, columns]` of the leading singular values of the sparse matrix with
/// these weights: their product is the nearest matrix of that rank. Found as in [`nuclear`]; constants.
///
/// There are fewer than `rank` where the other singular values are 0; of a matrix of zeros there is one, and
/// both factors are 0.
///
/// # Errors
/// If the weights do not fit the topology, or `rank` is 0.
pub fn leading_factors(
    topology: &Csr,
    weights: &Tensor<1>,
    rank: usize,
    convergence: Convergence,
    key: Key,
) -> Result<[Tensor<2>; 2]> {
    check("leading_factors: weights", topology, weights, rank)?;
    let values = to_f64("leading_factors", weights)?;
    let (_, found) = kernel::forward(topology, &values, rank, convergence, key);
    let Leading { values, left, right, rank } = found;
    let (rows, columns) = (topology.rows(), topology.columns());
    let tensor = |values: Vec<f64>, shape| {
        let data = TensorData::new(values, shape).convert_dtype(weights.dtype());
        Tensor::from_data(data, (&weights.device(), weights.dtype()))
    };
    if rank == 0 {
        return Ok([tensor(vec![0.0; rows], [rows, 1]), tensor(vec![0.0; columns], [1, columns])]);
    }
    let scaled = left.iter().enumerate().map(|(at, u)| u * values[at % rank]).collect();
    let turned = (0..rank * columns).map(|at| right[at % columns * rank + at / columns]).collect();
    Ok([tensor(scaled, [rows, rank]), tensor(turned, [rank, columns])])
}

fn check(what: &'static str, topology: &Csr, weights: &Tensor<1>, rank: usize) -> Result<()> {
    if weights.dims() != [topology.edges()] {
        return Err(Error::shape(what, [topology.edges()], weights.dims()));
    }
    Error::positive(rank, "rank", "at least 1")
}
