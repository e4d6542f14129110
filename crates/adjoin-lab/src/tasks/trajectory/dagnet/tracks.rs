//! Where agents are, moment by moment.

use super::super::{SceneBatch, motion::Unrest};
use adjoin::Batch;
use adjoin_data::trajectory::Scene;
use burn::tensor::{DType, Device, Tensor, TensorData};

/// Places of all agents of several scenes, in metres; all agents at the first moment, then all at the
/// second, and so on.
#[derive(Clone, Debug, PartialEq)]
pub struct Tracks {
    /// Which agents belong to which scene.
    pub scenes: Batch,
    /// Relative to the centre of each scene, `[moments, agents]`.
    pub places: Vec<[f32; 2]>,
    /// The centre of the scene of every agent.
    pub centres: Vec<[f32; 2]>,
    /// Which agents are to be predicted: all but distractors.
    pub counted: Vec<bool>,
}

/// Numbers of a learner's features that stand for one agent: the last step, the change of step, and the
/// place relative to the others, two each.
pub(super) const FEATURES: usize = super::super::GENERATOR_FEATURES;

/// Metres to about 1.
pub(super) const PER_METRE: f32 = 0.2;
const PER_STEP: f32 = 2.0;

impl Tracks {
    /// The observed moments of a batch; what comes after them is not looked at.
    pub fn observed(batch: &SceneBatch) -> Self {
        let (agents, observed) = (batch.agents(), batch.observed);
        let steps = floats(&batch.steps_by_agent);
        let mut places = vec![[0.0; 2]; agents * observed];
        for (agent, origin) in batch.origins.iter().enumerate() {
            let mut place = origin.map(f64::from);
            for moment in (0..observed).rev() {
                places[moment * agents + agent] = place.map(|v| v as f32);
                let step = &steps[3 * (agent * observed + moment)..];
                place = [place[0] - step[0], place[1] - step[1]];
            }
        }
        let counted = floats(&batch.shares).into_iter().map(|share| share > 0.0).collect();
        Self { scenes: batch.scenes.clone(), places, centres: vec![[0.0; 2]; agents], counted }
    }

    /// The same with the centre of each scene at the mean place of its agents over the observed moments.
    pub(super) fn centred(mut self, observed: usize) -> Self {
        let agents = self.agents();
        for range in self.scenes.ranges() {
            let seen = |moment: usize| &self.places[moment * agents..][range.clone()];
            let centre = mean((0..observed).flat_map(seen));
            self.centres[range].fill(centre);
        }
        for row in self.places.chunks_exact_mut(agents.max(1)) {
            for (place, &centre) in row.iter_mut().zip(&self.centres) {
                *place = difference(*place, centre);
            }
        }
        self
    }

    /// All moments of one scene.
    pub(super) fn of_scene(scene: &Scene) -> Self {
        let agents = scene.agents.len();
        let place = |at: usize| scene.path(at % agents)[at / agents];
        Self {
            scenes: Batch::single(agents),
            places: (0..agents * scene.steps).map(place).collect(),
            centres: vec![[0.0; 2]; agents],
            counted: (0..agents).map(|agent| scene.counts(agent)).collect(),
        }
    }

    /// All moments of a batch, those to predict included: for training and validation losses.
    pub fn whole(batch: &SceneBatch) -> Self {
        let mut tracks = Self::observed(batch);
        let (agents, predicted) = (batch.agents(), batch.predicted);
        let targets = floats(&batch.targets);
        let start = tracks.places.len();
        tracks.places.resize(start + agents * predicted, [0.0; 2]);
        for (agent, origin) in batch.origins.iter().enumerate() {
            let mut place = origin.map(f64::from);
            for moment in 0..predicted {
                let of_axis = |axis: usize| targets[(2 * agent + axis) * predicted + moment];
                place = [place[0] + of_axis(0), place[1] + of_axis(1)];
                tracks.places[start + moment * agents + agent] = place.map(|v| v as f32);
            }
        }
        tracks
    }

    /// Number of agents.
    pub fn agents(&self) -> usize {
        self.scenes.nodes()
    }

    /// Number of moments.
    pub fn moments(&self) -> usize {
        self.places.len() / self.agents().max(1)
    }

