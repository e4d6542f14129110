//! Whether learned sizes follow the density of points.

use super::{
    CloudBatch, PointModel,
    batch::{device, groups},
    graphs::thinness,
};
use crate::{Result, stats::spearman};
use adjoin_data::points::Cloud;

/// Clouds that are compared at once.
const CLOUDS_AT_ONCE: usize = 16;

/// Nearest points by whose distance density is judged.
const NEAREST: usize = 8;

/// Rank correlation, layer by layer, of the number of neighbours of a point with how densely points lie around it
/// (minus the mean distance to the 8 nearest, relative to the cloud's median); none where all sizes are the same.
pub fn follows_density(
    model: &PointModel,
    clouds: &[&Cloud],
    points: usize,
) -> Result<Vec<Option<f64>>> {
    let mut dense = Vec::new();
    let mut sizes: Vec<Vec<f64>> = vec![Vec::new(); model.network.layers()];
    for group in groups(clouds.len(), CLOUDS_AT_ONCE) {
        let batch = CloudBatch::new(clouds[group].iter().copied(), points, &device());
        dense.extend(thinness(&batch, NEAREST)?.into_iter().map(|thin| -thin));
        let found = model.evaluate(&batch)?.degrees;
        sizes.iter_mut().zip(found).for_each(|(all, found)| all.extend(found));
    }
    Ok(sizes.iter().map(|sizes| spearman(sizes, &dense)).collect())
}
