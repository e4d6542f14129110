//! Learns, for every node of a graph, **which neighbours it should have and how many**, end to end
//! with the network that uses them.
//!
//! The heart of the crate is the differentiable graph generator [`Dgg`] of "Learning Adaptive
//! Neighborhoods for Graph Neural Networks" (ICCV 2023), as a [Burn](https://docs.rs/burn) module.
//! Around it: sparse graphs with differentiable weights, the kernels that make them fast on a CPU,
//! the convolutions that use them, and other ways to learn a structure to compare with.
//!
//! # In a Burn model
//!
//! A generator is a module like any other. It takes node features, and a graph if there is one, and
//! gives a graph whose weights carry gradients:
//!
//! ```
//! use adjoin::{Adjacency, Csr, DggConfig, Features, Key, Pass, SelfLoops};
//! use adjoin::conv::{Conv, GcnConfig};
//! use burn::tensor::{Device, Distribution, Tensor};
//!
//! # fn main() -> adjoin::Result<()> {
//! let device = Device::flex().autodiff();
//! let key = Key::new(42);
//!
//! // Four nodes in a ring, with eight features each.
//! let ring = Csr::undirected(4, [(0, 1), (1, 2), (2, 3), (3, 0)], SelfLoops::Drop)?;
//! let ring = Adjacency::unweighted(ring, &device);
//! let x = Features::from(Tensor::<2>::random([4, 8], Distribution::Default, &device));
//!
//! let dgg = DggConfig::new(8).init(key.child(0), &device)?;
//! let gcn = GcnConfig::new(8, 2).init(key.child(1), &device)?;
//!
//! let mut pass = Pass::train(42, 0);
//! let learned = dgg.forward(&x, &ring, pass.next())?;
//! let y = gcn.forward(&x, &learned.adjacency, pass.next())?;
//! let gradients = y.square().sum().backward(); // reaches the generator through the edge weights
//! # let _ = gradients;
//! # Ok(())
//! # }
//! ```
//!
//! # The parts
//!
//! | module | what it holds |
//! |---|---|
//! | [`topology`] | [`Csr`], [`Batch`], [`Candidates`]: indices alone |
//! | [`kernels`] | plain-slice CPU kernels, forward and backward side by side |
//! | [`ops`] | the kernels as differentiable Burn operations |
//! | [`graph`] | [`Adjacency`] (topology + weights), [`Features`], [`GraphInput`] |
//! | [`nn`] | what the parts share: the traits [`GraphLearner`] and [`nn::Network`], linear maps, the node encoder |
//! | [`conv`] | GCN, GraphSAGE, GAT, GCNII, EdgeConv behind one trait, and networks of them |
//! | [`loss`] | losses on learned graphs: intermediate, REINFORCE, low rank, sparsity; consistency over draws |
//! | [`dgg`] | scorer, samples, degree estimator, selector, and [`Dgg`] that joins them |
//! | [`learner`] | other learners (the graph as it is, k nearest, PageRank, DropEdge, DGM) and the table of all |
//! | [`nets`] | DGCNN and ResGCN, DAG-Net, attention between agents, recurrent units |
//!
//! # Three habits
//!
//! * **Explicit randomness.** Every forward takes a [`Pass`]: training or evaluation, with the stream
//!   of random numbers of this (seed, step). Results are bit-identical for any number of threads.
//! * **Sparse stays sparse.** Bags of words are never densified, complete candidates are streamed,
//!   and pairs are scored without `[pairs, 2 d]` arrays.
//! * **Errors, not panics.** Shapes, settings and values that do not fit give a typed [`Error`] that
//!   says what and where.
//!
//! Tensors are `f32` or `f64`. The kernels work on Burn's `Flex` CPU device without copies; tensors of any
//! other Burn device are copied there and back, with their gradients.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod conv;
pub mod dgg;
pub mod evidence;
pub mod graph;
pub mod kernels;
pub mod learner;
pub mod loss;
pub mod nets;
pub mod nn;
pub mod ops;
pub mod topology;

mod error;
mod pass;

pub use dgg::{Dgg, DggConfig};
pub use error::{Error, Result};
pub use graph::{Adjacency, Features, GraphInput, Labels, Prepared, SparseFeatures};
pub use kernels::{normalise::Normalisation, random::Key};
pub use nn::{EdgeScores, GraphLearner, LearnedGraph, Linear, LinearConfig, Start};
pub use pass::Pass;
pub use topology::{Batch, CandidateRule, Candidates, Csr, Metric, SelfLoops};