    /// Places at a moment.
    pub fn at(&self, moment: usize) -> &[[f32; 2]] {
        &self.places[moment * self.agents()..][..self.agents()]
    }

    /// The steps that end at every moment, `[moments, agents]`; none ends at the first.
    pub(super) fn steps(&self) -> Vec<[f32; 2]> {
        let agents = self.agents();
        let step = |(at, place): (usize, &[f32; 2])| match at.checked_sub(agents) {
            Some(before) => difference(*place, self.places[before]),
            None => [0.0; 2],
        };
        self.places.iter().enumerate().map(step).collect()
    }

    /// What a learner sees of every agent at every moment, `[moments * agents, FEATURES]`, given the steps that
    /// end there, as they were made or as they are seen.
    pub(super) fn features(&self, steps: &[[f32; 2]]) -> Vec<f32> {
        let agents = self.agents();
        let before = |at: usize| at.checked_sub(agents).map_or([0.0; 2], |at| steps[at]);
        (0..self.moments())
            .flat_map(|moment| {
                let range = moment * agents..(moment + 1) * agents;
                let earlier: Vec<[f32; 2]> = range.clone().map(before).collect();
                features(&self.scenes, &self.places[range.clone()], &steps[range], &earlier)
            })
            .collect()
    }

    /// How restless every agent was up to every moment, `[moments * agents]`, given the steps that end there.
    pub(super) fn unrest(&self, steps: &[[f32; 2]]) -> Vec<f64> {
        let mut means = Vec::with_capacity(steps.len());
        self.follow(steps, |unrest| means.push(unrest.mean()));
        means
    }

    /// The same at the last moment, to be followed further, `[agents]`.
    pub(super) fn unrest_at_end(&self, steps: &[[f32; 2]]) -> Vec<Unrest> {
        self.follow(steps, |_| ())
    }

    fn follow(&self, steps: &[[f32; 2]], mut each: impl FnMut(&Unrest)) -> Vec<Unrest> {
        let agents = self.agents();
        let mut unrest = vec![Unrest::default(); agents];
        for (at, &step) in steps.iter().enumerate() {
            // No step ends at the first moment, so that the second has none to be compared with.
            if at >= 2 * agents {
                unrest[at % agents].add(step, steps[at - agents]);
            }
            each(&unrest[at % agents]);
        }
        unrest
    }

    /// The scenes of every moment as graphs of their own.
    pub(super) fn frames(&self) -> Batch {
        repeated(&self.scenes, self.moments())
    }
}

/// The graphs of a batch, several times over.
pub(super) fn repeated(scenes: &Batch, times: usize) -> Batch {
    Batch::of_sizes((0..times).flat_map(|_| scenes.ranges().map(|range| range.len())))
}

/// What a learner sees of agents, given their places, their last steps and the steps before those.
pub(super) fn features(
    scenes: &Batch,
    places: &[[f32; 2]],
    steps: &[[f32; 2]],
    before: &[[f32; 2]],
) -> Vec<f32> {
    let mut features = Vec::with_capacity(places.len() * FEATURES);
    for range in scenes.ranges() {
        let centre = mean(&places[range.clone()]);
        for agent in range {
            features.extend(steps[agent].map(|v| v * PER_STEP));
            features.extend(difference(steps[agent], before[agent]).map(|v| v * PER_STEP));
            features.extend(difference(places[agent], centre).map(|v| v * PER_METRE));
        }
    }
    features
}

/// The mean of places; the origin if there are none.
pub(super) fn mean<'a>(places: impl IntoIterator<Item = &'a [f32; 2]>) -> [f32; 2] {
    let (mut sum, mut count) = ([0f64; 2], 0usize);
    for place in places {
        sum = [0, 1].map(|axis| sum[axis] + f64::from(place[axis]));
        count += 1;
    }
    sum.map(|sum| (sum / count.max(1) as f64) as f32)
}

pub(super) fn difference(a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

/// Rows of numbers as a matrix.
pub(super) fn matrix(
    values: Vec<f32>,
    width: usize,
    (device, dtype): (&Device, DType),
) -> Tensor<2> {
    let rows = values.len() / width.max(1);
    Tensor::from_data(TensorData::new(values, [rows, width]), (device, dtype))
}

pub(super) fn floats<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().convert::<f64>().iter::<f64>().collect()
}
