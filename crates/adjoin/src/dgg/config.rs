//! Settings of the generator.

use super::{
    Agreement, Augment, DegreeConfig, DegreeRule, Dgg, EncoderConfig, ExtrasConfig, InformedConfig,
    MergeRule, MessageReading, SampleConfig, SampleForm, Score, ScorerConfig,
};
use crate::{
    Error, Result,
    kernels::{random::Key, selector::Step},
    nn::NEEDS_INPUTS,
    topology::CandidateRule,
};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

/// What is missing when the number of classes is.
const NEEDS_CLASSES: &str = "must be set by with_classes before init";

/// Settings of the differentiable top-k selector, `a_ij = e_ij h(r_ij)`.
///
/// `r_ij` is the rank of `e_ij` among the candidates of i, from 1, and
/// `h(r) = sigmoid(2 (k_i + shift - r) / lambda)`, a smooth step down at rank `k_i`. Entries whose h is
/// below 1e-7 are not stored, so a row keeps about `k_i + 8 lambda` of them. Gradients: `da/de = h`,
/// `da/dk = e h (1 - h) 2 / lambda`; ranks are constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelectorConfig {
    /// Width of the smooth step over ranks.
    pub lambda: f64,
    /// Added to k: 1/2 makes the soft degree equal k, 0 is the paper's literal form.
    pub shift: f64,
    /// A hard step forward with the smooth gradient backward (straight-through). Edges that are off stay in
    /// the graph with weight 0, because the gradient reaches them too; only evaluation on a device without
    /// autodiff leaves them out.
    pub hard: bool,
}

impl Default for SelectorConfig {
    fn default() -> Self {
        Self { lambda: 1.0, shift: 0.5, hard: false }
    }
}

impl SelectorConfig {
    pub(super) fn step(&self) -> Step {
        Step { lambda: self.lambda, shift: self.shift, hard: self.hard }
    }
}

/// How a node's edge to itself is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelfLoopRule {
    /// Outside the ranking: the learned graph has none, and convolutions that want them add them
    /// with weight 1, free of noise.
    #[default]
    Outside,
    /// Ranked like any other candidate.
    Ranked,
}

/// Where D of [`DggConfig::paper`] starts.
pub const PAPER_START: f64 = 10.0;

/// What is done with the learned weights before a network uses them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalise {
    /// The network adds self-loops and scales, as it does with any graph.
    #[default]
    Network,
    /// Every row is scaled to sum 1: only the ratios within a row count. With the node itself among its
    /// candidates the network uses the result as it is; otherwise it adds its self-loop, beside which all
    /// neighbours together weigh as much, and scales.
    Rows,
    /// Nothing: the learned graph is the normalised one (the paper).
    None,
}

/// Settings of the differentiable graph generator.
///
/// The default is the form that was measured to work on citation graphs: candidates are the input
/// edges, scores come from distances, degrees are learned around the input degrees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DggConfig {
    /// Width of the features, set by [`with_inputs`](Self::with_inputs); no part of a configuration file.
    #[serde(skip)]
    pub inputs: Option<usize>,
    /// Number of classes, set by [`with_classes`](Self::with_classes); evidence alone needs it.
    #[serde(skip)]
    pub classes: Option<usize>,
    /// Scores that start from evidence. The candidates are then those of the evidence, and the degree rule
    /// is [`DegreeRule::Evidence`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub informed: Option<InformedConfig>,
    /// Scores and degrees that also see what is known of pairs and nodes beside the features; needs
    /// [`Prepared::extras`](crate::graph::Prepared::extras).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extras: Option<ExtrasConfig>,
    /// Edges to add to the input graph before anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub augment: Option<Augment>,
    /// Which pairs may become edges.
    pub candidates: CandidateRule,
    /// The node encoder.
    pub encoder: EncoderConfig,
    /// The edge scorer.
    pub scorer: ScorerConfig,
    /// Noise and samples.
    pub sample: SampleConfig,
    /// The degree estimator.
    pub degree: DegreeConfig,
    /// The selector.
    pub selector: SelectorConfig,
    /// Self-loops.
    pub self_loops: SelfLoopRule,
    /// `(A + A^T) / 2` of the learned graph.
    pub symmetric: bool,
    /// Fraction of learned edges left out of a training step.
    pub edge_dropout: f64,
    /// Multiply scores by the input weights of the edges that have one, before they are ranked.
    pub keep_weights: bool,
    /// Multiply scores by how far the class probabilities of two nodes agree, to a learned power; needs
    /// [`Prepared::probabilities`](crate::graph::Prepared::probabilities).
    pub agreement: bool,
    /// What becomes of the input graph.
    pub merge: MergeRule,
    /// How the learned weights are scaled.
    pub normalise: Normalise,
    /// The network sees the latent features `x^` in place of the given ones.
    pub hand_on: bool,
}

