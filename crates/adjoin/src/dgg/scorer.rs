//! Edge scores.

use super::MessageReading;
use crate::{
    Error, Result,
    graph::Features,
    kernels::{pairs::Similarity, random::Key},
    nn::{Linear, LinearConfig, NEEDS_INPUTS, SLOPE, Start},
    ops::{self, PairNetwork},
    topology::Csr,
};
use burn::{
    module::{Module, Param},
    tensor::{
        Device, Tensor,
        activation::{log_sigmoid, softplus},
    },
};
use serde::{Deserialize, Serialize};

/// Cosine scores are kept above this, so that their logarithm stays finite.
pub(super) const SMALLEST_COSINE: f64 = 1e-6;

/// What the relevance of one node to another is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// `p = exp(-t |x^_i - x^_j|)`, t > 0 learned.
    #[default]
    Distance,
    /// `p = sigmoid(<x^_i, x^_j> / sqrt d)`.
    Dot,
    /// `p = (1 + cos(x^_i, x^_j)) / 2`.
    Cosine,
    /// `p = sigmoid(<w, c_ij> + w_0)`, `c_ij = leaky(U x^_i + V x^_j + b)`.
    Mlp,
}

/// Settings of the edge scorer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScorerConfig {
    /// Width of the latent features, set by [`with_inputs`](Self::with_inputs); no part of a
    /// configuration file.
    #[serde(skip)]
    pub inputs: Option<usize>,
    /// The kind of score.
    pub kind: Score,
    /// Refine the pair embeddings by message passing between edges that share a node
    /// (pair network only).
    pub messages: bool,
    /// Let the pair network see the input weight of the edge and the input degrees of both nodes.
    pub edge_features: bool,
    /// Where the scale of the distance starts, before the softplus.
    pub initial_scale: f64,
    /// How the equation of the messages is read.
    pub reading: MessageReading,
    /// Layers of each of the three networks on pairs: l (pair embeddings), h (messages) and m (score).
    pub depth: usize,
    /// Where `w_0` starts: below 0, few candidates are relevant at first.
    pub initial_offset: f64,
}

impl Default for ScorerConfig {
    fn default() -> Self {
        let kind = Score::Distance;
        Self {
            inputs: None,
            kind,
            messages: false,
            edge_features: false,
            initial_scale: -2.0,
            reading: MessageReading::Mean,
            depth: 1,
            initial_offset: 0.0,
        }
    }
}

impl ScorerConfig {
    /// The same for latent features of the given width.
    #[must_use]
    pub fn with_inputs(self, inputs: usize) -> Self {
        Self { inputs: Some(inputs), ..self }
    }

    /// The scorer, with weights drawn from `key`.
    ///
    /// # Errors
    /// If the width of the latent features was never set.
    pub fn init(&self, key: Key, device: &Device) -> Result<Scorer> {
        let width = Error::width(self.inputs, "inputs", NEEDS_INPUTS)?;
        let mlp = self.kind == Score::Mlp;
        let nodes = if self.edge_features { width + 1 } else { width };
        let linear = |inputs, outputs, bias, child| {
            let config = LinearConfig::new(inputs, outputs).with_bias(bias);
            config.init(key.child(child), device)
        };
        let vector = |child| {
            let start = Start::Glorot;
            Param::from_tensor(start.tensor([width], [width, 1], key.child(child), device))
        };
        Error::positive(self.depth, "scorer.depth", "must be at least 1")?;
        let square = |count: usize, child| {
            let layer =
                |at| LinearConfig::new(width, width).init(key.child(child).child(at), device);
            let count = if mlp { count as u64 } else { 0 };
            (0..count).map(layer).collect::<Result<Vec<_>>>()
        };
        // h has layers of its own only where there are messages.
        let after = (self.depth - 1) * if self.messages { 2 } else { 1 };
        let scale = Start::Constant(self.initial_scale);
        let offset = Start::Constant(self.initial_offset);
        Ok(Scorer {
            scale: (self.kind == Score::Distance)
                .then(|| Param::from_tensor(scale.tensor([1], [1, 1], key, device))),
            receiver: mlp.then(|| linear(nodes, width, Some(0.0), 1)).transpose()?,
            sender: mlp.then(|| linear(nodes, width, None, 2)).transpose()?,
            scalar: (mlp && self.edge_features).then(|| vector(3)),
            refine: (mlp && self.messages)
                .then(|| linear(2 * width, width, Some(0.0), 4))
                .transpose()?,
            output: mlp.then(|| vector(5)),
            offset: mlp.then(|| Param::from_tensor(offset.tensor([1], [1, 1], key, device))),
            embed: square(self.depth - 1, 6)?,
            deepen: square(after, 7)?,
            kind: self.kind,
            reading: self.reading,
        })
    }
}

/// Columns beside columns. Without rows the result is a constant: Burn's backward pass of a join
/// cuts slices out of an empty buffer, and panics.
pub(super) fn beside(left: Tensor<2>, right: Tensor<2>) -> Tensor<2> {
    let [rows, width] = left.dims();
    if rows == 0 {
        let options = (&left.device(), left.dtype());
        return Tensor::zeros([0, width + right.dims()[1]], options);
    }
    Tensor::cat(vec![left, right], 1)
}

/// What the pair network may see of the input graph.
#[derive(Clone, Debug)]
pub struct EdgeFeatures {
    /// Input weight of every candidate pair, 0 where the input graph has no such edge; `[pairs]`.
    pub weights: Tensor<1>,
    /// Standardised input degree of every node, `[nodes, 1]`.
    pub degrees: Tensor<2>,
}

