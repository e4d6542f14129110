//! Graphs of points without a learner, beside the published one.

use super::CloudBatch;
use crate::{Error, Result};
use adjoin::{Adjacency, Batch, Csr, graph::Spacing, ops};
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// The graph of every layer where nothing is learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointGraph {
    /// That of the network: nearest neighbours in the features of the layer.
    #[default]
    Published,
    /// All points within a radius, the same in all layers.
    Radius(RadiusConfig),
    /// Nearest neighbours, after outliers were taken out of the cloud. A learner works on the rest, too.
    OutlierRemoval(RemovalConfig),
}

/// Settings of a radius graph: `j` is a neighbour of `i` if `|p_i - p_j| <= radius`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RadiusConfig {
    /// The radius, in units of the cloud's.
    pub radius: f64,
    /// Most neighbours, itself included: the nearest ones.
    pub most: usize,
}

impl Default for RadiusConfig {
    fn default() -> Self {
        Self { radius: 0.2, most: 64 }
    }
}

/// Settings of statistical outlier removal (Rusu et al., 2008): points whose mean distance to the k nearest others is
/// above mean + `deviations` standard deviations of those of the cloud are taken out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RemovalConfig {
    /// Neighbours that distances are averaged over.
    pub k: usize,
    /// How far above the mean an outlier is, in standard deviations.
    pub deviations: f64,
}

impl Default for RemovalConfig {
    fn default() -> Self {
        Self { k: 8, deviations: 2.0 }
    }
}

impl PointGraph {
    /// Its name in tables.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Published => "knn",
            Self::Radius(_) => "radius",
            Self::OutlierRemoval(_) => "outlier-removal",
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        let (place, positive, count) = match *self {
            Self::Published => return Ok(()),
            Self::Radius(RadiusConfig { radius, most }) => ("graph.radius", radius, most),
            Self::OutlierRemoval(RemovalConfig { k, deviations }) => {
                ("graph.outlier_removal", deviations, k)
            }
        };
        if positive > 0.0 && positive.is_finite() && count > 0 {
            return Ok(());
        }
        let what = "numbers must be above 0".into();
        Err(Error::Config { place: place.into(), what })
    }
}

/// The nearest `count` others of every point.
fn others(batch: &CloudBatch, count: usize) -> Result<Csr> {
    let ranks: Vec<u32> = (1..=count as u32).collect();
    Ok(ops::neighbours_at(&batch.points, &ranks, &batch.clouds)?)
}

/// `s_i` of every point, see [`Spacing::logs`]: above 0 where points lie thinner than usual in their cloud.
pub(super) fn thinness(batch: &CloudBatch, k: usize) -> Result<Vec<f64>> {
    let pairs = others(batch, k)?;
    Ok(Spacing::of(&batch.points, &pairs, k, &batch.clouds)?.logs())
}

impl RadiusConfig {
    /// The graph; every point is its own neighbour.
    pub(super) fn graph(&self, batch: &CloudBatch) -> Result<Adjacency> {
        let pairs = others(batch, self.most.saturating_sub(1).max(1))?;
        let spacing = Spacing::of(&batch.points, &pairs, 1, &batch.clouds)?;
        let within = |entry: usize, _, _| spacing.distances[entry] <= self.radius;
        let options = (&batch.points.device(), batch.points.dtype());
        Ok(Adjacency::unweighted(pairs.filter(within), options).with_self_loops()?)
    }
}

impl RemovalConfig {
    /// Which points are no outliers.
    fn kept(&self, batch: &CloudBatch) -> Result<Vec<bool>> {
        let pairs = others(batch, self.k)?;
        let spacing = Spacing::of(&batch.points, &pairs, self.k, &batch.clouds)?;
        let mut kept = Vec::with_capacity(spacing.means.len());
        for range in batch.clouds.ranges() {
            let means = &spacing.means[range];
            let count = means.len().max(1) as f64;
            let mean = means.iter().sum::<f64>() / count;
            let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / count;
            let limit = mean + self.deviations * variance.sqrt();
            kept.extend(means.iter().map(|&m| m <= limit));
        }
        Ok(kept)
    }

    /// The clouds without their outliers, and which points are left.
    pub(super) fn clean(&self, batch: &CloudBatch) -> Result<(CloudBatch, Vec<bool>)> {
        let kept = self.kept(batch)?;
        let values: Vec<f32> = batch.points.to_data().convert::<f32>().iter::<f32>().collect();
        let left: Vec<f32> = values
            .chunks_exact(3)
            .zip(&kept)
            .filter(|(_, kept)| **kept)
            .flat_map(|(p, _)| p)
            .copied()
            .collect();
        let sizes =
            batch.clouds.ranges().map(|range| kept[range].iter().filter(|kept| **kept).count());
        let clouds = Batch::of_sizes(sizes);
        let options = (&batch.points.device(), batch.points.dtype());
        let points = Tensor::from_data(TensorData::new(left, [clouds.nodes(), 3]), options);
        Ok((CloudBatch { points, clouds }, kept))
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::device;
    use super::*;

    /// A square of 49 points, 0.1 apart, and one far from all of them; then the square alone.
    fn clouds() -> CloudBatch {
        let square = (0..49).map(|n| [(n % 7) as f32 * 0.1, (n / 7) as f32 * 0.1, 0.0]);
        let square: Vec<[f32; 3]> = square.collect();
        let mut with = square.clone();
        with.push([0.3, 0.3, 0.9]);
        CloudBatch::of_points([with, square], &device())
    }

    #[test]
    fn a_radius_graph_joins_what_is_near_and_nothing_else() {
        let graph = RadiusConfig { radius: 0.11, most: 20 }.graph(&clouds()).unwrap();
        let topology = graph.topology();
        assert_eq!((topology.degree(0), topology.degree(8), topology.degree(49)), (3, 5, 1));
        assert_eq!(topology.row(8), [1, 7, 8, 9, 15]);
        assert!(graph.is_uniform());
        let few = RadiusConfig { radius: 9.0, most: 4 }.graph(&clouds()).unwrap();
        assert!((0..99).all(|row| few.topology().degree(row) == 4));
    }

    #[test]
    fn outliers_are_taken_out_and_others_stay() {
        let (clean, kept) = RemovalConfig::default().clean(&clouds()).unwrap();
        assert!(!kept[49], "the far point");
        assert!(kept[..49].iter().all(|kept| *kept), "no point of the square");
        // Corners of the square alone are farthest from their neighbours, but not that far.
        assert!(kept[50 + 24] && clean.clouds.range(1).len() >= 45);
        assert_eq!(clean.clouds.range(0).len(), 49);
        assert_eq!(clean.points.dims()[0], clean.clouds.nodes());
    }

    #[test]
    fn thinness_sees_outliers() {
        let found = thinness(&clouds(), 8).unwrap();
        let most = found[..49].iter().copied().fold(f64::MIN, f64::max);
        assert!(found[49] > 1.0 && found[49] > most + 0.5, "{} {most}", found[49]);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        for graph in [
            PointGraph::Radius(RadiusConfig { radius: 0.0, most: 3 }),
            PointGraph::Radius(RadiusConfig { radius: f64::NAN, most: 3 }),
            PointGraph::OutlierRemoval(RemovalConfig { k: 0, deviations: 2.0 }),
        ] {
            assert!(graph.check().is_err(), "{graph:?}");
        }
    }
}
