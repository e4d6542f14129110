//! NodeFormer.

mod layer;
mod patterns;

pub use layer::{AttentionNoise, NodeFormerLayer, RowNorm};

use super::{Shape, table::Settings};
use crate::{
    Error, Result,
    graph::{Adjacency, Features, GraphInput, Prepared},
    kernels::random::Key,
    nn::{
        Draw, GraphLearner, LearnedGraph, Linear, LinearConfig, NEEDS_INPUTS, Network, Outcome,
        Reading,
    },
    ops,
    pass::Pass,
    topology::Csr,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use layer::Attended;
use serde::{Deserialize, Serialize};

/// Where the directions of random features come from in evaluation: the same ones every time.
const EVALUATION: Key = Key::new(0x0f0e);

/// Settings of [`NodeFormer`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NodeFormerConfig {
    /// Width of the features, set by [`with_widths`](Self::with_widths); no part of a configuration file.
    #[serde(skip)]
    pub inputs: Option<usize>,
    /// Number of classes, set by [`with_widths`](Self::with_widths).
    #[serde(skip)]
    pub classes: usize,
    /// Width of the hidden features, and of a head.
    pub width: usize,
    /// Number of layers.
    pub layers: usize,
    /// Heads of a layer.
    pub heads: usize,
    /// Random features of a query or key.
    pub features: usize,
    /// Draws of Gumbel noise in a step.
    pub draws: usize,
    /// Temperature of the attention, and of the noise.
    pub temperature: f64,
    /// Patterns of neighbours: those at 1, 2, 4, .. steps.
    pub orders: usize,
    /// Where the weights of the patterns start, before their sigmoid.
    pub relation: f64,
    /// Most entries of a pattern.
    pub most_entries: usize,
    /// Dropout after every layer.
    pub dropout: f64,
    /// Weight of the term that asks for attention along given edges.
    pub edge_weight: f64,
}

impl Default for NodeFormerConfig {
    fn default() -> Self {
        Self {
            inputs: None,
            classes: 0,
            width: 32,
            layers: 2,
            heads: 4,
            features: 30,
            draws: 10,
            temperature: 0.25,
            orders: 3,
            relation: 0.1,
            most_entries: 50_000_000,
            dropout: 0.0,
            edge_weight: 1.0,
        }
    }
}

impl NodeFormerConfig {
    /// The same from features of a width to a number of classes.
    #[must_use]
    pub fn with_widths(self, inputs: usize, classes: usize) -> Self {
        Self { inputs: Some(inputs), classes, ..self }
    }

    fn check(&self) -> Result<()> {
        for (name, count) in [
            ("width", self.width),
            ("layers", self.layers),
            ("heads", self.heads),
            ("features", self.features),
            ("draws", self.draws),
        ] {
            Error::positive(count, name, "must be at least 1")?;
        }
        let warm = self.temperature > 0.0 && self.temperature.is_finite();
        Error::holds(warm, "temperature", self.temperature, "must be above 0")?;
        let finite = self.relation.is_finite();
        Error::holds(finite, "relation", self.relation, "must be a number")?;
        let share = (0.0..1.0).contains(&self.dropout);
        Error::holds(share, "dropout", self.dropout, "must be in [0, 1)")?;
        Error::weights(&[("edge_weight", self.edge_weight)])
    }

    /// The learner, with weights drawn from `key`.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, key: Key, device: &Device) -> Result<NodeFormer> {
        let inputs = Error::width(self.inputs, "inputs", NEEDS_INPUTS)?;
        self.check()?;
        let linear = |inputs, outputs, child| {
            LinearConfig::new(inputs, outputs).init(key.child(child), device)
        };
        let layer = |at: usize| NodeFormerLayer::new(self, key.child(2).child(at as u64), device);
        Ok(NodeFormer {
            first: linear(inputs, self.width, 0)?,
            norm: RowNorm::new(self.width, device),
            layers: (0..self.layers).map(layer).collect::<Result<_>>()?,
            last: linear(self.width, self.classes, 1)?,
            config: self.clone(),
        })
    }
}

