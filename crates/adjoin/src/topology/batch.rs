//! Many graphs as one: block-diagonal batches.

use super::Csr;
use crate::{Error, Result};
use std::sync::Arc;

/// Where each graph of a block-diagonal batch begins and ends.
///
/// A batch of graphs is one graph whose nodes are those of the first graph, then those of the
/// second, and so on, with no edges between graphs. Graphs may have different sizes, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    offsets: Arc<[u32]>,
}

impl Batch {
    /// One graph of `nodes` nodes.
    pub fn single(nodes: usize) -> Self {
        Self { offsets: Arc::new([0, nodes as u32]) }
    }

    /// Graphs of the given sizes.
    pub fn of_sizes(sizes: impl IntoIterator<Item = usize>) -> Self {
        let mut offsets = vec![0u32];
        offsets.extend(sizes.into_iter().scan(0u32, |end, size| {
            *end += size as u32;
            Some(*end)
        }));
        Self { offsets: offsets.into() }
    }

    /// Number of graphs.
    pub fn graphs(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of nodes of all graphs.
    pub fn nodes(&self) -> usize {
        self.offsets[self.graphs()] as usize
    }

    /// First node of every graph, and the number of nodes at the end.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The nodes of a graph.
    pub fn range(&self, graph: usize) -> std::ops::Range<usize> {
        self.offsets[graph] as usize..self.offsets[graph + 1] as usize
    }

    /// The nodes of every graph, in order.
    pub fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        (0..self.graphs()).map(|graph| self.range(graph))
    }

    /// The graph that every node belongs to.
    pub fn graph_of_nodes(&self) -> Vec<u32> {
        let mut graph_of = Vec::with_capacity(self.nodes());
        for graph in 0..self.graphs() {
            graph_of.resize(self.offsets[graph + 1] as usize, graph as u32);
        }
        graph_of
    }
}

impl Csr {
    /// Joins square graphs into one block-diagonal graph.
    ///
    /// # Errors
    /// If one of the graphs is not square.
    pub fn block_diagonal(graphs: &[Csr]) -> Result<(Csr, Batch)> {
        let batch = Batch::of_sizes(graphs.iter().map(Csr::rows));
        let mut pointers = Vec::with_capacity(batch.nodes() + 1);
        pointers.push(0u32);
        let mut indices = Vec::with_capacity(graphs.iter().map(Csr::edges).sum());
        for (graph, range) in graphs.iter().zip(batch.ranges()) {
            if graph.rows() != graph.columns() {
                let found = [graph.rows(), graph.columns()];
                return Err(Error::shape("block_diagonal", [graph.rows(); 2], found));
            }
            let base = indices.len() as u32;
            indices.extend(graph.indices().iter().map(|&j| j + range.start as u32));
            pointers.extend(graph.pointers()[1..].iter().map(|&p| p + base));
        }
        Ok((Csr::trusted(batch.nodes(), pointers, indices), batch))
    }

    /// Takes a block-diagonal graph apart.
    ///
    /// # Errors
    /// If the sizes do not fit, or an edge joins two graphs.
    pub fn split(&self, batch: &Batch) -> Result<Vec<Csr>> {
        let expected = [batch.nodes(); 2];
        if [self.rows(), self.columns()] != expected {
            return Err(Error::shape("split", expected, [self.rows(), self.columns()]));
        }
        batch
            .ranges()
            .map(|range| {
                let entries =
                    self.pointers()[range.start] as usize..self.pointers()[range.end] as usize;
                let base = entries.start as u32;
                let pointers =
                    self.pointers()[range.start..=range.end].iter().map(|&p| p - base).collect();
                let indices = self.indices()[entries.clone()]
                    .iter()
                    .enumerate()
                    .map(|(at, &j)| {
                        if range.contains(&(j as usize)) {
                            Ok(j - range.start as u32)
                        } else {
                            let entry = entries.start + at;
                            let row = self.pointers().partition_point(|&p| p as usize <= entry) - 1;
                            Err(Error::BetweenGraphs { entry, row, column: j as usize })
                        }
                    })
                    .collect::<Result<_>>()?;
                Ok(Csr::trusted(range.len(), pointers, indices))
            })
            .collect()
    }
}
