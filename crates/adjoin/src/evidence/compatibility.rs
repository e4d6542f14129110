//! Which classes good neighbours have.

use crate::topology::Csr;

/// Pairs of classes count as if they had been seen so many times more, half of them by chance.
const PRIOR: f64 = 5.0;

/// How fast a pair of classes becomes good as edges join it more often than chance does.
const SHARPNESS: i32 = 3;

/// Edges that join a class to itself this much more often than chance does join alike nodes.
const ALIKE: f64 = 1.2;

/// `T_cd`, how good a neighbour of class d is for a node of class c; `[classes, classes]`.
///
/// With `n_cd` the number of edges between classes c and d, and `m_cd` the number that nodes of these degrees would
/// have if edges ignored classes: if `sum_c n_cc > 1.2 sum_c m_cc`, edges join alike nodes, and T is the identity.
/// Otherwise good neighbours are those that edges join more often than chance does: `T_cd = r^3 / (1 + r^3)`,
/// `r = (n_cd + 5) / (m_cd + 5)`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compatibility {
    pub classes: usize,
    pub values: Vec<f64>,
}

impl Compatibility {
    /// Good neighbours are of the same class.
    pub(super) fn same(classes: usize) -> Self {
        let value = |at: usize| f64::from(at / classes == at % classes);
        Self { classes, values: (0..classes * classes).map(value).collect() }
    }

    /// From the edges of a graph between nodes with class probabilities `[nodes, classes]`; a row of zeros for
    /// a node of which nothing is known.
    pub(super) fn fit(graph: &Csr, probabilities: &[f64], classes: usize) -> Self {
        let row = |node: u32| &probabilities[node as usize * classes..][..classes];
        let mut joined = vec![0.0; classes * classes];
        for (i, j) in graph.iter() {
            for (sums, &p) in joined.chunks_exact_mut(classes).zip(row(i)) {
                if p > 0.0 {
                    sums.iter_mut().zip(row(j)).for_each(|(sum, q)| *sum += p * q);
                }
            }
        }
        let ends: Vec<f64> = joined.chunks_exact(classes).map(|row| row.iter().sum()).collect();
        let total = ends.iter().sum::<f64>();
        let alike: f64 = (0..classes).map(|c| joined[c * (classes + 1)]).sum();
        let by_chance: f64 = ends.iter().map(|end| end * end / total.max(f64::MIN_POSITIVE)).sum();
        if alike > ALIKE * by_chance {
            return Self::same(classes);
        }
        let value = |at: usize| {
            let chance = ends[at / classes] * ends[at % classes] / total.max(f64::MIN_POSITIVE);
            // Both directions of an edge, so that it counts the same from either end.
            let found = 0.5 * (joined[at] + joined[at % classes * classes + at / classes]);
            let ratio = ((found + PRIOR) / (chance + PRIOR)).powi(SHARPNESS);
            ratio / (1.0 + ratio)
        };
        Self { classes, values: (0..classes * classes).map(value).collect() }
    }

    pub(super) fn of(&self, class: u32, other: u32) -> f64 {
        self.values[class as usize * self.classes + other as usize]
    }

    /// How good a neighbour with some class probabilities is for a node of a class.
    pub(super) fn expected(&self, class: u32, other: &[f64]) -> f64 {
        let row = &self.values[class as usize * self.classes..][..self.classes];
        row.iter().zip(other).map(|(t, p)| t * p).sum()
    }
}

/// What a view says of every node: its class, and how good a neighbour of each class would be for it.
pub(super) struct Opinion {
    pub classes: usize,
    /// Class probabilities q, `[nodes, classes]`.
    pub own: Vec<f64>,
    /// `q T`, `[nodes, classes]`.
    pub wanted: Vec<f64>,
    /// How good any neighbour is of which nothing is known, as log-odds.
    pub chance: f64,
}

impl Opinion {
    pub(super) fn new(own: Vec<f64>, compatibility: &Compatibility) -> Self {
        let Compatibility { classes, values } = compatibility;
        let mut wanted = vec![0.0; own.len()];
        for (wanted, own) in wanted.chunks_exact_mut(*classes).zip(own.chunks_exact(*classes)) {
            for (row, &p) in values.chunks_exact(*classes).zip(own) {
                wanted.iter_mut().zip(row).for_each(|(sum, t)| *sum += p * t);
            }
        }
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let mean = mean.clamp(1e-6, 1.0 - 1e-6);
        Self { classes: *classes, own, wanted, chance: (mean / (1.0 - mean)).ln() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::SelfLoops;

    /// Sixty nodes of three classes in turn, joined to those `step` further on.
    fn ring(step: u32) -> Compatibility {
        let edges = (0..60u32).flat_map(|i| [(i, (i + step) % 60), (i, (i + step + 3) % 60)]);
        let graph = Csr::undirected(60, edges, SelfLoops::Drop).unwrap();
        let known = (0..180).map(|at| f64::from(at % 3 == (at / 3) % 3)).collect::<Vec<f64>>();
        Compatibility::fit(&graph, &known, 3)
    }

    #[test]
    fn finds_that_edges_join_the_same_class_or_different_ones() {
        let (same, other) = (ring(3), ring(1));
        assert_eq!(same, Compatibility::same(3));
        for c in 0..3 {
            assert!(other.of(c, c) < 0.1 && other.of(c, (c + 1) % 3) > 0.6, "{other:?}");
        }
    }

    #[test]
    fn knows_nothing_without_edges() {
        let none = Compatibility::fit(&Csr::empty(2, 2), &[1.0, 0.0, 0.0, 1.0], 2);
        assert!(none.values.iter().all(|&t| (t - 0.5).abs() < 1e-12), "{none:?}");
    }

    #[test]
    fn opinions_of_the_same_class_ask_for_it() {
        let opinion = Opinion::new(vec![0.9, 0.1], &Compatibility::same(2));
        assert_eq!((opinion.wanted, opinion.chance), (vec![0.9, 0.1], 0.0));
    }
}