impl DggConfig {
    /// The default settings, for features of width `inputs`.
    pub fn new(inputs: usize) -> Self {
        Self::default().with_inputs(inputs)
    }

    /// The same for features of another width.
    #[must_use]
    pub fn with_inputs(self, inputs: usize) -> Self {
        Self { inputs: Some(inputs), ..self }
    }

    /// The same for another number of classes.
    #[must_use]
    pub fn with_classes(self, classes: usize) -> Self {
        Self { classes: Some(classes), ..self }
    }

    /// The same for extras of other widths: of a node, and of a pair. They count only where extras are set.
    #[must_use]
    pub fn with_extras(mut self, widths: [usize; 2]) -> Self {
        if let Some(extras) = &mut self.extras {
            extras.widths = Some(widths);
        }
        self
    }

    /// The paper's equations: complete candidates with every node among its own, pair network with messages
    /// between edges, Gumbel-softmax samples, `k = D(z) + |e|_1` with z as wide as the latent space, unshifted
    /// selector, the learned graph as the normalised one, and latent features handed on to the network.
    ///
    /// D starts at 10 where the paper names no start: at 0 every k would be 1, and half of one
    /// neighbour all that is left.
    pub fn paper() -> Self {
        let encoder = EncoderConfig::default();
        Self {
            candidates: CandidateRule::Complete,
            scorer: ScorerConfig { kind: Score::Mlp, messages: true, ..ScorerConfig::default() },
            sample: SampleConfig {
                form: SampleForm::Softmax,
                noise: 1.0,
                ..SampleConfig::default()
            },
            degree: DegreeConfig {
                rule: DegreeRule::Sum,
                width: encoder.width,
                depth: 2,
                start: PAPER_START,
                ..DegreeConfig::default()
            },
            encoder,
            selector: SelectorConfig { shift: 0.0, ..SelectorConfig::default() },
            self_loops: SelfLoopRule::Ranked,
            normalise: Normalise::None,
            hand_on: true,
            ..Self::default()
        }
    }

    /// What the authors' released code computes: input edges and self-loops as candidates, a pair
    /// network that sees degrees, degrees in units of the input graph's, ranks from 0, no noise.
    pub fn reference() -> Self {
        Self {
            candidates: CandidateRule::InputEdges,
            encoder: EncoderConfig { dropout: 0.0, ..EncoderConfig::default() },
            scorer: ScorerConfig {
                kind: Score::Mlp,
                edge_features: true,
                ..ScorerConfig::default()
            },
            sample: SampleConfig { noise: 0.0, symmetric_noise: true, ..SampleConfig::default() },
            degree: DegreeConfig {
                rule: DegreeRule::Standardised,
                stochastic: false,
                ..DegreeConfig::default()
            },
            selector: SelectorConfig { shift: 1.0, ..SelectorConfig::default() },
            self_loops: SelfLoopRule::Ranked,
            ..Self::default()
        }
    }

    /// Ablation: the same k for every node.
    #[must_use]
    pub fn with_fixed_degree(mut self, k: f64) -> Self {
        self.degree.rule = DegreeRule::Fixed(k);
        self
    }

    /// Ablation: no noise on the edges.
    #[must_use]
    pub fn without_edge_noise(mut self) -> Self {
        self.sample.noise = 0.0;
        self
    }

    /// Ablation: no noise on the degrees.
    #[must_use]
    pub fn without_degree_noise(mut self) -> Self {
        self.degree.stochastic = false;
        self
    }

