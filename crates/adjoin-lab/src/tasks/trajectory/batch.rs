//! Scenes of different sizes as one block-diagonal batch.

use super::features;
use crate::Result;
use adjoin::{Adjacency, Batch, Csr, Features};
use adjoin_data::trajectory::Scene;
use burn::tensor::{DType, Device, Tensor, TensorData};

/// Scenes side by side, with everything about them that does not depend on a network.
///
/// A node is one agent in one observed frame. Nodes come in two orders, and in both of them the
/// nodes of a scene are neighbours:
/// * **frame order** (scene, frame, agent): one graph of [`frames`](Self::frames) per frame of a
///   scene, which is what learners and aggregation work on;
/// * **agent order** (scene, agent, frame): the past of an agent is a row of
///   `[agents, observed * channels]` without copying, which is what convolutions over time work on.
#[derive(Clone, Debug)]
pub struct SceneBatch {
    /// Which agents belong to which scene.
    pub scenes: Batch,
    /// Which nodes, in frame order, belong to which frame of which scene.
    pub frames: Batch,
    /// Steps that are seen.
    pub observed: usize,
    /// Steps that are to be predicted.
    pub predicted: usize,
    /// What learners see of a node, `[nodes, GENERATOR_FEATURES]`, in frame order.
    pub features: Features,
    /// `(dx, dy, 1)`: the last step of the agent, and 1, `[nodes, 3]`, in frame order.
    pub steps: Tensor<2>,
    /// The same in agent order.
    pub steps_by_agent: Tensor<2>,
    /// The last observed step of every agent, `[agents, 2]`.
    pub last_steps: Tensor<2>,
    /// Brings rows from frame order to agent order, `[nodes, nodes]`.
    pub to_agents: Adjacency,
    /// Means over the nodes of each scene, `[scenes, nodes]`.
    pub scene_means: Adjacency,
    /// Gives every node what belongs to its scene, `[nodes, scenes]`.
    pub scene_of_nodes: Adjacency,
    /// Adds up what an agent gets from the agents before, at and after it in its scene,
    /// `[agents, 3 agents]`: column `3 j + m` is what agent j sends to the agent `1 - m` places on.
    pub beside: Adjacency,
    /// Steps to predict, `[agents, 2 predicted]`: all of x, then all of y.
    pub targets: Tensor<2>,
    /// What a step of an agent counts in the loss, `[agents, 1]`: every scene counts the same.
    pub shares: Tensor<2>,
    /// Last observed position of every agent.
    pub origins: Vec<[f32; 2]>,
    /// What a network computes from the nodes whatever is learned, if it was done before
    /// ([`TrajectoryModel::constants`](super::TrajectoryModel::constants)).
    pub constants: Option<Tensor<2>>,
}

impl SceneBatch {
    /// Puts scenes side by side, on a device, in `f32`.
    ///
    /// # Errors
    /// If there are too many nodes for 32-bit indices.
    pub fn new(
        scenes: &[&Scene],
        [observed, predicted]: [usize; 2],
        device: &Device,
    ) -> Result<Self> {
        Self::of_type(scenes, [observed, predicted], (device, DType::F32))
    }

