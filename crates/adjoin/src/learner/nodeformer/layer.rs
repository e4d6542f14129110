//! A layer of NodeFormer, and the random numbers it uses.

use super::NodeFormerConfig;
use crate::{
    Result,
    graph::Adjacency,
    kernels::random::Key,
    nn::{Linear, LinearConfig, Start},
    ops,
    topology::Csr,
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, TensorData, activation::sigmoid},
};

/// Added to every random feature, so that no attention is 0.
const LEAST_FEATURE: f64 = 1e-6;

/// Added to the variance of a row before its root is taken.
const LEAST_VARIANCE: f64 = 1e-5;

/// Every row with mean 0 and standard deviation 1, then `x * scale + shift`.
#[derive(Module, Debug)]
pub struct RowNorm {
    /// `[width]`, starts at 1.
    pub scale: Param<Tensor<1>>,
    /// `[width]`, starts at 0.
    pub shift: Param<Tensor<1>>,
}

impl RowNorm {
    pub(super) fn new(width: usize, device: &Device) -> Self {
        Self {
            scale: Param::from_tensor(Tensor::ones([width], device)),
            shift: Param::from_tensor(Tensor::zeros([width], device)),
        }
    }

    pub(super) fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let centred = x.clone() - x.mean_dim(1);
        let variance = centred.clone().square().mean_dim(1);
        let scaled = centred * (variance + LEAST_VARIANCE).sqrt().recip();
        scaled * self.scale.val().unsqueeze() + self.shift.val().unsqueeze()
    }
}

/// What is random in a layer; constants.
#[derive(Clone, Debug)]
pub struct AttentionNoise {
    /// Directions of the random features, `[features, width]`.
    pub projection: Tensor<2>,
    /// Gumbel noise of the senders, `[heads * draws, nodes]`, head after head; none in evaluation.
    pub gumbel: Option<Tensor<2>>,
}

impl AttentionNoise {
    pub(super) fn new(
        config: &NodeFormerConfig,
        nodes: usize,
        key: Key,
        noise: bool,
        like: &Tensor<2>,
    ) -> Result<Self> {
        let values = orthogonal(config.features, config.width, key.child(0));
        let data = TensorData::new(values, [config.features, config.width]);
        let options = (&like.device(), like.dtype());
        let gumbel = noise.then(|| {
            let shape = [config.heads * config.draws, nodes];
            ops::gumbel_matrix(shape, key.child(1), like)
        });
        Ok(Self {
            projection: Tensor::from_data(data.convert_dtype(like.dtype()), options),
            gumbel: gumbel.transpose()?,
        })
    }
}

/// Rows in blocks of orthogonal directions, each as long as a normal vector of its own.
fn orthogonal(rows: usize, width: usize, key: Key) -> Vec<f64> {
    let mut out: Vec<Vec<f64>> = Vec::with_capacity(rows);
    let normal = |stream: u64, row: usize| -> Vec<f64> {
        let key = key.child(stream).child(row as u64);
        (0..width as u64).map(|at| key.normal(at)).collect()
    };
    let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    for row in 0..rows {
        let block = row - row % width.max(1);
        let mut direction = normal(0, row);
        for before in &out[block..row] {
            let along: f64 = direction.iter().zip(before).map(|(a, b)| a * b).sum();
            direction.iter_mut().zip(before).for_each(|(a, b)| *a -= along * b);
        }
        let scale = 1.0 / length(&direction).max(f64::MIN_POSITIVE);
        direction.iter_mut().for_each(|a| *a *= scale);
        out.push(direction);
    }
    let scaled = |(row, direction): (usize, Vec<f64>)| {
        let scale = length(&normal(1, row));
        direction.into_iter().map(move |a| a * scale)
    };
    out.into_iter().enumerate().flat_map(scaled).collect()
}

/// Attention of every node to all, by heads, and over the given patterns of neighbours:
///
/// `u_i = [z^1_i .. z^H_i] W_o + b_o`, `z^h = attention(q^h, k^h, v^h) + sum_r sigmoid(b_rh) P_r v^h`, with q, k, v linear
/// in the input and `P_r` the scaled patterns.
#[derive(Module, Debug)]
pub struct NodeFormerLayer {
    /// `W_q`, all heads side by side.
    pub query: Linear,
    /// `W_k`.
    pub key: Linear,
    /// `W_v`.
    pub value: Linear,
    /// `W_o`.
    pub output: Linear,
    /// `b`, `[orders, heads]`.
    pub relation: Param<Tensor<2>>,
    /// Of the sum of input and output.
    pub norm: RowNorm,
}

