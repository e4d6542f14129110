//! The four networks that learners are compared on.

use super::{Conv, Gat, GatConfig, Gcn, GcnConfig, GcnII, GcnIIConfig, Sage, SageConfig};
use crate::{
    Error, Result,
    graph::{Adjacency, Features},
    kernels::random::Key,
    nn::{Linear, LinearConfig},
    ops,
    pass::Pass,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor, activation},
};
use serde::{Deserialize, Serialize};

/// Which network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackboneKind {
    /// GCN layers with ReLU.
    #[default]
    Gcn,
    /// GraphSAGE layers with ReLU.
    Sage,
    /// Attention layers with ELU.
    Gat,
    /// Deep GCNII.
    Gcnii,
}

/// Settings of a [`Backbone`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackboneConfig {
    /// The kind of network.
    pub kind: BackboneKind,
    /// Width of the hidden layers (of one head for GAT).
    pub hidden: usize,
    /// Number of convolutions.
    pub layers: usize,
    /// Dropout before every layer.
    pub dropout: f64,
    /// Heads of the hidden GAT layers.
    pub heads: usize,
    /// Heads of the last GAT layer, averaged.
    pub output_heads: usize,
    /// Dropout of the attention (GAT).
    pub attention_dropout: f64,
    /// Share of the initial features (GCNII).
    pub alpha: f64,
    /// Decay of the weight matrices with depth (GCNII).
    pub lambda: f64,
    /// Two matrices per layer (GCNII).
    pub variant: bool,
}

impl Default for BackboneConfig {
    fn default() -> Self {
        Self::of_kind(BackboneKind::Gcn)
    }
}

/// A network with more would not fit the memory of most machines, and is a mistake.
const MOST_WEIGHTS: usize = 1 << 30;

impl BackboneConfig {
    /// The settings each network was published with on Cora.
    pub fn of_kind(kind: BackboneKind) -> Self {
        let base = Self {
            kind,
            hidden: 16,
            layers: 2,
            dropout: 0.5,
            heads: 1,
            output_heads: 1,
            attention_dropout: 0.0,
            alpha: 0.1,
            lambda: 0.5,
            variant: false,
        };
        match kind {
            BackboneKind::Gcn | BackboneKind::Sage => base,
            BackboneKind::Gat => {
                Self { hidden: 8, heads: 8, dropout: 0.6, attention_dropout: 0.6, ..base }
            }
            BackboneKind::Gcnii => Self { hidden: 64, layers: 64, dropout: 0.6, ..base },
        }
    }

    /// The network from `inputs` features to `outputs` numbers per node.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn init(
        &self,
        inputs: usize,
        outputs: usize,
        key: Key,
        device: &Device,
    ) -> Result<Backbone> {
        let positive = |name, value: usize| match value {
            0 => Err(Error::Setting { name, value: "0".into(), expected: "must be at least 1" }),
            _ => Ok(()),
        };
        positive("hidden", self.hidden)?;
        positive("layers", self.layers)?;
        positive("heads", self.heads)?;
        positive("output_heads", self.output_heads)?;
        for (name, value) in
            [("dropout", self.dropout), ("attention_dropout", self.attention_dropout)]
        {
            if !(0.0..1.0).contains(&value) {
                let value = value.to_string();
                return Err(Error::Setting { name, value, expected: "must be in [0, 1)" });
            }
        }
        // Widths of the inputs of all layers, and of the output of the last.
        let heads = if self.kind == BackboneKind::Gat { self.heads } else { 1 };
        let between = self.hidden.saturating_mul(heads);
        let weights = inputs.saturating_add(between.saturating_mul(self.layers - 1));
        if weights.saturating_mul(between) > MOST_WEIGHTS || self.layers > MOST_WEIGHTS {
            let value = format!("{} with {} layers on {inputs} features", self.hidden, self.layers);
            let expected = "a network of more than 2^30 weights is not made";
            return Err(Error::Setting { name: "hidden", value, expected });
        }
        let mut widths = vec![between; self.layers + 1];
        widths[0] = inputs;
        widths[self.layers] = outputs;
        let layers =
            (0..self.layers).map(|at| (at, widths[at], widths[at + 1], key.child(at as u64)));
        Ok(match self.kind {
            BackboneKind::Gcn => Backbone::Gcn(Stack {
                layers: layers
                    .map(|(_, i, o, key)| GcnConfig::new(i, o).init(key, device))
                    .collect(),
                dropout: self.dropout,
            }),
            BackboneKind::Sage => Backbone::Sage(Stack {
                layers: layers
                    .map(|(_, i, o, key)| SageConfig::new(i, o).init(key, device))
                    .collect(),
                dropout: self.dropout,
            }),
            BackboneKind::Gat => {
                let layer = |(at, inputs, outputs, key)| {
                    let last = at + 1 == self.layers;
                    let config = match last {
                        true => GatConfig::new(inputs, outputs, self.output_heads),
                        false => GatConfig::new(inputs, self.hidden, self.heads),
                    };
                    let dropout = self.attention_dropout;
                    GatConfig { average: last, dropout, ..config }.init(key, device)
                };
                let layers = layers.map(layer).collect();
                Backbone::Gat(Stack { layers, dropout: self.dropout })
            }
            BackboneKind::Gcnii => Backbone::Gcnii(GcnIINetwork {
                first: LinearConfig::new(inputs, self.hidden).init(key.child(0), device),
                layers: (1..=self.layers)
                    .map(|layer| {
                        let config = GcnIIConfig::of_depth(self.hidden, self.lambda, layer);
                        let (alpha, variant) = (self.alpha, self.variant);
                        GcnIIConfig { alpha, variant, ..config }
                            .init(key.child(layer as u64), device)
                    })
                    .collect(),
                last: LinearConfig::new(self.hidden, outputs)
                    .init(key.child(self.layers as u64 + 1), device),
                dropout: self.dropout,
            }),
        })
    }
}