impl Settings for NodeFormerConfig {
    type Learner = NodeFormer;

    fn init_for(
        &self,
        _data: &GraphInput,
        shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<NodeFormer> {
        self.clone().with_widths(shape.features, shape.classes).init(key, device)
    }

    fn replaces_network(&self) -> bool {
        true
    }
}

/// NodeFormer (Wu et al., 2022): every node attends to all others, in time linear in their number, with layers of its
/// own in place of the network.
///
/// `z = dropout(elu(norm(X W + b)))`, then in every layer `z <- dropout(norm(u(z) + z))` with u of
/// [`NodeFormerLayer`], then a linear map to the classes; norm scales rows ([`RowNorm`]).
///
/// Attention is `pi_ij = <p_i, r_j> / sum_k <p_i, r_k>` with positive random features p of the query and r of the key:
/// an estimate of `softmax_j(<q_i, k_j> / (t sqrt(D)))`. In training K draws of Gumbel noise multiply the share of
/// every sender by `e^(g / t)`, and outputs are averaged. Directions of the features are drawn anew in every pass of
/// training; evaluation has fixed ones and no noise.
///
/// Patterns: the given edges with self-loops, then again and again the pattern of its square, so that neighbours at
/// 1, 2, 4 steps count; each scaled by the roots of its degrees.
///
/// Term `edges`: `-weight` times the mean over layers, heads and given edges (self-loops too) of `log(pi_ij) / d_i`, `d`
/// the number of edges of the receiver. The graph shown is that of the given edges with the mean of `pi` over the heads
/// of the last layer.
///
/// # Shapes
/// Memory `O(nodes (heads features + width))` and the entries of the patterns. One graph at a time.
///
/// # Gradients
/// Flow to all layers and to dense features.
#[derive(Module, Debug)]
pub struct NodeFormer {
    /// The map in.
    pub first: Linear,
    /// After it.
    pub norm: RowNorm,
    /// The layers.
    pub layers: Vec<NodeFormerLayer>,
    /// The map out.
    pub last: Linear,
    #[module(skip)]
    config: NodeFormerConfig,
}

/// What one pass gives.
struct Run {
    logits: Tensor<2>,
    graph: Adjacency,
    term: Tensor<1>,
}

impl NodeFormer {
    /// The settings this learner was made with.
    pub fn config(&self) -> &NodeFormerConfig {
        &self.config
    }

    /// The patterns of neighbours, each scaled.
    fn patterns(&self, input: &GraphInput) -> Result<Vec<Adjacency>> {
        input.check()?;
        let given = input.graph.ok_or(Error::NoInputGraph("NodeFormer"))?;
        if input.batch.graphs() != 1 {
            let found = input.batch.graphs();
            return Err(Error::shape("NodeFormer: attends within one graph", 1, found));
        }
        if let Some(patterns) = input.prepared.and_then(|prepared| prepared.patterns.clone()) {
            return Ok(patterns);
        }
        let (orders, most) = (self.config.orders.max(1), self.config.most_entries);
        patterns::scaled(given, orders, most)
    }

    /// Outputs for some random numbers, and `log pi` of every layer and head at the edges of the first pattern.
    ///
    /// # Errors
    /// If the shapes do not fit.
    pub fn forward(
        &self,
        x: &Features,
        patterns: &[Adjacency],
        noise: &[AttentionNoise],
        pass: Pass,
    ) -> Result<(Tensor<2>, Vec<Vec<Tensor<1>>>)> {
        let expected = [self.config.orders.max(1), self.layers.len()];
        Error::expect_shape(
            "NodeFormer: patterns, layers",
            expected,
            [patterns.len(), noise.len()],
        )?;
        let edges = patterns[0].topology();
        let used = &patterns[..self.config.orders];
        let drop = |x: &Tensor<2>, child| ops::dropout(x, self.config.dropout, pass.child(child));
        let z = ops::elu(&self.norm.forward(self.first.forward(x)?))?;
        let mut z = drop(&z, 0)?;
        let mut log_attention = Vec::with_capacity(self.layers.len());
        for (at, (layer, noise)) in self.layers.iter().zip(noise).enumerate() {
            let Attended { output, log_attention: own } =
                layer.attend(&self.config, &z, used, edges, noise)?;
            z = drop(&layer.norm.forward(output + z), at as u64 + 1)?;
            log_attention.push(own);
        }
        Ok((self.last.forward_dense(z), log_attention))
    }

