//! How alike the features of two nodes are.

use super::Features;
use crate::{
    Result,
    kernels::{
        overlap::{self, Overlap},
        pairs::Similarity,
    },
    ops,
    topology::{Batch, Csr},
};
use burn::tensor::{Tensor, TensorData};

/// Least length of a vector that has a direction.
const LEAST_LENGTH: f64 = 1e-12;

/// Rows of a sparse matrix scaled to length 1; rows of zeros stay zero. Gradients flow to the values.
pub(crate) fn unit_rows(rows: &Csr, values: Tensor<1>) -> Result<Tensor<1>> {
    let squares = ops::segment_sum(rows, &values.clone().square())?;
    let scales = squares.clamp_min(LEAST_LENGTH * LEAST_LENGTH).sqrt().recip();
    Ok(values * ops::broadcast_rows(rows, &scales)?)
}

impl Features {
    /// The k nodes of largest positive cosine of every node, within its graph of the batch; constants.
    pub(crate) fn nearest(&self, k: usize, batch: &Batch) -> Result<Csr> {
        let like = Tensor::<1>::zeros([1], &self.device());
        let (rows, values) = self.constant_entries(&like)?;
        ops::nearest_rows(&rows, &unit_rows(&rows, values)?, k, batch)
    }

    /// `cos(x_i, x_j)` of every pair, constants; 0 if a node has no features.
    pub(crate) fn cosines(&self, pairs: &Csr) -> Result<Vec<f64>> {
        match self {
            Self::Dense(x) => {
                let cosines = ops::pair_similarity(pairs, Similarity::Cosine, &x.clone().detach())?;
                ops::to_f64("cosines", &cosines)
            }
            Self::Sparse(_) => {
                let (rows, values) = self.entries()?;
                Ok(overlap::forward(pairs, Overlap::Cosine, &rows, &values))
            }
        }
    }

    /// The Jaccard index of the features that two nodes have, of every pair, if features are binary: 0, or the
    /// same positive number all along a row, which is what scaled rows of 0 and 1 are.
    pub(crate) fn jaccard(&self, pairs: &Csr) -> Result<Option<Vec<f64>>> {
        let (rows, values) = self.entries()?;
        let even = |row: usize| {
            let values = &values[rows.range(row)];
            values.iter().all(|&value| value > 0.0 && value == values[0])
        };
        let binary = (0..rows.rows()).all(even);
        Ok(binary.then(|| overlap::forward(pairs, Overlap::Jaccard, &rows, &values)))
    }

    /// The entries that are not zero, and their values as constants in the element type of `like`, where it is.
    pub(crate) fn constant_entries(&self, like: &Tensor<1>) -> Result<(Csr, Tensor<1>)> {
        let (rows, values) = self.entries()?;
        let data = TensorData::new(values, [rows.edges()]).convert_dtype(like.dtype());
        Ok((rows, Tensor::from_data(data, (&like.device(), like.dtype()))))
    }

    /// The entries that are not zero, and their values.
    pub(crate) fn entries(&self) -> Result<(Csr, Vec<f64>)> {
        let (rows, values) = match self {
            Self::Sparse(x) => (x.topology().clone(), ops::to_f64("sparse features", x.values())?),
            Self::Dense(x) => {
                let [nodes, width] = x.dims();
                let all: Vec<u32> = (0..width as u32).collect();
                (Csr::from_sorted_rows(width, &vec![all; nodes]), ops::to_f64("features", x)?)
            }
        };
        let kept = rows.filter(|entry, _, _| values[entry] != 0.0);
        Ok((kept, values.into_iter().filter(|&value| value != 0.0).collect()))
    }
}
