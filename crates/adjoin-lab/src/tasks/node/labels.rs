//! Labels, kept apart by what they may be used for.
//!
//! Losses are given [`TrainingLabels`]. Validation and test labels sit in a [`Scorer`], which compares
//! predictions with them and does not give them away.

use super::findings::{EdgeFindings, Judge};
use crate::{
    Error, Result,
    task::{Column, Items, Measure, Metrics, or_nan},
};
use adjoin::{Key, loss::TrainingPairs};
use adjoin_data::NodeDataset;
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// How well nodes are classified.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeMetrics {
    /// Fraction of right predictions.
    pub accuracy: f64,
    /// Mean cross-entropy.
    #[serde(deserialize_with = "or_nan")]
    pub loss: f64,
    /// The learned graph against marked edges: of test data only, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<EdgeFindings>,
}

impl Metrics for NodeMetrics {
    const COLUMNS: &'static [Column] = &[
        Column { key: "accuracy", title: "accuracy", measure: Measure::PERCENT },
        Column { key: "loss", title: "loss", measure: Measure::LOSS },
    ];

    fn values(&self) -> Vec<f64> {
        vec![self.accuracy, self.loss]
    }

    fn from_values(values: &[f64]) -> Self {
        let at = |n: usize| values.get(n).copied().unwrap_or(f64::NAN);
        Self { accuracy: at(0), loss: at(1), edges: None }
    }

    fn loss(&self) -> f64 {
        self.loss
    }

    fn details(&self) -> Vec<(Column, Option<f64>)> {
        self.edges.map(|found| found.details()).unwrap_or_default()
    }
}

/// Nodes and classes that losses may see.
#[derive(Clone, Debug)]
pub struct TrainingLabels {
    labels: Scorer,
    /// The training nodes, `[training]`.
    pub rows: Tensor<1, Int>,
    /// The class of each, `[training, 1]`.
    pub targets: Tensor<2, Int>,
    pairs: OnceLock<TrainingPairs>,
}

impl TrainingLabels {
    /// The labels of the training nodes.
    pub fn new(dataset: &NodeDataset, nodes: &[u32], device: &Device) -> Result<Self> {
        let labels = Scorer::new(dataset, nodes)?;
        let ints = |values: &[u32]| values.iter().map(|&v| i64::from(v)).collect::<Vec<i64>>();
        let count = nodes.len();
        Ok(Self {
            rows: Tensor::from_data(TensorData::new(ints(nodes), [count]), device),
            targets: Tensor::from_data(TensorData::new(ints(&labels.classes), [count, 1]), device),
            labels,
            pairs: OnceLock::new(),
        })
    }

    /// Pairs of training nodes, worked out once; `nodes` is the size of the graph.
    pub(super) fn pairs(&self, nodes: usize) -> Result<&TrainingPairs> {
        if let Some(pairs) = self.pairs.get() {
            return Ok(pairs);
        }
        let pairs = TrainingPairs::new(nodes, self.nodes(), self.classes(), None)?;
        Ok(self.pairs.get_or_init(|| pairs))
    }

    /// The training nodes.
    pub fn nodes(&self) -> &[u32] {
        &self.labels.nodes
    }

    /// The class of each training node.
    pub fn classes(&self) -> &[u32] {
        &self.labels.classes
    }
}

impl Items for TrainingLabels {
    /// All nodes in one step.
    fn batches(&self, _size: usize, _key: Key) -> Vec<Vec<u32>> {
        vec![self.nodes().to_vec()]
    }
}

/// Compares predictions with labels it does not give away.
#[derive(Clone, Debug)]
pub struct Scorer {
    nodes: Vec<u32>,
    classes: Vec<u32>,
}

/// Held-out labels, and training labels to be told of in the same pass.
#[derive(Clone, Debug)]
pub struct HeldLabels {
    pub(super) held: Scorer,
    pub(super) training: Scorer,
    /// What is known of the edges; of test data only.
    pub(super) judge: Option<Judge>,
}

impl Scorer {
    /// The labels of some nodes.
    pub fn new(dataset: &NodeDataset, nodes: &[u32]) -> Result<Self> {
        let class = |&node: &u32| {
            dataset.label(node).ok_or_else(|| Error::Config {
                place: dataset.name.clone(),
                what: format!("node {node} is in the split but has no label"),
            })
        };
        let classes = nodes.iter().map(class).collect::<Result<Vec<u32>>>()?;
        Ok(Self { nodes: nodes.to_vec(), classes })
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Fraction of right predictions; `predicted` has one class per node of the graph.
    pub fn accuracy(&self, predicted: &[u32]) -> f64 {
        let right = |(node, class): &(&u32, &u32)| predicted[**node as usize] == **class;
        let count = self.nodes.iter().zip(&self.classes).filter(right).count();
        count as f64 / self.nodes.len().max(1) as f64
    }

    /// Mean cross-entropy of log-probabilities `[nodes, classes]`, row by row.
    pub fn cross_entropy(&self, log_probabilities: &[f64], classes: usize) -> f64 {
        let term = |(&node, &class): (&u32, &u32)| {
            -log_probabilities[node as usize * classes + class as usize]
        };
        let total: f64 = self.nodes.iter().zip(&self.classes).map(term).sum();
        total / self.nodes.len().max(1) as f64
    }
}
