//! Sampled futures: the network runs on its own predictions.

use super::{
    super::{Forecast, motion::Unrest},
    DagModel, Tracks,
    model::integers,
    tracks::{difference, features, floats, matrix, repeated},
};
use crate::Result;
use adjoin::{Batch, GraphLearner, Key, LearnedGraph, Pass, nets::dagnet::State};
use burn::tensor::{Int, Tensor};

/// Numbers of one matrix over goals; more samples than fit go one after the other.
const NUMBERS_AT_ONCE: usize = 1 << 23;

/// Futures of all scenes: `samples` drawn ones, and one in which latent variables are their means and
/// goals the most likely ones. Graphs and places are those of the predicted moments.
pub(super) fn forecast(
    model: &DagModel,
    observed: &Tracks,
    predicted: usize,
    samples: usize,
    key: Key,
) -> Result<Vec<Forecast>> {
    let (moments, _) = model.moments(observed, Pass::evaluate())?;
    let state = model.network.observe(&moments)?;
    let goals = model.grid.goals(observed);
    let agents = observed.agents();
    let last = &goals[goals.len() - agents..];
    let at_once = (NUMBERS_AT_ONCE / (agents * model.grid.cells()).max(1)).max(1);
    let sizes = observed.scenes.ranges().map(|range| range.len());
    let mut forecasts: Vec<Forecast> =
        sizes.map(|agents| Forecast::new(samples, agents, predicted)).collect();
    // The last future is the likely one.
    let mut first = 0;
    while first <= samples {
        let count = at_once.min(samples + 1 - first);
        let random = (0..count).map(|at| first + at < samples).collect();
        let futures = Futures::new(model, observed, &state, last, random, key.child(first as u64));
        let places = futures.run(predicted)?;
        for sample in 0..count {
            for (range, forecast) in observed.scenes.ranges().zip(&mut forecasts) {
                for (at, agent) in range.enumerate() {
                    let path = match first + sample < samples {
                        true => forecast.path_mut(first + sample, at),
                        false => forecast.likely_mut(at),
                    };
                    let [x, y] = observed.centres[agent];
                    for (slot, places) in path.iter_mut().zip(&places) {
                        let place = places[sample * agents + agent];
                        *slot = [place[0] + x, place[1] + y];
                    }
                }
            }
        }
        first += count;
    }
    Ok(forecasts)
}

/// Several futures side by side: all agents of the first, then all of the second, and so on.
struct Futures<'a> {
    model: &'a DagModel,
    scenes: Batch,
    state: State,
    goals: Vec<u32>,
    places: Vec<[f32; 2]>,
    steps: Vec<[f32; 2]>,
    steps_before: Vec<[f32; 2]>,
    /// Whether a future is drawn, or the likely one.
    /// How restless every agent was so far.
    unrest: Vec<Unrest>,
    random: Vec<bool>,
    key: Key,
}

impl<'a> Futures<'a> {
    fn new(
        model: &'a DagModel,
        observed: &Tracks,
        state: &State,
        goals: &[u32],
        random: Vec<bool>,
        key: Key,
    ) -> Self {
        let (count, agents, moments) = (random.len(), observed.agents(), observed.moments());
        let steps = observed.steps();
        let at = |moment: usize| steps[moment * agents..(moment + 1) * agents].repeat(count);
        Self {
            model,
            scenes: repeated(&observed.scenes, count),
            state: state.clone().map(|h| h.repeat_dim(0, count)),
            goals: goals.repeat(count),
            places: observed.at(moments - 1).repeat(count),
            steps: at(moments - 1),
            steps_before: at(moments - 2),
            unrest: observed.unrest_at_end(&steps).repeat(count),
            random,
            key,
        }
    }

    fn agents(&self) -> usize {
        self.places.len() / self.random.len()
    }

