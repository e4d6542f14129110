//! Candidates: everything within a few steps.

use super::{from_rows, positive, square};
use crate::Result;
use crate::topology::Csr;
use rayon::prelude::*;

pub(super) fn pairs(graph: &Csr, r: usize) -> Result<Csr> {
    square("hops", graph)?;
    positive("r", r)?;
    let rows: Vec<Vec<u32>> = (0..graph.rows())
        .into_par_iter()
        .with_min_len(64)
        .map_init(|| vec![u32::MAX; graph.rows()], |seen, node| within(graph, node as u32, r, seen))
        .collect();
    from_rows(&rows)
}

/// The other nodes within `r` steps, by breadth-first search. `seen[j] == node` marks j as found,
/// so the marks need no clearing between nodes.
fn within(graph: &Csr, node: u32, r: usize, seen: &mut [u32]) -> Vec<u32> {
    seen[node as usize] = node;
    let mut found = Vec::new();
    let mut frontier = 0..0;
    for step in 0..r {
        for at in frontier.start..frontier.end.max(usize::from(step == 0)) {
            let from = if step == 0 { node } else { found[at] };
            for &j in graph.row(from as usize) {
                if seen[j as usize] != node {
                    seen[j as usize] = node;
                    found.push(j);
                }
            }
        }
        frontier = frontier.end..found.len();
        if frontier.is_empty() {
            break;
        }
    }
    found.sort_unstable();
    found
}
