//! A scene, and the scenes of a dataset.

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::split::hex;

/// A stretch of time in which every agent is seen at every step.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The recording and the first frame, for people.
    pub name: String,
    /// The agents, as the recording numbers them; in the order of the positions.
    pub agents: Vec<i64>,
    /// Number of steps.
    pub steps: usize,
    /// Positions in metres, `[agents, steps, 2]`.
    pub positions: Vec<[f32; 2]>,
    /// Those of the agents that interact with nobody: to be seen by the others, not to be predicted.
    pub distractors: Vec<i64>,
}

impl Scene {
    /// The path of one agent, `[steps, 2]`.
    pub fn path(&self, agent: usize) -> &[[f32; 2]] {
        &self.positions[agent * self.steps..(agent + 1) * self.steps]
    }

    /// Whether an agent's path is to be predicted, by position: it is no distractor.
    pub fn counts(&self, agent: usize) -> bool {
        !self.distractors.contains(&self.agents[agent])
    }

    /// Number of agents whose paths are to be predicted.
    pub fn counted(&self) -> usize {
        (0..self.agents.len()).filter(|agent| self.counts(*agent)).count()
    }
}

/// Scenes to learn from, to choose with and to test on; all have the same number of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct TrajectoryDataset {
    /// Its name.
    pub name: String,
    /// Steps that are seen.
    pub observed: usize,
    /// Steps that are to be predicted, after those.
    pub predicted: usize,
    /// Seconds between steps.
    pub seconds: f64,
    /// Scenes for training.
    pub train: Vec<Scene>,
    /// Scenes that choose epochs and settings.
    pub valid: Vec<Scene>,
    /// Scenes that are looked at once.
    pub test: Vec<Scene>,
}

impl TrajectoryDataset {
    /// Steps of every scene: observed and predicted.
    pub fn steps(&self) -> usize {
        self.observed + self.predicted
    }

    /// The three parts with their names.
    pub fn parts(&self) -> [(&'static str, &[Scene]); 3] {
        [("train", &self.train), ("valid", &self.valid), ("test", &self.test)]
    }

    /// Sixteen hex digits that tell two datasets apart by steps, agents, positions and parts (not by
    /// names): for results and checkpoints.
    pub fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(b"adjoin trajectories 1");
        hasher.update((self.observed as u64).to_le_bytes());
        hasher.update((self.predicted as u64).to_le_bytes());
        hasher.update(self.seconds.to_le_bytes());
        for (_, scenes) in self.parts() {
            hasher.update((scenes.len() as u64).to_le_bytes());
            for scene in scenes {
                hasher.update((scene.agents.len() as u64).to_le_bytes());
                scene.agents.iter().for_each(|agent| hasher.update(agent.to_le_bytes()));
                // Scenes without distractors keep the fingerprint they always had.
                scene.distractors.iter().for_each(|agent| hasher.update(agent.to_le_bytes()));
                let values = scene.positions.iter().flatten();
                values.for_each(|value| hasher.update(value.to_le_bytes()));
            }
        }
        hex(&hasher.finalize()[..8])
    }

    /// At most so many scenes to train, to choose and to test with, evenly spaced over each part: scenes that
    /// follow each other share most of their frames.
    #[must_use]
    pub fn subset(mut self, counts: [usize; 3]) -> Self {
        let parts = [&mut self.train, &mut self.valid, &mut self.test];
        for (part, most) in parts.into_iter().zip(counts) {
            let (all, count) = (part.len(), most.min(part.len()));
            *part = (0..count).map(|at| part[at * all / count].clone()).collect();
        }
        self
    }