    /// Places at every predicted moment.
    fn run(mut self, predicted: usize) -> Result<Vec<Vec<[f32; 2]>>> {
        let network = &self.model.network;
        let (device, dtype) = self.model.options();
        let mut found = Vec::with_capacity(predicted);
        let mut learned = self.graph(0)?;
        for moment in 0..predicted {
            let key = self.key.child(moment as u64);
            let places = self.model.places(&self.scenes, &self.places);
            let before = integers(&self.goals, &device);
            let log_p = network.goals(&places, before, &self.state[2], &learned.adjacency)?;
            self.goals = self.choose(&log_p, key.child(1));
            let goals: Tensor<1, Int> = integers(&self.goals, &device);
            let prior = network.prior(goals.clone(), &self.state[2])?;
            let z = network.draw(&prior, Some(self.noise(key.child(2))?));
            let phi_z = network.phi_z.forward(z)?;
            let step = network.decode(&places, goals, phi_z.clone(), &self.state[2])?;
            // The mean: as published, chance is in goals and latent variables.
            let step = floats(&step.slice_dim(1, 0..2));
            let step = step.chunks_exact(2).map(|xy| [xy[0] as f32, xy[1] as f32]).collect();
            self.steps_before = std::mem::replace(&mut self.steps, step);
            for (place, step) in self.places.iter_mut().zip(&self.steps) {
                *place = difference(*place, step.map(|v| -v));
            }
            let seen = self.steps.iter().zip(&self.steps_before);
            self.unrest.iter_mut().zip(seen).for_each(|(one, (now, was))| one.add(*now, *was));
            found.push(self.places.clone());
            if moment + 1 < predicted {
                learned = self.graph(moment + 1)?;
                let phi_x =
                    network.phi_x.forward(matrix(self.steps.concat(), 2, (&device, dtype)))?;
                let (graph, encoded) = (&learned.adjacency, learned.latent.clone());
                self.state = network.advance([phi_x, phi_z], &self.state, graph, encoded)?;
            }
        }
        Ok(found)
    }

    /// The graph of the present places. A learner that is evaluated by draws draws one.
    fn graph(&self, moment: usize) -> Result<LearnedGraph> {
        let pass = match self.model.learner.evaluation_draws() {
            0 => Pass::evaluate(),
            _ => Pass::sample(0, moment as u64),
        };
        let features = features(&self.scenes, &self.places, &self.steps, &self.steps_before);
        let unrest: Vec<f64> = self.unrest.iter().map(Unrest::mean).collect();
        self.model.learn(&self.scenes, features, &unrest, &self.places, pass)
    }

    /// Noise of latent variables: none in the likely future.
    fn noise(&self, key: Key) -> Result<Tensor<2>> {
        let noise = self.model.noise(self.places.len(), key)?;
        let agents = self.agents();
        let scale =
            self.random.iter().flat_map(|&random| vec![f32::from(u8::from(random)); agents]);
        let (device, dtype) = self.model.options();
        Ok(noise * matrix(scale.collect(), 1, (&device, dtype)))
    }

    /// A goal for every agent.
    fn choose(&self, log_p: &Tensor<2>, key: Key) -> Vec<u32> {
        let [_, cells] = log_p.dims();
        let (agents, faithful) = (self.agents(), self.model.network.config().faithful);
        let values = log_p.to_data().convert::<f32>();
        let values: Vec<f32> = values.iter::<f32>().collect();
        let mut weights = vec![0f64; cells];
        let pick = |(row, log_p): (usize, &[f32])| {
            if !self.random[row / agents] {
                let larger =
                    |best: usize, at: usize| if log_p[at] > log_p[best] { at } else { best };
                return (0..cells).reduce(larger).unwrap_or(0) as u32;
            }
            for (weight, &log_p) in weights.iter_mut().zip(log_p) {
                let p = f64::from(log_p).exp();
                *weight = if faithful { p.exp() } else { p };
            }
            let mut rest = key.uniform(row as u64) * weights.iter().sum::<f64>();
            let found = weights.iter().position(|&weight| {
                rest -= weight;
                rest <= 0.0
            });
            found.unwrap_or(cells - 1) as u32
        };
        values.chunks_exact(cells).enumerate().map(pick).collect()
    }
}
