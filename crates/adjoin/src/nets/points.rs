//! DGCNN (Wang et al., 2019) and ResGCN (Li et al., 2021) for whole clouds.

use crate::{
    Error, Result,
    conv::{Conv, EdgeConv, EdgeConvConfig, EdgeWeighting},
    graph::Adjacency,
    kernels::random::Key,
    learner::{Dilated, DilatedConfig},
    nn::{Linear, LinearConfig, RunningNorm, RunningNormConfig, Start},
    ops,
    pass::Pass,
    topology::Batch,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Serialize};

/// Coordinates of a point.
const COORDINATES: usize = 3;

/// Which network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PointNetworkKind {
    /// EdgeConv layers one after the other.
    #[default]
    Dgcnn,
    /// EdgeConv layers that are added to what they are given, on dilated neighbours.
    Resgcn,
}

impl PointNetworkKind {
    /// Its name in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dgcnn => "dgcnn",
            Self::Resgcn => "resgcn",
        }
    }
}

/// Settings of a [`PointNetwork`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PointNetworkConfig {
    /// Which network.
    pub kind: PointNetworkKind,
    /// Width of every EdgeConv layer; of ResGCN all the same.
    pub widths: Vec<usize>,
    /// Neighbours of a point, itself included, where nothing is learned.
    pub k: usize,
    /// How likely a training step takes random ones of the dilated neighbours (ResGCN).
    pub stochastic: f64,
    /// Width of the layer that sees all EdgeConv layers.
    pub embedding: usize,
    /// Widths of the layers after pooling, before the classes.
    pub hidden: Vec<usize>,
    /// Dropout of those.
    pub dropout: f64,
    /// Slope of every rectifier below zero.
    pub slope: f64,
    /// How learned weights enter the maximum over neighbours.
    pub weighting: EdgeWeighting,
    /// Width of what every layer is handed beside its features; 0 for nothing. No part of a configuration file.
    #[serde(skip)]
    pub handed: usize,
}

impl Default for PointNetworkConfig {
    fn default() -> Self {
        Self::dgcnn()
    }
}

impl PointNetworkConfig {
    /// DGCNN as released for 1024 points. (The DGG paper lists k = 40 for it, which its authors use with
    /// 2048 points.)
    pub fn dgcnn() -> Self {
        Self {
            kind: PointNetworkKind::Dgcnn,
            widths: vec![64, 64, 128, 256],
            k: 20,
            stochastic: 0.0,
            embedding: 1024,
            hidden: vec![512, 256],
            dropout: 0.5,
            slope: 0.2,
            weighting: EdgeWeighting::default(),
            handed: 0,
        }
    }

    /// ResGCN-28.
    pub fn resgcn() -> Self {
        Self {
            kind: PointNetworkKind::Resgcn,
            widths: vec![64; 28],
            k: 9,
            stochastic: 0.2,
            slope: 0.0,
            ..Self::dgcnn()
        }
    }

    /// Width of the features that every layer is given, without what is handed beside them.
    pub fn inputs(&self) -> Vec<usize> {
        let before = std::iter::once(COORDINATES).chain(self.widths.iter().copied());
        before.take(self.widths.len()).collect()
    }

    fn check(&self) -> Result<()> {
        let wrong = |name, expected| {
            let value = format!("{:?}", self.widths);
            Err(Error::Setting { name, value, expected })
        };
        if self.widths.is_empty() || self.widths.contains(&0) {
            return wrong("widths", "needs at least one layer, none of width 0");
        }
        let equal = self.widths.iter().all(|width| *width == self.widths[0]);
        if self.kind == PointNetworkKind::Resgcn && !equal {
            return wrong("widths", "layers of resgcn are added up: they need the same width");
        }
        if self.embedding == 0 || self.hidden.contains(&0) {
            return wrong("embedding", "layers need a width of at least 1");
        }
        if !(0.0..1.0).contains(&self.dropout) {
            let value = self.dropout.to_string();
            return Err(Error::Setting { name: "dropout", value, expected: "must be in [0, 1)" });
        }
        Ok(())
    }

