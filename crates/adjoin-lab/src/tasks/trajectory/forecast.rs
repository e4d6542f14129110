//! Predicted paths, and what a network must do to be tested on them.

use super::SceneBatch;
use crate::Result;
use adjoin::{Adjacency, Key, LearnedGraph};

/// Predicted positions of the agents of one scene, in metres: sampled paths and the most likely one.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    samples: usize,
    agents: usize,
    steps: usize,
    /// `[samples, agents, steps]`.
    paths: Vec<[f32; 2]>,
    /// `[agents, steps]`.
    likely: Vec<[f32; 2]>,
}

impl Forecast {
    /// All positions at the origin, to be filled.
    pub fn new(samples: usize, agents: usize, steps: usize) -> Self {
        let paths = vec![[0.0; 2]; samples * agents * steps];
        Self { samples, agents, steps, paths, likely: vec![[0.0; 2]; agents * steps] }
    }

    /// Number of sampled paths of every agent.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Number of agents.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// Number of predicted steps.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// A sampled path.
    pub fn path(&self, sample: usize, agent: usize) -> &[[f32; 2]] {
        &self.paths[(sample * self.agents + agent) * self.steps..][..self.steps]
    }

    /// A sampled path, to be written.
    pub fn path_mut(&mut self, sample: usize, agent: usize) -> &mut [[f32; 2]] {
        &mut self.paths[(sample * self.agents + agent) * self.steps..][..self.steps]
    }

    /// The single most likely path.
    pub fn likely(&self, agent: usize) -> &[[f32; 2]] {
        &self.likely[agent * self.steps..][..self.steps]
    }

    /// The single most likely path, to be written.
    pub fn likely_mut(&mut self, agent: usize) -> &mut [[f32; 2]] {
        &mut self.likely[agent * self.steps..][..self.steps]
    }
}

/// A network that predicts trajectories, trained or not. Call it on a model without autodiff.
pub trait Forecaster {
    /// Predictions for every scene of a batch; only what was observed is looked at.
    fn forecast(&self, batch: &SceneBatch, samples: usize, key: Key) -> Result<Vec<Forecast>>;

    /// The graphs that it uses, of all observed frames and without noise. Nodes of a batch of one scene
    /// are in frame order; of several, frames may come in any order.
    fn graphs(&self, batch: &SceneBatch) -> Result<LearnedGraph>;

    /// The graphs that its authors give it, in the same order.
    ///
    /// # Errors
    /// If there are too many pairs for 32-bit indices.
    fn published_graphs(&self, batch: &SceneBatch) -> Result<Adjacency>;
}
