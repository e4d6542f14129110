//! The networks that learners are compared on, and the table that names them.

use super::{
    Conv, Gat, GatConfig, Gcn, GcnConfig, GcnIIConfig, Mlp, Sage, SageConfig,
    stack::{GcnIINetwork, Stack},
};
use crate::{
    Error, Result,
    graph::{Adjacency, Features},
    kernels::random::Key,
    nn::{Activation, Aggregate, LinearConfig, MOST_WEIGHTS, Network, State},
    pass::Pass,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
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
    /// Linear layers with ReLU, without edges.
    Mlp,
}

/// A network by its name.
#[derive(Clone, Copy, Debug)]
pub struct BackboneEntry {
    /// What it is called in configuration files and on the command line.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// The settings it was published with on Cora, without widths.
    pub config: fn() -> BackboneConfig,
}

/// All networks; a new one is a line here, a [`BackboneKind`] and a [`Backbone`].
pub const BACKBONES: &[BackboneEntry] = &[
    BackboneEntry {
        name: "gcn",
        about: "graph convolutions (Kipf and Welling, 2017)",
        config: || BackboneConfig::of_kind(BackboneKind::Gcn),
    },
    BackboneEntry {
        name: "sage",
        about: "GraphSAGE with the mean of the neighbours (Hamilton et al., 2017)",
        config: || BackboneConfig::of_kind(BackboneKind::Sage),
    },
    BackboneEntry {
        name: "gat",
        about: "graph attention (Velickovic et al., 2018)",
        config: || BackboneConfig::of_kind(BackboneKind::Gat),
    },
    BackboneEntry {
        name: "gcnii",
        about: "deep convolutions that hold on to their first features (Chen et al., 2020)",
        config: || BackboneConfig::of_kind(BackboneKind::Gcnii),
    },
    BackboneEntry {
        name: "mlp",
        about: "a multilayer perceptron, which sees no edges",
        config: || BackboneConfig::of_kind(BackboneKind::Mlp),
    },
];

/// Settings of a [`Backbone`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackboneConfig {
    /// Width of the features, set by [`with_widths`](Self::with_widths); no part of a configuration
    /// file.
    #[serde(skip)]
    pub inputs: Option<usize>,
    /// Numbers per node that come out, set by [`with_widths`](Self::with_widths).
    #[serde(skip)]
    pub outputs: Option<usize>,
    /// The kind of network.
    pub kind: BackboneKind,
    /// Width of the hidden layers (of one head for GAT).
    pub hidden: usize,
    /// Number of layers.
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