    /// The network for a number of classes, with weights drawn from `key`. A scale of weights before a
    /// batch norm changes nothing, so both networks start alike.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn init(&self, classes: usize, key: Key, device: &Device) -> Result<PointNetwork> {
        self.check()?;
        let (slope, weighting) = (self.slope, self.weighting);
        let convolution = |(layer, (inputs, &outputs)): (usize, (usize, &usize))| {
            let config = EdgeConvConfig {
                slope,
                weighting,
                ..EdgeConvConfig::new(inputs + self.handed, outputs)
            };
            config.init(key.child(1).child(layer as u64), device)
        };
        let pairs = self.inputs().into_iter().zip(&self.widths).enumerate();
        let linear = |inputs: usize, outputs, bias, key| {
            let config = LinearConfig::new(inputs, outputs).with_bias(bias);
            config.with_start(Start::Uniform(inputs)).init(key, device)
        };
        let dilated = |layer: usize| {
            // The layers after the first look further and further.
            let deep = self.kind == PointNetworkKind::Resgcn && layer > 0;
            let dilation = if deep { layer } else { 1 };
            let stochastic = if deep { self.stochastic } else { 0.0 };
            DilatedConfig { k: self.k, dilation, stochastic }.init(key, device)
        };
        let neighbours = (0..self.widths.len()).map(dilated).collect::<Result<_>>()?;
        let (mut hidden, mut norms) = (Vec::new(), Vec::new());
        let mut inputs = 2 * self.embedding;
        for (layer, &width) in self.hidden.iter().enumerate() {
            hidden.push(linear(inputs, width, None, key.child(3).child(layer as u64))?);
            norms.push(RunningNormConfig::new(width, slope).init(key, device)?);
            inputs = width;
        }
        Ok(PointNetwork {
            convolutions: pairs.map(convolution).collect::<Result<_>>()?,
            embedding: linear(self.widths.iter().sum(), self.embedding, None, key.child(2))?,
            embedding_norm: RunningNormConfig::new(self.embedding, slope).init(key, device)?,
            hidden,
            norms,
            output: linear(inputs, classes, Some(0.0), key.child(4))?,
            neighbours,
            residual: self.kind == PointNetworkKind::Resgcn,
            dropout: self.dropout,
            handed: self.handed,
        })
    }
}

/// The graph of a layer, and what comes with it.
#[derive(Clone, Debug)]
pub struct LayerGraph {
    /// The graph.
    pub adjacency: Adjacency,
    /// Features beside those of the layer, `[points, handed]`; zeros where there are none.
    pub handed: Option<Tensor<2>>,
}

impl From<Adjacency> for LayerGraph {
    fn from(adjacency: Adjacency) -> Self {
        Self { adjacency, handed: None }
    }
}

/// A network that classifies clouds: EdgeConv layers, all of them concatenated, one linear layer, the
/// largest and the mean value of every channel over the points, and a perceptron.
///
/// Every linear layer but the last is followed by batch norm and rectifier, so it has no bias. What a learner hands on
/// stands beside the features of a layer, `[x, x^]`.
#[derive(Module, Debug)]
pub struct PointNetwork {
    /// The EdgeConv layers.
    pub convolutions: Vec<EdgeConv>,
    /// From all of them to the embedding.
    pub embedding: Linear,
    /// After the embedding.
    pub embedding_norm: RunningNorm,
    /// The layers after pooling.
    pub hidden: Vec<Linear>,
    /// After each of those.
    pub norms: Vec<RunningNorm>,
    /// To the classes.
    pub output: Linear,
    /// The published graph of every layer.
    neighbours: Vec<Dilated>,
    residual: bool,
    dropout: f64,
    handed: usize,
}

impl PointNetwork {
    /// Number of layers that use a graph.
    pub fn layers(&self) -> usize {
        self.convolutions.len()
    }

    /// What makes the published graph of a layer.
    pub fn neighbours(&self, layer: usize) -> &Dilated {
        &self.neighbours[layer]
    }

    /// Logits `[clouds, classes]` of points `[points, 3]` that belong to clouds; `graph` is asked for the
    /// graph of every layer, of the features that the layer is given.
    ///
    /// # Errors
    /// If shapes do not fit, or the first that `graph` returns.
    pub fn forward<E: From<Error>, G: Into<LayerGraph>>(
        &self,
        points: &Tensor<2>,
        clouds: &Batch,
        pass: Pass,
        mut graph: impl FnMut(usize, &Tensor<2>) -> std::result::Result<G, E>,
    ) -> std::result::Result<Tensor<2>, E> {
        let mut x = points.clone();
        let mut layers = Vec::with_capacity(self.layers());
        for (layer, convolution) in self.convolutions.iter().enumerate() {
            let LayerGraph { adjacency, handed } = graph(layer, &x)?.into();
            let seen = self.beside(&x, handed)?;
            let y = convolution.forward(&seen.into(), &adjacency, pass.child(layer as u64))?;
            x = if self.residual && layer > 0 { y + x } else { y };
            layers.push(x.clone());
        }
        let all = if layers.len() == 1 { layers.remove(0) } else { Tensor::cat(layers, 1) };
        let embedded = ops::matmul(&all, &self.embedding.weight.val())?;
        let mut x = self.embedding_norm.pool(&embedded, clouds, &pass)?;
        for (layer, (linear, norm)) in self.hidden.iter().zip(&self.norms).enumerate() {
            x = norm.forward(linear.forward_dense(x), &pass);
            x = ops::dropout(&x, self.dropout, pass.child(layer as u64))?;
        }
        Ok(self.output.forward_dense(x))
    }

    /// `[x, x^]`.
    fn beside(&self, x: &Tensor<2>, handed: Option<Tensor<2>>) -> Result<Tensor<2>> {
        let expected = [x.dims()[0], self.handed];
        let handed = match handed {
            _ if self.handed == 0 => return Ok(x.clone()),
            None => Tensor::zeros(expected, (&x.device(), x.dtype())),
            Some(handed) if handed.dims() == expected => handed,
            Some(other) => return Err(Error::shape("handed on", expected, other.dims())),
        };
        Ok(Tensor::cat(vec![x.clone(), handed], 1))
    }
}
