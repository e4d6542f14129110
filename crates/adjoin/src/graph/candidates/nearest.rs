//! Candidates: the nearest in a feature space.

use crate::Result;
use crate::graph::{Batch, Csr};
use crate::kernels::{
    Real,
    knn::{self, Metric},
};

pub(super) fn pairs<T: Real>(
    points: &[T],
    width: usize,
    k: usize,
    metric: Metric,
    batch: &Batch,
) -> Result<Csr> {
    Ok(knn::nearest(points, width, k, metric, false, batch)?.to_csr())
}
