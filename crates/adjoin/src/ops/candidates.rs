//! Candidates among nodes whose features are a tensor.

use super::bridge::{Query, ask};
use crate::{
    Result,
    kernels::{Real, knn},
    topology::{Batch, CandidateRule, Candidates, Csr, Metric},
};
use burn::tensor::Tensor;

struct Build<'a> {
    rule: &'a CandidateRule,
    graph: Option<&'a Csr>,
    width: usize,
    batch: &'a Batch,
}

impl Query<1> for Build<'_> {
    type Answer = Result<Candidates>;

    fn run<T: Real>(&self, [points]: [&[T]; 1]) -> Self::Answer {
        let nearest = |k: usize, metric: Metric| {
            Ok(knn::nearest(points, self.width, k, metric, false, self.batch)?.to_csr())
        };
        self.rule.build(self.graph, Some(&nearest), self.batch)
    }
}

/// The pairs that a rule allows, nearest ones being sought among the rows of `points`.
///
/// No gradient flows: which pairs are candidates is a choice, not a number.
///
/// # Errors
/// If the rule needs a graph or points that are not there, or they do not fit the batch.
pub fn candidates(
    rule: &CandidateRule,
    graph: Option<&Csr>,
    points: Option<&Tensor<2>>,
    batch: &Batch,
) -> Result<Candidates> {
    match points {
        Some(points) => {
            let build = Build { rule, graph, width: points.dims()[1], batch };
            ask("candidates", build, [points.into()])?
        }
        None => rule.build(graph, None, batch),
    }
}
