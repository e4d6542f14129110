//! GCN-SVD.

use super::{Shape, prepared_or, table::Settings};
use crate::{
    Error, Result,
    graph::{Adjacency, GraphInput, LowRank, Prepared},
    kernels::random::Key,
    nn::{Aggregate, Draw, GraphLearner, LearnedGraph, Network, Outcome, Reading},
    ops::Convergence,
    pass::Pass,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Serialize};

/// Where the decomposition starts from; it is the same for every seed.
const START: Key = Key::new(0x5fd);

/// How far singular vectors are iterated. Those beside the first that is left out hardly matter: it has
/// nearly the same value.
const CONVERGENCE: Convergence = Convergence { tolerance: 1e-5, most: 200 };

/// Degrees below this count as none.
const LEAST_DEGREE: f64 = 1e-6;

/// Settings of [`Svd`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SvdConfig {
    /// Singular values that are kept.
    pub rank: usize,
}

impl Default for SvdConfig {
    fn default() -> Self {
        Self { rank: 50 }
    }
}

impl SvdConfig {
    /// The learner; it has no weights to draw.
    ///
    /// # Errors
    /// If the rank is 0.
    pub fn init(&self, _key: Key, _device: &Device) -> Result<Svd> {
        Error::positive(self.rank, "rank", "must be at least 1")?;
        Ok(Svd { rank: self.rank })
    }
}

/// GCN-SVD (Entezari et al., 2020): the network works on the nearest matrix of low rank to the given graph.
///
/// `A_r = U S V^T` holds the leading singular values of the given weights. The network gets the map
/// `D^-1/2 (A_r + I) D^-1/2` with `D` the row sums of `A_r + I`, as thin products: nothing of size N x N is
/// made. A node whose sum is not above 0 receives and sends nothing. Nothing is learned.
///
/// GCN and GraphSAGE take the map, the latter in place of its mean. GAT and GCNII need edges and refuse it.
/// [`learn`](GraphLearner::learn) gives the given edges with their weights in `A_r`, negative ones as 0: what
/// reports show. In a batch the rank is that of all its graphs together.
///
/// # Shapes
/// `U`, `V` `[nodes, rank]`.
///
/// # Gradients
/// Flow through the map to the features; none to the given weights.
#[derive(Module, Debug)]
pub struct Svd {
    rank: usize,
}

/// `D^-1/2 (L R + I) D^-1/2`.
struct Scaled {
    scaled: LowRank,
    /// Weights of the self-loops, `[nodes, 1]`.
    own: Tensor<2>,
}

impl Scaled {
    fn new(LowRank { left, right }: &LowRank) -> Result<Self> {
        let ones = Tensor::ones([left.dims()[0], 1], (&left.device(), left.dtype()));
        let factors = LowRank { left: left.clone(), right: right.clone() };
        let degrees = factors.aggregate(&ones)? + 1.0;
        let missing = degrees.clone().lower_equal_elem(LEAST_DEGREE);
        let scales = degrees.clamp_min(LEAST_DEGREE).sqrt().recip().mask_fill(missing, 0.0);
        Ok(Self {
            own: scales.clone() * scales.clone(),
            scaled: LowRank {
                left: left.clone() * scales.clone(),
                right: right.clone() * scales.transpose(),
            },
        })
    }
}

impl Aggregate for Scaled {
    fn nodes(&self) -> usize {
        self.own.dims()[0]
    }

    fn aggregate(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        Ok(self.scaled.aggregate(x)? + x.clone() * self.own.clone())
    }
}

impl Svd {
    fn factors(&self, input: &GraphInput) -> Result<LowRank> {
        input.check()?;
        if let Some(prepared) = input.prepared.and_then(|prepared| prepared.low_rank.clone()) {
            return Ok(prepared);
        }
        let given = input.graph.ok_or(Error::NoInputGraph("SVD"))?;
        LowRank::of(given, self.rank, CONVERGENCE, START)
    }

    /// The given edges with their weights in `A_r`.
    fn shown(input: &GraphInput, factors: &LowRank) -> Result<Adjacency> {
        let pairs = input.topology("SVD")?;
        Adjacency::new(pairs.clone(), factors.at(pairs)?.clamp_min(0.0))
    }
}

impl GraphLearner for Svd {
    fn learn(&self, input: &GraphInput, _pass: Pass) -> Result<LearnedGraph> {
        prepared_or(input, || Self::shown(input, &self.factors(input)?))
    }

    fn prepare(&self, input: &GraphInput) -> Result<Prepared> {
        let factors = self.factors(input)?;
        let graph = Some(Self::shown(input, &factors)?);
        Ok(Prepared { graph, low_rank: Some(factors), ..Prepared::default() })
    }

    /// The network runs on the map; draws differ in the dropout of the network alone.
    fn drive(
        &self,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        let factors = self.factors(input)?;
        let map = Scaled::new(&factors)?;
        let graph = prepared_or(input, || Self::shown(input, &factors))?;
        let draws = draws.max(1);
        let run = |draw: usize| {
            let logits = network.run(input.features, &map, pass.child(2).child(draw as u64))?;
            let share = 1.0 / draws as f64;
            Ok(Draw { graph: graph.clone(), logits, share, log_weight: None })
        };
        let draws = (0..draws).map(run).collect::<Result<_>>()?;
        Ok(Outcome { draws, reading: Reading::MeanOfLosses, terms: Vec::new() })
    }
}

impl Settings for SvdConfig {
    type Learner = Svd;

    fn init_for(
        &self,
        _data: &GraphInput,
        _shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<Svd> {
        self.init(key, device)
    }
}
