//! A learner for every layer, and the network that uses their graphs.

use super::{
    CloudBatch, Clouds, PointEvaluation, Points, PointsConfig,
    batch::device,
    evaluation::{CloudPrediction, predictions},
    loss::{reinforce, smoothed_cross_entropy},
};
use crate::{
    Result,
    task::{Evaluation, Model, Step, Training},
};
use adjoin::{
    Adjacency, Batch, Candidates, EdgeScores, Features, GraphInput, GraphLearner, Key,
    LearnedGraph, Pass, Prepared,
    learner::{AnyLearner, Shape},
    loss::Baseline,
    nets::PointNetwork,
    nn::Progress,
    ops,
};
use burn::{
    module::{Module, ParamId, list_param_ids},
    tensor::{Device, Tensor},
};

/// Candidate pairs of all clouds of a batch are listed up to this many.
const MOST_PAIRS: usize = 100_000_000;

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
    /// Whether the learners take part; otherwise all layers have the published graph.
    pub(super) joined: bool,
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
            let (batch, shape) =
                (Batch::of_sizes(vec![]), Shape { features, classes, ..Shape::default() });
            let input = GraphInput::new(&empty, None, &batch);
            config.learner.init(&input, &shape, key.child(1).child(layer as u64), device)
        };
        let learners = widths.iter().enumerate().map(learner);
        Ok(Self {
            learners: learners.collect::<adjoin::Result<_>>()?,
            network: config.network.init(classes, key.child(2), device)?,
            joined: true,
        })
    }

    /// Logits, and the graphs they came from.
    pub fn forward(&self, batch: &CloudBatch, pass: Pass) -> Result<PointOutput> {
        let (mut degrees, mut scores) = (Vec::new(), Vec::new());
        let CloudBatch { points, clouds } = batch;
        let logits = self.network.forward(points, clouds, pass.child(1), |layer, x| {
            let graph = self.graph(layer, x, batch, pass.child(2).child(layer as u64))?;
            degrees.push(degrees_of(&graph));
            scores.extend(graph.scores);
            Ok::<_, crate::Error>(graph.adjacency)
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

    /// The graph of a layer; every point is its own neighbour.
    fn graph(
        &self,
        layer: usize,
        x: &Tensor<2>,
        batch: &CloudBatch,
        pass: Pass,
    ) -> Result<LearnedGraph> {
        let features = Features::from(x.clone());
        let input = GraphInput::new(&features, None, &batch.clouds);
        let learner = &self.learners[layer];
        let mut graph = match learner.candidate_rule() {
            _ if !self.joined || learner.hands_on() => {
                self.network.neighbours(layer).learn(&input, pass)?
            }
            Some(rule) => {
                // Among the nearest in the space of the layer, as the network itself looks for them.
                let detached = x.clone().detach();
                let pairs = ops::candidates(rule, None, Some(&detached), &batch.clouds)?;
                let pairs = Candidates::Pairs(pairs.to_pairs(MOST_PAIRS)?);
                let prepared = Prepared { candidates: Some(pairs), ..Prepared::default() };
                let graph = learner.learn(&input.with_prepared(&prepared), pass)?;
                LearnedGraph { adjacency: chosen(&graph.adjacency)?, ..graph }
            }
            None => learner.learn(&input, pass)?,
        };
        graph.adjacency = graph.adjacency.with_self_loops()?;
        Ok(graph)
    }
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
            k.iter::<f64>().enumerate().map(|(row, k)| k.min(most(row)) + 1.0).collect()
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
