//! A learner and a network, and what they predict.

use super::{NodeData, Student, sureness::as_sure_as};
use crate::{AnyLearner, BeliefsOf, Config, Result};
use adjoin::{
    Key, LearnedGraph, Learner, Pass, Prepared,
    conv::{Backbone, Conv},
    learner::Unchanged,
};
use burn::{
    module::Module,
    tensor::{
        Device, Tensor,
        activation::{log_softmax, softmax},
    },
};

/// A graph learner and the network that uses its graph.
#[derive(Module, Debug)]
pub struct NodeModel {
    /// Makes the graph.
    pub learner: AnyLearner,
    /// Classifies the nodes.
    pub backbone: Backbone,
    /// Whose beliefs the learner looks at, if it looks at any.
    pub guide: Option<Guide>,
    /// How sure these are made, on average; 0 for as they are.
    pub(super) sureness: f64,
}

/// Somebody with beliefs about the classes of nodes.
#[derive(Module, Debug)]
pub enum Guide {
    /// The same network, trained on the input graph before.
    Network(Backbone),
    /// One that sees features alone, taught by that network.
    Student(Student),
}

/// Predictions for all nodes, with the graph they were made on.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The most likely class of every node.
    pub predicted: Vec<u32>,
    /// Log-probabilities, `[nodes, classes]` row by row.
    pub log_probabilities: Vec<f64>,
    /// The graph.
    pub graph: LearnedGraph,
}

impl Guide {
    /// Class probabilities of the nodes, `[nodes, classes]`; constants.
    ///
    /// # Errors
    /// If data and network do not fit.
    pub fn beliefs(&self, data: &NodeData) -> Result<Tensor<2>> {
        Ok(softmax(self.logits(data)?, 1))
    }

    fn logits(&self, data: &NodeData) -> Result<Tensor<2>> {
        match self.valid() {
            Self::Network(network) => {
                let empty = Prepared::default();
                let given = Unchanged {}.learn(&data.input(&empty), Pass::evaluate())?.adjacency;
                Ok(network.forward(&data.features, &given, Pass::evaluate())?)
            }
            Self::Student(student) => student.logits(&data.features, Pass::evaluate()),
        }
    }
}

impl NodeModel {
    /// A fresh model; every seed is its own.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(config: &Config, data: &NodeData, seed: u64, device: &Device) -> Result<Self> {
        let key = Key::new(seed).child(0x1417);
        let inputs = data.features.width();
        let network = || config.backbone.init(inputs, data.classes, key.child(2), device);
        let guide = match (config.learner.wants_beliefs(), config.train.beliefs_of) {
            (false, _) => None,
            (true, BeliefsOf::Guide) => Some(Guide::Network(network()?)),
            (true, BeliefsOf::Student) => {
                let student = Student::new(inputs, data.classes, key.child(3), device)?;
                Some(Guide::Student(student))
            }
        };
        let learner = config.learner.init(inputs, key.child(1), device)?;
        Ok(Self { learner, backbone: network()?, guide, sureness: config.train.sureness })
    }

    /// What learner and guide work out once for data that stays the same.
    ///
    /// # Errors
    /// If data and model do not fit.
    pub fn prepare(&self, data: &NodeData) -> Result<Prepared> {
        let prepared = self.learner.prepare(&data.input(&Prepared::default()))?;
        Ok(Prepared { beliefs: self.beliefs(data)?, ..prepared })
    }

    /// What the guide believes about the nodes, `[nodes, classes]`, as sure as is asked for.
    ///
    /// # Errors
    /// If data and model do not fit.
    pub fn beliefs(&self, data: &NodeData) -> Result<Option<Tensor<2>>> {
        let Some(guide) = &self.guide else { return Ok(None) };
        Ok(Some(match self.sureness > 0.0 {
            true => as_sure_as(guide.logits(data)?, self.sureness),
            false => guide.beliefs(data)?,
        }))
    }

    /// Graphs and logits `[nodes, classes]` of several draws; on the input graph itself while
    /// `warm_up` lasts.
    ///
    /// # Errors
    /// If data and model do not fit.
    pub fn forward(
        &self,
        data: &NodeData,
        prepared: &Prepared,
        pass: Pass,
        samples: usize,
        warm_up: bool,
    ) -> Result<Vec<(LearnedGraph, Tensor<2>)>> {
        let input = data.input(prepared);
        let graphs = match warm_up {
            true => Unchanged {}.sample(&input, pass.child(1), samples)?,
            false => self.learner.sample(&input, pass.child(1), samples)?,
        };
        let classify = |(draw, graph): (usize, LearnedGraph)| {
            let pass = pass.child(2).child(draw as u64);
            let logits = self.backbone.forward(&data.features, &graph.adjacency, pass)?;
            Ok((graph, logits))
        };
        graphs.into_iter().enumerate().map(classify).collect()
    }

    /// Deterministic predictions; call on a model without autodiff. Of a learner that is evaluated
    /// by draws these are always the same draws; the first graph stands for all.
    ///
    /// # Errors
    /// If data and model do not fit.
    pub fn evaluate(
        &self,
        data: &NodeData,
        prepared: &Prepared,
        warm_up: bool,
    ) -> Result<Evaluation> {
        let (pass, samples) = match self.learner.evaluation_draws() {
            draws if draws > 0 && !warm_up => (Pass::sample(0, 0), draws),
            _ => (Pass::evaluate(), 1),
        };
        let mut draws = self.forward(data, prepared, pass, samples, warm_up)?;
        let (graph, first) = draws.remove(0);
        let logits = draws.into_iter().fold(first, |sum, (_, logits)| sum + logits);
        let logits = logits * (1.0 / samples as f64);
        let values = log_softmax(logits, 1).into_data().convert::<f64>();
        let log_probabilities: Vec<f64> = values.iter::<f64>().collect();
        let best = |row: &[f64]| {
            let larger = |best: usize, at: usize| if row[at] > row[best] { at } else { best };
            (0..row.len()).reduce(larger).unwrap_or(0) as u32
        };
        let predicted = log_probabilities.chunks_exact(data.classes.max(1)).map(best).collect();
        Ok(Evaluation { predicted, log_probabilities, graph })
    }
}
