//! The learned graph of a model, for the page and for exports.

use super::{Classified, SplitGraph, data::input_graph};
use crate::{Result, graph::GraphRecord};
use adjoin::Csr;
use adjoin_data::{NodeDataset, Split};
use burn::tensor::{Device, Tensor};

/// The given graph and the learned one, with what was predicted on it.
pub(super) fn graph(data: &SplitGraph, classified: &Classified) -> Result<GraphRecord> {
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
    Ok(GraphRecord {
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
        planted: dataset.planted_degrees().unwrap_or_default(),
        injected: injected(dataset, input),
    })
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
