//! The generators of SLAPS.

use super::{SlapsActivation, SlapsConfig, SlapsGenerator};
use crate::{
    Error, Result,
    graph::{Adjacency, GraphInput, unit_rows},
    kernels::{normalise::Normalisation, random::Key},
    nn::{Aggregate, Linear, LinearConfig},
    ops::{self, Similarity, identity},
    pass::Pass,
    topology::{CandidateRule, Csr, Metric, SelfLoops},
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor, activation::relu},
};

/// What scores pairs of nodes.
#[derive(Module, Debug)]
pub enum Generator {
    /// A number for every candidate pair.
    Free(FreePairs),
    /// Cosines of what an MLP makes of the features.
    Mlp(MlpPairs),
    /// Cosines of features that are scaled one by one.
    Scaled(ScaledPairs),
}

/// One number `m` for every candidate pair, of weight `elu(m) + 1`; all other pairs share a constant.
#[derive(Module, Debug)]
pub struct FreePairs {
    /// `m`, `[pairs]`; starts at 0.
    pub values: Param<Tensor<1>>,
    /// The candidates: nearest neighbours and every node itself.
    #[module(skip)]
    pub pairs: Csr,
    /// Weight of all others.
    pub background: f64,
}

/// `E = act(X W_1 + b_1) W_2 + b_2`, all as wide as the features; starts at the identity.
#[derive(Module, Debug)]
pub struct MlpPairs {
    /// `W_1` and `b_1`.
    pub first: Linear,
    /// `W_2` and `b_2`.
    pub second: Linear,
}

/// `E = act(X * w_1) * w_2`, one factor a feature; starts at 1.
#[derive(Module, Debug)]
pub struct ScaledPairs {
    /// `w_1`, `[features]`.
    pub first: Param<Tensor<1>>,
    /// `w_2`, `[features]`.
    pub second: Param<Tensor<1>>,
}

/// The scaled graph, and what all pairs of nodes have in common beside it.
pub(super) struct Made {
    pub graph: Adjacency,
    /// b `[nodes, 1]` of the matrix `b b^T` that is added to the graph.
    background: Option<Tensor<2>>,
}

impl Made {
    /// The same with entries of the graph left out in training; the background stays.
    pub fn dropped(&self, probability: f64, pass: Pass) -> Result<Self> {
        let weights = ops::dropout(self.graph.weights(), probability, pass)?;
        let graph = Adjacency::new(self.graph.topology().clone(), weights)?.as_normalised();
        Ok(Self { graph, background: self.background.clone() })
    }
}

impl Aggregate for Made {
    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    fn aggregate(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        let near = self.graph.aggregate(x)?;
        let Some(b) = &self.background else { return Ok(near) };
        Ok(near + ops::matmul(b, &ops::matmul(&b.clone().transpose(), x)?)?)
    }

    fn edges(&self) -> Option<&Adjacency> {
        self.background.is_none().then_some(&self.graph)
    }
}

impl Generator {
    pub(super) fn new(
        config: &SlapsConfig,
        data: &GraphInput,
        inputs: usize,
        key: Key,
        device: &Device,
    ) -> Result<Self> {
        let ones = |len: usize| Param::from_tensor(Tensor::<1>::ones([len], device));
        Ok(match config.generator {
            SlapsGenerator::MlpD => {
                Self::Scaled(ScaledPairs { first: ones(inputs), second: ones(inputs) })
            }
            SlapsGenerator::Mlp => {
                let start = |child| {
                    let linear =
                        LinearConfig::new(inputs, inputs).init(key.child(child), device)?;
                    let like = linear.weight.val();
                    let weight = Param::from_tensor(identity(inputs, &like).to_device(device));
                    Ok::<_, Error>(Linear { weight, ..linear })
                };
                Self::Mlp(MlpPairs { first: start(0)?, second: start(1)? })
            }
            SlapsGenerator::Fp => {
                let pairs = match data.batch.graphs() {
                    1 => data.features.nearest(config.k, data.batch)?,
                    _ => Csr::empty(data.batch.nodes(), data.batch.nodes()),
                };
                let pairs = pairs.with_self_loops(SelfLoops::Add);
                let values = Param::from_tensor(Tensor::zeros([pairs.edges()], device));
                Self::Free(FreePairs { values, pairs, background: (-config.depth).exp() })
            }
        })
    }