impl BackboneConfig {
    /// The name of the network.
    pub fn name(&self) -> &'static str {
        let entry = BACKBONES.iter().find(|entry| (entry.config)().kind == self.kind);
        entry.map_or("unknown", |entry| entry.name)
    }

    /// Whether any of its layers takes a graph.
    pub fn takes_graph(&self) -> bool {
        self.kind != BackboneKind::Mlp
    }

    /// The settings each network was published with on Cora.
    pub fn of_kind(kind: BackboneKind) -> Self {
        let base = Self {
            inputs: None,
            outputs: None,
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
            BackboneKind::Gcn | BackboneKind::Sage | BackboneKind::Mlp => base,
            BackboneKind::Gat => {
                Self { hidden: 8, heads: 8, dropout: 0.6, attention_dropout: 0.6, ..base }
            }
            BackboneKind::Gcnii => Self { hidden: 64, layers: 64, dropout: 0.6, ..base },
        }
    }

    /// The settings of a network of [`BACKBONES`].
    ///
    /// # Errors
    /// If there is none of that name; says which is nearest.
    pub fn named(name: &str) -> Result<Self> {
        let entry = BACKBONES.iter().find(|entry| entry.name == name);
        let names = || BACKBONES.iter().map(|entry| entry.name);
        entry.map(|entry| (entry.config)()).ok_or_else(|| Error::unknown("backbone", name, names()))
    }

    /// The same from `inputs` features to `outputs` numbers per node.
    #[must_use]
    pub fn with_widths(self, inputs: usize, outputs: usize) -> Self {
        Self { inputs: Some(inputs), outputs: Some(outputs), ..self }
    }

    fn check(&self) -> Result<()> {
        let counts = [
            ("hidden", self.hidden),
            ("layers", self.layers),
            ("heads", self.heads),
            ("output_heads", self.output_heads),
        ];
        for (name, count) in counts {
            Error::positive(count, name, "must be at least 1")?;
        }
        for (name, value) in
            [("dropout", self.dropout), ("attention_dropout", self.attention_dropout)]
        {
            if !(0.0..1.0).contains(&value) {
                let value = value.to_string();
                return Err(Error::Setting { name, value, expected: "must be in [0, 1)" });
            }
        }
        Ok(())
    }

    /// The network, with weights drawn from `key`.
    ///
    /// # Errors
    /// If a setting is out of range, or the widths were never set.
    pub fn init(&self, key: Key, device: &Device) -> Result<Backbone> {
        self.check()?;
        let call = "call with_widths(width of the features, numbers per node) before init";
        let inputs = Error::width(self.inputs, "inputs", call)?;
        let outputs = Error::width(self.outputs, "outputs", call)?;
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
        let layer = |at: usize| (widths[at], widths[at + 1], key.child(at as u64));
        let gcn = |at| {
            let (inputs, outputs, key) = layer(at);
            GcnConfig::new(inputs, outputs).init(key, device)
        };
        let sage = |at| {
            let (inputs, outputs, key) = layer(at);
            SageConfig::new(inputs, outputs).init(key, device)
        };
        let gat = |at| {
            let (inputs, outputs, key) = layer(at);
            let last = at + 1 == self.layers;
            let config = match last {
                true => GatConfig::new(inputs, outputs, self.output_heads),
                false => GatConfig::new(inputs, self.hidden, self.heads),
            };
            let dropout = self.attention_dropout;
            GatConfig { average: last, dropout, ..config }.init(key, device)
        };
        let gcnii = |at: usize| {
            let config = GcnIIConfig::of_depth(self.hidden, self.lambda, at + 1);
            let (alpha, variant) = (self.alpha, self.variant);
            GcnIIConfig { alpha, variant, ..config }.init(key.child(at as u64 + 1), device)
        };
        Ok(match self.kind {
            BackboneKind::Gcn => Backbone::Gcn(self.stack(gcn, &widths, Activation::Relu)?),
            BackboneKind::Sage => Backbone::Sage(self.stack(sage, &widths, Activation::Relu)?),
            BackboneKind::Gat => Backbone::Gat(self.stack(gat, &widths, Activation::Elu)?),
            BackboneKind::Gcnii => Backbone::Gcnii(GcnIINetwork {
                first: LinearConfig::new(inputs, self.hidden).init(key.child(0), device)?,
                layers: (0..self.layers).map(gcnii).collect::<Result<_>>()?,
                last: LinearConfig::new(self.hidden, outputs)
                    .init(key.child(self.layers as u64 + 1), device)?,
                dropout: self.dropout,
            }),
            BackboneKind::Mlp => Backbone::Mlp(Mlp::new(&widths, self.dropout, key, device)?),
        })
    }

    fn stack<C: Module>(
        &self,
        layer: impl Fn(usize) -> Result<C>,
        widths: &[usize],
        activation: Activation,
    ) -> Result<Stack<C>> {
        Ok(Stack {
            layers: (0..self.layers).map(layer).collect::<Result<_>>()?,
            dropout: self.dropout,
            widths: widths[..self.layers].to_vec(),
            activation,
        })
    }
}

/// A network of graph convolutions, or of linear layers to compare it with.
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
    /// A perceptron.
    Mlp(Mlp),
}

impl Backbone {
    fn network(&self) -> &dyn Network {
        match self {
            Self::Gcn(stack) => stack,
            Self::Sage(stack) => stack,
            Self::Gat(stack) => stack,
            Self::Gcnii(network) => network,
            Self::Mlp(network) => network,
        }
    }

    /// Paths of the parameters that count as the first layer, whose weights decay by a factor of their
    /// own: the first convolution; of GCNII the maps in and out, as published.
    pub fn first_parameters(&self) -> &'static [&'static str] {
        match self {
            Self::Gcn(_) | Self::Sage(_) | Self::Gat(_) | Self::Mlp(_) => &["layers.0."],
            Self::Gcnii(_) => &["first.", "last."],
        }
    }
}

impl Network for Backbone {
    fn depth(&self) -> usize {
        self.network().depth()
    }

    fn widths(&self) -> Vec<usize> {
        self.network().widths()
    }

    fn begin(&self, x: &Features, pass: &Pass) -> Result<State> {
        self.network().begin(x, pass)
    }

    fn layer(&self, at: usize, state: State, graph: &dyn Aggregate, pass: &Pass) -> Result<State> {
        self.network().layer(at, state, graph, pass)
    }

    fn finish(&self, state: State, pass: &Pass) -> Result<Tensor<2>> {
        self.network().finish(state, pass)
    }
}

impl Conv for Backbone {
    fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> Result<Tensor<2>> {
        self.run(x, graph, pass)
    }

    fn forward_with(&self, x: &Features, graph: &dyn Aggregate, pass: Pass) -> Result<Tensor<2>> {
        self.run(x, graph, pass)
    }
}
