//! PTDNet.

use super::{Shape, table::Settings};
use crate::{
    Error, Result,
    graph::{Adjacency, Features, GraphInput, Progress},
    kernels::random::Key,
    loss,
    nn::{
        Draw, EdgeScores, GraphLearner, LearnedGraph, Linear, LinearConfig, Network, Outcome,
        Reading, Start,
    },
    ops::{self, PairNetwork},
    pass::Pass,
    topology::Csr,
};
use burn::{
    module::{Module, Param},
    tensor::{
        Device, Tensor,
        activation::{log_sigmoid, relu, sigmoid},
    },
};
use serde::{Deserialize, Serialize};

/// Settings of [`PtdNet`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PtdNetConfig {
    /// Width of the input of every layer of the network, set by [`with_widths`](Self::with_widths); no
    /// part of a configuration file.
    #[serde(skip)]
    pub widths: Option<Vec<usize>>,
    /// Width of what a gate sees of a node.
    pub hidden: usize,
    /// Width of the hidden layer over both nodes; 0 for a score that is a sum of one number a node.
    pub pair_hidden: usize,
    /// `gamma`, below 0: how far a gate is stretched downwards.
    pub low: f64,
    /// `zeta`, above 1: how far a gate is stretched upwards.
    pub high: f64,
    /// Temperature at the start of training.
    pub start: f64,
    /// What is left of the temperature after an epoch.
    pub cooling: f64,
    /// Lowest temperature.
    pub lowest: f64,
    /// Weight of the expected share of open gates.
    pub sparsity: f64,
    /// Weight of the largest singular values; 0 for PTDNet without the low-rank term.
    pub low_rank: f64,
    /// How many singular values.
    pub rank: usize,
    /// Weight of the spread of the outputs over the draws.
    pub consistency: f64,
}

impl Default for PtdNetConfig {
    fn default() -> Self {
        Self {
            widths: None,
            hidden: 16,
            pair_hidden: 16,
            low: -0.1,
            high: 1.1,
            start: 2.0,
            cooling: 0.99,
            lowest: 0.05,
            sparsity: 0.1,
            low_rank: 0.01,
            rank: 1,
            consistency: 0.01,
        }
    }
}

impl PtdNetConfig {
    /// The same for the layers of a network, see [`Network::widths`].
    #[must_use]
    pub fn with_widths(self, widths: Vec<usize>) -> Self {
        Self { widths: Some(widths), ..self }
    }

    /// PTDNet without the low-rank term.
    pub fn without_low_rank() -> Self {
        Self { low_rank: 0.0, ..Self::default() }
    }

    fn check(&self) -> Result<()> {
        Error::positive(self.hidden, "hidden", "must be at least 1")?;
        Error::positive(self.rank, "rank", "must be at least 1")?;
        let finite = |value: f64| value.is_finite();
        // At 0 and 1 the expected share of open gates has no gradient.
        let (low, high) = (self.low, self.high);
        Error::holds(low < 0.0 && finite(low), "low", low, "must be below 0")?;
        Error::holds(high > 1.0 && finite(high), "high", high, "must be above 1")?;
        for (name, value) in [("start", self.start), ("lowest", self.lowest)] {
            Error::holds(value > 0.0 && finite(value), name, value, "must be above 0")?;
        }
        let falls = self.cooling > 0.0 && self.cooling <= 1.0;
        Error::holds(falls, "cooling", self.cooling, "must be above 0 and at most 1")?;
        Error::weights(&[
            ("sparsity", self.sparsity),
            ("low_rank", self.low_rank),
            ("consistency", self.consistency),
        ])
    }

