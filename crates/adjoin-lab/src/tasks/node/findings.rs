//! A learned graph against what is known of the edges of a made-up or damaged one.
//!
//! Marks of edges are kept like test labels: a [`Judge`] is part of the test data alone, compares a graph
//! with them and does not give them away.

use crate::{
    stats::{auc, spearman},
    task::{Column, Measure},
};
use adjoin::LearnedGraph;
use adjoin_data::{EdgeMarks, NodeDataset};
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// A learned size below this is no neighbour at all.
const NONE: f64 = 0.5;

/// How a learned graph does on marked edges.
///
/// AUCs are over the edges of the given graph, both directions of each; an edge that the learned graph
/// lacks has weight 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EdgeFindings {
    /// Against planted neighbourhoods, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planted: Option<PlantFindings>,
    /// AUC of the weights: edges that were there before against injected ones; none if nothing was injected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected_auc: Option<f64>,
}

/// How a learned graph does on planted neighbourhoods. A number is none where it has no value: a rank
/// correlation with a constant, or a `k` that the learner does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlantFindings {
    /// AUC of the weights: good edges against bad ones.
    pub auc: Option<f64>,
    /// Spearman's rank correlation of the learned `k` with the number of good neighbours, over all nodes; of
    /// learners that add neighbours, of the number of given ones that are kept.
    pub k_correlation: Option<f64>,
    /// The same of the soft degree, the sum of the weights of a node's learned edges but its self-loop.
    pub soft_correlation: Option<f64>,
    /// The same of the degree in the given graph: what counting edges would give.
    pub input_correlation: Option<f64>,
    /// Share of the nodes without good neighbours whose learned `k` is below 0.5.
    pub zero_found: Option<f64>,
}

/// A plain number between -1 and 1.
const INDEX: Measure =
    Measure { unit: "", points: "", factor: 1.0, digits: 3, lower: false, least_span: 0.01 };

impl EdgeFindings {
    /// The numbers with their names.
    pub(crate) fn details(&self) -> Vec<(Column, Option<f64>)> {
        let index = |key, title| Column { key, title, measure: INDEX };
        let mut all = Vec::new();
        if let Some(found) = &self.planted {
            let zero = Column { key: "zero_found", title: "none found", measure: Measure::PERCENT };
            all.extend([
                (index("planted_auc", "AUC planted"), found.auc),
                (index("k_correlation", "rank corr. k"), found.k_correlation),
                (index("soft_correlation", "soft degree"), found.soft_correlation),
                (index("input_correlation", "input degree"), found.input_correlation),
                (zero, found.zero_found),
            ]);
        }
        if self.injected_auc.is_some() {
            all.push((index("injected_auc", "AUC injected"), self.injected_auc));
        }
        all
    }
}

/// Compares graphs with marks it does not give away.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    edges: Vec<(u32, u32)>,
    marks: EdgeMarks,
    /// Number of good neighbours of each node.
    good: Option<Vec<f64>>,
    degrees: Vec<f64>,
}

impl Judge {
    /// The marks of a dataset, if it has any.
    pub fn of(dataset: &NodeDataset) -> Option<Self> {
        let floats = |values: Vec<u32>| values.into_iter().map(f64::from).collect::<Vec<f64>>();
        let marked = dataset.marks != EdgeMarks::default();
        marked.then(|| Self {
            edges: dataset.edges.clone(),
            marks: dataset.marks.clone(),
            good: dataset.planted_degrees().map(floats),
            degrees: floats(dataset.degrees()),
        })
    }

    /// What a learned graph makes of the marks.
    pub fn findings(&self, graph: &LearnedGraph) -> EdgeFindings {
        let topology = graph.adjacency.topology();
        let weights = floats(graph.adjacency.weights());
        let weight = |i: u32, j: u32| topology.find(i as usize, j).map_or(0.0, |at| weights[at]);
        let both: Vec<[f64; 2]> =
            self.edges.iter().map(|&(u, v)| [weight(u, v), weight(v, u)]).collect();
        let ranked = |marks: &[bool]| {
            let pairs = both.iter().zip(marks).flat_map(|(pair, mark)| pair.map(|w| (w, *mark)));
            auc(&pairs.collect::<Vec<_>>())
        };
        let planted = self.marks.planted.as_deref().zip(self.good.as_deref());
        let injected = self.marks.injected.as_deref();
        EdgeFindings {
            planted: planted.map(|(marks, good)| {
                // Of the given neighbours, which are what was planted.
                let k = graph.kept.as_ref().or(graph.degrees.as_ref()).map(floats);
                let soft = soft_degrees(topology.pointers(), topology.indices(), &weights);
                PlantFindings {
                    auc: ranked(marks),
                    k_correlation: k.as_deref().and_then(|k| spearman(k, good)),
                    soft_correlation: spearman(&soft, good),
                    input_correlation: spearman(&self.degrees, good),
                    zero_found: k.and_then(|k| {
                        let none = k.iter().zip(good).filter(|(_, good)| **good == 0.0);
                        let found = none.clone().filter(|(k, _)| **k < NONE).count();
                        let all = none.count();
                        (all > 0).then(|| found as f64 / all as f64)
                    }),
                }
            }),
            // Injected edges should weigh less.
            injected_auc: injected.and_then(ranked).map(|auc| 1.0 - auc),
        }
    }
}

