//! A learner and DAG-Net, joined.

use super::{
    super::{
        Forecast, Forecaster, InputGraph, SceneBatch, TrajectoryConfig,
        learners::{learner, needs_one_graph, prepared},
    },
    DagConfig, GoalGrid, HandOn, Tracks, config, graphs,
    tracks::{FEATURES, floats, matrix},
};
use crate::{
    Error, Result,
    settings::{Handed, not_negative},
};
use adjoin::{
    Adjacency, Batch, Csr, Features, GraphInput, GraphLearner, Key, LearnedGraph, Pass,
    learner::AnyLearner,
    loss::reinforce,
    nets::dagnet::{DagNet, Losses, Moments, Unrolled, halves},
    nn::Encoder,
    ops,
};
use adjoin_data::trajectory::TrajectoryDataset;
use burn::{
    module::Module,
    tensor::{DType, Device, Int, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};

/// A graph learner and the network that uses its graphs, one per scene and moment.
#[derive(Module, Debug)]
pub struct DagModel {
    /// Makes the graphs.
    pub learner: AnyLearner,
    /// Makes the features that come with them, where the learner does not.
    pub encoder: Option<Encoder>,
    /// Predicts.
    pub network: DagNet,
    #[module(skip)]
    pub(super) grid: GoalGrid,
    #[module(skip)]
    graph: InputGraph,
    sigma: f64,
    jitter: f64,
    goal_weight: f64,
    kl_warmup: usize,
    reinforce: f64,
    epoch: usize,
}

/// What a model takes from its training scenes, and needs when they are not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    grid: GoalGrid,
    most_agents: usize,
}

impl Fitted {
    /// Lays the grid of goals over the training scenes, and counts their agents.
    ///
    /// # Errors
    /// If a setting is out of range, or there are no training scenes.
    pub fn to(config: &DagConfig, dataset: &TrajectoryDataset) -> Result<Self> {
        if dataset.observed < 2 {
            let what =
                "DAG-Net must see two steps at least: for your own data, --split 8/12".into();
            return Err(Error::Config { place: dataset.name.clone(), what });
        }
        let grid = config.goals.fit(&dataset.train, dataset.observed)?;
        let most_agents = dataset.train.iter().map(|scene| scene.agents.len()).max().unwrap_or(0);
        Ok(Self { grid, most_agents })
    }
}

impl DagModel {
    /// A fresh model; every seed is its own. Goals and the number of agents were taken from the training
    /// scenes.
    pub fn new(
        config: &TrajectoryConfig,
        network: &DagConfig,
        fitted: &Fitted,
        seed: u64,
        device: &Device,
    ) -> Result<Self> {
        let (DagConfig { sigma, hand_on, .. }, faithful) = (network, network.net.faithful);
        let (sigma, hand_on) = (*sigma, *hand_on);
        if sigma.is_nan() || sigma <= 0.0 {
            let what = format!("is {sigma}: must be above 0");
            return Err(Error::Config { place: "network.dagnet.sigma".into(), what });
        }
        not_negative("network.dagnet", "jitter", network.jitter)?;
        let Fitted { grid, most_agents } = fitted;
        let key = Key::new(seed).child(0xda6);
        let handed = if faithful { Handed::Nothing } else { hand_on.of(&config.learner) };
        let encoder = match handed {
            Handed::Encoded(_) => {
                let encoder = HandOn::encoder().with_inputs(FEATURES);
                Some(encoder.init(key.child(3), device)?)
            }
            Handed::Nothing | Handed::Latent(_) => None,
        };
        let encoded = handed.width();
        let learner = learner(&config.learner, FEATURES, key.child(1), device)?;
        needs_one_graph(&learner, 1)?;
        let cells = grid.cells();
        Ok(Self {
            learner,
            encoder,
            network: network.net.init(cells, *most_agents, encoded, key.child(2), device)?,
            grid: grid.clone(),
            graph: config.graph,
            sigma,
            jitter: network.jitter,
            goal_weight: network.goal_weight,
            kl_warmup: network.kl_warmup,
            reinforce: config.train.reinforce,
            epoch: 0,
        })
    }

