//! Candidates among nodes whose features are a tensor.

use super::bridge::{Query, ask};
use crate::{
    Result,
    graph::{Batch, CandidateInputs, CandidateRule, Candidates, Csr},
    kernels::Real,
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
        let features = Some((points, self.width));
        self.rule.build(&CandidateInputs { graph: self.graph, features, batch: self.batch })
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
        None => rule.build(&CandidateInputs::<f32> { graph, features: None, batch }),
    }
}