    /// The learner, with weights drawn from `key`.
    ///
    /// # Errors
    /// Names the setting that is out of range, or the widths if they were never set.
    pub fn init(&self, key: Key, device: &Device) -> Result<PtdNet> {
        self.check()?;
        let expected = "call with_widths(inputs of the layers) before init";
        let value = || "never set".to_string();
        let widths = self.widths.as_ref();
        let missing = || Error::Setting { name: "widths", value: value(), expected };
        let gate = |(at, &width): (usize, &usize)| {
            EdgeGate::new(self, width, key.child(at as u64), device)
        };
        let widths = widths.ok_or_else(missing)?;
        let gates = widths.iter().enumerate().map(gate).collect::<Result<_>>()?;
        Ok(PtdNet { gates, config: self.clone() })
    }
}

impl Settings for PtdNetConfig {
    type Learner = PtdNet;

    fn init_for(
        &self,
        _data: &GraphInput,
        shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<PtdNet> {
        self.clone().with_widths(shape.widths.clone()).init(key, device)
    }
}

/// The score of an edge by what a layer gets: `a_ij = <w, relu(P_i U + Q_j V + c)> + b` with
/// `P = relu(H W_1 + b_1)` of the receiver and `Q = relu(H W_2 + b_2)` of the sender. Without a hidden layer
/// over both, `a_ij = P_i u + Q_j v + b`.
#[derive(Module, Debug)]
pub struct EdgeGate {
    /// `W_1` and `b_1`.
    pub receiver: Linear,
    /// `W_2` and `b_2`.
    pub sender: Linear,
    /// `U` and `c`; without a hidden layer `u`.
    pub of_receiver: Linear,
    /// `V`; without a hidden layer `v`.
    pub of_sender: Linear,
    /// `w`, if there is a hidden layer.
    pub output: Option<Param<Tensor<1>>>,
    /// `b`, `[1]`.
    pub bias: Param<Tensor<1>>,
}

impl EdgeGate {
    fn new(config: &PtdNetConfig, inputs: usize, key: Key, device: &Device) -> Result<Self> {
        let PtdNetConfig { hidden, pair_hidden, .. } = *config;
        let linear = |inputs, outputs, bias, child| {
            let linear = LinearConfig::new(inputs, outputs).with_start(Start::Kaiming);
            linear.with_bias(bias).init(key.child(child), device)
        };
        let vector = |start: Start, width: usize, child| {
            let tensor = start.tensor([width], [width, 1], key.child(child), device);
            Param::from_tensor(tensor)
        };
        let wide = pair_hidden > 0;
        let (bias, width) = (wide.then_some(0.0), pair_hidden.max(1));
        Ok(Self {
            receiver: linear(inputs, hidden, Some(0.0), 0)?,
            sender: linear(inputs, hidden, Some(0.0), 1)?,
            of_receiver: linear(hidden, width, bias, 2)?,
            of_sender: linear(hidden, width, None, 3)?,
            output: wide.then(|| vector(Start::Kaiming, pair_hidden, 4)),
            bias: vector(Start::Constant(0.0), 1, 5),
        })
    }

