//! DGM, the discrete form.

use super::{Shape, table::Settings};
use crate::{
    Error, Result,
    dgg::{Encoder, EncoderConfig},
    graph::{Adjacency, Features, GraphInput},
    kernels::{
        pairs::Similarity,
        random::{Key, PairNoise},
    },
    nn::{EdgeScores, GraphLearner, LearnedGraph, Start},
    ops::{self, StreamScorer},
    pass::Pass,
    topology::{Batch, Csr, SelfLoops},
};
use burn::{
    module::{Module, Param},
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Serialize};

/// The logarithm of the scale is kept within plus and minus this: published is 5, too little where
/// neighbours are a few hundredths apart.
const LARGEST_LOG_SCALE: f64 = 10.0;

/// Settings of [`Dgm`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DgmConfig {
    /// Width of the features, set by [`with_inputs`](Self::with_inputs); no part of a configuration file.
    #[serde(skip)]
    pub inputs: Option<usize>,
    /// Neighbours of a node; it may be one of them itself.
    pub k: usize,
    /// The encoder `h = f(x)`; with propagation it is a graph convolution over the input graph.
    pub encoder: EncoderConfig,
    /// Where `t` starts.
    pub log_scale: f64,
    /// Subtract the Gumbel draw from `log p`, as the public code does, instead of adding it: then
    /// draws do not follow the softmax law.
    pub subtract_noise: bool,
    /// Graphs that are drawn at evaluation, their predictions to be averaged; with 0, predictions
    /// come from the one graph without noise.
    pub evaluation_draws: usize,
}

impl Default for DgmConfig {
    fn default() -> Self {
        Self {
            inputs: None,
            k: 5,
            encoder: EncoderConfig { width: 16, dropout: 0.0, ..EncoderConfig::default() },
            log_scale: 4.0,
            subtract_noise: false,
            evaluation_draws: 8,
        }
    }
}

impl DgmConfig {
    /// The default settings, for features of width `inputs`.
    pub fn new(inputs: usize) -> Self {
        Self::default().with_inputs(inputs)
    }

    /// The same for features of another width.
    #[must_use]
    pub fn with_inputs(self, inputs: usize) -> Self {
        Self { inputs: Some(inputs), ..self }
    }

    /// The learner, with weights drawn from `key`.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, key: Key, device: &Device) -> Result<Dgm> {
        let setting = |name, value: String, expected, holds: bool| {
            if holds { Ok(()) } else { Err(Error::Setting { name, value, expected }) }
        };
        let fits = self.k > 0 && u32::try_from(self.k).is_ok();
        setting("k", self.k.to_string(), "must be at least 1 and fit 32 bits", fits)?;
        let finite = self.log_scale.is_finite();
        setting("log_scale", self.log_scale.to_string(), "must be finite", finite)?;
        let encoder = EncoderConfig { inputs: self.inputs, ..self.encoder.clone() };
        let log_scale = Start::Constant(self.log_scale).tensor([1], [1, 1], key, device);
        Ok(Dgm {
            encoder: encoder.init(key.child(1), device)?,
            log_scale: Param::from_tensor(log_scale),
            config: self.clone(),
        })
    }
}

impl Settings for DgmConfig {
    type Learner = Dgm;

    fn init_for(
        &self,
        _data: &GraphInput,
        shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<Dgm> {
        self.clone().with_inputs(shape.features).init(key, device)
    }
}

/// The discrete graph module (Kazi et al., 2022): each node takes the k nodes that come first in a Gumbel
/// draw of `log p_ij = -|h_i - h_j|^2 exp(t)`, itself included, with `h = f(x)` and t kept within +-10.
///
/// # Shapes
/// Features `[nodes, inputs]`, dense or sparse, `h` `[nodes, width]`; k edges a node, fewer where its graph
/// has fewer nodes.
///
/// # Gradients
/// The graph is a hard choice: all its weights are the constant 1, and no gradient flows through it
/// to the learner, nor from the learner to the features. What the learner learns from is
/// [`reinforce`](crate::loss::reinforce) on the log-scores of the edges that were chosen.
#[derive(Module, Debug)]
pub struct Dgm {
    /// `f`.
    pub encoder: Encoder,
    /// `t`, `[1]`.
    pub log_scale: Param<Tensor<1>>,
    #[module(skip)]
    config: DgmConfig,
}

impl GraphLearner for Dgm {
    fn learn(&self, input: &GraphInput, pass: Pass) -> Result<LearnedGraph> {
        let mut graphs = self.sample(input, pass, 1)?;
        Ok(graphs.remove(0))
    }

