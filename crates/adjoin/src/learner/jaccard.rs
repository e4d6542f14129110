//! GCN-Jaccard.

use super::{Shape, prepared_or, table::Settings};
use crate::{
    Error, Result,
    graph::{Adjacency, GraphInput, Prepared},
    kernels::random::Key,
    nn::{GraphLearner, LearnedGraph},
    pass::Pass,
};
use burn::{module::Module, tensor::Device};
use serde::{Deserialize, Serialize};

/// Settings of [`Jaccard`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JaccardConfig {
    /// Edges of nodes whose similarity is at or below this are left out.
    pub threshold: f64,
}

impl Default for JaccardConfig {
    fn default() -> Self {
        Self { threshold: 0.01 }
    }
}

impl JaccardConfig {
    /// The learner; it has no weights to draw.
    ///
    /// # Errors
    /// If the threshold is outside [-1, 1].
    pub fn init(&self, _key: Key, _device: &Device) -> Result<Jaccard> {
        if !(-1.0..=1.0).contains(&self.threshold) {
            let value = self.threshold.to_string();
            return Err(Error::Setting {
                name: "threshold",
                value,
                expected: "must be in [-1, 1]",
            });
        }
        Ok(Jaccard { threshold: self.threshold })
    }
}

/// GCN-Jaccard (Wu et al., 2019): the given graph without edges between nodes that have little in common.
///
/// The similarity of two nodes with binary features is the Jaccard index of the features they have,
/// `|A and B| / |A or B|`; rows may be scaled. With other features it is their cosine. Self-loops stay. Nothing
/// is learned.
///
/// # Gradients
/// Flow to the weights of the edges that stay; none to the features.
#[derive(Module, Debug)]
pub struct Jaccard {
    threshold: f64,
}

impl Jaccard {
    fn build(&self, input: &GraphInput) -> Result<Adjacency> {
        input.check()?;
        let given = input.graph.ok_or(Error::NoInputGraph("Jaccard"))?;
        let pairs = given.topology();
        let similarities = match input.features.jaccard(pairs)? {
            Some(similarities) => similarities,
            None => input.features.cosines(pairs)?,
        };
        let mut similarities = similarities.into_iter();
        given.filter(|i, j| similarities.next().is_some_and(|s| s > self.threshold) || i == j)
    }
}

impl GraphLearner for Jaccard {
    fn learn(&self, input: &GraphInput, _pass: Pass) -> Result<LearnedGraph> {
        prepared_or(input, || self.build(input))
    }

    fn prepare(&self, input: &GraphInput) -> Result<Prepared> {
        Ok(Prepared { graph: Some(self.build(input)?), ..Prepared::default() })
    }
}

impl Settings for JaccardConfig {
    type Learner = Jaccard;

    fn init_for(
        &self,
        _data: &GraphInput,
        _shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<Jaccard> {
        self.init(key, device)
    }
}
