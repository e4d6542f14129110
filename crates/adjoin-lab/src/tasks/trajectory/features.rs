//! What a learner of graphs sees of an agent in a frame.

use super::batch::step;
use adjoin_data::trajectory::Scene;

/// Numbers per node: the last step, the change of step, and the place in the scene, two each.
pub const GENERATOR_FEATURES: usize = 6;

/// Metres to about 1: people walk half a metre a step and are a few metres apart.
pub(super) const PER_METRE: f64 = 0.2;
pub(super) const PER_STEP: f64 = 2.0;

/// Features in frame order, `[nodes, GENERATOR_FEATURES]`, of observed frames only.
///
/// Places are relative to the mean place of the agents in the frame, so that they mean the same in
/// recordings with other origins.
pub(super) fn of_scenes(scenes: &[&Scene], observed: usize) -> Vec<f64> {
    let mut features = Vec::new();
    for scene in scenes {
        let agents = scene.agents.len();
        for frame in 0..observed {
            let place = |agent: usize| scene.path(agent)[frame].map(f64::from);
            let centre = [0, 1].map(|axis| {
                (0..agents).map(|agent| place(agent)[axis]).sum::<f64>() / agents.max(1) as f64
            });
            for agent in 0..agents {
                let now = step(scene.path(agent), frame);
                let before = step(scene.path(agent), frame.saturating_sub(1));
                let place = place(agent);
                features.extend(now.map(|v| v * PER_STEP));
                features.extend([0, 1].map(|axis| (now[axis] - before[axis]) * PER_STEP));
                features.extend([0, 1].map(|axis| (place[axis] - centre[axis]) * PER_METRE));
            }
        }
    }
    features
}
