//! What learners are given.

use super::{Adjacency, Features, LowRank};
use crate::{
    Error, Result, ops,
    topology::{Batch, Candidates, Csr},
};
use burn::tensor::{Tensor, TensorData};

/// Where training stands, for settings that change with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Epochs done.
    pub epoch: usize,
    /// All epochs.
    pub epochs: usize,
}

/// The nodes, and what is known of their graph.
#[derive(Clone, Copy, Debug)]
pub struct GraphInput<'a> {
    /// Node features, `[nodes, width]`.
    pub features: &'a Features,
    /// The given graph, if there is one.
    pub graph: Option<&'a Adjacency>,
    /// Which nodes belong together: pairs are sought within a graph of the batch only.
    pub batch: &'a Batch,
    /// What a learner prepared once for inputs that stay the same; learners prepare it anew on
    /// every call when it is absent.
    pub prepared: Option<&'a Prepared>,
    /// Where training stands; none in evaluation.
    pub progress: Option<Progress>,
}

/// Classes of some nodes: those that training may see.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// The nodes.
    pub nodes: &'a [u32],
    /// The class of each of them.
    pub classes: &'a [u32],
    /// Number of classes that there are.
    pub count: usize,
}

impl Labels<'_> {
    /// Checks that the labels are of existing nodes and classes.
    ///
    /// # Errors
    /// Names what does not fit.
    pub fn check(&self, nodes: usize) -> Result<()> {
        if self.nodes.len() != self.classes.len() {
            return Err(Error::shape("labels", self.nodes.len(), self.classes.len()));
        }
        let below = |values: &[u32], limit: usize| values.iter().all(|&v| (v as usize) < limit);
        if !below(self.nodes, nodes) || !below(self.classes, self.count) {
            let found = [self.nodes, self.classes].map(|v| v.iter().max().copied());
            let expected = format!("nodes below {nodes}, classes below {}", self.count);
            return Err(Error::shape("labels: largest node and class", expected, found));
        }
        Ok(())
    }
}

/// What a learner works out once for nodes and a graph that do not change.
#[derive(Clone, Debug, Default)]
pub struct Prepared {
    /// The pairs that may become edges.
    pub candidates: Option<Candidates>,
    /// A graph that is already final.
    pub graph: Option<Adjacency>,
    /// Thin factors of a matrix that is used in place of a graph.
    pub low_rank: Option<LowRank>,
    /// Class probabilities of every node that a teacher gave before a graph is learned,
    /// `[nodes, classes]`, constants. Whoever has them puts them here; no learner makes them.
    pub probabilities: Option<Tensor<2>>,
    /// Scaled patterns of neighbours at growing numbers of steps, of learners that aggregate over several.
    pub patterns: Option<Vec<Adjacency>>,
    /// Candidates with the log-odds that they are good neighbours, of learners that
    /// fit them to labels.
    pub evidence: Option<Evidence>,
    /// What is known of nodes and candidates beside the features. Whoever has them puts them here; no learner
    /// makes them.
    pub extras: Option<Extras>,
}

/// What is known of nodes and candidates beside the features of the nodes.
#[derive(Clone, Debug)]
pub struct Extras {
    /// Of nodes, `[nodes, a]`.
    pub nodes: Tensor<2>,
    /// Of the candidates of [`Prepared::candidates`], in their order, `[pairs, b]`.
    pub pairs: Tensor<2>,
}

impl Extras {
    /// Checks that there is a row for every node and every candidate.
    ///
    /// # Errors
    /// Names what has another number of rows.
    pub fn check(&self, pairs: &Csr) -> Result<()> {
        let rows = [self.nodes.dims()[0], self.pairs.dims()[0]];
        let expected = [pairs.rows(), pairs.edges()];
        match rows == expected {
            true => Ok(()),
            false => Err(Error::shape("extras: rows of nodes and of candidates", expected, rows)),
        }
    }
}

/// Candidates with the log-odds that they are good neighbours; constants.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The candidates.
    pub pairs: Csr,
    /// `ln(p / (1 - p))` of each, `[pairs]`.
    pub log_odds: Tensor<1>,
    /// Those of them that are given edges.
    pub given: CandidatePart,
    /// The others.
    pub added: CandidatePart,
    /// 1 for added candidates that are feature neighbours, else 0, `[added]`.
    pub near: Tensor<1>,
    /// 1 for added candidates that walks over good edges visit, else 0, `[added]`.
    pub walk: Tensor<1>,
}

impl Evidence {
    /// The same with one probability for all given edges, and one for all added candidates: their means.
    ///
    /// # Errors
    /// If the log-odds are of an element type the kernels do not serve.
    pub(crate) fn evened(self) -> Result<Self> {
        let mut odds = ops::to_f64("log-odds", &self.log_odds)?;
        for part in [&self.given, &self.added] {
            let of = |&at: &u32| 1.0 / (1.0 + (-odds[at as usize]).exp());
            let mean = part.entries.iter().map(of).sum::<f64>() / part.entries.len().max(1) as f64;
            let mean = mean.clamp(1e-6, 1.0 - 1e-6);
            part.entries.iter().for_each(|&at| odds[at as usize] = (mean / (1.0 - mean)).ln());
        }
        let like = (&self.log_odds.device(), self.log_odds.dtype());
        let data = TensorData::new(odds, self.log_odds.dims()).convert_dtype(like.1);
        Ok(Self { log_odds: Tensor::from_data(data, like), ..self })
    }
}

/// Some of the candidates.
#[derive(Clone, Debug)]
pub struct CandidatePart {
    /// The pairs.
    pub pairs: Csr,
    /// Where each of them is among all candidates.
    pub entries: Vec<u32>,
}

impl CandidatePart {
    /// The candidates for which `keep(entry)` holds.
    pub(crate) fn of(pairs: &Csr, keep: impl Fn(usize) -> bool) -> Self {
        let entries = (0..pairs.edges()).filter(|&entry| keep(entry)).map(|entry| entry as u32);
        let entries = entries.collect();
        Self { pairs: pairs.filter(|entry, _, _| keep(entry)), entries }
    }
}

impl<'a> GraphInput<'a> {
    /// Nodes of one or several graphs with a given graph.
    pub fn new(features: &'a Features, graph: Option<&'a Adjacency>, batch: &'a Batch) -> Self {
        Self { features, graph, batch, prepared: None, progress: None }
    }

    /// The same with what was prepared before.
    pub fn with_prepared(self, prepared: &'a Prepared) -> Self {
        Self { prepared: Some(prepared), ..self }
    }

    /// The same in the middle of training.
    pub fn with_progress(self, progress: Progress) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Checks that features, graph and batch speak of the same nodes.
    ///
    /// # Errors
    /// Names the two that differ.
    pub fn check(&self) -> Result<()> {
        let nodes = self.batch.nodes();
        if self.features.nodes() != nodes {
            let found = self.features.nodes();
            return Err(Error::shape("features: number of nodes", nodes, found));
        }
        let Some(graph) = self.graph else { return Ok(()) };
        let shape = [graph.topology().rows(), graph.topology().columns()];
        if shape != [nodes; 2] {
            return Err(Error::shape("input graph", [nodes; 2], shape));
        }
        Ok(())
    }

    /// The topology of the input graph.
    ///
    /// # Errors
    /// If there is none; `who` needs it.
    pub fn topology(&self, who: &'static str) -> Result<&'a Csr> {
        Ok(self.graph.ok_or(Error::NoInputGraph(who))?.topology())
    }
}
