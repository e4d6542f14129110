//! Node classification: which class does each node of a graph belong to?

mod agreement;
mod classes;
mod confidence;
mod config;
mod data;
mod distil;
mod exhibit;
mod findings;
mod known;
mod labels;
mod links;
mod loss;
mod model;
mod scaling;
mod schema;
mod scores;
mod section;
mod sizes;

pub use config::{
    DrawConfig, FeatureConfig, GraphLossConfig, Missing, NodeConfig, Scale, TeacherConfig,
};
pub use data::{NodeData, SplitGraph};
pub use distil::DistilledMlp;
pub use findings::{EdgeFindings, PlantFindings};
pub use labels::{HeldLabels, NodeMetrics, Scorer, TrainingLabels};
pub use model::{Classified, NodeModel, Teacher};
pub use scaling::Scaling;
pub use schema::Schema;

use crate::{
    Error, Result, export,
    graph::GraphRecord,
    task::{Named, Part, Predictions, Purpose, Reference, Source, Task, WrongEdges},
};
use adjoin::{
    CandidateRule, Metric,
    conv::{BACKBONES, BackboneConfig},
    dgg::DegreeRule,
    learner::{LEARNERS, LearnerConfig},
    loss::Baseline,
};
use burn::tensor::Device;

/// Candidates of a node where there are no edges.
const NEAREST: usize = 20;

/// Node classification.
#[derive(Clone, Debug, PartialEq)]
pub struct Node;

impl Task for Node {
    const NAME: &'static str = "node";
    const ABOUT: &'static str = "node classification";
    const DATASET: &'static str = "cora";
    const PLAIN: &'static str = "none";
    const BACKBONE: &'static str = "gcn";
    const DEFAULTS: &'static str = include_str!("../../../defaults/node.toml");

    type Config = NodeConfig;
    type Data = SplitGraph;
    type Fitted = Schema;
    type Context = NodeData;
    type Seen = TrainingLabels;
    type Held = HeldLabels;
    type Model = NodeModel;
    type Metrics = NodeMetrics;
    type Exhibit = Option<GraphRecord>;

    /// Cora's own edges are good; beside it are half as many wrong ones, which a learned graph has to find.
    fn first_sources() -> Vec<Source> {
        let clean = Source::named(Self::DATASET);
        let wrong_edges = Some(WrongEdges { fraction: 0.5, seed: 0 });
        vec![clean.clone(), Source { wrong_edges, ..clean }]
    }

    fn backbones() -> Vec<Named> {
        let named = |entry: &adjoin::conv::BackboneEntry| Named::new(entry.name, entry.about);
        BACKBONES.iter().map(named).collect()
    }

    fn learners() -> Vec<Named> {
        LEARNERS.iter().map(|entry| Named::new(entry.name, entry.about)).collect()
    }

    fn start(backbone: &str, learner: &str) -> Result<NodeConfig> {
        let backbone = BackboneConfig::named(backbone).map_err(Error::named("--backbone"))?;
        let learner = LearnerConfig::named(learner).map_err(Error::named("--learner"))?;
        Ok(NodeConfig { backbone, learner, ..NodeConfig::default() })
    }

    fn load(source: &Source) -> Result<SplitGraph> {
        SplitGraph::load(source)
    }

    fn load_other(source: &Source, schema: &Schema, purpose: Purpose) -> Result<SplitGraph> {
        SplitGraph::load_other(source, schema, purpose)
    }

    /// Without edges to start from the generator chooses among the nearest nodes in features.
    fn suited(mut config: NodeConfig, data: &SplitGraph) -> NodeConfig {
        if let LearnerConfig::Dgg(dgg) = &mut config.learner
            && data.dataset.edges.is_empty()
            && !dgg.candidates.is_complete()
            && dgg.informed.is_none()
        {
            dgg.candidates = CandidateRule::Nearest { k: NEAREST, metric: Metric::Cosine };
            dgg.augment = None;
            dgg.keep_weights = false;
            dgg.degree.rule = DegreeRule::Around(NEAREST as f64 / 2.0);
        }
        config
    }

    fn fit(config: &NodeConfig, data: &SplitGraph) -> Result<Schema> {
        let scaling = Scaling::fit(&config.features, &data.dataset, &data.split.train)?;
        Ok(Schema::of(&data.dataset, scaling))
    }

    fn preparation(schema: &Schema) -> Option<String> {
        Some(schema.scaling.about())
    }

    fn context(
        _config: &NodeConfig,
        data: &SplitGraph,
        schema: &Schema,
        device: &Device,
    ) -> Result<NodeData> {
        NodeData::new(&data.dataset, &schema.scaling, device)
    }

    fn training(
        _config: &NodeConfig,
        data: &SplitGraph,
        device: &Device,
    ) -> Result<TrainingLabels> {
        TrainingLabels::new(&data.dataset, &data.split.train, device)
    }

    fn held(_config: &NodeConfig, data: &SplitGraph, part: Part) -> Result<Option<HeldLabels>> {
        // Marks of edges choose nothing: they are compared with at the end, as test labels are.
        let (nodes, judge) = match part {
            Part::Validation => (&data.split.valid, None),
            Part::Test => (&data.split.test, findings::Judge::of(&data.dataset)),
        };
        if nodes.is_empty() {
            return Ok(None);
        }
        let held = Scorer::new(&data.dataset, nodes)?;
        let training = Scorer::new(&data.dataset, &data.split.train)?;
        Ok(Some(HeldLabels { held, training, judge }))
    }

    fn model(
        config: &NodeConfig,
        _schema: &Schema,
        data: &NodeData,
        seed: u64,
        device: &Device,
    ) -> Result<NodeModel> {
        NodeModel::new(config, data, seed, device)
    }

    fn rewards(seen: &TrainingLabels) -> Baseline {
        Baseline::per_node(seen.nodes().len())
    }

    fn teacher(config: &NodeConfig) -> Option<NodeConfig> {
        config.wants_teacher().then(|| config.of_teacher())
    }

    fn as_teacher(config: &NodeConfig) -> Option<NodeConfig> {
        let plain = config.learner.keeps_given_edges() && !config.wants_teacher();
        plain.then(|| config.without_learner_settings())
    }

    /// The most frequent class of the training nodes, for every node.
    fn references(_: &NodeConfig, data: &SplitGraph, _: u64) -> Vec<Reference<Self>> {
        let accuracy = data.majority();
        let test = NodeMetrics { accuracy, loss: f64::NAN, edges: None };
        vec![Reference { name: "majority class".into(), test }]
    }

    fn exhibit(
        config: &NodeConfig,
        data: &SplitGraph,
        context: &NodeData,
        model: &NodeModel,
        seed: u64,
    ) -> Result<Option<GraphRecord>> {
        let classified = model.classify(context)?;
        // Sizes before the first step, of learners that have sizes.
        let start = match classified.graph.degrees {
            Some(_) => model.at_start(config, context, seed)?.classify(context)?.graph.degrees,
            None => None,
        };
        Ok(Some(exhibit::graph(data, &classified, start.as_ref())?))
    }

    fn predictions(
        _config: &NodeConfig,
        data: &SplitGraph,
        context: &NodeData,
        model: &NodeModel,
        _seed: u64,
        wanted: &Predictions,
    ) -> Result<String> {
        wanted.refuse_samples()?;
        let Classified { predicted, log_probabilities, .. } = model.classify(context)?;
        let dataset = &data.dataset;
        let names = (&dataset.node_ids[..], &dataset.class_names[..]);
        Ok(export::predictions_csv(names, &predicted, &log_probabilities, wanted.probabilities))
    }
}
