//! A scene, and the scenes of a dataset.

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
}

impl Scene {
    /// The path of one agent, `[steps, 2]`.
    pub fn path(&self, agent: usize) -> &[[f32; 2]] {
        &self.positions[agent * self.steps..(agent + 1) * self.steps]
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