    /// `a` of some pairs, `[pairs]`.
    ///
    /// # Errors
    /// If pairs and features do not fit.
    pub fn scores(&self, x: &Features, pairs: &Csr) -> Result<Tensor<1>> {
        let of =
            |first: &Linear, second: &Linear| Ok(second.forward_dense(relu(first.forward(x)?)));
        let receiver = of(&self.receiver, &self.of_receiver)?;
        let sender = of(&self.sender, &self.of_sender)?;
        let scores = match &self.output {
            Some(output) => {
                let network = PairNetwork { receiver, sender, scalar: None, slope: 0.0 };
                ops::pair_logits(pairs, &network, &output.val())?
            }
            None => {
                let [of_receiver, of_sender] = [receiver, sender].map(|v| v.flatten(0, 1));
                ops::broadcast_rows(pairs, &of_receiver)? + ops::gather_columns(pairs, &of_sender)?
            }
        };
        Ok(scores + self.bias.val())
    }
}

/// PTDNet (Luo et al., 2021): every layer opens and closes the given edges by what it gets.
///
/// With H the input of a layer before dropout, `a_ij` the score of an [`EdgeGate`] of that layer, l logistic
/// noise and t a temperature, the weight of a given edge is a hard concrete gate:
///
/// `s = sigmoid((a_ij + l_ij) / t)`, `z_ij = clip(s (zeta - gamma) + gamma, 0, 1)`.
///
/// Given weights are replaced; self-loops are left to the convolutions. Evaluation has no noise and `t = 1`.
/// In training `t = max(lowest, start cooling^epoch)`. Draws are read as the loss of their mean, with these terms:
///
/// | term | value |
/// |---|---|
/// | `sparsity` | sum over layers and draws of the mean over edges of `sigmoid(a - t ln(-gamma / zeta))`, the chance that a gate is open |
/// | `low_rank` | sum over layers, mean over draws, of the largest singular values of `z` |
/// | `consistency` | half the sum over draws, nodes and classes of the squared distance to the mean output |
///
/// [`learn`](GraphLearner::learn) gives the gates of the first layer; a draw shows the mean over the layers.
///
/// # Shapes
/// A graph for each layer, over the given edges.
///
/// # Gradients
/// Flow through open gates to the scores, and through them to the network's hidden features; a gate that is
/// clipped passes none on.
#[derive(Module, Debug)]
pub struct PtdNet {
    /// The gates of every layer.
    pub gates: Vec<EdgeGate>,
    #[module(skip)]
    config: PtdNetConfig,
}

/// What one run of the network leaves for the loss.
struct Run {
    draw: Draw,
    open: Option<Tensor<1>>,
    singular: Option<Tensor<1>>,
}

impl PtdNet {
    /// The settings this learner was made with.
    pub fn config(&self) -> &PtdNetConfig {
        &self.config
    }

    /// The temperature of a step of training.
    pub fn temperature(&self, at: Progress) -> f64 {
        let PtdNetConfig { start, cooling, lowest, .. } = self.config;
        (start * cooling.powf(at.epoch as f64)).max(lowest)
    }

    /// The weights of gates with some scores, and the temperature.
    fn gates(
        &self,
        edges: &Csr,
        scores: &Tensor<1>,
        at: Option<Progress>,
        pass: &Pass,
    ) -> Result<(Tensor<1>, f64)> {
        let PtdNetConfig { low, high, .. } = self.config;
        let (keys, temperature) = match pass.has_noise() {
            true => {
                let noise = ops::logistic_noise(edges, pass.key(), false, scores)?;
                let temperature = at.map_or(1.0, |at| self.temperature(at));
                ((scores.clone() + noise) / temperature, temperature)
            }
            false => (scores.clone(), 1.0),
        };
        let stretched = sigmoid(keys) * (high - low) + low;
        Ok((stretched.clamp(0.0, 1.0), temperature))
    }

    /// The expected share of open gates among those with some scores, `[1]`.
    pub fn open_share(&self, scores: &Tensor<1>, temperature: f64) -> Tensor<1> {
        let PtdNetConfig { low, high, .. } = self.config;
        sigmoid(scores.clone() - temperature * (-low / high).ln()).mean()
    }

