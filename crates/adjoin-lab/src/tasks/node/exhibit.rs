//! The learned graph of a model, for the page and for exports.

use super::{
    Classified, SplitGraph,
    data::input_graph,
    links::{links, three_digits},
    scores::{BINS, bin},
};
use crate::{
    Result,
    graph::{GraphRecord, ScoreRecord},
};
use adjoin::{Csr, nn::EdgeScores};
use adjoin_data::{NodeDataset, Split};
use burn::tensor::{Device, Tensor};

/// The given graph and the learned one, with what was predicted on it; `start` are sizes before training.
pub(super) fn graph(
    data: &SplitGraph,
    classified: &Classified,
    start: Option<&Tensor<1>>,
) -> Result<GraphRecord> {
    let SplitGraph { dataset, split } = data;
    let nodes = dataset.nodes();
    let given = input_graph(dataset, &Device::flex())?;
    let input = given.topology();
    let learned = &classified.graph;
    let mut part = vec![0u8; nodes];
    let Split { train, valid, test, .. } = split;
    for (number, members) in [(1, train), (2, valid), (3, test)] {
        members.iter().for_each(|&node| part[node as usize] = number);
    }
    let mut record = GraphRecord {
        // Some formats have no names for nodes: their numbers stand in.
        node_ids: match dataset.node_ids.is_empty() {
            true => (0..nodes).map(|node| node.to_string()).collect(),
            false => dataset.node_ids.clone(),
        },
        class_names: dataset.class_names.clone(),
        labels: (0..nodes as u32).map(|node| dataset.label(node)).collect(),
        predicted: classified.predicted.clone(),
        part,
        input_pointers: input.pointers().to_vec(),
        input_indices: input.indices().to_vec(),
        input_weights: match dataset.weights {
            Some(_) => floats(given.weights()),
            None => Vec::new(),
        },
        learned_pointers: learned.adjacency.topology().pointers().to_vec(),
        learned_indices: learned.adjacency.topology().indices().to_vec(),
        learned_weights: floats(learned.adjacency.weights()),
        degrees: learned.degrees.as_ref().map(floats).unwrap_or_default(),
        start_degrees: start.map(floats).unwrap_or_default(),
        scores: None,
        planted: dataset.planted_degrees().unwrap_or_default(),
        injected: injected(dataset, input),
    };
    if let Some(found) = &learned.scores {
        record.scores = Some(scores(&record, found, [input, learned.adjacency.topology()]));
    }
    Ok(record)
}

/// Scores of all entries of both graphs, and of the candidates in neither of them.
fn scores(record: &GraphRecord, found: &EdgeScores, [input, learned]: [&Csr; 2]) -> ScoreRecord {
    let score = |log: f32| three_digits(log.exp().clamp(0.0, 1.0));
    let values: Vec<f32> = floats(&found.log_scores).into_iter().map(score).collect();
    // A graph that was joined with its transpose has links that were candidates in the other direction.
    let of = |(row, column): (u32, u32)| {
        let at = found.pairs.find(row as usize, column);
        let at = at.or_else(|| found.pairs.find(column as usize, row));
        at.map(|at| values[at])
    };
    let mut passed_over = vec![0; BINS];
    for row in 0..found.pairs.rows() {
        let mut present: Vec<u32> = links(record, row).iter().map(|link| link.to).collect();
        present.sort_unstable();
        let candidates = found.pairs.row(row).iter().zip(&values[found.pairs.range(row)]);
        for (column, value) in candidates {
            if *column as usize != row && present.binary_search(column).is_err() {
                passed_over[bin(*value)] += 1;
            }
        }
    }
    ScoreRecord {
        input: input.iter().map(of).collect(),
        learned: learned.iter().map(of).collect(),
        passed_over,
    }
}

/// Whether each entry of the given graph was injected; empty when nothing was.
fn injected(dataset: &NodeDataset, input: &Csr) -> Vec<bool> {
    let Some(marks) = &dataset.marks.injected else { return Vec::new() };
    let mut injected = vec![false; input.edges()];
    let marked = dataset.edges.iter().zip(marks).filter(|(_, marked)| **marked);
    for (&(u, v), _) in marked {
        for (row, column) in [(u, v), (v, u)] {
            if let Some(at) = input.find(row as usize, column) {
                injected[at] = true;
            }
        }
    }
    injected
}

fn floats(values: &Tensor<1>) -> Vec<f32> {
    values.to_data().convert::<f32>().iter::<f32>().collect()
}
