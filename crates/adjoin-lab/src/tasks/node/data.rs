//! A dataset as tensors.

use super::{scaling::Scaling, schema::Schema};
use crate::{
    Error, Result,
    task::{Dataset, Purpose, Source, WrongEdges},
};
use adjoin::{Adjacency, Batch, Csr, Features, GraphInput, Prepared, SelfLoops, SparseFeatures};
use adjoin_data::{
    Features as RawFeatures, Locations, NodeDataset, Split, SplitSpec, add_wrong_edges,
};
use burn::tensor::{Device, Tensor, TensorData};
use std::path::Path;

/// More classes are unusual.
const MOST_CLASSES: usize = 50;

/// A graph and a split of its nodes.
#[derive(Clone, Debug)]
pub struct SplitGraph {
    /// The graph, labels included.
    pub dataset: NodeDataset,
    /// Which nodes are for training, validation and test.
    pub split: Split,
}

impl SplitGraph {
    pub(super) fn load(source: &Source) -> Result<Self> {
        let dataset = read(source)?;
        let split = match &source.split {
            Some(spec) => dataset.split(&parsed(spec)?)?,
            None => dataset.default_split()?,
        };
        let Split { train, valid, test, name } = &split;
        let parts = [("training", train), ("validation", valid), ("test", test)];
        if let Some((part, _)) = parts.into_iter().find(|(_, nodes)| nodes.is_empty()) {
            let what = format!(
                "there are no {part} nodes; --split stratified:0.6/0.2/0.2 makes all parts"
            );
            return Err(Error::Config { place: format!("split {name}"), what });
        }
        Ok(Self { dataset, split })
    }

    /// Share of the test nodes that are of the most frequent class of the training nodes.
    pub(super) fn majority(&self) -> f64 {
        let Split { train, test, .. } = &self.split;
        let mut counts = vec![0usize; self.dataset.classes()];
        let classes = |nodes: &'_ [u32]| -> Vec<u32> {
            nodes.iter().filter_map(|node| self.dataset.label(*node)).collect()
        };
        classes(train).iter().for_each(|class| counts[*class as usize] += 1);
        // Of equally frequent ones the first.
        let most = counts.iter().copied().max().unwrap_or(0);
        let class = counts.iter().position(|count| *count == most).unwrap_or(0) as u32;
        let hits = classes(test).into_iter().filter(|found| *found == class).count();
        hits as f64 / test.len().max(1) as f64
    }

    /// Whether the classes look like numbers to be predicted rather than classes.
    fn looks_like_regression(&self) -> bool {
        let names = &self.dataset.class_names;
        let fraction = |name: &String| name.contains('.') && name.parse::<f64>().is_ok();
        names.len() > MOST_CLASSES || names.iter().any(fraction)
    }

    /// Other data for a model, whose classes and features are matched by name. What has labels is all there
    /// to test with, unless the data says otherwise: none of it was trained with.
    pub(super) fn load_other(source: &Source, schema: &Schema, purpose: Purpose) -> Result<Self> {
        let dataset = schema.fit(read(source)?)?;
        let stored = dataset.splits.iter().find(|split| Some(&split.name) == source.split.as_ref());
        let split = match stored.or(dataset.splits.first()) {
            Some(split) => split.clone(),
            None => {
                let labelled = |node: &u32| dataset.label(*node).is_some();
                let nodes = (0..dataset.nodes() as u32).filter(labelled).collect();
                Split::new("all", vec![], vec![], nodes)?
            }
        };
        if purpose == Purpose::Compare && split.test.is_empty() {
            let what = "there are no labelled nodes to test with: `adjoin predict` needs none";
            return Err(Error::Config { place: dataset.name, what: what.into() });
        }
        Ok(Self { dataset, split })
    }
}

fn parsed(spec: &str) -> Result<SplitSpec> {
    let wrong = |error: adjoin_data::Error| Error::Config {
        place: format!("--split {spec}"),
        what: error.to_string(),
    };
    spec.parse().map_err(wrong)
}

fn read(source: &Source) -> Result<NodeDataset> {
    if source.subset.is_some() {
        return Err(Error::not_for("--subset", "--task points"));
    }
    let locations = Locations::from_environment(source.data_dir.clone());
    if source.no_graph {
        return Ok(adjoin_data::load_nodes(&source.name, &locations)?);
    }
    let dataset = adjoin_data::load(&source.name, &locations)?;
    Ok(match source.wrong_edges {
        Some(WrongEdges { fraction, seed }) => add_wrong_edges(&dataset, fraction, seed)?.0,
        None => dataset,
    })
}

impl Dataset for SplitGraph {
    fn name(&self) -> &str {
        &self.dataset.name
    }

    fn fingerprint(&self) -> String {
        self.dataset.fingerprint()
    }

    fn split(&self) -> String {
        self.split.name.clone()
    }

    fn split_hash(&self) -> String {
        self.split.hash()
    }

    fn source(&self, from: &Source) -> Source {
        let locations = Locations::from_environment(from.data_dir.clone());
        let name = match is_known(&from.name, &locations) {
            true => from.name.clone(),
            false => crate::files::absolute(Path::new(&from.name)).display().to_string(),
        };
        let data_dir = from.data_dir.as_deref().map(crate::files::absolute);
        Source { name, data_dir, split: Some(self.split.name.clone()), ..from.clone() }
    }

    fn heading(&self) -> String {
        let (dataset, split) = (&self.dataset, &self.split);
        let [train, valid, test] = [&split.train, &split.valid, &split.test].map(Vec::len);
        let made = match dataset.splits.is_empty() {
            true => "; made here, the data has none",
            false => "",
        };
        let doubt = match self.looks_like_regression() {
            true => {
                "\nwarning: are the labels numbers to be predicted? They are taken as classes here"
            }
            false => "",
        };
        format!(
            "{}: {} nodes, {} edges, {} features, {} classes; split {} ({train} / {valid} / {test}{made}){doubt}",
            dataset.name,
            dataset.nodes(),
            dataset.edges.len(),
            dataset.features.columns(),
            dataset.classes(),
            split.name,
        )
    }
}

/// Whether a name means the same wherever the command is run: that of a known dataset, or of one in a data
/// folder.
fn is_known(name: &str, locations: &Locations) -> bool {
    !name.contains(['/', '\\'])
        && (adjoin_data::find(name).is_ok()
            || !Path::new(name).exists()
            || locations.folders().iter().any(|folder| folder.join(name).exists()))
}

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
    /// Puts a dataset on a device, its features scaled.
    ///
    /// # Errors
    /// If features or edges are not what the dataset's own checks promise, or the scaling does not fit.
    pub fn new(dataset: &NodeDataset, scaling: &Scaling, device: &Device) -> Result<Self> {
        let features = match scaling.apply(dataset)? {
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
pub(super) fn input_graph(dataset: &NodeDataset, device: &Device) -> Result<Adjacency> {
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
