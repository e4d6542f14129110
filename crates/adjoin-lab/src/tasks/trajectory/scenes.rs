//! A few test scenes for people to look at: tracks, predictions and graphs.

use super::{
    Forecaster, SceneBatch,
    data::{groups, key_of},
};
use crate::{
    Result,
    histogram::{DegreeHistogram, degree_histogram},
    task::Part,
};
use adjoin::{Adjacency, LearnedGraph};
use adjoin_data::trajectory::{Scene, TrajectoryDataset};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// Scenes that are shown.
const SHOWN: usize = 6;
/// Predictions of every agent that are shown.
const SAMPLES: usize = 20;
/// Agents of a scene that a drawing has room for.
const ROOM: usize = 24;
/// Bars of the histogram of degrees.
const BARS: usize = 24;

/// A scene with predictions and graphs. Positions are in metres.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneRecord {
    /// The recording and the first frame.
    pub name: String,
    /// The agents, as the recording numbers them.
    pub agents: Vec<i64>,
    /// Steps that are seen.
    pub observed: usize,
    /// True positions, `[agents, steps]`.
    pub places: Vec<[f32; 2]>,
    /// Sampled paths, `[samples, agents, predicted]`.
    pub samples: Vec<[f32; 2]>,
    /// Most likely paths, `[agents, predicted]`.
    pub likely: Vec<[f32; 2]>,
    /// Links of the graphs that the network uses.
    pub learned: Vec<Link>,
    /// Links of the published graphs.
    pub published: Vec<Link>,
}

/// An agent listens to another in an observed frame. There are many: each is written as a row of four
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(u32, u32, u32, f32)", into = "(u32, u32, u32, f32)")]
pub struct Link {
    /// The frame, from 0.
    pub frame: u32,
    /// Who listens, by position.
    pub agent: u32,
    /// To whom.
    pub other: u32,
    /// The other's share in all that the agent hears, itself included.
    pub share: f32,
}

impl From<(u32, u32, u32, f32)> for Link {
    fn from((frame, agent, other, share): (u32, u32, u32, f32)) -> Self {
        Self { frame, agent, other, share }
    }
}

impl From<Link> for (u32, u32, u32, f32) {
    fn from(link: Link) -> Self {
        (link.frame, link.agent, link.other, link.share)
    }
}

/// What a page shows of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SceneExhibit {
    /// A few test scenes, with predictions and graphs.
    pub scenes: Vec<SceneRecord>,
    /// Seconds between their steps.
    pub seconds: f64,
    /// Sampled paths of an agent in tests.
    pub samples: usize,
    /// Whether the learner has a size k of its own, or neighbours were counted.
    pub has_k: bool,
    /// Degrees of all agents in all observed frames of the test scenes: the others in the frame, and the
    /// learned degree.
    pub degrees: DegreeHistogram,
}

/// Looks at test scenes after training: nothing here reaches a number.
pub(super) fn exhibit(
    model: &dyn Forecaster,
    dataset: &TrajectoryDataset,
    samples: usize,
    seed: u64,
) -> Result<SceneExhibit> {
    let lengths = [dataset.observed, dataset.predicted];
    let batch = |scenes: &[&Scene]| SceneBatch::new(scenes, lengths, &Device::flex());
    let mut scenes = Vec::new();
    for scene in chosen(&dataset.test) {
        scenes.push(scene_record(model, scene, &batch(&[scene])?, seed)?);
    }
    let (mut has_k, mut others, mut learned) = (false, Vec::new(), Vec::new());
    for part in groups(&dataset.test, dataset.observed) {
        let part: Vec<&Scene> = part.iter().collect();
        let batch = batch(&part)?;
        let graphs = model.graphs(&batch)?;
        has_k = graphs.degrees.is_some();
        learned.extend(degrees(&graphs));
        let frames = batch.frames.ranges();
        others.extend(frames.flat_map(|range| vec![range.len() as f32 - 1.0; range.len()]));
    }
    let degrees = degree_histogram(&others, &learned, BARS);
    Ok(SceneExhibit { scenes, seconds: dataset.seconds, samples, has_k, degrees })
}

