//! The learned neighbourhood size.

use super::scorer::beside;
use crate::{
    Error, Result,
    kernels::random::Key,
    nn::{Linear, LinearConfig, NEEDS_INPUTS, Start, through},
    ops,
    pass::Pass,
    topology::{Batch, Csr},
};
use burn::{
    module::Module,
    tensor::{
        Device, Tensor, TensorData,
        activation::{relu, sigmoid, softplus},
    },
};
use serde::{Deserialize, Serialize};

/// Log-variances above this are bent, see [`bounded`]: far above those that learned degrees need, and far
/// below those whose exponential is not a number.
const LARGEST_LOG_VARIANCE: f64 = 10.0;

/// How far below 0 the sizes of [`DegreeRule::OrNone`] reach: there not even the first rank has a weight.
const BELOW_NONE: f64 = 4.0;

/// What is wrong when a degree is not a number.
const TOO_LARGE: &str =
    "degrees k (the features, or the weights of the degree estimator, are too large)";

/// `min(x, B) + ln(1 + max(x - B, 0))`: x itself up to B, with its gradient, and from there on as slow as a
/// logarithm. The variance is then linear in x, and the slope never 0.
fn bounded(x: Tensor<2>) -> Tensor<2> {
    let above = (x.clone() - LARGEST_LOG_VARIANCE).clamp_min(0.0);
    x.clamp_max(LARGEST_LOG_VARIANCE) + (above + 1.0).log()
}

/// What the neighbourhood size is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DegreeRule {
    /// `k = D(z) + |e|_1`, kept above 1 by `1 + softplus(. - 1)`.
    Literal,
    /// The paper's: `k = D(z) + |e|_1`. It may reach 0 and go below, where no neighbour is left.
    Sum,
    /// Around the input graph's degree: `k = 1 + relu(s D(z) + d_i)`, s the standard deviation
    /// of the input degrees, or, where all are the same d, the `sqrt(d)` of a random graph. At the start `D` is
    /// near 0 and the graph near the input graph.
    #[default]
    Relative,
    /// The authors' code: the decoder also sees the standardised input degree, and
    /// `k = 1 + relu(s D + m)` with m and s the mean and standard deviation of the input
    /// degrees.
    Standardised,
    /// Around a given number, where there is no input graph: `k = 1 + 2 (k_0 - 1) sigmoid(D(z))`. `D` starts
    /// as 0 and every degree as `k_0`; none leaves 1..`2 k_0 - 1`.
    Around(f64),
    /// `k = D(z) + |e|_1` as [`Sum`](Self::Sum), with a `D` that starts as 0: at first k is the number of
    /// neighbours that the samples let one expect. It may reach 0 and go below, where no neighbour is left.
    Expected,
    /// Around a given number and down to none, where there is no input graph: `k = k_0 + (k_0 + 4) tanh(D(z))`.
    /// `D` starts as 0 and every degree as `k_0`. Four ranks below 0 the weights are below 1e-3.
    OrNone(f64),
    /// From evidence: `k = relu(D(z) + |e|_1)` with the samples `e = c p` before noise, the number of good
    /// neighbours to expect. `D` starts as 0; k may be 0.
    Evidence,
    /// The same number for every node: no estimator.
    Fixed(f64),
}

impl DegreeRule {
    /// Whether `D` starts as 0, whatever z is.
    fn starts_still(self) -> bool {
        matches!(self, Self::Around(_) | Self::Evidence | Self::Expected | Self::OrNone(_))
    }
}

/// Settings of the degree estimator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DegreeConfig {
    /// Width of the latent features, set by [`with_inputs`](Self::with_inputs); no part of a
    /// configuration file.
    #[serde(skip)]
    pub inputs: Option<usize>,
    /// How k is made.
    pub rule: DegreeRule,
    /// Draw `z = mu + eps sigma` in training; otherwise `z = mu`.
    pub stochastic: bool,
    /// Width of the latent variable z.
    pub width: usize,
    /// Where the logarithm of the variance starts.
    pub initial_log_variance: f64,
    /// Layers of each of the three maps M, S and D; those before the last have a LeakyReLU.
    pub depth: usize,
    /// Where the bias of D starts.
    pub start: f64,
}

impl Default for DegreeConfig {
    fn default() -> Self {
        let rule = DegreeRule::Relative;
        Self {
            inputs: None,
            rule,
            stochastic: true,
            width: 8,
            initial_log_variance: -2.0,
            depth: 1,
            start: 0.0,
        }
    }
}

impl DegreeConfig {
    /// The same for latent features of the given width.
    #[must_use]
    pub fn with_inputs(self, inputs: usize) -> Self {
        Self { inputs: Some(inputs), ..self }
    }

