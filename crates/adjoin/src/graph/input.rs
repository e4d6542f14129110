//! What learners are given.

use super::{Adjacency, Features, LowRank};
use crate::{
    Error, Result,
    topology::{Batch, Candidates, Csr},
};
use burn::tensor::Tensor;

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
    /// Candidates with the log-odds that they are good neighbours, of learners that
    /// fit them to labels.
    pub evidence: Option<Evidence>,
}

/// Candidates with the log-odds that they are good neighbours; constants.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The candidates.
    pub pairs: Csr,
    /// `ln(p / (1 - p))` of each, `[pairs]`.
    pub log_odds: Tensor<1>,
    /// 1 where a pair is no given edge, else 0, `[pairs]`.
    pub added: Tensor<1>,
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
