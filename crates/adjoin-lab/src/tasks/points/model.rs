//! A learner for every layer, and the network that uses their graphs.

use super::{
    CloudBatch, Clouds, PointEvaluation, PointGraph, Points, PointsConfig,
    batch::device,
    evaluation::{CloudPrediction, predictions},
    graphs::thinness,
    loss::{reinforce, smoothed_cross_entropy},
};
use crate::{
    Result,
    settings::{HandOn, Handed},
    task::{Evaluation, Model, Step, Training},
};
use adjoin::{
    Adjacency, Batch, Candidates, Csr, EdgeScores, Features, GraphInput, GraphLearner, Key,
    LearnedGraph, Pass, Prepared,
    graph::{DENSITY_WIDTHS, Extras, Spacing, density_extras},
    learner::{AnyLearner, Shape},
    loss::Baseline,
    nets::{LayerGraph, PointNetwork, PointNetworkConfig},
    nn::{Encoder, Progress},
    ops,
};
use burn::{
    module::{Module, ParamId, list_param_ids},
    tensor::{Device, Tensor},
};

/// Candidate pairs of all clouds of a batch are listed up to this many.
const MOST_PAIRS: usize = 100_000_000;

/// Nearest neighbours by whose distance a learner sees density.
const DENSITY: usize = 8;

/// Edges of at most this weight are left out; four ranks beyond the learned degree weights are below it.
const LEAST_WEIGHT: f32 = 1e-3;

/// Learners of the graphs of all layers, and the network.
///
/// Every layer has a learner of its own, which sees the features that the layer is given. Gradients
/// reach a learner through the weights of its edges, in the maximum over neighbours; DGM, whose weights
/// are constants, learns from the REINFORCE loss. Without a learner a layer has the published graph.
#[derive(Module, Debug)]
pub struct PointModel {
    /// Make the graphs.
    pub learners: Vec<AnyLearner>,
    /// Classifies.
    pub network: PointNetwork,
    /// Make what is handed on with the graphs of a layer, where learners do not.
    pub encoders: Vec<Encoder>,
    /// Whether the learners take part; otherwise all layers have the published graph.
    pub(super) joined: bool,
    /// Whether what learners make their graphs of is handed on.
    latent: bool,
    #[module(skip)]
    graph: PointGraph,
}

/// What a pass through a model gives.
#[derive(Clone, Debug)]
pub struct PointOutput {
    /// `[clouds, classes]`.
    pub logits: Tensor<2>,
    /// How many neighbours every point has, itself included, layer by layer: learned ones, or those of
    /// the fixed graph.
    pub degrees: Vec<Vec<f64>>,
    /// Scores of the edges that were chosen, layer by layer, where a learner has them.
    pub scores: Vec<EdgeScores>,
}

impl PointModel {
    /// A fresh model; every seed is its own.
    pub fn new(config: &PointsConfig, classes: usize, seed: u64, device: &Device) -> Result<Self> {
        let key = Key::new(seed).child(0x9017);
        let widths = config.network.inputs();
        let learner = |(layer, &features): (usize, &usize)| {
            let empty = Features::from(Tensor::<2>::zeros([0, features], device));
            let (batch, shape) = (
                Batch::of_sizes(vec![]),
                Shape { features, classes, extras: DENSITY_WIDTHS, ..Shape::default() },
            );
            let input = GraphInput::new(&empty, None, &batch);
            config.learner.init(&input, &shape, key.child(1).child(layer as u64), device)
        };
        let learners = widths.iter().enumerate().map(learner);
        let handed = config.hand_on.of(&config.learner);
        let encoder = |(layer, &features): (usize, &usize)| {
            let encoder = HandOn::encoder().with_inputs(features);
            encoder.init(key.child(3).child(layer as u64), device)
        };
        let encoders = match handed {
            Handed::Encoded(_) => widths.iter().enumerate().map(encoder).collect(),
            Handed::Nothing | Handed::Latent(_) => Ok(Vec::new()),
        };
        let handed_width = handed.width().unwrap_or(0);
        let network = PointNetworkConfig { handed: handed_width, ..config.network.clone() };
        Ok(Self {
            learners: learners.collect::<adjoin::Result<_>>()?,
            network: network.init(classes, key.child(2), device)?,
            encoders: encoders?,
            joined: true,
            latent: matches!(handed, Handed::Latent(_)),
            graph: config.graph,
        })
    }