    /// The graphs on some nodes and the features that come with them, given what a learner sees of the nodes
    /// `[nodes, features]`, how restless they were, and their places.
    pub(super) fn learn(
        &self,
        frames: &Batch,
        features: Vec<f32>,
        unrest: &[f64],
        places: &[[f32; 2]],
        pass: Pass,
    ) -> Result<LearnedGraph> {
        let (device, dtype) = self.options();
        let graph = match self.graph {
            InputGraph::Complete => None,
            InputGraph::Kernel => {
                Some(graphs::distance_graph(frames, places, self.sigma, (&device, dtype))?)
            }
            InputGraph::Isolated => {
                let alone = Csr::empty(frames.nodes(), frames.nodes());
                Some(Adjacency::unweighted(alone, (&device, dtype)))
            }
        };
        let features = Features::from(matrix(features, FEATURES, (&device, dtype)));
        let input = GraphInput::new(&features, graph.as_ref(), frames);
        let of_features = pass.child(1);
        let prepared = prepared(&self.learner, &input, unrest)?;
        let mut learned = self.learner.learn(&input.with_prepared(&prepared), pass)?;
        if let Some(encoder) = &self.encoder {
            learned.latent = Some(encoder.forward(&features, None, of_features)?);
        }
        if self.network.config().faithful {
            learned.adjacency = graphs::mask(&learned.adjacency)?;
        }
        Ok(learned)
    }

    /// Where new tensors belong.
    pub(super) fn options(&self) -> (Device, DType) {
        let like = self.network.goal.weight.val();
        (like.device(), like.dtype())
    }

    /// What the network is told of tracks in the frame of the goals, and the graphs of all their moments.
    ///
    /// # Errors
    /// If there are fewer than two moments, or learner and tracks do not fit.
    pub fn moments(&self, tracks: &Tracks, pass: Pass) -> Result<(Moments, LearnedGraph)> {
        let (agents, moments) = (tracks.agents(), tracks.moments());
        if moments < 2 {
            let what = format!("{moments} moments, but a step needs two");
            return Err(Error::Config { place: "tracks".into(), what });
        }
        let config = self.network.config();
        let (device, dtype) = self.options();
        let made = tracks.steps();
        // The learner sees them too: what it hands on must not tell the network what noise hides from it.
        let seen_steps = match pass.has_noise() && self.jitter > 0.0 {
            true => self.jittered(&made, agents, pass.child(3).key())?,
            false => made.clone(),
        };
        let features = tracks.features(&seen_steps);
        let unrest = tracks.unrest(&seen_steps);
        let (frames, places) = (tracks.frames(), &tracks.places);
        let learned = self.learn(&frames, features, &unrest, places, pass.child(1))?;
        let steps = moments - 1;
        // Of every step the moment before it, or, faithfully, the one after.
        let seen = if config.faithful { agents..moments * agents } else { 0..steps * agents };
        let places = self
            .places(&super::tracks::repeated(&tracks.scenes, steps), &tracks.places[seen.clone()]);
        let goals = self.grid.goals(tracks);
        let state_graph =
            |at: usize| graphs::rows(&learned.adjacency, (at + 1) * agents..(at + 2) * agents);
        let after_first =
            |steps: &[[f32; 2]]| matrix(steps[agents..].concat(), 2, (&device, dtype));
        let moments = Moments {
            seen: after_first(&seen_steps),
            steps: after_first(&made),
            encoded: (self.network.handed.as_ref().and(learned.latent.as_ref()))
                .map(|latent| latent.clone().slice(agents..moments * agents)),
            places,
            goals_before: integers(&goals[..steps * agents], &device),
            goals: integers(&goals[agents..], &device),
            goal_graph: graphs::rows(&learned.adjacency, seen)?,
            state_graphs: (0..steps).map(state_graph).collect::<adjoin::Result<_>>()?,
            noise: match pass.has_noise() {
                true => Some(self.noise(steps * agents, pass.child(2).key())?),
                false => None,
            },
        };
        Ok((moments, learned))
    }

    /// Steps with the noise of training; the first moment, at which none ends, has none.
    fn jittered(&self, steps: &[[f32; 2]], agents: usize, key: Key) -> Result<Vec<[f32; 2]>> {
        let (device, dtype) = self.options();
        let like = Tensor::<2>::zeros([steps.len() - agents, 2], (&device, dtype));
        let noise = floats(&(ops::normal_noise(&like, key)? * self.jitter));
        let noise = std::iter::repeat_n([0.0; 2], agents)
            .chain(noise.chunks_exact(2).map(|n| [n[0], n[1]]));
        Ok(steps.iter().zip(noise).map(|(s, n)| [s[0] + n[0] as f32, s[1] + n[1] as f32]).collect())
    }

    /// Noise of latent variables, `[rows, latent]`.
    pub(super) fn noise(&self, rows: usize, key: Key) -> Result<Tensor<2>> {
        let (device, dtype) = self.options();
        let latent = self.network.config().latent;
        if self.network.config().faithful {
            let uniform = (0..(rows * latent) as u64).map(|at| key.uniform(at) as f32).collect();
            return Ok(matrix(uniform, latent, (&device, dtype)));
        }
        let like = Tensor::<2>::zeros([rows, latent], (&device, dtype));
        Ok(ops::normal_noise(&like, key)?)
    }

