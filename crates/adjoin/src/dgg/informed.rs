//! Scores that start from evidence.

use crate::{
    Error, Result,
    evidence::{EvidenceConfig, EvidenceModel},
    graph::{Adjacency, CandidatePart, Evidence, GraphInput, Labels, Progress},
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
    /// Exponent of the probabilities, at the start.
    pub sharpness: f64,
    /// Weight of added feature neighbours, at the start.
    pub near_weight: f64,
    /// Weight of added nodes that walks visit, at the start.
    pub walk_weight: f64,
    /// Weight of a node itself beside its neighbours, at the start.
    pub own_weight: f64,
    /// Neighbours that weigh less than this beside a self-loop of 1 are left out.
    pub least_weight: f64,
    /// The generator learns in one of so many epochs, and rests in the others.
    pub every: usize,
    /// Train with the learned graph, the given one and none, and let validation choose.
    pub choose: bool,
    /// Leave out a part of what is learned, to see what it is worth.
    pub control: Option<Control>,
}

/// What is left out of a generator to see what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Nothing is learned: all candidates have the same odds, and the generator rests.
    Frozen,
    /// The evidence is fitted, and the generator rests.
    Evidence,
    /// The evidence is fitted to shuffled labels, and the generator rests.
    Shuffled,
    /// All given edges have the same odds, and all added candidates, those of their mean; the generator rests.
    Even,
    /// All nodes have the same size, the mean of the learned ones.
    OneSize,
    /// Every node keeps the same fraction of its candidates.
    SameFraction,
}

impl Control {
    /// Whether the generator gets no step.
    fn rests(self) -> bool {
        matches!(self, Self::Frozen | Self::Evidence | Self::Shuffled | Self::Even)
    }
}

impl Default for InformedConfig {
    fn default() -> Self {
        let evidence = EvidenceConfig::default();
        Self {
            evidence,
            sharpness: 1.5,
            near_weight: 0.3,
            walk_weight: 0.1,
            own_weight: 0.5,
            least_weight: 0.05,
            every: 16,
            choose: true,
            control: None,
        }
    }
}

/// Joins evidence with the learned scorer: `p_ij = sigmoid(z_ij + gamma s_ij)`, `z` the log-odds of the
/// evidence, `s` the learned log-score, `gamma` from 0: training starts from the evidence alone.
///
/// Samples are `e_ij = p_ij^b`. Given edges and added candidates are ranked apart, so that a node has two sizes
/// that sum to `k_i`: how many given neighbours it keeps, and how many it adds. Added ones weigh `c e_ij` as feature
/// neighbours and `c' e_ij` as nodes that walks visit, both together if they are both. All weights are multiplied by
/// `1 / o`, so that a self-loop of weight 1 is one of weight `o` beside them; those below a least weight are left out.
///
/// # Gradients
/// Flow to `gamma`, `s`, `b`, `c`, `c'` and `o`; the evidence is constant.
#[derive(Module, Debug)]
pub struct Informed {
    /// The evidence.
    pub model: EvidenceModel,
    /// `gamma`, `[1]`.
    pub gain: Param<Tensor<1>>,
    /// `ln b`, `[1]`.
    pub sharpness: Param<Tensor<1>>,
    /// `ln c`, `[1]`.
    pub near: Param<Tensor<1>>,
    /// `ln c'`, `[1]`.
    pub walk: Param<Tensor<1>>,
    /// `ln o`, `[1]`.
    pub own: Param<Tensor<1>>,
    /// Which of the alternatives it was set to, `[1]`; a constant.
    pub choice: Param<Tensor<1>>,
    least_weight: f64,
    every: usize,
    choose: bool,
    #[module(skip)]
    control: Option<Control>,
}

impl InformedConfig {
    pub(super) fn init(
        &self,
        inputs: usize,
        classes: usize,
        key: Key,
        device: &Device,
    ) -> Result<Informed> {
        for (name, value) in [
            ("informed.sharpness", self.sharpness),
            ("informed.near_weight", self.near_weight),
            ("informed.walk_weight", self.walk_weight),
            ("informed.own_weight", self.own_weight),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                let value = value.to_string();
                return Err(Error::Setting { name, value, expected: "must be above 0" });
            }
        }
        if !(0.0..1.0).contains(&self.least_weight) {
            let (name, value) = ("informed.least_weight", self.least_weight.to_string());
            return Err(Error::Setting { name, value, expected: "must be in [0, 1)" });
        }
        let start = |value: f64| {
            Param::from_tensor(Start::Constant(value).tensor([1], [1, 1], Key::new(0), device))
        };
        Ok(Informed {
            model: self.evidence.init(inputs, classes, key, device)?,
            gain: start(0.0),
            sharpness: start(self.sharpness.ln()),
            near: start(self.near_weight.ln()),
            walk: start(self.walk_weight.ln()),
            own: start(self.own_weight.ln()),
            choice: start(0.0).set_require_grad(false),
            least_weight: self.least_weight,
            every: self.every,
            choose: self.choose,
            control: self.control,
        })
    }
}

