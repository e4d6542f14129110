//! Labels, kept apart by what they may be used for.
//!
//! The trainer is given [`TrainingLabels`]; it has no way to see another label. Validation labels
//! choose epochs through a [`Scorer`], and test labels sit in a [`Scorer`] that is asked once.

use crate::{Error, Result};
use adjoin_data::{NodeDataset, Split};

/// Nodes and classes that losses may see.
#[derive(Clone, Debug)]
pub struct TrainingLabels {
    nodes: Vec<u32>,
    classes: Vec<u32>,
}

impl TrainingLabels {
    /// The training nodes.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The class of each training node.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }
}

/// Compares predictions with labels it does not give away.
#[derive(Clone, Debug)]
pub struct Scorer {
    nodes: Vec<u32>,
    classes: Vec<u32>,
}

impl Scorer {
    /// The labels of some nodes.
    ///
    /// # Errors
    /// If a node has none.
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

/// The labels of a split, each part in the type that fits its use.
#[derive(Clone, Debug)]
pub struct SplitLabels {
    /// For losses.
    pub training: TrainingLabels,
    /// For the choice of epochs and settings.
    pub validation: Scorer,
    /// For the final number.
    pub test: Scorer,
}

impl SplitLabels {
    /// Takes a dataset's labels apart.
    ///
    /// # Errors
    /// If a part of the split is empty, or one of its nodes has no label.
    pub fn new(dataset: &NodeDataset, split: &Split) -> Result<Self> {
        let Split { train, valid, test, .. } = split;
        let parts = [("training", train), ("validation", valid), ("test", test)];
        if let Some((name, _)) = parts.into_iter().find(|(_, nodes)| nodes.is_empty()) {
            let what =
                format!("there are no {name} nodes; --split ratio:0.6/0.2/0.2 makes all parts");
            return Err(Error::Config { place: format!("split {}", split.name), what });
        }
        let Scorer { nodes, classes } = Scorer::new(dataset, train)?;
        Ok(Self {
            training: TrainingLabels { nodes, classes },
            validation: Scorer::new(dataset, valid)?,
            test: Scorer::new(dataset, test)?,
        })
    }
}
