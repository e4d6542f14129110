//! SLAPS.

mod autoencoder;
mod generator;

pub use autoencoder::{Autoencoder, AutoencoderConfig, Masked};
pub use generator::{FreePairs, Generator, MlpPairs, ScaledPairs};

use super::{Shape, table::Settings};
use crate::{
    Error, Result,
    graph::{GraphInput, Progress},
    kernels::random::Key,
    nn::{Draw, GraphLearner, LearnedGraph, Network, Outcome, Reading, Stage},
    pass::Pass,
};
use burn::{module::Module, tensor::Device};
use serde::{Deserialize, Serialize};

/// What scores pairs of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlapsGenerator {
    /// A number for every candidate pair; see [`FreePairs`].
    Fp,
    /// Cosines of the output of an MLP; see [`MlpPairs`].
    Mlp,
    /// Cosines of scaled features; see [`ScaledPairs`].
    #[default]
    MlpD,
}

/// What stands between the two layers of a generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlapsActivation {
    /// `max(x, 0)`.
    #[default]
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

/// Settings of [`Slaps`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlapsConfig {
    /// What scores pairs of nodes.
    pub generator: SlapsGenerator,
    /// Neighbours of a node, itself left out.
    pub k: usize,
    /// What stands between the two layers of a generator.
    pub activation: SlapsActivation,
    /// i of `fp`: pairs that are no candidates have the weight `e^-i`.
    pub depth: f64,
    /// Share of the entries of the graph that the network does not see in a step.
    pub edge_dropout: f64,
    /// The denoising term.
    pub autoencoder: AutoencoderConfig,
    /// Share of the epochs at the start in which the denoising term trains the generator alone.
    pub alone: f64,
}

impl Default for SlapsConfig {
    fn default() -> Self {
        Self {
            generator: SlapsGenerator::MlpD,
            k: 15,
            activation: SlapsActivation::Relu,
            depth: 6.0,
            edge_dropout: 0.5,
            autoencoder: AutoencoderConfig::default(),
            alone: 0.2,
        }
    }
}

impl SlapsConfig {
    /// The default settings with another generator.
    pub fn of(generator: SlapsGenerator) -> Self {
        let k = match generator {
            SlapsGenerator::Fp => 30,
            SlapsGenerator::Mlp => 20,
            SlapsGenerator::MlpD => 15,
        };
        Self { generator, k, ..Self::default() }
    }

    fn check(&self) -> Result<()> {
        Error::positive(self.k, "k", "must be at least 1")?;
        let deep = self.depth > 0.0 && self.depth.is_finite();
        Error::holds(deep, "depth", self.depth, "must be above 0")?;
        for (name, value) in [("edge_dropout", self.edge_dropout), ("alone", self.alone)] {
            Error::holds((0.0..1.0).contains(&value), name, value, "must be in [0, 1)")?;
        }
        self.autoencoder.check()
    }

    /// The learner for the nodes of some data, with weights drawn from `key`.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(&self, data: &GraphInput, key: Key, device: &Device) -> Result<Slaps> {
        self.check()?;
        let inputs = data.features.width();
        Ok(Slaps {
            generator: Generator::new(self, data, inputs, key.child(0), device)?,
            autoencoder: Autoencoder::new(&self.autoencoder, data.features, key.child(1), device)?,
            config: self.clone(),
        })
    }
}

impl Settings for SlapsConfig {
    type Learner = Slaps;

    fn init_for(
        &self,
        data: &GraphInput,
        _shape: &Shape,
        key: Key,
        device: &Device,
    ) -> Result<Slaps> {
        self.init(data, key, device)
    }
}

/// SLAPS (Fatemi et al., 2021): a graph from features alone, which also has to help an autoencoder to restore
/// features that were hidden.
///
/// A [`Generator`] gives weights `P >= 0` to pairs of nodes, every node paired with itself. The graph is
/// `D^-1/2 (P + P^T) / 2 D^-1/2` with D its row sums, and is used as it is; entries are left out of every
/// step of training after scaling.
///
/// | generator | P |
/// |---|---|
/// | [`FreePairs`] | `elu(m_ij) + 1` at candidates, a constant elsewhere: a sparse matrix plus one of rank one |
/// | [`MlpPairs`] | `max(cos(e_i, e_j), 0)` at the k nearest of every node by E, an MLP of X |
/// | [`ScaledPairs`] | the same with `E = act(X * w_1) * w_2`, which is as sparse as X |
///
/// The term `autoencoder` is that of [`Autoencoder`]. It trains the generator alone at first. The given graph
/// is not looked at. A [`FreePairs`] serves the nodes it was made for, and networks that take a map without
/// edges: GCN and GraphSAGE.
///
/// # Shapes
/// Features `[nodes, inputs]`; `k + 1` entries a node before the graph is made symmetric.
///
/// # Gradients
/// Flow through the weights of chosen pairs to the generator. Features are constants, but for
/// those of an MLP.
#[derive(Module, Debug)]
pub struct Slaps {
    /// What scores pairs of nodes.
    pub generator: Generator,
    /// What has to restore hidden features.
    pub autoencoder: Autoencoder,
    #[module(skip)]
    config: SlapsConfig,
}

impl Slaps {
    /// The settings this learner was made with.
    pub fn config(&self) -> &SlapsConfig {
        &self.config
    }
}

impl GraphLearner for Slaps {
    /// The scaled graph; of free pairs without what all pairs have in common.
    fn learn(&self, input: &GraphInput, _pass: Pass) -> Result<LearnedGraph> {
        Ok(LearnedGraph::plain(self.generator.make(&self.config, input)?.graph))
    }

    /// Draws differ in the entries that are left out, and in the dropout of the network.
    fn drive(
        &self,
        input: &GraphInput,
        network: &dyn Network,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        let made = self.generator.make(&self.config, input)?;
        let draws = draws.max(1);
        let share = 1.0 / draws as f64;
        let run = |draw: usize| {
            let [of_graph, of_network] = [1, 2].map(|part| pass.child(part).child(draw as u64));
            let map = made.dropped(self.config.edge_dropout, of_graph)?;
            let logits = network.run(input.features, &map, of_network)?;
            let graph = LearnedGraph::plain(made.graph.clone());
            Ok(Draw { graph, logits, share, log_weight: None })
        };
        let draws = (0..draws).map(run).collect::<Result<_>>()?;
        let AutoencoderConfig { weight, edge_dropout, .. } = self.config.autoencoder;
        let mut terms = Vec::new();
        if pass.has_dropout() && weight > 0.0 {
            let [of_mask, of_graph, own] = [3, 4, 5].map(|part| pass.child(part));
            let masked = self.autoencoder.mask(input.features, of_mask.key())?;
            let map = made.dropped(edge_dropout, of_graph)?;
            let loss = self.autoencoder.loss(&map, &masked, own)?;
            terms.extend(loss.map(|loss| ("autoencoder", loss * weight)));
        }
        Ok(Outcome { draws, reading: Reading::MeanOfLosses, terms })
    }

    fn stage(&self, at: Progress) -> Stage {
        let alone = (self.config.alone * at.epochs as f64) as usize;
        match at.epoch < alone && self.config.autoencoder.weight > 0.0 {
            true => Stage { task: false, network: false, learner: true },
            false => Stage::ALL,
        }
    }
}