    /// Checks that every part has scenes and every scene has all its steps, at finite places. Every
    /// loader here calls it, so it matters for datasets put together by hand.
    pub fn validate(&self) -> Result<()> {
        let wrong = |field, what: String, help: &str| {
            Err(Error::Invalid { dataset: self.name.clone(), field, what, help: help.into() })
        };
        if self.observed == 0 || self.predicted == 0 {
            let what = format!("{} observed and {} predicted", self.observed, self.predicted);
            return wrong("steps", what, "observe and predict at least one step each");
        }
        if !(self.seconds.is_finite() && self.seconds > 0.0) {
            return wrong("seconds", format!("{} between steps", self.seconds), "must be positive");
        }
        for (part, scenes) in self.parts() {
            if scenes.is_empty() {
                let what = format!("no scene of {} steps", self.steps());
                let help = "divided by time, a recording needs ten times as many frames; or name at least three \
                            recordings in column `scene`; or use fewer steps, such as --split 4/6";
                return wrong(part, what, help);
            }
            for scene in scenes {
                let fits = scene.steps == self.steps()
                    && scene.positions.len() == scene.agents.len() * scene.steps;
                if scene.counted() == 0 && !scene.agents.is_empty() {
                    let what = format!("scene `{}` has distractors only", scene.name);
                    return wrong(part, what, "leave it out, or mark fewer agents");
                }
                if !fits || scene.agents.is_empty() {
                    let what = format!(
                        "scene `{}` has {} agents, {} steps and {} positions",
                        scene.name,
                        scene.agents.len(),
                        scene.steps,
                        scene.positions.len()
                    );
                    let help = "every scene needs an agent and all observed and predicted steps";
                    return wrong(part, what, help);
                }
                if !scene.positions.iter().flatten().all(|value| value.is_finite()) {
                    let what = format!("scene `{}` has a place that is not finite", scene.name);
                    return wrong(part, what, "correct or remove it");
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> TrajectoryDataset {
        let scene = |x: f32| Scene {
            name: format!("s {x}"),
            agents: vec![7],
            steps: 2,
            positions: vec![[x, 0.0], [x, 1.0]],
            distractors: Vec::new(),
        };
        TrajectoryDataset {
            name: "small".into(),
            observed: 1,
            predicted: 1,
            seconds: 0.4,
            train: vec![scene(0.0)],
            valid: vec![scene(1.0)],
            test: vec![scene(2.0)],
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        small().validate().unwrap();
        let error = |change: fn(&mut TrajectoryDataset)| {
            let mut dataset = small();
            change(&mut dataset);
            dataset.validate().unwrap_err().to_string()
        };
        assert!(error(|d| d.valid.clear()).contains("valid: no scene of 2 steps"));
        assert!(error(|d| d.predicted = 2).contains("train: scene `s 0`"));
        assert!(error(|d| d.observed = 0).contains("at least one step"));
        assert!(error(|d| d.test[0].positions[1][0] = f32::NAN).contains("not finite"));
        assert!(error(|d| d.test[0].agents.push(1)).contains("2 agents"));
        assert!(error(|d| d.seconds = 0.0).contains("positive"));
    }

    #[test]
    fn a_subset_is_spread_over_every_part() {
        let mut dataset = small();
        let scene = dataset.train[0].clone();
        let named = |at: usize| Scene { name: at.to_string(), ..scene.clone() };
        dataset.train = (0..10).map(named).collect();
        let fewer = dataset.clone().subset([4, 1, 9]);
        let names: Vec<&str> = fewer.train.iter().map(|scene| scene.name.as_str()).collect();
        assert_eq!(names, ["0", "2", "5", "7"]);
        assert_eq!((fewer.valid.len(), fewer.test.len()), (1, 1));
        assert_eq!(dataset.clone().subset([10, 1, 1]), dataset);
        assert!(dataset.subset([0, 1, 1]).validate().is_err());
    }

    #[test]
    fn the_fingerprint_sees_places_and_parts_but_not_names() {
        let (first, mut other) = (small().fingerprint(), small());
        other.name = "other".into();
        other.train[0].name = "t".into();
        assert_eq!(other.fingerprint(), first);
        std::mem::swap(&mut other.train, &mut other.test);
        assert_ne!(other.fingerprint(), first);
        let mut other = small();
        other.train[0].positions[0][1] = 0.5;
        assert_ne!(other.fingerprint(), first);
    }
}
