//! Patterns of neighbours at 1, 2, 4, .. steps.

use crate::{
    Error, Result,
    graph::Adjacency,
    kernels::normalise::Normalisation,
    topology::{Csr, SelfLoops},
};
use rayon::prelude::*;

/// The given edges with self-loops, then again and again the pattern of its square, each scaled.
pub(super) fn scaled(given: &Adjacency, orders: usize, most: usize) -> Result<Vec<Adjacency>> {
    let like = given.weights();
    let mut pattern = given.topology().with_self_loops(SelfLoops::Add);
    let mut all = Vec::with_capacity(orders);
    for order in 0..orders {
        if order > 0 {
            pattern = squared(&pattern, most)?;
        }
        let graph = Adjacency::unweighted(pattern.clone(), (&like.device(), like.dtype()));
        all.push(graph.normalise(Normalisation::Symmetric)?);
    }
    Ok(all)
}

/// Where the square of a pattern is not 0.
fn squared(pattern: &Csr, most: usize) -> Result<Csr> {
    let row = |i: usize, seen: &mut Vec<bool>| {
        let mut columns: Vec<u32> = Vec::new();
        for &middle in pattern.row(i) {
            for &j in pattern.row(middle as usize) {
                if !std::mem::replace(&mut seen[j as usize], true) {
                    columns.push(j);
                }
            }
        }
        columns.iter().for_each(|&j| seen[j as usize] = false);
        columns.sort_unstable();
        columns
    };
    // Rows are found some at a time: a square that is too large is refused before it fills the memory.
    let mut rows: Vec<Vec<u32>> = Vec::with_capacity(pattern.rows());
    let mut entries = 0;
    while rows.len() < pattern.rows() {
        let next = rows.len()..(rows.len() + 4096).min(pattern.rows());
        let found: Vec<Vec<u32>> = next
            .into_par_iter()
            .map_init(|| vec![false; pattern.columns()], |seen, i| row(i, seen))
            .collect();
        entries += found.iter().map(Vec::len).sum::<usize>();
        if entries > most {
            let value = format!("a pattern of more than {most} entries");
            let expected = "set fewer orders, or raise most_entries";
            return Err(Error::Setting { name: "orders", value, expected });
        }
        rows.extend(found);
    }
    Ok(Csr::from_sorted_rows(pattern.columns(), &rows))
}
