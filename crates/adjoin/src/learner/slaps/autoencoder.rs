//! The denoising term of SLAPS.

use crate::{
    Error, Result,
    graph::{Features, SparseFeatures},
    kernels::random::Key,
    nn::{Aggregate, Linear, LinearConfig, Start},
    ops,
    pass::Pass,
    topology::Csr,
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData, activation::log_sigmoid},
};
use serde::{Deserialize, Serialize};

/// Settings of an [`Autoencoder`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoencoderConfig {
    /// Weight of the term; 0 for none.
    pub weight: f64,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Dropout after the hidden layer.
    pub dropout: f64,
    /// Share of the entries of the graph that are left out of a step.
    pub edge_dropout: f64,
    /// One of so many features is hidden.
    pub ratio: f64,
    /// Zeros that are asked for with every 1, of binary features.
    pub zeros: f64,
}

impl Default for AutoencoderConfig {
    fn default() -> Self {
        let (dropout, edge_dropout) = (0.5, 0.25);
        Self { weight: 10.0, hidden: 512, dropout, edge_dropout, ratio: 10.0, zeros: 5.0 }
    }
}

impl AutoencoderConfig {
    pub(super) fn check(&self) -> Result<()> {
        Error::positive(self.hidden, "autoencoder.hidden", "must be at least 1")?;
        Error::weights(&[("autoencoder.weight", self.weight), ("autoencoder.zeros", self.zeros)])?;
        for (name, value) in
            [("autoencoder.dropout", self.dropout), ("autoencoder.edge_dropout", self.edge_dropout)]
        {
            Error::holds((0.0..1.0).contains(&value), name, value, "must be in [0, 1)")?;
        }
        let ratio = self.ratio;
        let fits = ratio >= 1.0 && ratio.is_finite();
        Error::holds(fits, "autoencoder.ratio", ratio, "must be at least 1")
    }
}

/// Restores hidden features over a graph, `Y = A max(A X' W_1 + b_1, 0) W_2 + b_2`, with X' the features in which the
/// hidden ones are 0.
///
/// Its loss is the mean over hidden entries of the cross-entropy of `sigmoid(y)` where all features are 0 or 1, and
/// of `(y - x)^2` otherwise. Of binary features every 1 is hidden with probability `1 / ratio`, and about `zeros`
/// zeros with it; of others every entry with probability `1 / ratio`. Y is computed at hidden entries only.
///
/// # Gradients
/// Flow to both layers and to the graph.
#[derive(Module, Debug)]
pub struct Autoencoder {
    /// `W_1` and `b_1`.
    pub encoder: Linear,
    /// `W_2`, transposed: `[features, hidden]`.
    pub decoder: Param<Tensor<2>>,
    /// `b_2`, `[features]`.
    pub bias: Param<Tensor<1>>,
    binary: bool,
    #[module(skip)]
    config: AutoencoderConfig,
}

/// Features of which some are hidden.
#[derive(Clone, Debug)]
pub struct Masked {
    /// The features with 0 in place of the hidden ones.
    pub features: Features,
    /// The hidden entries: node, feature.
    pub hidden: Csr,
    /// What was hidden there.
    pub targets: Vec<f64>,
}

impl Autoencoder {
    pub(super) fn new(
        config: &AutoencoderConfig,
        features: &Features,
        key: Key,
        device: &Device,
    ) -> Result<Self> {
        let (inputs, hidden) = (features.width(), config.hidden);
        let encoder = LinearConfig::new(inputs, hidden).init(key.child(0), device)?;
        let start = Start::Glorot;
        let decoder = start.tensor([inputs, hidden], [hidden, inputs], key.child(1), device);
        let (_, values) = features.entries()?;
        Ok(Self {
            encoder,
            decoder: Param::from_tensor(decoder),
            bias: Param::from_tensor(Tensor::zeros([inputs], device)),
            binary: values.iter().all(|&value| value == 1.0),
            config: config.clone(),
        })
    }

    /// Whether all features are taken as 0 or 1.
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// Hides some of the features.
    ///
    /// # Errors
    /// If the features are of an element type the kernels do not serve.
    pub fn mask(&self, x: &Features, key: Key) -> Result<Masked> {
        let (rows, mut values) = x.entries()?;
        let (nodes, width) = (rows.rows(), rows.columns());
        let (there, absent) = (rows.edges() as f64, (nodes * width - rows.edges()) as f64);
        let AutoencoderConfig { ratio, zeros, .. } = self.config;
        let of_zeros = match self.binary {
            true if absent > 0.0 => (zeros * there / absent / ratio).min(1.0),
            true => 0.0,
            false => 1.0 / ratio,
        };
        let of_values = key.child(0);
        let (mut hidden, mut targets) = (Vec::with_capacity(nodes), Vec::new());
        for row in 0..nodes {
            // Gaps between the zeros that are asked for follow the geometric law.
            let gaps = key.child(1).child(row as u64);
            let mut asked: Vec<(u32, f64)> = Vec::new();
            let (mut column, mut draw) = (0usize, 0);
            while of_zeros > 0.0 && column < width {
                let gap = match of_zeros < 1.0 {
                    true => gaps.uniform(draw).ln() / (1.0 - of_zeros).ln(),
                    false => 0.0,
                };
                column = column.saturating_add(gap as usize);
                if column < width && rows.find(row, column as u32).is_none() {
                    asked.push((column as u32, 0.0));
                }
                (column, draw) = (column.saturating_add(1), draw + 1);
            }
            for entry in rows.range(row) {
                if of_values.uniform(entry as u64) < 1.0 / ratio {
                    asked.push((rows.indices()[entry], values[entry]));
                    values[entry] = 0.0;
                }
            }
            asked.sort_unstable_by_key(|&(column, _)| column);
            targets.extend(asked.iter().map(|&(_, target)| target));
            hidden.push(asked.into_iter().map(|(column, _)| column).collect::<Vec<u32>>());
        }
        let values: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        let weight = self.encoder.weight.val();
        let features = SparseFeatures::new(rows, &values, &weight.device())?.cast(weight.dtype());
        let hidden = Csr::from_sorted_rows(width, &hidden);
        Ok(Masked { features: features.into(), hidden, targets })
    }

    /// The loss of restoring what was hidden, `[1]`; none if nothing was.
    ///
    /// # Errors
    /// If graph, features and autoencoder do not fit.
    pub fn loss(
        &self,
        graph: &dyn Aggregate,
        masked: &Masked,
        pass: Pass,
    ) -> Result<Option<Tensor<1>>> {
        let Masked { features, hidden, targets } = masked;
        if targets.is_empty() {
            return Ok(None);
        }
        let first = graph.aggregate(&self.encoder.product(features)?)?;
        let first = self.encoder.add_bias(first);
        let state = ops::relu_dropout(&first, self.config.dropout, pass)?;
        let state = graph.aggregate(&state)?;
        let bias = ops::gather_columns(hidden, &self.bias.val())?;
        let y = ops::sampled_products(hidden, &state, &self.decoder.val())? + bias;
        let data = TensorData::new(targets.clone(), [targets.len()]).convert_dtype(y.dtype());
        let targets = Tensor::<1>::from_data(data, (&y.device(), y.dtype()));
        Ok(Some(match self.binary {
            true => (log_sigmoid(y.clone().neg()).neg() - y * targets).mean(),
            false => (y - targets).square().mean(),
        }))
    }
}
