//! Nearest neighbours among nodes whose features are a tensor, at chosen ranks.

use super::bridge::{Query, ask};
use crate::{
    Result,
    kernels::{
        Real,
        knn::{Metric, nearest},
    },
    topology::{Batch, Csr},
};
use burn::tensor::Tensor;

struct AtRanks<'a> {
    width: usize,
    ranks: &'a [u32],
    batch: &'a Batch,
}

impl Query<1> for AtRanks<'_> {
    type Answer = Result<Csr>;

    fn run<T: Real>(&self, [points]: [&[T]; 1]) -> Result<Csr> {
        let most = self.ranks.iter().max().map_or(1, |&rank| rank as usize + 1);
        let found = nearest(points, self.width, most, Metric::Euclidean, true, self.batch)?;
        if self.ranks.len() == most {
            return Ok(found.to_csr());
        }
        let mut pointers = Vec::with_capacity(found.rows() + 1);
        pointers.push(0u32);
        let mut indices = Vec::with_capacity(found.rows() * self.ranks.len());
        for row in 0..found.rows() {
            let (first, near) = (indices.len(), found.row(row));
            indices.extend(self.ranks.iter().filter_map(|&rank| near.get(rank as usize)));
            indices[first..].sort_unstable();
            pointers.push(indices.len() as u32);
        }
        Ok(Csr::trusted(found.rows(), pointers, indices))
    }
}

/// The graph that joins every node to its Euclidean neighbours of the given ranks within its own graph:
/// rank 0 is the node itself, rank 1 the nearest other. Ranks must differ; a graph of too few nodes gives
/// those it has. No gradient flows.
///
/// # Shapes
/// `points` `[nodes, width]`.
///
/// # Errors
/// If `points` is not over the nodes of the batch, or holds a NaN or an infinity.
pub fn neighbours_at(points: &Tensor<2>, ranks: &[u32], batch: &Batch) -> Result<Csr> {
    let query = AtRanks { width: points.dims()[1], ranks, batch };
    ask("neighbours_at", query, [points.into()])?
}
