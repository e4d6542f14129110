//! How densely nodes lie, as extras of nodes and pairs.

use super::Extras;
use crate::{
    Error, Result,
    kernels::pairs::Similarity,
    ops,
    topology::{Batch, Csr},
};
use burn::tensor::{Tensor, TensorData};

/// Distances below this, relative to the usual spacing, are taken for this: points may be there twice.
const LEAST: f64 = 1e-3;

/// Width of [`density_extras`] of a node and of a pair.
pub const DENSITY_WIDTHS: [usize; 2] = [2, 4];

/// How far nodes are from their nearest ones: `m_i`, the mean distance to the k nearest candidates, and the median
/// of these over each graph, which is its unit of length.
#[derive(Clone, Debug, PartialEq)]
pub struct Spacing {
    /// `m_i` of every node; the median where a node has no candidates.
    pub means: Vec<f64>,
    /// The median of each node's graph; 1 where that would be 0.
    pub medians: Vec<f64>,
    /// Distance of every pair.
    pub distances: Vec<f64>,
}

impl Spacing {
    /// Of nodes at places `[nodes, width]` whose nearest ones are among the candidates `pairs`.
    ///
    /// # Errors
    /// If `k` is 0, or places, pairs and batch are not over the same nodes.
    pub fn of(places: &Tensor<2>, pairs: &Csr, k: usize, batch: &Batch) -> Result<Self> {
        Error::positive(k, "density", "must be at least 1")?;
        if batch.nodes() != pairs.rows() {
            return Err(Error::shape("spacing: nodes", batch.nodes(), pairs.rows()));
        }
        let places = places.clone().detach();
        let distances = ops::pair_similarity(pairs, Similarity::Distance, &places)?;
        let distances = ops::to_f64("distances", &distances)?;
        let mut near: Vec<f64> = Vec::new();
        let mean = |row: usize| {
            near.clear();
            near.extend_from_slice(&distances[pairs.range(row)]);
            near.sort_unstable_by(f64::total_cmp);
            near.truncate(k);
            near.iter().sum::<f64>() / near.len() as f64
        };
        let mut means: Vec<f64> = (0..pairs.rows()).map(mean).collect();
        let mut medians = Vec::with_capacity(means.len());
        for range in batch.ranges() {
            let mut known: Vec<f64> =
                means[range.clone()].iter().copied().filter(|mean| mean.is_finite()).collect();
            known.sort_unstable_by(f64::total_cmp);
            let median = known.get(known.len() / 2).copied().filter(|&median| median > 0.0);
            let median = median.unwrap_or(1.0);
            for mean in means[range.clone()].iter_mut().filter(|mean| !mean.is_finite()) {
                *mean = median;
            }
            medians.resize(range.end, median);
        }
        Ok(Self { means, medians, distances })
    }

    /// `s_i = ln(m_i / median)` of every node: above 0 where nodes lie thinner than usual.
    pub fn logs(&self) -> Vec<f64> {
        let both = self.means.iter().zip(&self.medians);
        both.map(|(mean, median)| (mean / median).max(LEAST).ln()).collect()
    }
}

/// Extras that see density, by the spacing of candidates in the space where they were sought and `place`, the
/// [`Spacing::logs`] of the nodes where they are.
///
/// Of a pair `(i, j)`: `ln(d_ij / median)`, its distance in units of the usual spacing, `s_i`, `s_j` and
/// `s_j - s_i`; of a node `s_i` and the same in the space of the candidates. All of it is constant: no gradient flows.
///
/// # Shapes
/// `place` `[nodes]`; nodes `[nodes, 2]`, pairs `[pairs, 4]`, as `like` in type and device.
///
/// # Errors
/// If the numbers of nodes differ.
pub fn density_extras(
    spacing: &Spacing,
    place: &[f64],
    pairs: &Csr,
    like: &Tensor<2>,
) -> Result<Extras> {
    let found = [place.len(), spacing.means.len(), pairs.columns()];
    if found != [pairs.rows(); 3] || spacing.distances.len() != pairs.edges() {
        return Err(Error::shape("density: nodes", [pairs.rows(); 3], found));
    }
    let mut of_pairs = Vec::with_capacity(DENSITY_WIDTHS[1] * pairs.edges());
    for ((i, j), distance) in pairs.iter().zip(&spacing.distances) {
        let (i, j) = (i as usize, j as usize);
        let distance = (distance / spacing.medians[i]).max(LEAST).ln();
        of_pairs.extend([distance, place[i], place[j], place[j] - place[i]]);
    }
    let own = spacing.logs();
    let of_nodes: Vec<f64> = place.iter().zip(&own).flat_map(|(&a, &b)| [a, b]).collect();
    let tensor = |values: Vec<f64>, [rows, width]: [usize; 2]| {
        let options = (&like.device(), like.dtype());
        Tensor::<2>::from_data(TensorData::new(values, [rows, width]), options)
    };
    let [node, pair] = DENSITY_WIDTHS;
    Ok(Extras {
        nodes: tensor(of_nodes, [pairs.rows(), node]),
        pairs: tensor(of_pairs, [pairs.edges(), pair]),
    })
}