    fn run(&self, input: &GraphInput, network: &dyn Network, passes: [Pass; 2]) -> Result<Run> {
        let [noise, pass] = passes;
        let given = given(input)?;
        let edges = given.topology();
        if network.depth() != self.gates.len() {
            let (expected, found) = (self.gates.len(), network.depth());
            return Err(Error::shape(
                "PTDNet: layers of the network that it drives",
                expected,
                found,
            ));
        }
        let mut state = network.begin(input.features, &pass)?;
        let (mut sum, mut open, mut singular) = (None, None, None);
        let add = |sum: &mut Option<Tensor<1>>, term: Tensor<1>| {
            *sum = Some(sum.take().map_or(term.clone(), |sum| sum + term));
        };
        let training = noise.has_noise() && edges.edges() > 0;
        for (at, gate) in self.gates.iter().enumerate() {
            let scores = gate.scores(&state.features()?, edges)?;
            let noise = noise.child(at as u64);
            let (weights, temperature) = self.gates(edges, &scores, input.progress, &noise)?;
            let graph = Adjacency::new(edges.clone(), weights.clone())?;
            if training && self.config.sparsity > 0.0 {
                add(&mut open, self.open_share(&scores, temperature));
            }
            if training && self.config.low_rank > 0.0 {
                let key = noise.child(1).key();
                add(&mut singular, loss::low_rank(&graph, self.config.rank, key)?);
            }
            add(&mut sum, weights);
            state = network.layer(at, state, &graph, &pass)?;
        }
        let logits = network.finish(state, &pass)?;
        let graph = match sum {
            Some(sum) => Adjacency::new(edges.clone(), sum / self.gates.len() as f64)?,
            None => given,
        };
        let draw = Draw { graph: LearnedGraph::plain(graph), logits, share: 1.0, log_weight: None };
        Ok(Run { draw, open, singular })
    }

    /// Half the sum of squares of the distance of all outputs to their mean.
    fn spread(draws: &[Draw]) -> Option<Tensor<1>> {
        let logits = |draw: &Draw| draw.logits.clone();
        let mean = draws.iter().map(logits).reduce(|a, b| a + b)? / draws.len() as f64;
        let far = |draw: &Draw| (logits(draw) - mean.clone()).square().sum() * 0.5;
        draws.iter().map(far).reduce(|a, b| a + b)
    }
}

/// The given edges without self-loops, which convolutions add by themselves.
fn given(input: &GraphInput) -> Result<Adjacency> {
    input.check()?;
    input.graph.ok_or(Error::NoInputGraph("PTDNet"))?.filter(|i, j| i != j)
}

impl GraphLearner for PtdNet {
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph> {
        let given = given(input)?;
        let edges = given.topology();
        let gate = self.gates.first().ok_or_else(|| {
            Error::shape("PTDNet: layers of the network that it drives", "at least 1", 0)
        })?;
        let scores = gate.scores(input.features, edges)?;
        let (weights, _) = self.gates(edges, &scores, input.progress, &pass)?;
        let adjacency = Adjacency::new(edges.clone(), weights)?;
        let scores = EdgeScores { pairs: edges.clone(), log_scores: log_sigmoid(scores) };
        Ok(LearnedGraph { scores: Some(scores), ..LearnedGraph::plain(adjacency) })
    }

    /// A graph for every layer of every draw, from what the layer gets.
    fn drive(
        &self,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        let draws = draws.max(1);
        let share = 1.0 / draws as f64;
        let run = |draw: usize| {
            let passes = [1, 2].map(|part| pass.child(part).child(draw as u64));
            self.run(input, network, passes)
        };
        let runs: Vec<Run> = (0..draws).map(run).collect::<Result<_>>()?;
        let total = |term: fn(&Run) -> Option<&Tensor<1>>| {
            runs.iter().filter_map(term).cloned().reduce(|a, b| a + b)
        };
        let PtdNetConfig { sparsity, low_rank, consistency, .. } = self.config;
        let open = total(|run| run.open.as_ref()).map(|sum| ("sparsity", sum * sparsity));
        let singular = total(|run| run.singular.as_ref());
        let singular = singular.map(|sum| ("low_rank", sum * (low_rank * share)));
        let draws: Vec<Draw> = runs.into_iter().map(|run| Draw { share, ..run.draw }).collect();
        let spread = (pass.has_noise() && consistency > 0.0 && draws.len() > 1)
            .then(|| Self::spread(&draws))
            .flatten()
            .map(|spread| ("consistency", spread * consistency));
        let terms = [open, singular, spread].into_iter().flatten().collect();
        Ok(Outcome { draws, reading: Reading::LossOfMean, terms })
    }
}