    /// Encodes once, draws `samples` times.
    fn sample(&self, input: &GraphInput, pass: Pass, samples: usize) -> Result<Vec<LearnedGraph>> {
        input.check()?;
        input.features.check_finite()?;
        let features = match input.features {
            Features::Dense(x) => Features::Dense(x.clone().detach()),
            sparse => sparse.clone(),
        };
        let latent = self.encoder.forward(&features, input.graph, pass.child(1))?;
        let draws = (0..samples.max(1) as u64).map(|draw| pass.child(2).child(draw));
        draws.map(|pass| self.draw(&latent, input.batch, pass)).collect()
    }

    fn evaluation_draws(&self) -> usize {
        self.config.evaluation_draws
    }

    fn is_rewarded(&self) -> bool {
        true
    }
}

impl Dgm {
    /// The settings this learner was made with.
    pub fn config(&self) -> &DgmConfig {
        &self.config
    }

    /// `log p_ij = -|h_i - h_j|^2 exp(t)` of any pairs, `[pairs]`, not normalised and without noise.
    /// Gradients flow to the encoder and to `t`.
    ///
    /// # Errors
    /// If the pairs name nodes that `latent` does not have.
    pub fn log_scores(&self, latent: &Tensor<2>, pairs: &Csr) -> Result<Tensor<1>> {
        let distance = ops::pair_similarity(pairs, Similarity::Distance, latent)?;
        Ok(distance.square().neg() * self.scale())
    }

    fn scale(&self) -> Tensor<1> {
        self.log_scale.val().clamp(-LARGEST_LOG_SCALE, LARGEST_LOG_SCALE).exp()
    }

    fn draw(&self, latent: &Tensor<2>, batch: &Batch, pass: Pass) -> Result<LearnedGraph> {
        let k = self.config.k;
        let scale = if self.config.subtract_noise { -1.0 } else { 1.0 };
        let noise =
            pass.has_noise().then(|| PairNoise { key: pass.key(), scale, symmetric: false });
        let scorer =
            StreamScorer::SquaredDistance { u: latent.clone().detach(), t: self.scale().detach() };
        let others = ops::top_candidates(&scorer, noise, &vec![k as u32; batch.nodes()], batch)?;
        // The stream leaves out the node itself: it is offered here, and the worst of k + 1 goes.
        let offered = others.with_self_loops(SelfLoops::Add);
        let log_scores = self.log_scores(latent, &offered)?;
        let entries = offered.largest(&perturbed(&offered, &log_scores, noise)?, k);
        let pairs = offered.keep(&entries);
        let log_scores = ops::take(&log_scores, entries, 0.0)?;
        let device = (&latent.device(), latent.dtype());
        Ok(LearnedGraph {
            latent: Some(latent.clone()),
            scores: Some(EdgeScores { pairs: pairs.clone(), log_scores }),
            ..LearnedGraph::plain(Adjacency::unweighted(pairs, device))
        })
    }
}

fn perturbed(pairs: &Csr, log_scores: &Tensor<1>, noise: Option<PairNoise>) -> Result<Vec<f64>> {
    let mut values = ops::to_f64("scores", log_scores)?;
    if let Some(noise) = noise {
        for (value, (i, j)) in values.iter_mut().zip(pairs.iter()) {
            *value += noise.scale * noise.gumbel(i, j);
        }
    }
    Ok(values)
}