    /// `-1 / (layers heads edges) sum log(pi_ij) / d_i`.
    ///
    /// # Errors
    /// If the attention is not that of these edges.
    pub fn edge_term(edges: &Csr, log_attention: &[Vec<Tensor<1>>]) -> Result<Tensor<1>> {
        let parts: Vec<&Tensor<1>> = log_attention.iter().flatten().collect();
        let sum = parts[1..].iter().fold(parts[0].clone(), |sum, &part| sum + part.clone());
        // The mean of a row is its sum over d_i.
        let rows = ops::segment_mean(edges, &sum)?;
        Ok(rows.sum() * (-1.0 / (parts.len() * edges.edges().max(1)) as f64))
    }

    fn run(&self, input: &GraphInput, patterns: &[Adjacency], pass: Pass) -> Result<Run> {
        let like = self.first.weight.val();
        let noise = |at: usize| {
            let key = if pass.has_noise() { pass.child(1).key() } else { EVALUATION };
            let nodes = input.batch.nodes();
            let key = key.child(at as u64);
            AttentionNoise::new(&self.config, nodes, key, pass.has_noise(), &like)
        };
        let noise: Vec<AttentionNoise> =
            (0..self.layers.len()).map(noise).collect::<Result<_>>()?;
        let (logits, log_attention) =
            self.forward(input.features, patterns, &noise, pass.child(2))?;
        let edges = patterns[0].topology();
        let heads = log_attention.last().map_or(&[][..], Vec::as_slice);
        let mean = heads.iter().map(|head| head.clone().exp()).reduce(|a, b| a + b);
        let mean = mean.unwrap_or_else(|| patterns[0].weights().clone());
        let graph = Adjacency::new(edges.clone(), mean / heads.len().max(1) as f64)?;
        Ok(Run { logits, graph, term: Self::edge_term(edges, &log_attention)? })
    }
}

impl GraphLearner for NodeFormer {
    /// The given edges and self-loops with the attention of the last layer.
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph> {
        Ok(LearnedGraph::plain(self.run(input, &self.patterns(input)?, pass)?.graph))
    }

    fn prepare(&self, input: &GraphInput) -> Result<Prepared> {
        Ok(Prepared { patterns: Some(self.patterns(input)?), ..Prepared::default() })
    }

    /// Its own layers; the network is left out. Draws differ in noise, directions and dropout.
    fn drive(
        &self,
        input: &GraphInput,
        _network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        let patterns = self.patterns(input)?;
        let share = 1.0 / draws.max(1) as f64;
        let run = |draw: usize| self.run(input, &patterns, pass.child(draw as u64));
        let runs: Vec<Run> = (0..draws.max(1)).map(run).collect::<Result<_>>()?;
        let term = runs.iter().map(|run| run.term.clone()).reduce(|a, b| a + b);
        let weight = self.config.edge_weight;
        let wanted = pass.has_noise() && weight > 0.0;
        let term = term.filter(|_| wanted).map(|sum| ("edges", sum * (weight * share)));
        let draw = |Run { logits, graph, .. }: Run| Draw {
            graph: LearnedGraph::plain(graph),
            logits,
            share,
            log_weight: None,
        };
        let draws = runs.into_iter().map(draw).collect();
        Ok(Outcome { draws, reading: Reading::MeanOfLosses, terms: term.into_iter().collect() })
    }
}
