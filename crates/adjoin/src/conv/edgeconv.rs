//! EdgeConv.

use super::Conv;
pub use crate::kernels::weighted_edgeconv::EdgeWeighting;
use crate::{
    Error, Result,
    graph::{Adjacency, Features},
    kernels::random::Key,
    nn::{Linear, LinearConfig, Start},
    ops,
    pass::Pass,
};
use burn::{
    module::{Module, Param, RunningState},
    tensor::{Device, Tensor},
};

/// Settings of an [`EdgeConv`] layer.
#[derive(Clone, Copy, Debug)]
pub struct EdgeConvConfig {
    /// Width of the input.
    pub inputs: usize,
    /// Width of the output.
    pub outputs: usize,
    /// Slope of the LeakyReLU below zero.
    pub slope: f64,
    /// Added to the variance before the root.
    pub epsilon: f64,
    /// How fast the running statistics follow.
    pub momentum: f64,
    /// How weights of the graph enter the maximum.
    pub weighting: EdgeWeighting,
}

impl EdgeConvConfig {
    /// A layer as in DGCNN.
    pub fn new(inputs: usize, outputs: usize) -> Self {
        let weighting = EdgeWeighting::default();
        Self { inputs, outputs, slope: 0.2, epsilon: 1e-5, momentum: 0.1, weighting }
    }

    /// The layer, with weights drawn from `key`.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, key: Key, device: &Device) -> Result<EdgeConv> {
        let settings =
            [("slope", self.slope), ("epsilon", self.epsilon), ("momentum", self.momentum)];
        for (name, value) in settings {
            if !(value >= 0.0 && value.is_finite()) {
                let value = value.to_string();
                return Err(Error::Setting { name, value, expected: "finite and not negative" });
            }
        }
        let linear = LinearConfig::new(self.inputs, self.outputs)
            .with_bias(None)
            .with_start(Start::Uniform(2 * self.inputs));
        let vector =
            |value: f64| Start::Constant(value).tensor([self.outputs], [1, 1], key, device);
        Ok(EdgeConv {
            difference: linear.init(key.child(0), device)?,
            centre: linear.init(key.child(1), device)?,
            scale: Param::from_tensor(vector(1.0)),
            shift: Param::from_tensor(vector(0.0)),
            running_mean: RunningState::new(vector(0.0)),
            running_variance: RunningState::new(vector(1.0)),
            slope: self.slope,
            epsilon: self.epsilon,
            momentum: self.momentum,
            weighting: self.weighting,
        })
    }
}

/// A layer of EdgeConv (Wang et al., 2019) with batch norm over all messages:
/// `y_i = max_j leaky(bn([x_j - x_i, x_i] W))`, j over the neighbours of i.
///
/// The linear map splits into two node-level products, `message_ij = p_j + q_i`, and the maximum commutes
/// with batch norm and activation up to the sign of the scale: nothing of size `[edges, outputs]` is built.
/// Weights of the graph enter the maximum as [`EdgeWeighting`] says. A node without neighbours gives 0.
///
/// # Shapes
/// `x` `[nodes, inputs]`, dense or sparse; result `[nodes, outputs]`.
///
/// # Gradients
/// Flow to both halves of `W`, to scale and shift, to dense features and, at the edge that wins the
/// maximum, to the weights of the graph; in training through the batch statistics too.
#[derive(Module, Debug)]
pub struct EdgeConv {
    /// The half of `W` that sees `x_j - x_i`.
    pub difference: Linear,
    /// The half of `W` that sees `x_i`.
    pub centre: Linear,
    /// Scale of the batch norm.
    pub scale: Param<Tensor<1>>,
    /// Shift of the batch norm.
    pub shift: Param<Tensor<1>>,
    /// Mean of the messages, as evaluation uses it.
    pub running_mean: RunningState<Tensor<1>>,
    /// Their variance, as evaluation uses it.
    pub running_variance: RunningState<Tensor<1>>,
    slope: f64,
    epsilon: f64,
    momentum: f64,
    #[module(skip)]
    weighting: EdgeWeighting,
}

impl EdgeConv {
    /// Moves the running statistics towards those of a batch, `[2, C]`.
    fn follow(&self, statistics: &Tensor<2>) {
        let width = statistics.dims()[1];
        let row = |n| statistics.clone().detach().slice([n..n + 1, 0..width]).reshape([width]);
        for (n, running) in [&self.running_mean, &self.running_variance].into_iter().enumerate() {
            let kept = running.value_sync().detach() * (1.0 - self.momentum);
            running.update(kept + row(n) * self.momentum);
            // An update is held back until it is asked for; saved modules must not miss it.
            running.value_sync();
        }
    }
}

impl Conv for EdgeConv {
    /// In training passes with the statistics of this batch, over all edges whatever their weights,
    /// which also move the running ones; elsewhere with the running ones. Weights of the graph enter
    /// the maximum as [`EdgeConvConfig::weighting`] says, and receive gradients; a graph whose weights
    /// are the constant 1 takes the shorter way.
    fn forward(&self, x: &Features, graph: &Adjacency, pass: Pass) -> Result<Tensor<2>> {
        let theta = self.difference.weight.val();
        // The difference of the weights is small, that of the products would not be.
        let rest = self.centre.weight.val() - theta.clone();
        let [p, q] = match x {
            Features::Dense(x) => [ops::matmul(x, &theta)?, ops::matmul(x, &rest)?],
            sparse => [sparse.matmul(&theta)?, sparse.matmul(&rest)?],
        };
        let topology = graph.topology();
        let (scale, shift) = (self.scale.val(), self.shift.val());
        let (slope, epsilon) = (self.slope, self.epsilon);
        // First: layers without outputs are refused, which Burn cannot stack.
        ops::channels(topology, &p, &q)?;
        let extremes = match graph.is_uniform() {
            true => Some(ops::edgeconv_extremes(topology, &p, &q, &scale)?),
            false => None,
        };
        let statistics = match pass.has_dropout() {
            true => {
                let statistics = ops::edgeconv_statistics(topology, &p, &q)?;
                self.follow(&statistics);
                statistics
            }
            false => {
                let running = [&self.running_mean, &self.running_variance];
                Tensor::stack(running.map(RunningState::value_sync).to_vec(), 0)
            }
        };
        match extremes {
            Some(m) => {
                ops::edgeconv_normalise(topology, &m, &statistics, &scale, &shift, slope, epsilon)
            }
            None => ops::edgeconv_weighted(
                topology,
                graph.weights(),
                self.weighting,
                &p,
                &q,
                &statistics,
                &scale,
                &shift,
                slope,
                epsilon,
            ),
        }
    }
}
