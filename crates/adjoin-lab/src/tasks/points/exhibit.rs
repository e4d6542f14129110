//! What a page shows of a trained model: a few clouds, and the degrees of all points by layer.

use super::{
    CloudRecord, Clouds, PointEvaluation, PointModel,
    inspect::{examples, inspect},
};
use crate::{
    Result,
    histogram::{DegreeHistogram, Tally},
    task::Part,
};
use adjoin::GraphLearner;
use adjoin_data::points::PointDataset;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Test clouds of a record.
const EXAMPLES: usize = 8;

/// Most bars of a histogram.
const BARS: usize = 30;

/// A few test clouds and all degrees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointExhibit {
    /// A few test clouds, with predictions and the degrees of their points.
    pub clouds: Vec<CloudRecord>,
    /// Whether the learner has a size k of its own, or neighbours were counted.
    pub has_k: bool,
    /// Neighbours of all points of the test clouds, layer by layer.
    pub layers: Vec<DegreeHistogram>,
}

impl PointExhibit {
    pub(super) fn of(
        model: &PointModel,
        dataset: &Arc<PointDataset>,
        points: usize,
    ) -> Result<Self> {
        let test = Clouds::part(dataset, Part::Test);
        let found = PointEvaluation::of(model, &test.all(), points)?;
        let bars = |tally: &Tally| DegreeHistogram::of(&Tally::default(), tally, BARS);
        Ok(Self {
            clouds: inspect(model, dataset, &examples(dataset, EXAMPLES), points)?,
            has_k: model.learners.iter().any(|learner| learner.candidate_rule().is_some()),
            layers: found.tallies.iter().map(bars).collect(),
        })
    }
}
