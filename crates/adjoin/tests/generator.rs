//! What the generator promises: agreement of its forms, symmetries, selection, randomness, threads.

mod common;

#[path = "common/model.rs"]
mod model;

#[path = "generator/forms.rs"]
mod forms;
#[path = "generator/network.rs"]
mod network;
#[path = "generator/paper.rs"]
mod paper;
#[path = "generator/randomness.rs"]
mod randomness;
#[path = "generator/selection.rs"]
mod selection;

use adjoin::{
    Adjacency, Batch, CandidateRule, Csr, Dgg, DggConfig, GraphInput, GraphLearner, Key,
    LearnedGraph, Pass, SelfLoops,
    dgg::{DegreeConfig, DegreeRule, EncoderConfig, ScorerConfig},
};
use burn::tensor::Tensor;

const INPUTS: usize = 5;

/// Small settings, without dropout, on the given candidates.
fn small(candidates: CandidateRule) -> DggConfig {
    DggConfig {
        candidates,
        encoder: EncoderConfig { width: 6, dropout: 0.0, ..EncoderConfig::default() },
        degree: DegreeConfig { width: 4, ..DegreeConfig::default() },
        scorer: ScorerConfig { initial_scale: 0.1, ..ScorerConfig::default() },
        ..DggConfig::default()
    }
}

fn with_rule(config: &DggConfig, rule: DegreeRule) -> DggConfig {
    DggConfig { degree: DegreeConfig { rule, ..config.degree.clone() }, ..config.clone() }
}

/// A generator in f64.
fn generator(config: &DggConfig) -> Dgg {
    model::widened(
        config.clone().with_inputs(INPUTS).init(Key::new(8), &common::device()).expect("settings"),
    )
}

/// Nodes with features, and a random graph without edges between the graphs of the batch.
struct World {
    x: Vec<f64>,
    graph: Csr,
    weights: Vec<f64>,
    batch: Batch,
}

impl World {
    fn new(seed: u64, sizes: &[usize]) -> Self {
        let batch = Batch::of_sizes(sizes.iter().copied());
        let (nodes, of) = (batch.nodes(), batch.graph_of_nodes());
        let (key, degree) = (Key::new(seed), 6);
        let edges = (0..nodes * degree).filter_map(|n| {
            let i = n / degree;
            let range = batch.range(of[i] as usize);
            let j = range.start + key.below(n as u64, range.len());
            (i % 5 != 3).then_some((i as u32, j as u32))
        });
        let graph = Csr::from_edges(nodes, nodes, edges, SelfLoops::Drop).expect("edges in range");
        let weights = (0..graph.edges() as u64).map(|n| 0.3 + key.uniform(n)).collect();
        Self { x: common::normals(seed, nodes * INPUTS), graph, weights, batch }
    }

    fn nodes(&self) -> usize {
        self.batch.nodes()
    }

    fn adjacency(&self) -> Adjacency {
        let weights = common::tensor(&self.weights, [self.weights.len()]);
        Adjacency::new(self.graph.clone(), weights).expect("one weight an edge")
    }

    fn features(&self) -> Tensor<2> {
        common::tensor(&self.x, [self.nodes(), INPUTS])
    }

    fn learn(&self, dgg: &Dgg, pass: Pass) -> LearnedGraph {
        let (features, graph) = (self.features().into(), self.adjacency());
        dgg.learn(&GraphInput::new(&features, Some(&graph), &self.batch), pass).expect("a graph")
    }

    /// The graph of the nodes in another order: node `order[i]` becomes node i.
    fn permuted(&self, order: &[u32]) -> Self {
        let mut place = vec![0u32; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        let moved = |(i, j): (u32, u32)| (place[i as usize], place[j as usize]);
        let edges: Vec<(u32, u32)> = self.graph.iter().map(moved).collect();
        let nodes = self.nodes();
        let graph = Csr::from_edges(nodes, nodes, edges.clone(), SelfLoops::Keep).expect("edges");
        let mut weights = vec![0.0; edges.len()];
        for (&(i, j), &weight) in edges.iter().zip(&self.weights) {
            weights[graph.find(i as usize, j).expect("the edge")] = weight;
        }
        let row = |&old: &u32| self.x[old as usize * INPUTS..][..INPUTS].to_vec();
        Self { x: order.iter().flat_map(row).collect(), graph, weights, batch: self.batch.clone() }
    }

    /// One graph of the batch alone.
    fn part(&self, graph: usize) -> Self {
        let range = self.batch.range(graph);
        let entries =
            self.graph.pointers()[range.start] as usize..self.graph.pointers()[range.end] as usize;
        Self {
            x: self.x[range.start * INPUTS..range.end * INPUTS].to_vec(),
            graph: self.graph.split(&self.batch).expect("no edges between graphs")[graph].clone(),
            weights: self.weights[entries].to_vec(),
            batch: Batch::single(range.len()),
        }
    }
}

fn dense(graph: &Adjacency) -> Vec<f64> {
    common::values(&graph.to_dense().expect("weights on the CPU"))
}

fn degrees(learned: &LearnedGraph) -> Vec<f64> {
    common::values(learned.degrees.as_ref().expect("degrees"))
}
