//! What of the nodes does not depend on labels: features, neighbours in feature space, the given graph.

use super::{EvidenceConfig, compatibility::Opinion, pairs::Compared, space::Space};
use crate::{
    Result,
    graph::{Adjacency, Features, GraphInput},
    kernels::{
        knn::{self, Neighbours, nearest_sets},
        spmm,
    },
    topology::{ABSENT, Batch, Csr, Metric, SelfLoops},
};
use rayon::prelude::*;

/// Neighbours in feature space have at least this weight.
const LEAST_SIMILARITY: f64 = 1e-3;

/// What does not depend on labels.
pub(super) struct Scene {
    /// `[nodes, rank]`.
    pub space: Vec<f64>,
    pub rank: usize,
    /// Neighbours in feature space.
    pub near: Csr,
    /// Features propagated over them.
    pub by_features: Vec<f64>,
    /// The given graph, if it has edges.
    pub given: Option<Csr>,
}

impl Scene {
    pub(super) fn new(space: &Space, input: &GraphInput, config: &EvidenceConfig) -> Result<Self> {
        let (embedded, rank) = (space.embed(input.features)?, space.rank);
        let found = nearest(space, &embedded, input.features, config.neighbours, input.batch)?;
        let (near, weights) = both_ways(&found)?;
        let given = input.graph.map(Adjacency::topology);
        let given = given.filter(|given| given.edges() > 0);
        let given = given.map(|given| given.with_self_loops(SelfLoops::Drop));
        let walk = Propagation { self_weight: 1.0, ..WALK };
        let by_features = walk.over(&near, &weights, &embedded, rank);
        Ok(Self { space: embedded, rank, near, by_features, given })
    }

    /// Features propagated over the given edges, or over feature neighbours where there are none, with these
    /// weights.
    pub(super) fn over(&self, weights: &[f64], config: &EvidenceConfig) -> Vec<f64> {
        let (graph, form) = match &self.given {
            Some(given) => (given, Propagation { hops: config.hops, teleport: 0.0, ..WALK }),
            None => (&self.near, WALK),
        };
        let form = Propagation { self_weight: config.self_weight, ..form };
        form.over(graph, weights, &self.space, self.rank)
    }

    /// The given edges, or feature neighbours where there are none.
    pub(super) fn base(&self) -> &Csr {
        self.given.as_ref().unwrap_or(&self.near)
    }

    /// Pairs compared by what one or two views say of their nodes.
    pub(super) fn compared<'a>(
        &'a self,
        first: &'a Opinion,
        second: Option<&'a Opinion>,
    ) -> Compared<'a> {
        Compared { first, second, space: &self.space, rank: self.rank }
    }
}

/// The nearest nodes of every node by cosine: of the words that occur, or in the space.
fn nearest(
    space: &Space,
    embedded: &[f64],
    features: &Features,
    k: usize,
    batch: &Batch,
) -> Result<Neighbours<f64>> {
    if space.words {
        return nearest_sets(&space.occurrences(features)?, k, batch);
    }
    knn::nearest(embedded, space.rank, k, Metric::Cosine, false, batch)
}

/// Every pair in both directions, with the cosine as its weight.
fn both_ways(found: &Neighbours<f64>) -> Result<(Csr, Vec<f64>)> {
    let one_way = found.to_csr();
    let mut cosines = vec![0.0; one_way.edges()];
    for row in 0..found.rows() {
        for (&other, distance) in found.row(row).iter().zip(found.distances_of(row)) {
            if let Some(at) = one_way.find(row, other) {
                cosines[at] = 1.0 - distance;
            }
        }
    }
    let back = one_way.transpose();
    let other_way = one_way.transposed();
    let near = one_way.union(&other_way)?;
    let [there, here] = [&one_way, &other_way].map(|graph| near.positions_in(graph));
    let weight = |(there, here): (u32, u32)| match (there, here) {
        (ABSENT, here) => cosines[back.entries[here as usize] as usize],
        (there, _) => cosines[there as usize],
    };
    let weights = there.into_iter().zip(here).map(weight).map(|w| w.max(LEAST_SIMILARITY));
    Ok((near.clone(), weights.collect()))
}

/// `h <- (1 - a) S h + a x`, from `h = x`, with `S = D^-1/2 (A + s I) D^-1/2`.
#[derive(Clone, Copy)]
struct Propagation {
    hops: usize,
    /// a
    teleport: f64,
    /// s
    self_weight: f64,
}

/// Far enough to average over many noisy neighbours, with a return to the node itself.
const WALK: Propagation = Propagation { hops: 10, teleport: 0.1, self_weight: 1.0 };

impl Propagation {
    fn over(&self, graph: &Csr, weights: &[f64], x: &[f64], width: usize) -> Vec<f64> {
        let Self { hops, teleport, self_weight } = *self;
        let degree = |row: usize| self_weight + weights[graph.range(row)].iter().sum::<f64>();
        let roots: Vec<f64> = (0..graph.rows()).map(|row| degree(row).sqrt().recip()).collect();
        let scaled = |mut h: Vec<f64>, factor: f64| {
            let rows = h.par_chunks_exact_mut(width.max(1)).zip(&roots);
            rows.for_each(|(row, root)| row.iter_mut().for_each(|v| *v *= factor * root));
            h
        };
        (0..hops).fold(x.to_vec(), |h, _| {
            let h = scaled(h, 1.0);
            let h = spmm::forward_onto(graph, weights, &h, width, &h, [1.0, self_weight]);
            let mut h = scaled(h, 1.0 - teleport);
            h.par_iter_mut().zip(x).for_each(|(h, x)| *h += teleport * x);
            h
        })
    }
}
