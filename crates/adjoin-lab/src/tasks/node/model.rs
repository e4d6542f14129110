//! A learner and a network, and what they predict.

use super::{
    Node, NodeConfig, NodeData,
    confidence::as_confident_as,
    distil::DistilledMlp,
    labels::{HeldLabels, NodeMetrics, TrainingLabels},
    loss::Terms,
};
use crate::{
    Error, Result,
    task::{Degree, Evaluation, Model, Step, Training},
    train::copied,
};
use adjoin::{
    GraphLearner, Key, Labels, LearnedGraph, Pass, Prepared,
    conv::Backbone,
    learner::{AnyLearner, Shape, Unchanged},
    loss::Baseline,
    nn::{Network, Outcome, Progress, Stage},
};
use burn::{
    module::{Module, ParamId, list_param_ids},
    tensor::{Device, Tensor, activation::softmax},
};

/// A graph learner and the network that uses its graph.
#[derive(Module, Debug)]
pub struct NodeModel {
    /// Makes the graph.
    pub learner: AnyLearner,
    /// Classifies the nodes.
    pub backbone: Backbone,
    /// Whose class probabilities the learner looks at, if it looks at any.
    pub teacher: Option<Teacher>,
    /// How confident these are made, on average; 0 for as they are.
    confidence: f64,
    /// Whether the learner takes part.
    joined: bool,
    /// What was worked out for the data; none before it is bound to any.
    #[module(skip)]
    pub prepared: Option<Prepared>,
    /// The graph of a learner that rests.
    #[module(skip)]
    resting: Option<LearnedGraph>,
}

/// Somebody with class probabilities of nodes.
#[derive(Module, Debug)]
pub enum Teacher {
    /// The same network, trained on the given graph before.
    Network(Backbone),
    /// One that sees features alone, distilled from that network.
    Distilled(DistilledMlp),
}

/// Predictions for all nodes, with the graph they were made on.
#[derive(Clone, Debug)]
pub struct Classified {
    /// The most likely class of every node.
    pub predicted: Vec<u32>,
    /// Log-probabilities, `[nodes, classes]` row by row.
    pub log_probabilities: Vec<f64>,
    /// The graph.
    pub graph: LearnedGraph,
}

impl Teacher {
    /// Class probabilities of the nodes, `[nodes, classes]`, constants; as confident as is asked for.
    pub fn probabilities(&self, data: &NodeData, confidence: f64) -> Result<Tensor<2>> {
        let logits = match self.valid() {
            Self::Network(network) => network.run(&data.features, &data.graph, Pass::evaluate())?,
            Self::Distilled(mlp) => mlp.logits(&data.features, Pass::evaluate())?,
        };
        Ok(match confidence > 0.0 {
            true => as_confident_as(logits, confidence),
            false => softmax(logits, 1),
        })
    }
}

impl NodeModel {
    /// A fresh model; every seed is its own.
    pub fn new(config: &NodeConfig, data: &NodeData, seed: u64, device: &Device) -> Result<Self> {
        let key = Key::new(seed).child(0x1417);
        let (features, classes) = (data.features.width(), data.classes);
        let network_of = |inputs| {
            let config = config.backbone.clone().with_widths(inputs, classes);
            config.init(key.child(2), device)
        };
        let network = || network_of(features);
        let backbone = network_of(config.learner.network_inputs().unwrap_or(features))?;
        let teacher = match (config.learner.wants_probabilities(), config.teacher.distil) {
            (false, _) => None,
            (true, false) => Some(Teacher::Network(network()?)),
            (true, true) => {
                let mlp = DistilledMlp::new(features, classes, key.child(3), device)?;
                Some(Teacher::Distilled(mlp))
            }
        };
        let widths = backbone.widths();
        let shape = Shape { features, classes, widths, ..Shape::default() };
        let empty = Prepared::default();
        let learner = config.learner.init(&data.input(&empty), &shape, key.child(1), device)?;
        let confidence = config.teacher.confidence;
        let joined = true;
        Ok(Self { learner, backbone, teacher, confidence, joined, prepared: None, resting: None })
    }

    /// The model before its first step of training: fresh weights of its seed, and what was learned from labels
    /// or from a teacher before.
    ///
    /// # Errors
    /// If configuration and data are not those it was made with.
    pub fn at_start(&self, config: &NodeConfig, data: &NodeData, seed: u64) -> Result<Self> {
        let mut fresh = Self::new(config, data, seed, &Device::flex())?;
        fresh.learner = fresh.learner.start_of(&self.learner);
        fresh.teacher = self.teacher.clone();
        fresh.bind(data)
    }

    /// Graphs and logits of several draws; on the given graph itself until the learner has joined.
    fn drive(
        &self,
        data: &NodeData,
        at: Option<Progress>,
        pass: Pass,
        draws: usize,
    ) -> Result<Outcome> {
        let empty = Prepared::default();
        let mut input = data.input(self.prepared.as_ref().unwrap_or(&empty));
        input.progress = at;
        Ok(match (&self.resting, self.joined) {
            (_, false) => Unchanged {}.drive(&input, &self.backbone, pass, draws)?,
            (None, true) => self.learner.drive(&input, &self.backbone, pass, draws)?,
            (Some(graph), true) => {
                self.learner.drive_on(graph, &input, &self.backbone, pass, draws)?
            }
        })
    }