/// Scenes spread evenly over those with some company in them, and room for everybody.
fn chosen(scenes: &[Scene]) -> Vec<&Scene> {
    let some = |[fewest, most]: [usize; 2]| -> Vec<&Scene> {
        let fits = |scene: &&Scene| (fewest..=most).contains(&scene.agents.len());
        scenes.iter().filter(fits).collect()
    };
    let fit =
        [[3, ROOM], [1, ROOM], [1, 4 * ROOM]].map(some).into_iter().find(|found| !found.is_empty());
    let fit = fit.unwrap_or_default();
    let count = SHOWN.min(fit.len());
    (0..count).map(|at| fit[at * fit.len() / count]).collect()
}

fn scene_record(
    model: &dyn Forecaster,
    scene: &Scene,
    batch: &SceneBatch,
    seed: u64,
) -> Result<SceneRecord> {
    let forecasts = model.forecast(batch, SAMPLES, key_of(Part::Test, seed))?;
    let agents = scene.agents.len();
    let (mut samples, mut likely) = (Vec::new(), Vec::new());
    for forecast in &forecasts {
        for sample in 0..SAMPLES {
            (0..agents).for_each(|agent| samples.extend(forecast.path(sample, agent)));
        }
        (0..agents).for_each(|agent| likely.extend(forecast.likely(agent)));
    }
    Ok(SceneRecord {
        name: scene.name.clone(),
        agents: scene.agents.clone(),
        observed: batch.observed,
        places: rounded(&scene.positions),
        samples: rounded(&samples),
        likely: rounded(&likely),
        learned: links(&model.graphs(batch)?.adjacency, agents),
        published: links(&model.published_graphs(batch)?, agents),
    })
}

/// To the centimetre: more cannot be seen.
fn rounded(places: &[[f32; 2]]) -> Vec<[f32; 2]> {
    places.iter().map(|place| place.map(|v| (v * 100.0).round() / 100.0)).collect()
}

/// Links between different agents of one scene, in frame order. A node that does not listen to itself
/// hears itself with weight 1, as in the network.
fn links(graph: &Adjacency, agents: usize) -> Vec<Link> {
    let weights = floats(graph.weights());
    let topology = graph.topology();
    let mut links = Vec::new();
    for node in 0..topology.rows() {
        let row = topology.pointers()[node] as usize..topology.pointers()[node + 1] as usize;
        let lone = topology.find(node, node as u32).is_none();
        let heard = weights[row.clone()].iter().sum::<f32>() + f32::from(u8::from(lone));
        for at in row.filter(|&at| topology.indices()[at] as usize != node) {
            let share = weights[at] / heard.max(f32::MIN_POSITIVE);
            if share >= 0.001 {
                links.push(Link {
                    frame: (node / agents) as u32,
                    agent: (node % agents) as u32,
                    other: topology.indices()[at] % agents as u32,
                    share: (share * 1000.0).round() / 1000.0,
                });
            }
        }
    }
    links
}

/// Learned k, or else the number of stored neighbours.
fn degrees(graphs: &LearnedGraph) -> Vec<f32> {
    let topology = graphs.adjacency.topology();
    let others = |node: usize| {
        let row = topology.pointers()[node] as usize..topology.pointers()[node + 1] as usize;
        let row = &topology.indices()[row];
        row.iter().filter(|&&other| other as usize != node).count() as f32
    };
    let counted = (0..topology.rows()).map(others);
    match &graphs.degrees {
        // Nobody has more neighbours than there are, whatever the learned number.
        Some(degrees) => counted.zip(floats(degrees)).map(|(there, k)| k.min(there)).collect(),
        None => counted.collect(),
    }
}

fn floats(values: &Tensor<1>) -> Vec<f32> {
    values.to_data().convert::<f32>().iter::<f32>().collect()
}
