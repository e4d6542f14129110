//! A graph with features and labels, checked as a whole.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use crate::error::{At, Error, Result};
use crate::features::Features;
use crate::marks::EdgeMarks;
use crate::split::{Split, hex};

/// The label of a node whose class is not known.
pub const UNKNOWN_LABEL: u32 = u32::MAX;

/// What the name of a feature begins with when it counts a word.
pub const WORD: &str = "words:";

/// A graph whose nodes are to be classified.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeDataset {
    /// Name for results and messages.
    pub name: String,
    /// One row a node.
    pub features: Features,
    /// Where the first missing feature was read, if the source says so; missing ones are NaN.
    pub missing: Option<At>,
    /// Names of the features, in the order of their columns, words of a bag with [`WORD`] before them;
    /// empty when the source has none.
    pub feature_names: Vec<String>,
    /// Undirected edges, each once with the smaller end first, sorted, no self-loops.
    pub edges: Vec<(u32, u32)>,
    /// One weight an edge, when the data has them.
    pub weights: Option<Vec<f32>>,
    /// What is known of each edge of a made-up or damaged graph; nothing that learns may use it.
    pub marks: EdgeMarks,
    /// Class of each node, or [`UNKNOWN_LABEL`].
    pub labels: Vec<u32>,
    /// Names of the classes, in the order of their numbers.
    pub class_names: Vec<String>,
    /// The source's own names of the nodes; empty when it has none.
    pub node_ids: Vec<String>,
    /// Splits that came with the data; the first is the usual one.
    pub splits: Vec<Split>,
}

