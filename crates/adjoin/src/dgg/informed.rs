//! Scores that start from evidence.

use crate::{
    Error, Result,
    evidence::{EvidenceConfig, EvidenceModel},
    graph::{Adjacency, Evidence, GraphInput},
    kernels::random::Key,
    nn::{LearnedGraph, Start},
    ops,
    topology::Csr,
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::log_sigmoid},
};
use serde::{Deserialize, Serialize};

/// The graphs that validation chooses among.
pub(super) const ALTERNATIVES: [&str; 3] = ["learned", "given", "none"];

/// Settings of scores that start from evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InformedConfig {
    /// How the evidence is fitted.
    pub evidence: EvidenceConfig,
    /// Weight of candidates that are no given edges, at the start.
    pub added_weight: f64,
    /// Weight of a node itself beside its neighbours, at the start.
    pub own_weight: f64,
    /// Train with the learned graph, the given one and none, and let validation choose.
    pub choose: bool,
}

impl Default for InformedConfig {
    fn default() -> Self {
        let evidence = EvidenceConfig::default();
        Self { evidence, added_weight: 0.1, own_weight: 0.5, choose: true }
    }
}

/// Joins evidence with the learned scorer: `p_ij = sigmoid(z_ij + gamma s_ij)`, `z` the log-odds of the
/// evidence, `s` the learned log-score, `gamma` from 0: training starts from the evidence alone.
///
/// A candidate that is no given edge counts `c p_ij`, and all weights are multiplied by `1 / o`, so that a
/// self-loop of weight 1 is one of weight `o` beside them. `c` and `o` are learned.
///
/// # Gradients
/// Flow to `gamma`, `s`, `c` and `o`; the evidence is constant.
#[derive(Module, Debug)]
pub struct Informed {
    /// The evidence.
    pub model: EvidenceModel,
    /// `gamma`, `[1]`.
    pub gain: Param<Tensor<1>>,
    /// `ln c`, `[1]`.
    pub added: Param<Tensor<1>>,
    /// `ln o`, `[1]`.
    pub own: Param<Tensor<1>>,
    /// Which of the alternatives it was set to, `[1]`; a constant.
    pub choice: Param<Tensor<1>>,
    choose: bool,
}

/// Scores of candidates.
pub(super) struct InformedScores {
    /// `ln(c p)`, `[pairs]`.
    pub log_scores: Tensor<1>,
    /// `c p`, `[pairs]`.
    pub expected: Tensor<1>,
}

impl InformedConfig {
    pub(super) fn init(
        &self,
        inputs: usize,
        classes: usize,
        key: Key,
        device: &Device,
    ) -> Result<Informed> {
        for (name, value) in
            [("informed.added_weight", self.added_weight), ("informed.own_weight", self.own_weight)]
        {
            if !(value > 0.0 && value.is_finite()) {
                let value = value.to_string();
                return Err(Error::Setting { name, value, expected: "must be above 0" });
            }
        }
        let start = |value: f64| {
            Param::from_tensor(Start::Constant(value).tensor([1], [1, 1], Key::new(0), device))
        };
        Ok(Informed {
            model: self.evidence.init(inputs, classes, key, device)?,
            gain: start(0.0),
            added: start(self.added_weight.ln()),
            own: start(self.own_weight.ln()),
            choice: start(0.0).set_require_grad(false),
            choose: self.choose,
        })
    }
}

impl Informed {
    /// Scores of the candidates of the evidence; `learned` are the log-scores of the scorer.
    pub(super) fn scores(&self, evidence: &Evidence, learned: &Tensor<1>) -> InformedScores {
        let odds = evidence.log_odds.clone() + learned.clone() * self.gain.val();
        let log_scores = log_sigmoid(odds) + evidence.added.clone() * self.added.val();
        InformedScores { expected: log_scores.clone().exp(), log_scores }
    }

    /// The weights as they stand beside a self-loop of 1.
    pub(super) fn beside_self(&self, graph: &Adjacency) -> Result<Adjacency> {
        graph.map_weights(|weights| weights * self.own.val().neg().exp())
    }

    pub(super) fn alternatives(&self) -> &'static [&'static str] {
        if self.choose { &ALTERNATIVES } else { &[] }
    }

    pub(super) fn choose(mut self, alternative: usize) -> Self {
        let value = self.choice.val().full_like(alternative as f64);
        self.choice = Param::from_tensor(value).set_require_grad(false);
        self
    }

    /// The graph that was chosen instead of the learned one, if one was.
    pub(super) fn instead(&self, input: &GraphInput) -> Result<Option<LearnedGraph>> {
        let choice = ops::to_f64("choice", &self.choice.val())?;
        let empty = || {
            let none = Csr::empty(input.features.nodes(), input.features.nodes());
            Adjacency::unweighted(none, &input.features.device())
        };
        Ok(match (choice.first().map_or(0, |&c| c.round() as usize), input.graph) {
            (0, _) => None,
            (1, Some(graph)) => Some(LearnedGraph::plain(graph.clone())),
            _ => Some(LearnedGraph::plain(empty())),
        })
    }
}
