//! From any list of pairs to the one form in which edges are kept.

/// Undirected, simple edges: each pair once with `u < v`, sorted, no self-loops.
///
/// Pairs may come in either direction and more than once. Ends are not checked against a node count
/// here: [`NodeDataset::validate`](crate::NodeDataset::validate) does that.
pub fn simplify(pairs: impl IntoIterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
    let mut edges: Vec<(u32, u32)> =
        pairs.into_iter().filter(|(u, v)| u != v).map(|(u, v)| (u.min(v), u.max(v))).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

#[cfg(test)]
mod tests {
    use super::simplify;

    #[test]
    fn directions_duplicates_and_loops_vanish() {
        assert_eq!(simplify([(3, 1), (1, 3), (2, 2), (0, 1), (0, 1)]), [(0, 1), (1, 3)]);
    }
}