impl NodeDataset {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.labels.len()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.class_names.len()
    }

    /// Class of a node, `None` when unknown.
    pub fn label(&self, node: u32) -> Option<u32> {
        self.labels.get(node as usize).copied().filter(|label| *label != UNKNOWN_LABEL)
    }

    /// Number of edges at each node.
    pub fn degrees(&self) -> Vec<u32> {
        let mut degrees = vec![0; self.nodes()];
        for end in self.edges.iter().flat_map(|(u, v)| [*u, *v]) {
            if let Some(degree) = degrees.get_mut(end as usize) {
                *degree += 1;
            }
        }
        degrees
    }

    /// Number of good neighbours of each node; `None` when the graph has no plant.
    pub fn planted_degrees(&self) -> Option<Vec<u32>> {
        let planted = self.marks.planted.as_ref()?;
        let mut degrees = vec![0; self.nodes()];
        let good = self.edges.iter().zip(planted).filter(|(_, good)| **good);
        for end in good.flat_map(|((u, v), _)| [*u, *v]) {
            if let Some(degree) = degrees.get_mut(end as usize) {
                *degree += 1;
            }
        }
        Some(degrees)
    }

    /// Fraction of the edges between nodes of known class that join the same class; `None` when there
    /// is no such edge.
    pub fn homophily(&self) -> Option<f64> {
        let known = self.edges.iter().filter_map(|(u, v)| Some((self.label(*u)?, self.label(*v)?)));
        let (same, all) =
            known.fold((0u64, 0u64), |(same, all), (a, b)| (same + u64::from(a == b), all + 1));
        (all > 0).then(|| same as f64 / all as f64)
    }

    /// The same nodes without their edges, for settings where no graph is given.
    pub fn without_edges(mut self) -> Self {
        self.name.push_str("-no-graph");
        self.edges = Vec::new();
        self.weights = None;
        self.marks = EdgeMarks::default();
        self
    }

    /// Sixteen hex digits that tell two datasets apart by features, edges, weights and labels (not by
    /// name, ids or splits): for results and checkpoints.
    pub fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        let mut number = |value: u64| hasher.update(value.to_le_bytes());
        number(self.nodes() as u64);
        number(self.features.columns() as u64);
        for node in 0..self.features.rows() {
            let row = self.features.row(node);
            number(row.len() as u64);
            row.iter().for_each(|(column, value)| {
                number(u64::from(*column) << 32 | u64::from(value.to_bits()));
            });
        }
        number(self.edges.len() as u64);
        self.edges.iter().for_each(|(u, v)| number(u64::from(*u) << 32 | u64::from(*v)));
        let weights = self.weights.iter().flatten();
        weights.for_each(|weight| number(u64::from(weight.to_bits())));
        self.labels.iter().for_each(|label| number(u64::from(*label)));
        hex(&hasher.finalize()[..8])
    }

    /// Checks that the parts fit together. Every reader in this crate calls it, so it matters for
    /// datasets put together by hand.
    pub fn validate(&self) -> Result<()> {
        let nodes = self.nodes();
        let wrong = |field, what: String, help: &str| {
            Err(Error::Invalid { dataset: self.name.clone(), field, what, help: help.into() })
        };
        if nodes == 0 || nodes > UNKNOWN_LABEL as usize {
            return wrong("labels", format!("{nodes} nodes"), "there must be at least one node");
        }
        if self.features.rows() != nodes {
            let what = format!("{} rows for {nodes} nodes", self.features.rows());
            return wrong("features", what, "give one row a node");
        }
        if let Err(what) = self.features.validate() {
            return wrong("features", what, "correct or remove that value");
        }
        let columns = self.features.columns();
        if !self.feature_names.is_empty() && self.feature_names.len() != columns {
            let what = format!("{} names for {columns} features", self.feature_names.len());
            return wrong("feature_names", what, "give one name a feature, or none at all");
        }
        if let Some((u, v)) = self.edges.iter().find(|(u, v)| u.max(v) >= &(nodes as u32)) {
            let what = format!("edge ({u}, {v}) leaves the {nodes} nodes");
            return wrong("edges", what, "ends are counted from 0");
        }
        if self.edges.iter().any(|(u, v)| u >= v)
            || self.edges.windows(2).any(|pair| pair[0] >= pair[1])
        {
            let what = "not sorted, or with duplicates or self-loops".into();
            return wrong("edges", what, "pass them through `simplify`");
        }
        if let Some(weights) = &self.weights {
            if weights.len() != self.edges.len() {
                let what = format!("{} weights for {} edges", weights.len(), self.edges.len());
                return wrong("weights", what, "give one weight an edge, or none at all");
            }
            let usable = |weight: &f32| (0.0..f32::INFINITY).contains(weight);
            if let Some(at) = weights.iter().position(|weight| !usable(weight)) {
                let what = format!("weight of edge {:?} is {}", self.edges[at], weights[at]);
                return wrong("weights", what, "weights must be finite numbers from 0 on");
            }
        }
        for (field, marks) in self.marks.named() {
            if marks.len() != self.edges.len() {
                let what = format!("{} marks for {} edges", marks.len(), self.edges.len());
                return wrong(field, what, "give one mark an edge, or none at all");
            }
        }
        let classes = self.classes();
        let out = |label: &u32| *label != UNKNOWN_LABEL && *label as usize >= classes;
        if let Some(node) = self.labels.iter().position(out) {
            let what = format!("node {node} has class {} of only {classes}", self.labels[node]);
            return wrong("labels", what, "classes are counted from 0");
        }
        if !self.node_ids.is_empty() && self.node_ids.len() != nodes {
            let what = format!("{} ids for {nodes} nodes", self.node_ids.len());
            return wrong("node_ids", what, "give one id a node, or none at all");
        }
        let split_names: Vec<String> = self.splits.iter().map(|split| split.name.clone()).collect();
        for (field, names) in [
            ("node_ids", &self.node_ids),
            ("class_names", &self.class_names),
            ("feature_names", &self.feature_names),
            ("splits", &split_names),
        ] {
            let mut seen = HashSet::new();
            if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
                let what = format!("`{twice}` is there twice");
                return wrong(field, what, "give everything its own name");
            }
        }
        for split in &self.splits {
            split.check_disjoint()?;
            split.check_range(nodes)?;
            let mut all = split.train.iter().chain(&split.valid).chain(&split.test);
            if let Some(node) = all.find(|node| self.label(**node).is_none()) {
                let what = format!("node {node} is in split `{}` but has no label", split.name);
                return wrong("splits", what, "label the node or take it out of the split");
            }
        }
        Ok(())
    }
}