    /// Logits, and the graphs they came from.
    pub fn forward(&self, batch: &CloudBatch, pass: Pass) -> Result<PointOutput> {
        let PointGraph::OutlierRemoval(removal) = &self.graph else {
            return self.forward_all(batch, pass);
        };
        let (clean, kept) = removal.clean(batch)?;
        let mut output = self.forward_all(&clean, pass)?;
        // Of outliers no neighbours are left.
        for degrees in &mut output.degrees {
            let mut left = degrees.iter();
            *degrees = kept
                .iter()
                .map(|&kept| if kept { left.next() } else { None })
                .map(|k| k.copied().unwrap_or(0.0))
                .collect();
        }
        Ok(output)
    }

    fn forward_all(&self, batch: &CloudBatch, pass: Pass) -> Result<PointOutput> {
        let (mut degrees, mut scores) = (Vec::new(), Vec::new());
        let mut place = Vec::new();
        let CloudBatch { points, clouds } = batch;
        let logits = self.network.forward(points, clouds, pass.child(1), |layer, x| {
            let pass = pass.child(2).child(layer as u64);
            let of_features = pass.child(1);
            let graph = self.graph_of(layer, x, batch, &mut place, pass)?;
            degrees.push(degrees_of(&graph));
            scores.extend(graph.scores);
            let handed = match self.encoders.get(layer) {
                Some(encoder) => {
                    let features = Features::from(x.clone());
                    Some(encoder.forward(&features, None, of_features)?)
                }
                None => graph.latent.filter(|_| self.latent),
            };
            Ok::<_, crate::Error>(LayerGraph { adjacency: graph.adjacency, handed })
        })?;
        Ok(PointOutput { logits, degrees, scores })
    }

    /// Deterministic logits; call on a model without autodiff. Of a learner that is evaluated by draws
    /// these are always the same draws, and the degrees those of the first.
    pub fn evaluate(&self, batch: &CloudBatch) -> Result<PointOutput> {
        let draws = self.learners.first().map_or(0, AnyLearner::evaluation_draws) as u64;
        if draws == 0 {
            return self.forward(batch, Pass::evaluate());
        }
        let mut all = self.forward(batch, Pass::sample(0, 0))?;
        for draw in 1..draws {
            all.logits = all.logits + self.forward(batch, Pass::sample(0, draw))?.logits;
        }
        all.logits = all.logits * (1.0 / draws as f64);
        Ok(all)
    }

    /// The graph of a layer; every point is its own neighbour. `place` is how thin points lie where they are,
    /// worked out at the first layer that wants it.
    fn graph_of(
        &self,
        layer: usize,
        x: &Tensor<2>,
        batch: &CloudBatch,
        place: &mut Vec<f64>,
        pass: Pass,
    ) -> Result<LearnedGraph> {
        let features = Features::from(x.clone());
        let input = GraphInput::new(&features, None, &batch.clouds);
        let learner = &self.learners[layer];
        let mut graph = match (learner.candidate_rule(), &self.graph) {
            (_, PointGraph::Radius(radius)) if learner.hands_on() => {
                LearnedGraph::plain(radius.graph(batch)?)
            }
            _ if !self.joined || learner.hands_on() => {
                self.network.neighbours(layer).learn(&input, pass)?
            }
            (Some(rule), _) => {
                // Among the nearest in the space of the layer, as the network itself looks for them.
                let detached = x.clone().detach();
                let pairs = ops::candidates(rule, None, Some(&detached), &batch.clouds)?;
                let pairs = pairs.to_pairs(MOST_PAIRS)?;
                let extras = match learner.wants_extras() {
                    true => Some(density(&detached, &pairs, batch, place)?),
                    false => None,
                };
                let candidates = Some(Candidates::Pairs(pairs));
                let prepared = Prepared { candidates, extras, ..Prepared::default() };
                let graph = learner.learn(&input.with_prepared(&prepared), pass)?;
                LearnedGraph { adjacency: chosen(&graph.adjacency)?, ..graph }
            }
            (None, _) => learner.learn(&input, pass)?,
        };
        graph.adjacency = graph.adjacency.with_self_loops()?;
        Ok(graph)
    }
}

/// What a learner sees of density: where points are, and in the space of the layer.
fn density(x: &Tensor<2>, pairs: &Csr, batch: &CloudBatch, place: &mut Vec<f64>) -> Result<Extras> {
    let spacing = Spacing::of(x, pairs, DENSITY, &batch.clouds)?;
    if place.is_empty() {
        *place = thinness(batch, DENSITY)?;
    }
    Ok(density_extras(&spacing, place, pairs, x)?)
}

