//! A small graph, taken apart, for tests of training.

use adjoin_data::{GeneratorConfig, citation_like};
use adjoin_lab::{
    task::{Task, Validation},
    tasks::{
        Node,
        node::{NodeConfig, NodeData, Schema, SplitGraph, TrainingLabels},
    },
    train::{Trainer, Visible},
};
use burn::tensor::Device;

/// The data as trainers see it.
pub struct World {
    pub data: SplitGraph,
    pub context: NodeData,
    fitted: Schema,
    training: TrainingLabels,
    validation: Validation<Node>,
}

impl World {
    /// A generated graph.
    pub fn new(generator: &GeneratorConfig) -> Self {
        let dataset = citation_like(generator).unwrap();
        let split = dataset.split(&"ratio:0.4/0.3/0.3".parse().unwrap()).unwrap();
        let data = SplitGraph { dataset, split };
        let (config, device) = (NodeConfig::default(), Device::flex());
        let fitted = Node::fit(&config, &data).unwrap();
        Self {
            context: Node::context(&config, &data, &fitted, &device).unwrap(),
            fitted,
            training: Node::training(&config, &data, &device).unwrap(),
            validation: Validation::of(&config, &data).unwrap(),
            data,
        }
    }

    /// A fresh trainer.
    pub fn trainer<'a>(&'a self, config: &'a NodeConfig, seed: u64) -> Trainer<'a, Node> {
        let Self { fitted, context, training, validation, .. } = self;
        let visible = Visible { fitted, context, training, validation };
        Trainer::new(config, visible, seed, &Device::flex()).unwrap()
    }
}
