//! How far predictions are from what happened, in metres.

use super::Forecast;
use crate::task::{Column, Measure, Metrics, or_nan};
use adjoin_data::trajectory::Scene;
use serde::{Deserialize, Serialize};

/// Average and final displacement error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Displacement {
    /// Mean distance over the predicted steps.
    pub ade: f64,
    /// Distance at the last predicted step.
    pub fde: f64,
}

impl Displacement {
    /// Of one predicted path.
    pub fn between(predicted: &[[f32; 2]], truth: &[[f32; 2]]) -> Self {
        let distance = |(p, t): (&[f32; 2], &[f32; 2])| {
            (f64::from(p[0]) - f64::from(t[0])).hypot(f64::from(p[1]) - f64::from(t[1]))
        };
        let mut last = 0.0;
        let sum: f64 = predicted.iter().zip(truth).map(distance).inspect(|&d| last = d).sum();
        Self { ade: sum / predicted.len().max(1) as f64, fde: last }
    }

    fn plus(self, other: Self) -> Self {
        Self { ade: self.ade + other.ade, fde: self.fde + other.fde }
    }

    /// The smaller of each: ADE and FDE may come from different samples.
    fn least(self, other: Self) -> Self {
        Self { ade: self.ade.min(other.ade), fde: self.fde.min(other.fde) }
    }

    fn over(self, count: usize) -> Self {
        let count = count.max(1) as f64;
        Self { ade: self.ade / count, fde: self.fde / count }
    }
}

/// Errors over a set of scenes; means over agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// The best sample of every agent (as Social-STGCNN counts).
    pub per_agent: Displacement,
    /// The sample that is best for all agents of a scene together (as Social-GAN and DAG-Net count).
    pub per_scene: Displacement,
    /// The single most likely path.
    pub likely: Displacement,
}

/// How well paths are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryMetrics {
    /// Errors in metres.
    #[serde(flatten)]
    pub scores: Scores,
    /// The loss.
    #[serde(deserialize_with = "or_nan")]
    pub loss: f64,
}

const fn metres(key: &'static str, title: &'static str) -> Column {
    Column { key, title, measure: Measure::METRES }
}

impl Metrics for TrajectoryMetrics {
    const COLUMNS: &'static [Column] = &[
        metres("ade", "ADE"),
        metres("fde", "FDE"),
        metres("scene_ade", "scene ADE"),
        metres("scene_fde", "scene FDE"),
        metres("likely_ade", "likely ADE"),
        metres("likely_fde", "likely FDE"),
        Column { key: "loss", title: "loss", measure: Measure::LOSS },
    ];

    fn values(&self) -> Vec<f64> {
        let Scores { per_agent, per_scene, likely } = self.scores;
        let ways = [per_agent, per_scene, likely].into_iter();
        ways.flat_map(|way| [way.ade, way.fde]).chain([self.loss]).collect()
    }

    fn from_values(values: &[f64]) -> Self {
        let at = |column: usize| values.get(column).copied().unwrap_or(f64::NAN);
        let way = |column: usize| Displacement { ade: at(column), fde: at(column + 1) };
        let scores = Scores { per_agent: way(0), per_scene: way(2), likely: way(4) };
        Self { scores, loss: at(6) }
    }

    fn loss(&self) -> f64 {
        self.loss
    }
}

/// Adds up errors, scene by scene.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    agents: usize,
    sums: Scores,
}

impl Tally {
    /// Adds the errors of one scene; the truth is the end of it, as long as the forecast. Distractors do not
    /// count.
    pub fn add(&mut self, scene: &Scene, forecast: &Forecast) {
        let truth = |agent: usize| &scene.path(agent)[scene.steps - forecast.steps()..];
        let infinite = Displacement { ade: f64::INFINITY, fde: f64::INFINITY };
        let agents: Vec<usize> = (0..forecast.agents()).filter(|&at| scene.counts(at)).collect();
        let mut best_of_agents = vec![infinite; agents.len()];
        let mut best_of_scene = infinite;
        for sample in 0..forecast.samples() {
            let mut together = Displacement::default();
            for (&agent, best) in agents.iter().zip(&mut best_of_agents) {
                let error = Displacement::between(forecast.path(sample, agent), truth(agent));
                *best = best.least(error);
                together = together.plus(error);
            }
            best_of_scene = best_of_scene.least(together);
        }
        let likely = |&agent: &usize| Displacement::between(forecast.likely(agent), truth(agent));
        let likely = agents.iter().map(likely).fold(Displacement::default(), Displacement::plus);
        let per_agent = best_of_agents.into_iter().reduce(Displacement::plus).unwrap_or_default();
        self.agents += agents.len();
        self.sums.per_agent = self.sums.per_agent.plus(per_agent);
        self.sums.per_scene = self.sums.per_scene.plus(best_of_scene);
        self.sums.likely = self.sums.likely.plus(likely);
    }

    /// The means over all agents so far.
    pub fn scores(&self) -> Scores {
        let Scores { per_agent, per_scene, likely } = self.sums;
        let mean = |sum: Displacement| sum.over(self.agents);
        Scores { per_agent: mean(per_agent), per_scene: mean(per_scene), likely: mean(likely) }
    }
}