    /// The same with another element type.
    pub fn of_type(
        scenes: &[&Scene],
        [observed, predicted]: [usize; 2],
        options: (&Device, DType),
    ) -> Result<Self> {
        let sizes = || scenes.iter().map(|scene| scene.agents.len());
        let agents: usize = sizes().sum();
        let nodes = agents * observed;
        let matrix = |values: Vec<f64>, width: usize| {
            let rows = values.len() / width.max(1);
            Tensor::<2>::from_data(TensorData::new(values, [rows, width]), options)
        };
        let graph = |topology: Csr, weights: Vec<f64>| {
            let data = TensorData::new(weights, [topology.edges()]);
            Adjacency::new(topology, Tensor::from_data(data, options))
        };
        let frames = Batch::of_sizes(sizes().flat_map(|size| std::iter::repeat_n(size, observed)));
        let mut to_agents = Vec::with_capacity(nodes);
        let mut steps_by_agent = Vec::with_capacity(3 * nodes);
        let mut last_steps = Vec::with_capacity(2 * agents);
        let mut targets = Vec::with_capacity(2 * predicted * agents);
        let mut shares = Vec::with_capacity(agents);
        let mut origins = Vec::with_capacity(agents);
        let mut scene_means = Vec::with_capacity(nodes);
        let mut first = 0u32;
        for scene in scenes {
            let size = scene.agents.len() as u32;
            for agent in 0..size {
                let path = scene.path(agent as usize);
                for frame in 0..observed {
                    to_agents.push(first + frame as u32 * size + agent);
                    let [dx, dy] = step(path, frame);
                    steps_by_agent.extend([dx, dy, 1.0]);
                }
                last_steps.extend(step(path, observed - 1));
                for axis in 0..2 {
                    targets.extend((observed..observed + predicted).map(|t| step(path, t)[axis]));
                }
                origins.push(path[observed - 1]);
                // Nobody is trained to predict those who interact with nobody.
                let count = scenes.len() * scene.counted() * predicted;
                shares.push(if scene.counts(agent as usize) { 1.0 / count as f64 } else { 0.0 });
            }
            first += size * observed as u32;
            let count = scene.agents.len() * observed;
            scene_means.resize(scene_means.len() + count, 1.0 / count as f64);
        }
        let steps = in_frame_order(&to_agents, &steps_by_agent, 3);
        let features = features::of_scenes(scenes, observed);
        let scenes = Batch::of_sizes(sizes());
        let by_scene: Vec<u32> = scenes.offsets().iter().map(|&a| a * observed as u32).collect();
        let scene_of_nodes = Batch::of_sizes(sizes().map(|size| size * observed)).graph_of_nodes();
        let all = (0..nodes as u32).collect::<Vec<u32>>();
        let one_each = |columns: usize, indices: Vec<u32>| {
            Csr::new(columns, (0..=indices.len() as u32).collect(), indices)
        };
        let (beside_pointers, beside) = beside(&scenes);
        let beside = Csr::new(3 * agents, beside_pointers, beside)?;
        let count = beside.edges();
        Ok(Self {
            frames,
            observed,
            predicted,
            features: matrix(features, features::GENERATOR_FEATURES).into(),
            steps: matrix(steps, 3),
            steps_by_agent: matrix(steps_by_agent, 3),
            last_steps: matrix(last_steps, 2),
            to_agents: graph(one_each(nodes, to_agents)?, vec![1.0; nodes])?,
            scene_means: graph(Csr::new(nodes, by_scene, all)?, scene_means)?,
            scene_of_nodes: graph(one_each(scenes.graphs(), scene_of_nodes)?, vec![1.0; nodes])?,
            beside: graph(beside, vec![1.0; count])?,
            targets: matrix(targets, 2 * predicted),
            shares: matrix(shares, 1),
            origins,
            constants: None,
            scenes,
        })
    }

    /// Number of agents of all scenes.
    pub fn agents(&self) -> usize {
        self.scenes.nodes()
    }

    /// Number of nodes: agents times observed frames.
    pub fn nodes(&self) -> usize {
        self.frames.nodes()
    }
}

/// The step that ends at `time`; none ends at the first position.
pub(super) fn step(path: &[[f32; 2]], time: usize) -> [f64; 2] {
    let Some(before) = time.checked_sub(1) else { return [0.0; 2] };
    [0, 1].map(|axis| f64::from(path[time][axis]) - f64::from(path[before][axis]))
}

/// Rows in frame order from rows in agent order.
fn in_frame_order(to_agents: &[u32], by_agent: &[f64], width: usize) -> Vec<f64> {
    let mut by_frame = vec![0.0; by_agent.len()];
    for (row, &node) in by_agent.chunks_exact(width).zip(to_agents) {
        by_frame[node as usize * width..][..width].copy_from_slice(row);
    }
    by_frame
}

/// Rows of [`SceneBatch::beside`]: pointers and columns.
fn beside(scenes: &Batch) -> (Vec<u32>, Vec<u32>) {
    let mut pointers = vec![0];
    let mut columns = Vec::with_capacity(3 * scenes.nodes());
    for range in scenes.ranges() {
        for agent in range.clone() {
            let sent = [(agent.wrapping_sub(1), 0), (agent, 1), (agent + 1, 2)];
            let here = sent.into_iter().filter(|(other, _)| range.contains(other));
            columns.extend(here.map(|(other, place)| (3 * other + place) as u32));
            pointers.push(columns.len() as u32);
        }
    }
    (pointers, columns)
}
