//! Matrices over nodes by thin factors.

use super::Adjacency;
use crate::{
    Result,
    kernels::{random::Key, spmm},
    ops::{self, Convergence},
    topology::Csr,
};
use burn::tensor::{Tensor, TensorData};

/// A matrix over nodes by two thin factors, `L R`; constants.
#[derive(Clone, Debug)]
pub struct LowRank {
    /// `L`, `[nodes, rank]`.
    pub left: Tensor<2>,
    /// `R`, `[rank, nodes]`.
    pub right: Tensor<2>,
}

impl LowRank {
    /// The nearest matrix of rank `rank` to a graph, `U S V^T` of its leading singular values, with
    /// `L = U S` and `R = V^T`; fewer where the others are 0. Nothing of size N x N is made.
    ///
    /// # Errors
    /// If `rank` is 0.
    pub fn of(graph: &Adjacency, rank: usize, until: Convergence, key: Key) -> Result<Self> {
        let [left, right] =
            ops::leading_factors(graph.topology(), graph.weights(), rank, until, key)?;
        Ok(Self { left, right })
    }

    /// `L R X`, as two thin products.
    ///
    /// # Errors
    /// If the shapes do not fit.
    pub fn aggregate(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        ops::matmul(&self.left, &ops::matmul(&self.right, x)?)
    }

    /// The entries of the matrix at some pairs, `[pairs]`.
    ///
    /// # Errors
    /// If the pairs are not over these nodes.
    pub fn at(&self, pairs: &Csr) -> Result<Tensor<1>> {
        let [nodes, rank] = self.left.dims();
        pairs.same_shape("pairs of a low-rank matrix", &Csr::empty(nodes, nodes))?;
        let left = ops::to_f64("left factor", &self.left)?;
        let right = ops::to_f64("right factor", &self.right.clone().transpose())?;
        let values = spmm::backward_weights(pairs, &right, &left, rank);
        let data = TensorData::new(values, [pairs.edges()]).convert_dtype(self.left.dtype());
        Ok(Tensor::from_data(data, (&self.left.device(), self.left.dtype())))
    }
}