/// What a layer gives.
pub(super) struct Attended {
    /// `u`, `[nodes, width]`.
    pub output: Tensor<2>,
    /// `log pi` at the given edges, one tensor a head.
    pub log_attention: Vec<Tensor<1>>,
}

impl NodeFormerLayer {
    pub(super) fn new(config: &NodeFormerConfig, key: Key, device: &Device) -> Result<Self> {
        let NodeFormerConfig { width, heads, orders, .. } = *config;
        let linear = |inputs, outputs, child| {
            LinearConfig::new(inputs, outputs).init(key.child(child), device)
        };
        let start = Start::Constant(config.relation);
        let relation = start.tensor([orders, heads], [orders, heads], key, device);
        Ok(Self {
            query: linear(width, width * heads, 0)?,
            key: linear(width, width * heads, 1)?,
            value: linear(width, width * heads, 2)?,
            output: linear(width * heads, width, 3)?,
            relation: Param::from_tensor(relation),
            norm: RowNorm::new(width, device),
        })
    }

    pub(super) fn attend(
        &self,
        config: &NodeFormerConfig,
        z: &Tensor<2>,
        patterns: &[Adjacency],
        edges: &Csr,
        noise: &AttentionNoise,
    ) -> Result<Attended> {
        let NodeFormerConfig { width, heads, draws, temperature, .. } = *config;
        let [nodes, _] = z.dims();
        let of = |linear: &Linear| linear.forward_dense(z.clone());
        let [queries, keys, values] = [of(&self.query), of(&self.key), of(&self.value)];
        let scale = 1.0 / (temperature.sqrt() * (width as f64).sqrt().sqrt());
        let mut parts = Vec::with_capacity(heads);
        let mut log_attention = Vec::with_capacity(heads);
        for head in 0..heads {
            let own = |x: &Tensor<2>| x.clone().narrow(1, head * width, width);
            let queries = features(own(&queries) * scale, &noise.projection, false)?;
            let keys = features(own(&keys) * scale, &noise.projection, true)?;
            let weights = match &noise.gumbel {
                Some(gumbel) => {
                    let gumbel = gumbel.clone().narrow(0, head * draws, draws);
                    // A constant added to the noise of a draw cancels: the largest weight is 1.
                    ((gumbel.clone() - gumbel.max_dim(1)) / temperature).exp()
                }
                None => Tensor::ones([1, nodes], (&z.device(), z.dtype())),
            };
            parts.push(ops::feature_attention(&queries, &keys, &own(&values), &weights)?);
            let total = keys.clone().sum_dim(0).transpose();
            let total = queries.clone().matmul(total).reshape([nodes]);
            let dots = ops::sampled_products(edges, &queries, &keys)?;
            log_attention.push(dots.log() - ops::broadcast_rows(edges, &total.log())?);
        }
        let mut sum = Tensor::cat(parts, 1);
        for (order, pattern) in patterns.iter().enumerate() {
            let gates = sigmoid(self.relation.val().narrow(0, order, 1));
            let gates =
                gates.reshape([heads, 1]).expand([heads, width]).reshape([1, heads * width]);
            sum = sum + pattern.aggregate(&values)? * gates;
        }
        Ok(Attended { output: self.output.forward_dense(sum), log_attention })
    }
}

/// `M^-1/2 (exp(<w_m, x> - |x|^2 / 2 - c) + 1e-6)`, with c the largest exponent of the row, or of all.
fn features(x: Tensor<2>, projection: &Tensor<2>, shared: bool) -> Result<Tensor<2>> {
    let [nodes, count] = [x.dims()[0], projection.dims()[0]];
    let half = x.clone().square().sum_dim(1) * 0.5;
    let exponents = ops::matmul(&x, &projection.clone().transpose())? - half;
    // It cancels in the attention, but for what is added to every feature.
    let largest = match shared && nodes > 0 {
        true => exponents.clone().max().reshape([1, 1]),
        false => exponents.clone().max_dim(1),
    };
    Ok(((exponents - largest).exp() + LEAST_FEATURE) * (1.0 / (count as f64).sqrt()))
}