/// Layers of one kind, with dropout before each and an activation between them.
#[derive(Module, Debug)]
pub struct Stack<C: Module> {
    /// The convolutions.
    pub layers: Vec<C>,
    dropout: f64,
}

impl<C: Conv + Module> Stack<C> {
    /// `activation` is followed by dropout.
    fn forward(
        &self,
        x: &Features,
        graph: &Adjacency,
        activation: impl Fn(&Tensor<2>, f64, Pass) -> Result<Tensor<2>>,
        pass: Pass,
    ) -> Result<Tensor<2>> {
        let mut output = None;
        for (at, layer) in self.layers.iter().enumerate() {
            let pass = pass.child(at as u64);
            let dropped = match &output {
                None => x.dropout(self.dropout, pass.child(0))?,
                Some(hidden) => activation(hidden, self.dropout, pass.child(0))?.into(),
            };
            output = Some(layer.forward(&dropped, graph, pass.child(1))?);
        }
        output.ok_or(Error::Setting {
            name: "layers",
            value: "0".into(),
            expected: "must be at least 1",
        })
    }
}

/// GCNII: a linear map in, many layers, a linear map out.
#[derive(Module, Debug)]
pub struct GcnIINetwork {
    /// The map in.
    pub first: Linear,
    /// The convolutions.
    pub layers: Vec<GcnII>,
    /// The map out.
    pub last: Linear,
    dropout: f64,
}

impl GcnIINetwork {
    fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> Result<Tensor<2>> {
        let dropped = x.dropout(self.dropout, pass.child(0))?;
        let initial = activation::relu(self.first.forward(&dropped)?);
        let mut dropped = ops::dropout(&initial, self.dropout, pass.child(1))?;
        for (at, layer) in self.layers.iter().enumerate() {
            let h = layer.forward_from(&dropped, &initial, graph)?;
            dropped = ops::relu_dropout(&h, self.dropout, pass.child(at as u64 + 2))?;
        }
        Ok(self.last.forward_dense(dropped))
    }
}

/// A network of graph convolutions.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant)] // one per model: boxing would buy nothing
pub enum Backbone {
    /// GCN.
    Gcn(Stack<Gcn>),
    /// GraphSAGE.
    Sage(Stack<Sage>),
    /// GAT.
    Gat(Stack<Gat>),
    /// GCNII.
    Gcnii(GcnIINetwork),
}

impl Conv for Backbone {
    fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> Result<Tensor<2>> {
        match self {
            Self::Gcn(stack) => stack.forward(x, graph, ops::relu_dropout, pass),
            Self::Sage(stack) => stack.forward(x, graph, ops::relu_dropout, pass),
            Self::Gat(stack) => {
                let elu = |h: &Tensor<2>, p, pass| ops::dropout(&ops::elu(h)?, p, pass);
                stack.forward(x, graph, elu, pass)
            }
            Self::Gcnii(network) => network.forward(x, graph, pass),
        }
    }
}
