//! What a finished run of point clouds leaves behind.

use super::CloudRecord;
use crate::record::{DegreeHistogram, RunRecord};
use serde::{Deserialize, Serialize};

/// One learner x backbone x dataset, trained with one or more seeds: what any run of classification has, and
/// what is there of clouds and layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointsRecord {
    /// Numbers and curves.
    #[serde(flatten)]
    pub run: RunRecord,
    /// Names of the classes, in the order of their numbers.
    pub class_names: Vec<String>,
    /// Mean over the classes of the test accuracy of each, seed by seed.
    pub mean_class: Vec<f64>,
    /// A few test clouds, with what the first seed predicts and the degrees it gives their points.
    pub clouds: Vec<CloudRecord>,
    /// Whether the learner has a degree k of its own, or neighbours were counted.
    pub has_k: bool,
    /// Neighbours of all points of the test clouds, layer by layer, with the first seed.
    pub layers: Vec<DegreeHistogram>,
}