fn soft_degrees(pointers: &[u32], indices: &[u32], weights: &[f64]) -> Vec<f64> {
    let rows = pointers.windows(2).enumerate();
    let row = |(node, pair): (usize, &[u32])| {
        let entries = pair[0] as usize..pair[1] as usize;
        entries.filter(|at| indices[*at] as usize != node).map(|at| weights[at]).sum()
    };
    rows.map(row).collect()
}

fn floats(values: &Tensor<1>) -> Vec<f64> {
    values.to_data().convert::<f64>().iter::<f64>().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use adjoin::{Adjacency, Csr};
    use adjoin_data::{PlantedConfig, planted};
    use burn::tensor::{Device, TensorData};

    fn tensor(values: Vec<f32>) -> Tensor<1> {
        let count = values.len();
        Tensor::from_data(TensorData::new(values, [count]), &Device::flex())
    }

    /// A graph with a self-loop at node 0 and the given directed edges.
    fn learned(nodes: usize, edges: &[(u32, u32, f32)], k: Option<Vec<f32>>) -> LearnedGraph {
        let mut edges = edges.to_vec();
        edges.sort_by_key(|edge| (edge.0, edge.1));
        let mut pointers = vec![0u32; nodes + 1];
        edges.iter().for_each(|edge| pointers[edge.0 as usize + 1] += 1);
        (0..nodes).for_each(|at| pointers[at + 1] += pointers[at]);
        let topology = Csr::new(nodes, pointers, edges.iter().map(|edge| edge.1).collect());
        let weights = tensor(edges.iter().map(|edge| edge.2).collect());
        let adjacency = Adjacency::new(topology.unwrap(), weights).unwrap();
        LearnedGraph { degrees: k.map(tensor), ..LearnedGraph::plain(adjacency) }
    }

    /// Node 0 has one good and one bad neighbour, node 3 none at all.
    fn judge() -> Judge {
        Judge {
            edges: vec![(0, 1), (0, 2)],
            marks: EdgeMarks {
                planted: Some(vec![true, false]),
                injected: Some(vec![false, true]),
            },
            good: Some(vec![1.0, 1.0, 0.0, 0.0]),
            degrees: vec![2.0, 1.0, 1.0, 0.0],
        }
    }

    #[test]
    fn a_small_graph_by_hand() {
        // Weights of the good pair 0.5 and 0.2, of the bad one 0.3 and (not there) 0: 3 of 4 in order.
        let edges = [(0, 0, 9.0), (0, 1, 0.5), (1, 0, 0.2), (0, 2, 0.3)];
        let found = judge().findings(&learned(4, &edges, Some(vec![2.0, 2.0, 1.0, 0.4])));
        let plant = found.planted.unwrap();
        assert_eq!(plant.auc, Some(0.75));
        assert_eq!(found.injected_auc, Some(0.75));
        assert_eq!(plant.zero_found, Some(0.5));
        // Ranks 3.5, 3.5, 2, 1 against 3.5, 3.5, 1.5, 1.5.
        assert!((plant.k_correlation.unwrap() - 4.0 / 18f64.sqrt()).abs() < 1e-12);
        // 0.8, 0.2, 0, 0 without the self-loop: ranks 4, 3, 1.5, 1.5.
        assert!((plant.soft_correlation.unwrap() - 4.0 / 18f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.details().len(), 6);
    }

    #[test]
    fn the_plant_itself_is_perfect_and_even_weights_know_nothing() {
        let dataset = planted(&PlantedConfig::default()).unwrap();
        let judge = Judge::of(&dataset).unwrap();
        let marks = dataset.marks.planted.clone().unwrap();
        let all = dataset.edges.iter().zip(&marks);
        let both = |weight: fn(bool) -> f32| {
            let all = all.clone();
            all.flat_map(|(&(u, v), &good)| [(u, v, weight(good)), (v, u, weight(good))])
                .collect::<Vec<_>>()
        };
        let good: Vec<f32> =
            dataset.planted_degrees().unwrap().into_iter().map(|n| n as f32).collect();
        let best = learned(dataset.nodes(), &both(|good| f32::from(u8::from(good))), Some(good));
        let found = judge.findings(&best).planted.unwrap();
        assert_eq!((found.auc, found.zero_found), (Some(1.0), Some(1.0)));
        assert!((found.k_correlation.unwrap() - 1.0).abs() < 1e-12);
        assert!((found.soft_correlation.unwrap() - 1.0).abs() < 1e-12);
        let even = judge.findings(&learned(dataset.nodes(), &both(|_| 1.0), None));
        let plant = even.planted.unwrap();
        assert_eq!((plant.auc, plant.k_correlation, plant.zero_found), (Some(0.5), None, None));
        assert_eq!(plant.soft_correlation, plant.input_correlation);
        assert_eq!(even.injected_auc, None);
    }

    #[test]
    fn graphs_without_marks_have_no_judge() {
        assert!(Judge::of(&adjoin_data::cora().unwrap()).is_none());
    }
}
