//! Topology with differentiable weights.

use crate::{
    Error, Result,
    kernels::normalise::Normalisation,
    ops::{self, identity},
    topology::{ABSENT, Csr, SelfLoops},
};
use burn::tensor::{Tensor, TensorCreationOptions};
use std::sync::{Arc, Mutex};

/// A weighted graph: topology, and one differentiable weight per edge.
///
/// `a_ij` is how much node i receives from node j. Gradients flow through [`weights`](Self::weights)
/// to whatever made them.
#[derive(Clone, Debug)]
pub struct Adjacency {
    topology: Csr,
    weights: Tensor<1>,
    /// All weights are the constant 1.
    uniform: bool,
    /// To be used as it is.
    normalised: bool,
    /// Normalised forms, computed once: layers that share a graph share them.
    prepared: Arc<Prepared>,
}

type Prepared = Mutex<Vec<((Normalisation, bool), Adjacency)>>;

impl Adjacency {
    /// Topology and weights, one per edge.
    ///
    /// # Errors
    /// If the number of weights is not the number of edges.
    pub fn new(topology: Csr, weights: Tensor<1>) -> Result<Self> {
        if weights.dims() != [topology.edges()] {
            return Err(Error::shape("adjacency weights", [topology.edges()], weights.dims()));
        }
        let (uniform, normalised) = (false, false);
        Ok(Self { topology, weights, uniform, normalised, prepared: Arc::default() })
    }

    /// A graph with weight 1 on every edge; `options` are a device, perhaps with an element type.
    pub fn unweighted(topology: Csr, options: impl Into<TensorCreationOptions>) -> Self {
        let weights = Tensor::ones([topology.edges()], options);
        let (uniform, normalised) = (true, false);
        Self { topology, weights, uniform, normalised, prepared: Arc::default() }
    }

    /// The edges.
    pub fn topology(&self) -> &Csr {
        &self.topology
    }

    /// The weights, one per edge.
    pub fn weights(&self) -> &Tensor<1> {
        &self.weights
    }

    /// Whether every weight is the constant 1.
    pub fn is_uniform(&self) -> bool {
        self.uniform
    }

    /// Number of nodes that receive.
    pub fn nodes(&self) -> usize {
        self.topology.rows()
    }

    /// `A X`.
    ///
    /// # Errors
    /// If `x` has another number of rows than the graph has nodes.
    pub fn aggregate(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        ops::spmm(&self.topology, &self.weights, x)
    }

    /// `scale A X + share Z`.
    ///
    /// # Errors
    /// If the shapes do not fit.
    pub fn aggregate_onto(
        &self,
        x: &Tensor<2>,
        z: &Tensor<2>,
        scale: f64,
        share: f64,
    ) -> Result<Tensor<2>> {
        ops::spmm_onto(&self.topology, &self.weights, x, z, [scale, share])
    }

    /// The graph with a self-loop of weight 1 at every node that has none.
    ///
    /// # Errors
    /// If the weights are of an element type the kernels do not serve.
    pub fn with_self_loops(&self) -> Result<Self> {
        let topology = self.topology.with_self_loops(SelfLoops::Add);
        if topology == self.topology {
            return Ok(self.clone());
        }
        let positions = topology.positions_in(&self.topology);
        let weights = ops::take(&self.weights, positions, 1.0)?;
        Ok(Self { uniform: self.uniform, ..Self::new(topology, weights)? })
    }

    /// The scaled graph; differentiable through the degrees. Isolated nodes give 0, never NaN.
    ///
    /// # Errors
    /// If the weights are of an element type the kernels do not serve, or the graph is not square.
    pub fn normalise(&self, normalisation: Normalisation) -> Result<Self> {
        self.prepare(normalisation, false)
    }

    /// The same graph as one that is normalised already: convolutions use its weights as they are, and add no
    /// self-loops. Graphs that are made from it are plain again.
    #[must_use]
    pub fn as_normalised(&self) -> Self {
        Self { normalised: true, prepared: Arc::default(), ..self.clone() }
    }