    pub(super) fn make(&self, config: &SlapsConfig, input: &GraphInput) -> Result<Made> {
        input.check()?;
        let act = |x: Tensor<2>| match config.activation {
            SlapsActivation::Relu => relu(x),
            SlapsActivation::Tanh => x.tanh(),
        };
        let graph = match self {
            Self::Free(free) => return free.make(input),
            Self::Mlp(mlp) => {
                let e = mlp.second.forward_dense(act(mlp.first.forward(input.features)?));
                let rule = CandidateRule::Nearest { k: config.k, metric: Metric::Cosine };
                let found = ops::candidates(&rule, None, Some(&e.clone().detach()), input.batch)?;
                let pairs = found.to_pairs(usize::MAX)?.with_self_loops(SelfLoops::Add);
                let cosines = ops::pair_similarity(&pairs, Similarity::Cosine, &e)?;
                Adjacency::new(pairs, relu(cosines))?
            }
            Self::Scaled(scaled) => {
                let like = scaled.first.val();
                let (rows, values) = input.features.constant_entries(&like)?;
                if rows.columns() != like.dims()[0] {
                    let (expected, found) = (like.dims()[0], rows.columns());
                    return Err(Error::shape("SLAPS: width of the features", expected, found));
                }
                let columns = || rows.indices().to_vec();
                let first = ops::take(&like, columns(), 0.0)?;
                let second = ops::take(&scaled.second.val(), columns(), 0.0)?;
                let shape = [rows.edges(), 1];
                let act = act((values * first).reshape(shape)).reshape([rows.edges()]);
                let unit = unit_rows(&rows, act * second)?;
                let found =
                    ops::nearest_rows(&rows, &unit.clone().detach(), config.k, input.batch)?;
                let pairs = found.with_self_loops(SelfLoops::Add);
                let cosines = ops::row_dots(&pairs, &rows, &unit)?;
                Adjacency::new(pairs, relu(cosines))?
            }
        };
        let graph = graph.symmetrised()?.normalise(Normalisation::Symmetric)?.as_normalised();
        Ok(Made { graph, background: None })
    }
}

impl FreePairs {
    /// With c the background and `S = (P + P^T) / 2`, `P = elu(M) + 1` at the candidates and c elsewhere:
    /// `D^-1/2 S D^-1/2` as a sparse part of `S - c` and a matrix of rank one.
    fn make(&self, input: &GraphInput) -> Result<Made> {
        let nodes = input.batch.nodes();
        if input.batch.graphs() != 1 || nodes != self.pairs.rows() {
            let expected = format!("one graph of the {} nodes it was made for", self.pairs.rows());
            let found = format!("{} of {nodes} nodes", input.batch.graphs());
            return Err(Error::shape("SLAPS with a number for each pair", expected, found));
        }
        let weights = ops::elu(&self.values.val())? + (1.0 - self.background);
        let near = Adjacency::new(self.pairs.clone(), weights)?.symmetrised()?;
        let edges = near.topology();
        let mass = self.background * nodes as f64;
        let scales = (ops::segment_sum(edges, near.weights())? + mass).sqrt().recip();
        let [own, other] =
            [ops::broadcast_rows(edges, &scales)?, ops::gather_columns(edges, &scales)?];
        let graph = near.map_weights(|weights| weights * own * other)?.as_normalised();
        let background = scales.reshape([nodes, 1]) * self.background.sqrt();
        Ok(Made { graph, background: Some(background) })
    }
}