    /// The estimator, with weights drawn from `key`.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, key: Key, device: &Device) -> Result<DegreeEstimator> {
        Error::positive(self.width, "degree.width", "must be at least 1")?;
        Error::positive(self.depth, "degree.depth", "must be at least 1")?;
        let latent = Error::width(self.inputs, "inputs", NEEDS_INPUTS)?;
        let learned = !matches!(self.rule, DegreeRule::Fixed(_));
        let sees_degree = self.rule == DegreeRule::Standardised;
        let inputs = self.width + usize::from(sees_degree);
        let linear = |inputs, outputs, bias, child| {
            let config = LinearConfig::new(inputs, outputs).with_bias(Some(bias));
            let still = child == 3 && self.rule.starts_still();
            let start = if still { Start::Constant(0.0) } else { config.start };
            config.with_start(start).init(key.child(child), device)
        };
        let hidden = |wanted: bool, width, child| {
            let layers = if wanted { 1..self.depth as u64 } else { 0..0 };
            let layer =
                |at| LinearConfig::new(width, width).init(key.child(child).child(at), device);
            layers.map(layer).collect::<Result<Vec<_>>>()
        };
        let variance = learned && self.stochastic;
        Ok(DegreeEstimator {
            mean_hidden: hidden(learned, latent, 4)?,
            variance_hidden: hidden(variance, latent, 5)?,
            decoder_hidden: hidden(learned, inputs, 6)?,
            mean: learned.then(|| linear(latent, self.width, 0.0, 1)).transpose()?,
            log_variance: variance
                .then(|| linear(latent, self.width, self.initial_log_variance, 2))
                .transpose()?,
            decoder: learned.then(|| linear(inputs, 1, self.start, 3)).transpose()?,
            rule: self.rule,
        })
    }
}

/// What the estimator may know of the input graph.
#[derive(Clone, Debug)]
pub struct InputDegrees {
    /// Degree of every node, `[nodes]`.
    pub degrees: Tensor<1>,
    /// Their mean over the graph that the node belongs to, `[nodes]`.
    pub means: Tensor<1>,
    /// Their standard deviation over that graph, `[nodes]`.
    pub stds: Tensor<1>,
}

impl InputDegrees {
    /// Counts the neighbours of every node, itself left out. Mean and standard deviation
    /// are those of each graph of the batch, so that a batch gives what its parts give.
    ///
    /// # Errors
    /// If the graph is not over the nodes of the batch.
    pub fn new(graph: &Csr, batch: &Batch, like: &Tensor<2>) -> Result<Self> {
        if graph.rows() != batch.nodes() || graph.rows() != like.dims()[0] {
            let found = [graph.rows(), batch.nodes()];
            return Err(Error::shape("input degrees: number of nodes", like.dims()[0], found));
        }
        let own = |i: usize| usize::from(graph.find(i, i as u32).is_some());
        let counts: Vec<f64> =
            (0..graph.rows()).map(|i| (graph.degree(i) - own(i)) as f64).collect();
        let (mut means, mut stds) = (Vec::new(), Vec::new());
        for range in batch.ranges() {
            let (end, counts) = (range.end, &counts[range]);
            let nodes = counts.len().max(1) as f64;
            let mean = counts.iter().sum::<f64>() / nodes;
            let variance = counts.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / nodes;
            means.resize(end, mean);
            stds.resize(end, variance.sqrt());
        }
        let vector = |values: Vec<f64>| {
            let data = TensorData::new(values, [graph.rows()]);
            Tensor::from_data(data, (&like.device(), like.dtype()))
        };
        Ok(Self { degrees: vector(counts), means: vector(means), stds: vector(stds) })
    }

    /// `(d - mean) / std`, `[nodes, 1]`; 0 where all degrees of a graph are equal.
    pub fn standardised(&self) -> Tensor<2> {
        let centred = self.degrees.clone() - self.means.clone();
        // Where the standard deviation is 0 so is the numerator, whatever it is divided by.
        let equal = self.stds.clone().equal_elem(0.0);
        (centred / self.stds.clone().mask_fill(equal, 1.0)).unsqueeze_dim(1)
    }

    /// By how much learned degrees may differ from the input's, `[nodes]`: the standard
    /// deviation. Were it 0 in a
    /// graph of equal degrees, nothing could be learned there, so it is that of a random graph instead.
    fn scale(&self) -> Tensor<1> {
        let equal = self.stds.clone().equal_elem(0.0);
        self.stds.clone().mask_where(equal, self.means.clone().sqrt())
    }
}