    /// Self-loops added once, then scaled: what most convolutions work on.
    ///
    /// # Errors
    /// As [`normalise`](Self::normalise).
    pub fn prepare(&self, normalisation: Normalisation, self_loops: bool) -> Result<Self> {
        if self.normalised {
            return Ok(self.clone());
        }
        let wanted = (normalisation, self_loops);
        if let Some((_, graph)) = lock(&self.prepared).iter().find(|kept| kept.0 == wanted) {
            return Ok(graph.clone());
        }
        let graph = if self_loops { self.with_self_loops()? } else { self.clone() };
        let graph = match normalisation {
            Normalisation::None => graph,
            other => {
                let weights = ops::normalise(&graph.topology, &graph.weights, other)?;
                Self::new(graph.topology.clone(), weights)?
            }
        };
        // A graph that is its own prepared form must not hold itself.
        if !Arc::ptr_eq(&graph.prepared, &self.prepared) {
            lock(&self.prepared).push((wanted, graph.clone()));
        }
        Ok(graph)
    }

    /// `(A + A^T) / 2`.
    ///
    /// # Errors
    /// If the graph is not square.
    pub fn symmetrised(&self) -> Result<Self> {
        let reverse = self.topology.transposed();
        let topology = self.topology.union(&reverse)?;
        let forward = ops::take(&self.weights, topology.positions_in(&self.topology), 0.0)?;
        let entries = &self.topology.transpose().entries;
        let backward: Vec<u32> = topology
            .positions_in(&reverse)
            .into_iter()
            .map(|at| entries.get(at as usize).copied().unwrap_or(ABSENT))
            .collect();
        let backward = ops::take(&self.weights, backward, 0.0)?;
        Self::new(topology, (forward + backward) * 0.5)
    }

    /// `A + B`.
    ///
    /// # Errors
    /// If the shapes differ.
    pub fn plus(&self, other: &Self) -> Result<Self> {
        let topology = self.topology.union(&other.topology)?;
        Error::same_type("sum of graphs", self.weights.dtype(), other.weights.dtype())?;
        let own = ops::take(&self.weights, topology.positions_in(&self.topology), 0.0)?;
        let others = ops::take(&other.weights, topology.positions_in(&other.topology), 0.0)?;
        Self::new(topology, own + others)
    }

    /// The edges for which `keep(row, column)` holds, with their weights.
    ///
    /// # Errors
    /// If the weights are of an element type the kernels do not serve.
    pub fn filter(&self, mut keep: impl FnMut(u32, u32) -> bool) -> Result<Self> {
        let mut kept = Vec::new();
        let topology = self.topology.filter(|entry, i, j| {
            let keep = keep(i, j);
            if keep {
                kept.push(entry as u32);
            }
            keep
        });
        let weights = ops::take(&self.weights, kept, 0.0)?;
        Ok(Self { uniform: self.uniform, ..Self::new(topology, weights)? })
    }

    /// The graph with every weight passed through `map`.
    ///
    /// # Errors
    /// If `map` changes the number of weights.
    pub fn map_weights(&self, map: impl FnOnce(Tensor<1>) -> Tensor<1>) -> Result<Self> {
        Self::new(self.topology.clone(), map(self.weights.clone()))
    }

    /// As a dense `[rows, columns]` matrix; for small graphs and tests.
    ///
    /// # Errors
    /// If the weights are of an element type the kernels do not serve.
    pub fn to_dense(&self) -> Result<Tensor<2>> {
        self.aggregate(&identity(self.topology.columns(), &self.weights))
    }
}

fn lock(kept: &Prepared) -> std::sync::MutexGuard<'_, Vec<((Normalisation, bool), Adjacency)>> {
    // A panic elsewhere while the lock was held leaves a list that is still right.
    kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