    /// The places of all agents of a scene, for each of its agents, `[agents, 2 * most agents]`. Agents
    /// beyond those that the network has room for are left out.
    pub(super) fn places(&self, scenes: &Batch, places: &[[f32; 2]]) -> Tensor<2> {
        let width = 2 * self.network.most_agents();
        let mut values = vec![0f32; places.len() * width];
        for range in scenes.ranges() {
            for agent in range.clone() {
                let row = &mut values[agent * width..(agent + 1) * width];
                for (slot, &place) in row.chunks_exact_mut(2).zip(&places[range.clone()]) {
                    let faithful = self.network.config().faithful;
                    slot.copy_from_slice(&if faithful { place } else { self.grid.scaled(place) });
                }
            }
        }
        let (device, dtype) = self.options();
        matrix(values, width, (&device, dtype))
    }

    /// The terms of the loss on tracks, and the REINFORCE loss of a learner that needs one.
    pub fn losses(&self, tracks: &Tracks, pass: Pass) -> Result<(Losses, Option<Tensor<1>>)> {
        let (moments, learned) = self.moments(tracks, pass)?;
        let unrolled = self.network.unroll(&moments)?;
        let faithful = self.network.config().faithful;
        let losses =
            Losses::new(&unrolled, &moments.steps, &moments.goals, &tracks.counted, faithful);
        let rewarded = self.reinforce > 0.0 && self.learner.is_rewarded();
        let reinforced = match learned.scores.filter(|_| rewarded) {
            None => None,
            Some(scores) => {
                // The graph of a moment is rewarded by the step that comes after it.
                let (rewarded, advantages) = advantages(&unrolled, &moments.steps, &tracks.counted);
                Some(reinforce(&scores, &rewarded, &advantages)? * self.reinforce)
            }
        };
        Ok((losses, reinforced))
    }
}

impl Forecaster for DagModel {
    fn forecast(&self, batch: &SceneBatch, samples: usize, key: Key) -> Result<Vec<Forecast>> {
        let tracks = self.grid.frame(Tracks::observed(batch), batch.observed);
        super::rollout::forecast(self, &tracks, batch.predicted, samples, key)
    }

    fn graphs(&self, batch: &SceneBatch) -> Result<LearnedGraph> {
        let tracks = self.grid.frame(Tracks::observed(batch), batch.observed);
        Ok(self.moments(&tracks, Pass::evaluate())?.1)
    }

    fn published_graphs(&self, batch: &SceneBatch) -> Result<Adjacency> {
        let tracks = Tracks::observed(batch);
        let (device, dtype) = self.options();
        let sigma = config::PUBLISHED_SIGMA;
        graphs::distance_graph(&tracks.frames(), &tracks.places, sigma, (&device, dtype))
    }
}

impl DagModel {
    /// Likelihood, divergence and goals, sums over steps and means over agents; of the divergence only
    /// a part in the first epochs.
    pub fn loss(&self, batch: &SceneBatch, pass: Pass) -> Result<Tensor<1>> {
        let training = pass.has_noise();
        let tracks = self.grid.frame(Tracks::whole(batch), batch.observed);
        let (losses, reinforced) = self.losses(&tracks, pass)?;
        let warmth = (self.epoch + 1) as f64 / self.kl_warmup.max(1) as f64;
        // Validation compares epochs, so it weighs all of them alike.
        let divergence = if training { warmth.min(1.0) } else { 1.0 };
        let total = losses.total(divergence, self.goal_weight);
        Ok(match reinforced.filter(|_| training) {
            Some(reinforced) => total + reinforced,
            None => total,
        })
    }

    pub(in super::super) fn begin_epoch(&mut self, epoch: usize) {
        self.epoch = epoch;
    }
}

pub(super) fn integers(values: &[u32], device: &Device) -> Tensor<1, Int> {
    let values: Vec<i64> = values.iter().map(|&v| i64::from(v)).collect();
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

/// The steps of agents that count, and by how much each was better predicted than the average of them, in units of the
/// average error: what a hard graph is rewarded with.
fn advantages(unrolled: &Unrolled, steps: &Tensor<2>, counted: &[bool]) -> (Vec<u32>, Vec<f64>) {
    let (mean, _) = halves(&unrolled.step.clone().detach(), true);
    let errors = floats(&(steps.clone() - mean).square().sum_dim(1).sqrt());
    let of_all = (0u32..).zip(errors).zip(counted.iter().cycle());
    let (rows, errors): (Vec<u32>, Vec<f64>) =
        of_all.filter(|(_, counts)| **counts).map(|(step, _)| step).unzip();
    let average = (errors.iter().sum::<f64>() / errors.len().max(1) as f64).max(1e-12);
    (rows, errors.into_iter().map(|error| 1.0 - error / average).collect())
}