/// Estimates a continuous neighbourhood size `k_i` for every node (the paper's Eq. 8 and 9).
///
/// `z_i = mu_i + eps_i sigma_i` with `mu = x^ M + b`, `sigma = exp((x^ S + b') / 2)`, `eps` standard normal
/// in training and in draws, 0 in evaluation; then `k_i` from `D(z_i)` as [`DegreeRule`] says. A log-variance
/// above 10 grows as slowly as a logarithm, so that large features do not end in degrees without bound.
///
/// # Shapes
/// Latent features `[nodes, inputs]`, `z` `[nodes, width]`, `k` `[nodes]`.
///
/// # Gradients
/// Flow to the three maps and to the latent features; by [`DegreeRule::Literal`], [`DegreeRule::Sum`] and
/// [`DegreeRule::Expected`] to the samples too.
#[derive(Module, Debug)]
pub struct DegreeEstimator {
    /// `M`: the mean of the latent variable.
    pub mean: Option<Linear>,
    /// `S`: the logarithm of its variance.
    pub log_variance: Option<Linear>,
    /// `D`: from the latent variable to a degree.
    pub decoder: Option<Linear>,
    /// Hidden layers of `M`.
    pub mean_hidden: Vec<Linear>,
    /// Hidden layers of `S`.
    pub variance_hidden: Vec<Linear>,
    /// Hidden layers of `D`.
    pub decoder_hidden: Vec<Linear>,
    #[module(skip)]
    rule: DegreeRule,
}

impl DegreeEstimator {
    /// `k`, `[nodes]`: `z = mu + eps sigma`, then the rule applied to `D(z)`.
    ///
    /// `mass` gives the L1 norm of the samples, which the literal rule, the sum and evidence need, and `input` is
    /// needed by the rules that start from the input graph. Gradients flow to the estimator, to
    /// `latent` and, by those rules, to the samples.
    ///
    /// # Errors
    /// If the rule needs an input graph and there is none, or a degree is not a number.
    pub fn forward(
        &self,
        latent: &Tensor<2>,
        mass: impl FnOnce() -> Result<Tensor<1>>,
        input: Option<&InputDegrees>,
        pass: Pass,
    ) -> Result<Tensor<1>> {
        let (Some(mean), Some(decoder)) = (&self.mean, &self.decoder) else {
            let DegreeRule::Fixed(k) = self.rule else { unreachable!("only fixed rules lack one") };
            let options = (&latent.device(), latent.dtype());
            return Ok(Tensor::full([latent.dims()[0]], k, options));
        };
        let mut z = mean.forward_dense(through(&self.mean_hidden, latent.clone()));
        if let (Some(log_variance), true) = (&self.log_variance, pass.has_noise()) {
            let hidden = through(&self.variance_hidden, latent.clone());
            let log_variance = bounded(log_variance.forward_dense(hidden));
            let std = (log_variance * 0.5).exp();
            z = z.clone() + ops::normal_noise(&z, pass.key())? * std;
        }
        let input = || input.ok_or(Error::NoInputGraph("a degree relative to the input graph"));
        if self.rule == DegreeRule::Standardised {
            z = beside(z, input()?.standardised());
        }
        let decoded = decoder.forward_dense(through(&self.decoder_hidden, z)).squeeze_dim(1);
        let k = match self.rule {
            DegreeRule::Sum | DegreeRule::Expected => decoded + mass()?,
            DegreeRule::Literal | DegreeRule::Fixed(_) => {
                softplus(decoded + mass()? - 1.0, 1.0) + 1.0
            }
            DegreeRule::Evidence => relu(decoded + mass()?),
            DegreeRule::Around(k) => sigmoid(decoded) * (2.0 * (k - 1.0)) + 1.0,
            DegreeRule::OrNone(k) => decoded.tanh() * (k + BELOW_NONE) + k,
            DegreeRule::Relative => {
                let input = input()?;
                relu(decoded * input.scale() + input.degrees.clone()) + 1.0
            }
            DegreeRule::Standardised => {
                let input = input()?;
                relu(decoded * input.stds.clone() + input.means.clone()) + 1.0
            }
        };
        // Said here, where the cause is known: later it would be an endless neighbourhood.
        ops::check_finite(TOO_LARGE, &k)?;
        Ok(k)
    }

    /// Whether it needs the L1 norm of the samples.
    pub(super) fn needs_mass(&self) -> bool {
        matches!(self.rule, DegreeRule::Literal | DegreeRule::Sum | DegreeRule::Expected)
    }

    /// The rule this estimator follows.
    pub fn rule(&self) -> DegreeRule {
        self.rule
    }
}