    /// Checks that the settings are in range and fit each other.
    ///
    /// # Errors
    /// Names the setting at fault.
    pub fn check(&self) -> Result<()> {
        let setting = |name, value: &dyn std::fmt::Display, expected, holds: bool| {
            let value = value.to_string();
            if holds { Ok(()) } else { Err(Error::Setting { name, value, expected }) }
        };
        self.candidates.validate()?;
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let fraction = |x: f64| (0.0..1.0).contains(&x);
        let mlp = self.scorer.kind == Score::Mlp;
        setting(
            "encoder.width",
            &self.encoder.width,
            "must be at least 1",
            self.encoder.width > 0,
        )?;
        setting(
            "encoder.dropout",
            &self.encoder.dropout,
            "must be in [0, 1)",
            fraction(self.encoder.dropout),
        )?;
        setting(
            "edge_dropout",
            &self.edge_dropout,
            "must be in [0, 1)",
            fraction(self.edge_dropout),
        )?;
        setting(
            "selector.lambda",
            &self.selector.lambda,
            "must be above 0",
            positive(self.selector.lambda),
        )?;
        setting(
            "selector.shift",
            &self.selector.shift,
            "must be finite",
            self.selector.shift.is_finite(),
        )?;
        setting("sample.tau", &self.sample.tau, "must be above 0", positive(self.sample.tau))?;
        setting(
            "sample.noise",
            &self.sample.noise,
            "must be at least 0",
            self.sample.noise == 0.0 || positive(self.sample.noise),
        )?;
        setting("degree.width", &self.degree.width, "must be at least 1", self.degree.width > 0)?;
        match self.degree.rule {
            DegreeRule::Fixed(k) => {
                setting("degree.rule", &k, "a fixed degree must be above 0", positive(k))?;
            }
            DegreeRule::Around(k) => {
                setting("degree.rule", &k, "must be around more than 1", positive(k - 1.0))?;
            }
            DegreeRule::OrNone(k) => {
                setting("degree.rule", &k, "must be around more than 0", positive(k))?;
            }
            _ => {}
        }
        setting(
            "scorer.messages",
            &true,
            "needs scorer.kind = \"mlp\"",
            mlp || !self.scorer.messages,
        )?;
        setting(
            "scorer.edge_features",
            &true,
            "needs scorer.kind = \"mlp\"",
            mlp || !self.scorer.edge_features,
        )?;
        setting(
            "scorer.depth",
            &self.scorer.depth,
            "more than one layer needs scorer.kind = \"mlp\"",
            mlp || self.scorer.depth == 1,
        )?;
        setting(
            "scorer.reading",
            &"sum",
            "needs scorer.depth = 1: through more layers the messages are no sum per node",
            self.scorer.reading == MessageReading::Mean || self.scorer.depth == 1,
        )?;
        for (name, value) in [
            ("scorer.initial_offset", self.scorer.initial_offset),
            ("degree.start", self.degree.start),
        ] {
            setting(name, &value, "must be finite", value.is_finite())?;
        }
        let evidence = self.degree.rule == DegreeRule::Evidence;
        setting(
            "degree.rule",
            &"evidence",
            "needs scores from evidence: set the table informed",
            self.informed.is_some() || !evidence,
        )?;
        setting(
            "informed",
            &true,
            "needs explicit candidates, not complete ones",
            self.informed.is_none() || !self.candidates.is_complete(),
        )?;
        setting(
            "extras",
            &true,
            "has no part in scores from evidence: leave the table informed out",
            self.informed.is_none() || self.extras.is_none(),
        )?;
        match self.candidates.is_complete() {
            true => self.check_complete(),
            false => Ok(()),
        }
    }

    /// Whether every row of the learned graph is scaled to sum 1 as soon as its edges are selected.
    pub(super) fn scales_rows(&self) -> bool {
        let joined = self.symmetric || self.merge != MergeRule::Replace;
        self.normalise == Normalise::Rows && !joined
    }

    /// Checks that nothing is set which complete candidates cannot have.
    pub(super) fn check_complete(&self) -> Result<()> {
        let settings = [
            ("scorer.edge_features", self.scorer.edge_features),
            ("keep_weights", self.keep_weights),
            ("agreement", self.agreement),
            ("extras", self.extras.is_some()),
        ];
        let expected = "needs explicit candidates, not complete ones";
        match settings.into_iter().find(|(_, set)| *set) {
            None => Ok(()),
            Some((name, _)) => Err(Error::Setting { name, value: "true".into(), expected }),
        }
    }

    /// The generator, with weights drawn from `key`.
    ///
    /// # Errors
    /// As [`check`](Self::check), or if the width of the features was never set.
    pub fn init(&self, key: Key, device: &Device) -> Result<Dgg> {
        self.check()?;
        let width = self.encoder.width;
        let extra = self.extras.as_ref().map_or(Ok(0), ExtrasConfig::nodes)?;
        let encoder = EncoderConfig { inputs: self.inputs, ..self.encoder.clone() };
        Ok(Dgg {
            encoder: encoder.init(key.child(1), device)?,
            scorer: self.scorer.clone().with_inputs(width).init(key.child(2), device)?,
            degree: self.degree.clone().with_inputs(width + extra).init(key.child(3), device)?,
            extras: self
                .extras
                .as_ref()
                .map(|extras| extras.init(key.child(6), device))
                .transpose()?,
            agreement: Agreement::init(self.agreement, device),
            merge: self.merge.init(key.child(4), device)?,
            informed: match &self.informed {
                None => None,
                Some(informed) => {
                    let inputs = Error::width(self.inputs, "inputs", NEEDS_INPUTS)?;
                    let classes = Error::width(self.classes, "classes", NEEDS_CLASSES)?;
                    Some(informed.init(inputs, classes, key.child(5), device)?)
                }
            },
            config: self.clone(),
        })
    }
}
