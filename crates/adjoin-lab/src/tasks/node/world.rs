//! A small graph, taken apart, for tests of training.

use super::{Node, NodeConfig, NodeData, Schema, SplitGraph, TrainingLabels};
use crate::{
    task::{Task, Validation},
    train::{Trainer, Visible},
};
use adjoin_data::{GeneratorConfig, citation_like};
use burn::tensor::Device;

/// The data as trainers see it.
pub(crate) struct World {
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
        Self {
            context: Node::context(&config, &data, &device).unwrap(),
            fitted: Node::fit(&config, &data).unwrap(),
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
