//! Learners of the graphs of agents.

use super::motion;
use crate::{Error, Result};
use adjoin::{
    Adjacency, Batch, CandidateRule, Candidates, Features, GraphInput, GraphLearner, Key, Prepared,
    SelfLoops,
    learner::{AnyLearner, LearnerConfig, Shape},
    ops,
};
use burn::tensor::{Device, Tensor};

/// Candidate pairs of all frames of a batch are listed up to this many.
const MOST_PAIRS: usize = 50_000_000;

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
    let shape = Shape { features, extras: motion::MOTION_WIDTHS, ..Shape::default() };
    Ok(config.init(&GraphInput::new(&nothing, None, &batch), &shape, key, device)?)
}

/// The candidates of a learner and what it sees of them, if it looks at pairs of agents; else the pairs of complete
/// candidates, because frames are small: listing their pairs is faster than streaming over them.
pub(super) fn prepared(
    learner: &AnyLearner,
    input: &GraphInput,
    unrest: &[f64],
) -> Result<Prepared> {
    let Some(rule) = learner.candidate_rule() else { return Ok(Prepared::default()) };
    let extras = learner.wants_extras();
    if !extras && !rule.is_complete() {
        return Ok(Prepared::default());
    }
    let features = input.features.to_dense()?;
    let graph = input.graph.map(Adjacency::topology);
    let pairs = match rule {
        CandidateRule::Complete => Candidates::Complete(input.batch.clone()),
        rule => ops::candidates(rule, graph, Some(&features), input.batch)?,
    };
    let pairs = pairs.to_pairs(MOST_PAIRS)?;
    if !extras {
        let candidates = Some(Candidates::Pairs(pairs));
        return Ok(Prepared { candidates, ..Prepared::default() });
    }
    let pairs = pairs.with_self_loops(SelfLoops::Drop);
    let extras = Some(motion::extras(&features, unrest, &pairs));
    Ok(Prepared { candidates: Some(Candidates::Pairs(pairs)), extras, ..Prepared::default() })
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
