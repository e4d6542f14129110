//! Learners of the graphs of agents.

use crate::{Error, Result};
use adjoin::{
    Batch, Features, GraphInput, GraphLearner, Key,
    learner::{AnyLearner, LearnerConfig, Shape},
};
use burn::tensor::{Device, Tensor};

/// The learner for nodes with so many features.
pub(super) fn learner(
    config: &LearnerConfig,
    features: usize,
    key: Key,
    device: &Device,
) -> Result<AnyLearner> {
    // Frames change from step to step: there is no data to look at yet.
    let nothing = Features::from(Tensor::<2>::zeros([0, features], device));
    let batch = Batch::of_sizes(vec![]);
    let shape = Shape { features, ..Shape::default() };
    Ok(config.init(&GraphInput::new(&nothing, None, &batch), &shape, key, device)?)
}

/// Refuses learners whose predictions come from more than so many drawn graphs.
pub(super) fn needs_one_graph(learner: &AnyLearner, most: usize) -> Result<()> {
    if learner.evaluation_draws() <= most {
        return Ok(());
    }
    let what =
        format!("evaluation_draws must be at most {most}: paths come from one graph a frame");
    Err(Error::Config { place: "learner".into(), what })
}