impl Model<Points> for PointModel {
    fn begin_epoch(&mut self, _: &usize, _at: Progress, learner_joined: bool) -> Result<()> {
        self.joined = learner_joined;
        Ok(())
    }

    fn loss(&self, data: Training<'_, Points>, pass: Pass, rewards: &mut Baseline) -> Result<Step> {
        let Training { config, seen, batch, .. } = data;
        let clouds = seen.chosen(batch);
        let key = pass.key().child(0xa6);
        let (points, augment) = (config.points, config.augment);
        let batch = CloudBatch::augmented(clouds.iter().copied(), points, augment, key, &device());
        let output = self.forward(&batch, pass)?;
        let classes: Vec<u32> = clouds.iter().map(|cloud| cloud.class).collect();
        let mut loss = smoothed_cross_entropy(&output.logits, &classes, config.smoothing);
        let right: Vec<bool> =
            predictions(&output.logits, &classes).iter().map(CloudPrediction::is_right).collect();
        let weight = config.train.reinforce;
        if weight > 0.0 && self.learners.first().is_some_and(GraphLearner::is_rewarded) {
            loss = loss + reinforce(&batch, &output, &right, rewards)? * weight;
        }
        let share = right.iter().filter(|right| **right).count() as f64 / clouds.len() as f64;
        Ok(Step { loss, measure: Some(share) })
    }

    fn evaluate(&self, points: &usize, held: &Clouds, _seed: u64) -> Result<Evaluation<Points>> {
        let found = PointEvaluation::of(self, &held.all(), *points)?;
        Ok(Evaluation { metrics: found.metrics(), train: None, degrees: found.degrees })
    }

    fn learner_parameters(&self) -> Vec<ParamId> {
        list_param_ids(&self.learners)
    }
}

/// The edges that were chosen. Candidates whose weight is next to nothing would count in the statistics of
/// the messages, cost as much as the others and, where messages are scaled, put 0 into every maximum.
fn chosen(graph: &Adjacency) -> Result<Adjacency> {
    let weights = graph.weights().to_data().convert::<f32>();
    let mut weights = weights.iter::<f32>();
    Ok(graph.filter(|_, _| weights.next().is_some_and(|weight| weight > LEAST_WEIGHT))?)
}

fn degrees_of(graph: &LearnedGraph) -> Vec<f64> {
    match (&graph.degrees, &graph.scores) {
        // No more than there are in a small cloud; the point itself is outside the ranking.
        (Some(k), Some(scores)) => {
            let most = |row: usize| scores.pairs.degree(row) as f64;
            let k = k.to_data().convert::<f64>();
            k.iter::<f64>().enumerate().map(|(row, k)| k.clamp(0.0, most(row)) + 1.0).collect()
        }
        _ => {
            let topology = graph.adjacency.topology();
            (0..topology.rows()).map(|row| topology.degree(row) as f64).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adjoin::{Csr, SelfLoops};

    #[test]
    fn candidates_without_weight_are_no_neighbours() {
        let pairs =
            Csr::from_edges(3, 3, [(0, 1), (0, 2), (1, 0), (2, 1)], SelfLoops::Drop).unwrap();
        let device = Device::flex();
        let weights = Tensor::<1>::from_data([0.9, 1e-5, 0.2, 0.0], &device);
        let kept = chosen(&Adjacency::new(pairs, weights).unwrap()).unwrap();
        assert_eq!(kept.topology().iter().collect::<Vec<_>>(), [(0, 1), (1, 0)]);
        let weights: Vec<f32> = kept.weights().to_data().convert::<f32>().iter::<f32>().collect();
        assert_eq!(weights, [0.9, 0.2]);
    }

    #[test]
    fn a_point_has_no_more_neighbours_than_there_are() {
        let pairs = Csr::from_edges(2, 2, [(0, 1), (1, 0)], SelfLoops::Drop).unwrap();
        let values = |values: [f32; 2]| Tensor::<1>::from_data(values, &Device::flex());
        let graph = LearnedGraph {
            degrees: Some(values([20.0, 0.5])),
            scores: Some(EdgeScores { pairs: pairs.clone(), log_scores: values([0.0, 0.0]) }),
            ..LearnedGraph::plain(Adjacency::new(pairs, values([1.0, 1.0])).unwrap())
        };
        assert_eq!(degrees_of(&graph), [2.0, 1.5]);
    }
}