    /// Deterministic predictions; call on a model without autodiff. Of a learner that is evaluated by draws
    /// these are always the same draws; the first graph stands for all.
    pub fn classify(&self, data: &NodeData) -> Result<Classified> {
        let (pass, draws) = match self.learner.evaluation_draws() {
            draws if draws > 0 && self.joined => (Pass::sample(0, 0), draws),
            _ => (Pass::evaluate(), 1),
        };
        let outcome = self.drive(data, None, pass, draws)?;
        let values = outcome.prediction()?.into_data().convert::<f64>();
        let log_probabilities: Vec<f64> = values.iter::<f64>().collect();
        let best = |row: &[f64]| {
            let larger = |best: usize, at: usize| if row[at] > row[best] { at } else { best };
            (0..row.len()).reduce(larger).unwrap_or(0) as u32
        };
        let predicted = log_probabilities.chunks_exact(data.classes.max(1)).map(best).collect();
        let graph = outcome.draws.into_iter().next().map(|draw| draw.graph);
        let graph = graph.ok_or_else(|| Error::Config {
            place: "learner".into(),
            what: "gave no graph at all".into(),
        })?;
        Ok(Classified { predicted, log_probabilities, graph })
    }
}

impl Model<Node> for NodeModel {
    fn bind(mut self, data: &NodeData) -> Result<Self> {
        let mut prepared = match self.prepared.take() {
            Some(prepared) => prepared,
            None => self.learner.prepare(&data.input(&Prepared::default()))?,
        };
        let probabilities = |teacher: &Teacher| teacher.probabilities(data, self.confidence);
        prepared.probabilities = self.teacher.as_ref().map(probabilities).transpose()?;
        Ok(Self { prepared: Some(prepared), resting: None, ..self })
    }

    fn fitted(mut self, data: &NodeData, seen: &TrainingLabels, seed: u64) -> Result<Self> {
        let (empty, key) = (Prepared::default(), Key::new(seed).child(0xe71d));
        let (nodes, classes) = (seen.nodes(), seen.classes());
        let labels = Labels { nodes, classes, count: data.classes };
        self.learner = self.learner.fit(&data.input(&empty), &labels, key)?;
        Ok(self)
    }

    fn alternatives(&self) -> &'static [&'static str] {
        self.learner.alternatives()
    }

    fn choose(mut self, alternative: usize) -> Self {
        self.learner = self.learner.choose(alternative);
        self
    }

    fn taught_by(
        mut self,
        teacher: &Self,
        data: &NodeData,
        config: &NodeConfig,
        seed: u64,
        seen: &dyn Fn(usize, usize),
    ) -> Result<Self> {
        if config.teacher.resume {
            self.backbone = copied(&teacher.backbone, self.backbone);
        }
        let network = Teacher::Network(teacher.backbone.clone());
        self.teacher = match self.teacher {
            None => None,
            Some(Teacher::Network(fresh)) => {
                Some(Teacher::Network(copied(&teacher.backbone, fresh)))
            }
            Some(Teacher::Distilled(mlp)) => {
                let probabilities = network.probabilities(data, 0.0)?;
                Some(Teacher::Distilled(mlp.distilled(data, &probabilities, seed, seen)?))
            }
        };
        Ok(self)
    }

    /// A learner that rests gives its graph once; nothing of it changes until it gets its next step.
    fn begin_epoch(&mut self, data: &NodeData, at: Progress, learner_joined: bool) -> Result<()> {
        self.joined = learner_joined;
        if !(learner_joined && self.learner.rests(at)) {
            self.resting = None;
        } else if self.resting.is_none() {
            let empty = Prepared::default();
            let input = data.input(self.prepared.as_ref().unwrap_or(&empty));
            self.resting = Some(self.learner.valid().learn(&input, Pass::evaluate())?);
        }
        Ok(())
    }

    fn loss(&self, data: Training<'_, Node>, pass: Pass, rewards: &mut Baseline) -> Result<Step> {
        let Training { config, context, seen, at, .. } = data;
        let key = pass.key();
        let outcome = self.drive(context, Some(at), pass, config.draws.samples)?;
        let terms = Terms { learner: &self.learner, config, data: context, labels: seen, at };
        Ok(Step { loss: terms.total(&outcome, key, rewards)?, measure: None })
    }

    fn evaluate(&self, data: &NodeData, held: &HeldLabels, _seed: u64) -> Result<Evaluation<Node>> {
        let Classified { predicted, log_probabilities, graph } = self.classify(data)?;
        let HeldLabels { held, training, judge } = held;
        let metrics = NodeMetrics {
            accuracy: held.accuracy(&predicted),
            loss: held.cross_entropy(&log_probabilities, data.classes),
            edges: judge.as_ref().map(|judge| judge.findings(&graph)),
        };
        let degrees = graph.degrees.map(|k| {
            let k = k.into_data().convert::<f64>();
            Degree::of(&k.iter::<f64>().collect::<Vec<f64>>())
        });
        let train = (!training.is_empty()).then(|| training.accuracy(&predicted));
        Ok(Evaluation { metrics, train, degrees: degrees.into_iter().collect() })
    }

    fn learner_parameters(&self) -> Vec<ParamId> {
        list_param_ids(&self.learner)
    }

    fn rates(&self, config: &NodeConfig, at: Progress) -> [Option<f64>; 2] {
        let Stage { network, learner, .. } = self.learner.stage(at);
        let close = if config.teacher.resume { config.teacher.rate } else { 1.0 };
        let train = &config.train;
        let learner = learner && !self.learner.rests(at);
        [network.then_some(train.rate * close), learner.then_some(train.learner_rate)]
    }

    fn first_parameters(&self) -> Vec<&'static str> {
        self.backbone.first_parameters().to_vec()
    }
}