/// Scores candidate pairs: `p_ij` in (0, 1] says how relevant j is to i.
///
/// The forms are those of [`Score`]. With message passing between edges the pair embeddings of the network
/// are refined before they are scored (the paper's Eq. 5),
/// `c'_ij = leaky([c_ij, c_ij - m_ij] W + b)`, with `m_ij` the mean of the embeddings of all candidate
/// pairs that share a node with (i, j), self-loops left out; [`MessageReading`] has the other reading. With
/// `depth` above 1 each of the three networks has as many layers, all with a LeakyReLU. With edge features the pair network also sees
/// the input weight of the pair and the standardised input degrees of both nodes.
///
/// # Shapes
/// Latent features `[nodes, inputs]`; scores `log p`, `[pairs]`.
///
/// # Gradients
/// Flow to the latent features and to all weights of the scorer.
#[derive(Module, Debug)]
pub struct Scorer {
    /// The scale of the distance, before the softplus.
    pub scale: Option<Param<Tensor<1>>>,
    /// `U` and `b` of the pair network.
    pub receiver: Option<Linear>,
    /// `V` of the pair network.
    pub sender: Option<Linear>,
    /// How the input weight of a pair enters the pair network, `[width]`.
    pub scalar: Option<Param<Tensor<1>>>,
    /// The layer after message passing between edges, `[2 width, width]`.
    pub refine: Option<Linear>,
    /// `w`, `[width]`.
    pub output: Option<Param<Tensor<1>>>,
    /// `w_0`, `[1]`.
    pub offset: Option<Param<Tensor<1>>>,
    /// Layers of l after the first, `[width, width]`.
    pub embed: Vec<Linear>,
    /// Layers of h and m between the first of h and the last of m, `[width, width]`.
    pub deepen: Vec<Linear>,
    #[module(skip)]
    kind: Score,
    #[module(skip)]
    pub(super) reading: MessageReading,
}

/// The scorer's inputs reduced to node level: what both the sparse and the streaming form need.
#[allow(clippy::large_enum_variant)] // short-lived, one per pass
pub(super) enum NodeLevel {
    /// Scale t > 0 `[1]`.
    Distance(Tensor<1>),
    Dot,
    Cosine,
    /// Both shares, output weights `[d]`, offset `[1]`.
    Mlp(PairNetwork, Tensor<1>, Tensor<1>),
}

impl Scorer {
    /// `log p_ij` at every candidate pair, `[pairs]`; gradients flow to `latent` and all weights.
    ///
    /// # Errors
    /// If the pairs name nodes that `latent` does not have.
    pub fn log_scores(
        &self,
        latent: &Tensor<2>,
        pairs: &Csr,
        extra: Option<&EdgeFeatures>,
    ) -> Result<Tensor<1>> {
        let measure = |similarity| ops::pair_similarity(pairs, similarity, latent);
        Ok(match self.node_level(latent, extra)? {
            NodeLevel::Distance(t) => measure(Similarity::Distance)?.neg() * t,
            NodeLevel::Dot => {
                // A product: Burn rounds the gradient of a quotient by a number to f32.
                let scale = 1.0 / (latent.dims()[1] as f64).sqrt();
                log_sigmoid(measure(Similarity::Dot)? * scale)
            }
            NodeLevel::Cosine => {
                let halved = (measure(Similarity::Cosine)? + 1.0) * 0.5;
                halved.clamp_min(SMALLEST_COSINE).log()
            }
            NodeLevel::Mlp(network, w, offset) if self.is_deep() && pairs.edges() > 0 => {
                self.deep_scores(pairs, &network, &w, &offset)?
            }
            NodeLevel::Mlp(network, w, offset) => {
                log_sigmoid(ops::pair_logits(pairs, &network, &w)? + offset)
            }
        })
    }

    /// Node-level products of the scorer.
    pub(super) fn node_level(
        &self,
        latent: &Tensor<2>,
        extra: Option<&EdgeFeatures>,
    ) -> Result<NodeLevel> {
        if let Some(scale) = &self.scale {
            return Ok(NodeLevel::Distance(softplus(scale.val(), 1.0)));
        }
        let (Some(receiver), Some(sender), Some(output), Some(offset)) =
            (&self.receiver, &self.sender, &self.output, &self.offset)
        else {
            return Ok(if self.kind == Score::Dot { NodeLevel::Dot } else { NodeLevel::Cosine });
        };
        let nodes = match (extra, &self.scalar) {
            (Some(extra), Some(_)) => beside(latent.clone(), extra.degrees.clone()),
            _ => latent.clone(),
        };
        let nodes = Features::from(nodes);
        let scalar = match (extra, &self.scalar) {
            (Some(extra), Some(v)) => Some((extra.weights.clone(), v.val())),
            _ => None,
        };
        let network = PairNetwork {
            receiver: receiver.forward(&nodes)?,
            sender: sender.forward(&nodes)?,
            scalar,
            slope: SLOPE,
        };
        Ok(NodeLevel::Mlp(network, output.val(), offset.val()))
    }

    /// Whether pair embeddings are refined by their neighbours.
    pub fn has_messages(&self) -> bool {
        self.refine.is_some()
    }

    /// Whether the input graph's weights and degrees are wanted.
    pub fn has_edge_features(&self) -> bool {
        self.scalar.is_some()
    }
}