impl Informed {
    /// `ln p` of the candidates, `[pairs]`; `learned` are the log-scores of the scorer.
    pub(super) fn log_scores(&self, evidence: &Evidence, learned: &Tensor<1>) -> Tensor<1> {
        log_sigmoid(evidence.log_odds.clone() + learned.clone() * self.gain.val())
    }

    /// `e = p^b` from `ln p`.
    pub(super) fn samples(&self, log_scores: Tensor<1>) -> Tensor<1> {
        (log_scores * self.sharpness.val().exp()).exp()
    }

    /// The weights of added candidates, `[added]`.
    pub(super) fn added_weights(&self, evidence: &Evidence) -> Tensor<1> {
        evidence.near.clone() * self.near.val().exp()
            + evidence.walk.clone() * self.walk.val().exp()
    }

    /// Fits the evidence to the labels of training nodes.
    pub(super) fn fit(mut self, input: &GraphInput, labels: &Labels, key: Key) -> Result<Self> {
        self.model = match self.control {
            Some(Control::Frozen) => self.model.unlearned(input, key)?,
            Some(Control::Shuffled) => {
                let order = key.child(9).permutation(labels.classes.len());
                let classes: Vec<u32> =
                    order.iter().map(|&at| labels.classes[at as usize]).collect();
                self.model.fit(input, &Labels { classes: &classes, ..*labels }, key)?
            }
            _ => self.model.fit(input, labels, key)?,
        };
        Ok(self)
    }

    /// The evidence for the candidates of some nodes.
    pub(super) fn apply(&self, input: &GraphInput) -> Result<Evidence> {
        let evidence = self.model.apply(input)?;
        match self.control {
            Some(Control::Even) => evidence.evened(),
            _ => Ok(evidence),
        }
    }

    /// The sizes that are used, `[nodes]`, from learned ones.
    pub(super) fn sizes(&self, k: Tensor<1>, part: &CandidatePart) -> Result<Tensor<1>> {
        Ok(match self.control {
            Some(Control::OneSize) => k.clone().mean().expand(k.dims()),
            Some(Control::SameFraction) => {
                let like = (&k.device(), k.dtype());
                let counts =
                    ops::segment_sum(&part.pairs, &Tensor::ones([part.entries.len()], like))?;
                let share = k.sum() / counts.clone().sum().clamp_min(1.0);
                counts * share
            }
            _ => k,
        })
    }

    /// Whether the learned graph stays as it is in an epoch. A graph that was chosen instead is no learned one: it is
    /// used as it is, without edges left out at random.
    pub(super) fn rests(&self, at: Progress) -> bool {
        self.chosen() == 0
            && (self.control.is_some_and(Control::rests)
                || !at.epoch.is_multiple_of(self.every.max(1)))
    }

    /// The alternative it was set to.
    fn chosen(&self) -> usize {
        self.choice.val().into_scalar::<f64>().round() as usize
    }

    /// The weights as they stand beside a self-loop of 1, without those that hardly count.
    pub(super) fn beside_self(&self, graph: &Adjacency) -> Result<Adjacency> {
        let graph = graph.map_weights(|weights| weights * self.own.val().neg().exp())?;
        let mut weights = ops::to_f64("weights", graph.weights())?.into_iter();
        graph.filter(|_, _| weights.next().is_some_and(|weight| weight >= self.least_weight))
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
        let empty = || {
            let none = Csr::empty(input.features.nodes(), input.features.nodes());
            Adjacency::unweighted(none, &input.features.device())
        };
        Ok(match (self.chosen(), input.graph) {
            (0, _) => None,
            (1, Some(graph)) => Some(LearnedGraph::plain(graph.clone())),
            _ => Some(LearnedGraph::plain(empty())),
        })
    }
}
