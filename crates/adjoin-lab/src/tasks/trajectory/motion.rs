//! What a learner sees of two agents: where one is as the other sees it, and whether they will meet.

use super::features::{GENERATOR_FEATURES, PER_METRE, PER_STEP};
use adjoin::{Csr, graph::Extras};
use burn::tensor::{Tensor, TensorData};

/// Width of [`extras`] of an agent and of a pair.
pub(super) const MOTION_WIDTHS: [usize; 2] = [2, 10];

/// Distances are compared with this, in metres: the reach of a person.
const NEAR: f64 = 2.0;
/// Added to distances before their logarithm, in metres: who is closer touches.
const TOUCH: f64 = 0.1;
/// Steps that one looks ahead.
const AHEAD: f64 = 12.0;
/// Unrest of those of whom nothing is known yet, and what is added before its logarithm, in metres.
const USUAL_UNREST: f64 = 0.05;
const LEAST_UNREST: f64 = 0.01;
/// Slower than this, in metres a step, nobody has a heading.
const STANDING: f64 = 0.01;

/// How restless an agent is: the mean change of its step. Those who interact with nobody walk straight on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unrest {
    sum: f64,
    count: usize,
}

impl Unrest {
    /// Adds a step and the one before it, in metres.
    pub fn add(&mut self, now: [f32; 2], before: [f32; 2]) {
        let change = [0, 1].map(|axis| f64::from(now[axis]) - f64::from(before[axis]));
        self.sum += change[0].hypot(change[1]);
        self.count += 1;
    }

    /// The mean so far.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { USUAL_UNREST } else { self.sum / self.count as f64 }
    }
}

/// How near, on a scale of logarithms: 0 at two metres.
fn nearness(metres: f64) -> f64 {
    ((metres + TOUCH) / NEAR).ln()
}

