//! Agreement of class probabilities.

use crate::{
    Error, Result,
    graph::GraphInput,
    kernels::{pairs::Similarity, random::Key},
    nn::Start,
    ops,
    topology::Csr,
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::softplus},
};

/// Nodes that surely differ are kept apart by this much, not infinitely far.
const LEAST_AGREEMENT: f64 = 1e-6;

/// Where the exponent starts, before the softplus: `softplus(ln(e - 1)) = 1`.
const ONE: f64 = 0.541_324_854_612_918;

/// Raises the scores of nodes that are likely to be of one class: `log p_ij + gamma log <b_i, b_j>`.
///
/// `b` `[nodes, classes]` are class probabilities that a teacher, a network without a learned graph, gave;
/// they are constants here. `<b_i, b_j>` is the probability that both nodes are of the same class, if they
/// are classified independently: near 1 for two confident nodes that agree, small for nodes that differ
/// *and* for nodes about which nothing is known, which so rely on themselves. It is kept above 1e-6.
/// Gradients flow to the scores and to `gamma = softplus(theta)`, which starts at 1.
#[derive(Module, Debug)]
pub struct Agreement {
    /// `gamma = softplus(theta)`, `[1]`; none when agreement is off.
    pub exponent: Option<Param<Tensor<1>>>,
}

impl Agreement {
    pub(super) fn init(wanted: bool, device: &Device) -> Self {
        let start = || Start::Constant(ONE).tensor([1], [1, 1], Key::new(0), device);
        Self { exponent: wanted.then(|| Param::from_tensor(start())) }
    }

    /// The scores `[pairs]` with the agreement of each pair; gradients flow to the scores and to gamma.
    pub(super) fn forward(
        &self,
        log_scores: Tensor<1>,
        pairs: &Csr,
        input: &GraphInput,
    ) -> Result<Tensor<1>> {
        let Some(exponent) = &self.exponent else { return Ok(log_scores) };
        let known = input.prepared.and_then(|prepared| prepared.probabilities.as_ref());
        let known = known.ok_or(Error::NoProbabilities)?;
        let same = ops::pair_similarity(pairs, Similarity::Dot, known)?;
        Ok(log_scores + same.clamp_min(LEAST_AGREEMENT).log() * softplus(exponent.val(), 1.0))
    }
}
