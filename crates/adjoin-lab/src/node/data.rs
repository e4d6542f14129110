//! A dataset as tensors.

use crate::{Error, Result};
use adjoin::{Adjacency, Batch, Csr, Features, GraphInput, Prepared, SelfLoops, SparseFeatures};
use adjoin_data::{Features as RawFeatures, NodeDataset};
use burn::tensor::{Device, Tensor, TensorData};

/// Features and graph of a node-classification dataset; no labels.
#[derive(Clone, Debug)]
pub struct NodeData {
    /// Node features.
    pub features: Features,
    /// The input graph; it may be empty, and every node by itself.
    pub graph: Adjacency,
    /// All nodes as one graph.
    pub batch: Batch,
    /// Number of classes.
    pub classes: usize,
}

impl NodeData {
    /// Puts a dataset on a device; with `normalise`, rows of the features are scaled to sum 1.
    ///
    /// # Errors
    /// If features or edges are not what the dataset's own checks promise.
    pub fn new(dataset: &NodeDataset, normalise: bool, device: &Device) -> Result<Self> {
        let mut raw = dataset.features.clone();
        if normalise {
            raw.row_normalise();
        }
        let features = match raw {
            RawFeatures::Sparse { columns, pointers, indices, values, .. } => {
                let topology = Csr::new(columns, pointers, indices)?;
                SparseFeatures::new(topology, &values, device)?.into()
            }
            RawFeatures::Dense { rows, columns, values } => {
                let data = TensorData::new(values, [rows, columns]);
                Features::from(Tensor::<2>::from_data(data, device))
            }
        };
        let graph = input_graph(dataset, device)?;
        let batch = Batch::single(dataset.nodes());
        Ok(Self { features, graph, batch, classes: dataset.classes() })
    }

    /// What learners are given.
    pub fn input<'a>(&'a self, prepared: &'a Prepared) -> GraphInput<'a> {
        GraphInput::new(&self.features, Some(&self.graph), &self.batch).with_prepared(prepared)
    }
}

/// The edges of a dataset, in both directions.
pub(crate) fn input_graph(dataset: &NodeDataset, device: &Device) -> Result<Adjacency> {
    let edges = dataset.edges.iter().copied();
    let topology = Csr::undirected(dataset.nodes(), edges, SelfLoops::Drop)?;
    match &dataset.weights {
        None => Ok(Adjacency::unweighted(topology, device)),
        Some(weights) => weighted(topology, &dataset.edges, weights, device),
    }
}

fn weighted(
    topology: Csr,
    edges: &[(u32, u32)],
    weights: &[f32],
    device: &Device,
) -> Result<Adjacency> {
    let mut values = vec![0f32; topology.edges()];
    for (&(i, j), &weight) in edges.iter().zip(weights) {
        for (row, column) in [(i, j), (j, i)] {
            let at = topology.find(row as usize, column).ok_or_else(|| Error::Config {
                place: "the dataset".into(),
                what: format!("edge ({i}, {j}) has a weight but joins a node to itself"),
            })?;
            values[at] = weight;
        }
    }
    let data = TensorData::new(values, [topology.edges()]);
    Ok(Adjacency::new(topology, Tensor::from_data(data, device))?)
}