fn restless(metres: f64) -> f64 {
    ((metres + LEAST_UNREST) / USUAL_UNREST).ln()
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// Extras of agents and of pairs of them, from what learners see of an agent (`features` `[nodes,
/// GENERATOR_FEATURES]`, which hold steps and places) and how restless each was so far, in metres.
///
/// Of a pair `(i, j)`, j as i sees it when it looks where it goes:
///
/// | | |
/// |---|---|
/// | 0 | logarithm of the distance |
/// | 1, 2 | place, ahead and to the left |
/// | 3, 4 | velocity, ahead and to the left |
/// | 5 | closing speed |
/// | 6 | time to the closest approach, at most 12 steps |
/// | 7 | logarithm of the distance then |
/// | 8, 9 | how restless j and i are |
///
/// Of an agent: logarithm of the distance of the nearest candidate, and how restless it is. Constants.
pub(super) fn extras(features: &Tensor<2>, unrest: &[f64], pairs: &Csr) -> Extras {
    let values: Vec<f64> = features.to_data().convert::<f64>().iter::<f64>().collect();
    let of = |node: usize, first: usize, unit: f64| {
        let row = &values[node * GENERATOR_FEATURES + first..][..2];
        [row[0] / unit, row[1] / unit]
    };
    let mut of_pairs = Vec::with_capacity(pairs.edges() * MOTION_WIDTHS[1]);
    let mut of_nodes = Vec::with_capacity(pairs.rows() * MOTION_WIDTHS[0]);
    for i in 0..pairs.rows() {
        let (step, place) = (of(i, 0, PER_STEP), of(i, 4, PER_METRE));
        let speed = step[0].hypot(step[1]);
        let ahead = if speed > STANDING { step.map(|v| v / speed) } else { [1.0, 0.0] };
        let left = [-ahead[1], ahead[0]];
        let mut nearest = f64::INFINITY;
        for &j in pairs.row(i) {
            let (other_step, other_place) =
                (of(j as usize, 0, PER_STEP), of(j as usize, 4, PER_METRE));
            let way = [0, 1].map(|axis| other_place[axis] - place[axis]);
            let velocity = [0, 1].map(|axis| other_step[axis] - step[axis]);
            let distance = way[0].hypot(way[1]);
            let closing = -dot(way, velocity);
            let square = dot(velocity, velocity);
            let time = if square > STANDING * STANDING {
                (closing / square).clamp(0.0, AHEAD)
            } else {
                0.0
            };
            let then = [0, 1].map(|axis| way[axis] + time * velocity[axis]);
            of_pairs.extend([
                nearness(distance),
                dot(way, ahead) * PER_METRE,
                dot(way, left) * PER_METRE,
                dot(velocity, ahead) * PER_STEP,
                dot(velocity, left) * PER_STEP,
                closing / (distance + TOUCH) * PER_STEP,
                time / AHEAD,
                nearness(then[0].hypot(then[1])),
                restless(unrest[j as usize]),
                restless(unrest[i]),
            ]);
            nearest = nearest.min(distance);
        }
        let alone = if nearest.is_finite() { nearest } else { 4.0 * NEAR };
        of_nodes.extend([nearness(alone), restless(unrest[i])]);
    }
    let tensor = |values: Vec<f64>, shape: [usize; 2]| {
        let options = (&features.device(), features.dtype());
        Tensor::<2>::from_data(TensorData::new(values, shape), options)
    };
    let [node, pair] = MOTION_WIDTHS;
    Extras {
        nodes: tensor(of_nodes, [pairs.rows(), node]),
        pairs: tensor(of_pairs, [pairs.edges(), pair]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adjoin::SelfLoops;
    use burn::tensor::Device;

    fn rows(tensor: &Tensor<2>) -> Vec<Vec<f64>> {
        let width = tensor.dims()[1];
        let values: Vec<f64> = tensor.to_data().convert::<f64>().iter::<f64>().collect();
        values.chunks_exact(width).map(<[f64]>::to_vec).collect()
    }

    /// Three agents: two who walk towards each other along x, and one who stands far off.
    #[test]
    fn who_walks_towards_whom_and_when_they_meet() {
        let row = |step: [f64; 2], place: [f64; 2]| {
            let [step, place] = [step.map(|v| v * PER_STEP), place.map(|v| v * PER_METRE)];
            [step[0], step[1], 0.0, 0.0, place[0], place[1]]
        };
        let all = [
            row([0.5, 0.0], [0.0, 0.0]),
            row([-0.5, 0.0], [4.0, 1.0]),
            row([0.0, 0.0], [0.0, -9.0]),
        ];
        let data = TensorData::new(all.concat(), [3, GENERATOR_FEATURES]);
        let features = Tensor::<2>::from_data(data, &Device::flex());
        let edges = [(0, 1), (1, 0), (0, 2), (2, 0)];
        let pairs = Csr::from_edges(3, 3, edges, SelfLoops::Drop).unwrap();
        let found = extras(&features, &[0.05, 0.2, 0.0], &pairs);
        let near = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}")
        };
        let of_pairs = rows(&found.pairs);
        let one = &of_pairs[0];
        near(one[0], ((17f64.sqrt() + 0.1) / 2.0).ln());
        near(one[1], 4.0 * PER_METRE);
        near(one[2], 1.0 * PER_METRE);
        near(one[3], -PER_STEP);
        near(one[4], 0.0);
        assert!(one[5] > 0.0, "they close in");
        near(one[6], 4.0 / 12.0);
        near(one[7], (1.1f64 / 2.0).ln());
        assert!(one[8] > one[9], "the other turns more");
        // Seen from the other, who walks the other way, the first is ahead and to the left too.
        let back = &of_pairs[2];
        near(back[1], 4.0 * PER_METRE);
        near(back[2], 1.0 * PER_METRE);
        assert!(of_pairs.iter().flatten().all(|value| value.is_finite()));
        assert_eq!(found.nodes.dims(), [3, 2]);
        let of_nodes = rows(&found.nodes);
        assert!(of_nodes[2][0] > of_nodes[0][0], "farther from anybody");
    }

    #[test]
    fn those_who_are_alone_have_numbers() {
        let features = Tensor::<2>::zeros([2, GENERATOR_FEATURES], &Device::flex());
        let found = extras(&features, &[Unrest::default().mean(); 2], &Csr::empty(2, 2));
        assert_eq!((found.nodes.dims(), found.pairs.dims()), ([2, 2], [0, 10]));
        assert!(rows(&found.nodes).iter().flatten().all(|value| value.is_finite()));
    }
}
