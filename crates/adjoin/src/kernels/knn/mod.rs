//! Exact k nearest neighbours, per graph of a batch.
//!
//! Two ways, chosen by dimension and size, with the same result:
//!
//! * `dense`: blocks of `|x_j|^2 - 2 <x_i, x_j>` as a matrix product, from which each row keeps a
//!   shortlist; no `[N, N]` array;
//! * `tree`: a k-d tree over points of up to three dimensions, Euclidean distance.
//!
//! A product loses digits when points are close together and far from the origin. So points are
//! centred first, the shortlist holds everything that rounding could have hidden from the k
//! nearest, and its distances are computed again from the differences, in `f64`, before the final
//! order. Ties go to the lower index: the result is a function of the points alone.

mod dense;
mod exact;
mod sets;
mod tree;

use super::Real;
pub use crate::topology::Metric;
use crate::topology::{Batch, Csr, fits};
use crate::{Error, Result};
use exact::Exact;
use rayon::prelude::*;
pub use sets::nearest_sets;
use std::ops::Range;

/// The nearest neighbours of every point, nearest first.
///
/// A row holds `min(k, points available in its graph)` neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours<T> {
    pointers: Vec<u32>,
    indices: Vec<u32>,
    distances: Vec<T>,
}

impl<T: Real> Neighbours<T> {
    /// Number of points.
    pub fn rows(&self) -> usize {
        self.pointers.len() - 1
    }

    /// Positions of a row's neighbours among [`indices`](Self::indices).
    pub fn range(&self, row: usize) -> Range<usize> {
        self.pointers[row] as usize..self.pointers[row + 1] as usize
    }

    /// Neighbours of a point, nearest first, ties by lower index.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.indices[self.range(row)]
    }

    /// Distances (see [`Metric`]) of the neighbours of a point, in the order of [`row`](Self::row).
    pub fn distances_of(&self, row: usize) -> &[T] {
        &self.distances[self.range(row)]
    }

    /// All neighbours, row after row, each nearest first.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// All distances, in the order of [`indices`](Self::indices).
    pub fn distances(&self) -> &[T] {
        &self.distances
    }

    /// The graph that joins every point to its neighbours; columns in increasing order.
    pub fn to_csr(&self) -> Csr {
        let mut indices = self.indices.clone();
        for row in 0..self.rows() {
            indices[self.range(row)].sort_unstable();
        }
        Csr::trusted(self.rows(), self.pointers.clone(), indices)
    }
}

/// The `k` nearest neighbours of every point among the points of its own graph.
///
/// `points` is `[batch.nodes(), width]`. A point is its own neighbour only with `include_self`. A
/// graph with too few points gives all there are. The result has the same bits for any number of
/// threads, and does not depend on which other graphs are in the batch.
///
/// # Errors
/// If `k` is 0, `points` has another shape, or holds a NaN or an infinity.
pub fn nearest<T: Real>(
    points: &[T],
    width: usize,
    k: usize,
    metric: Metric,
    include_self: bool,
    batch: &Batch,
) -> Result<Neighbours<T>> {
    search(points, width, k, metric, include_self, batch, Way::Best)
}

/// Which algorithm searches; the result does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Best,
    #[cfg(test)]
    Dense,
    #[cfg(test)]
    Tree,
}

impl Way {
    fn uses_tree(self, width: usize, metric: Metric, size: usize) -> bool {
        // Measured: up to half this size streaming over all points is as fast as walking the tree, and
        // at twice this size it takes twice as long.
        const TREE_FROM: usize = 2048;
        let possible = metric == Metric::Euclidean && (1..=tree::MAX_WIDTH).contains(&width);
        match self {
            Way::Best => possible && size >= TREE_FROM,
            #[cfg(test)]
            Way::Dense => false,
            #[cfg(test)]
            Way::Tree => possible,
        }
    }
}

fn search<T: Real>(
    points: &[T],
    width: usize,
    k: usize,
    metric: Metric,
    include_self: bool,
    batch: &Batch,
    way: Way,
) -> Result<Neighbours<T>> {
    check(points, width, k, batch)?;
    let count = |size: usize| k.min(if include_self { size } else { size.saturating_sub(1) });
    let total = batch.ranges().map(|range| range.len() * count(range.len())).sum();
    fits("number of neighbours", total)?;
    let mut pointers = Vec::with_capacity(batch.nodes() + 1);
    pointers.push(0u32);
    let (mut indices, mut distances) = (vec![0u32; total], vec![T::ZERO; total]);
    let mut tasks = Vec::with_capacity(batch.graphs());
    let (mut free_indices, mut free_distances) = (&mut indices[..], &mut distances[..]);
    for range in batch.ranges() {
        let count = count(range.len());
        for _ in range.clone() {
            pointers.push(pointers[pointers.len() - 1] + count as u32);
        }
        let (own, rest) = free_indices.split_at_mut(range.len() * count);
        let (own_distances, rest_distances) = free_distances.split_at_mut(range.len() * count);
        (free_indices, free_distances) = (rest, rest_distances);
        if count > 0 {
            tasks.push((range, count, own, own_distances));
        }
    }
    tasks.into_par_iter().for_each(|(range, count, indices, distances)| {
        let exact = Exact::new(&points[range.start * width..range.end * width], width, metric);
        let query =
            Query { exact, base: range.start as u32, size: range.len(), count, include_self };
        if way.uses_tree(width, metric, range.len()) {
            tree::search(&query, indices, distances);
        } else {
            dense::search(&query, indices, distances);
        }
    });
    Ok(Neighbours { pointers, indices, distances })
}

fn check<T: Real>(points: &[T], width: usize, k: usize, batch: &Batch) -> Result<()> {
    if k == 0 {
        return Err(Error::Setting { name: "k", value: "0".into(), expected: "at least 1" });
    }
    if batch.nodes().checked_mul(width) != Some(points.len()) {
        return Err(Error::shape("points", [batch.nodes(), width], points.len()));
    }
    match points.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => Err(Error::NotFinite {
            what: "points",
            value: points[at].to_f64(),
            row: at / width,
            column: at % width,
        }),
    }
}

/// What one graph of the batch is asked.
struct Query<'a, T> {
    exact: Exact<'a, T>,
    /// First node of the graph: points here count from 0, results from `base`.
    base: u32,
    size: usize,
    /// Neighbours to give each point; no more than there are.
    count: usize,
    include_self: bool,
}

impl<T: Real> Query<'_, T> {
    /// Calls `task(workspace, i, indices, distances)` for every point, blocks of `rows` in parallel.
    fn for_blocks<W>(
        &self,
        rows: usize,
        indices: &mut [u32],
        distances: &mut [T],
        workspace: impl Fn() -> W + Sync + Send,
        task: impl Fn(&mut W, usize, &mut [u32], &mut [T]) + Sync + Send,
    ) {
        indices
            .par_chunks_mut(rows * self.count)
            .zip(distances.par_chunks_mut(rows * self.count))
            .enumerate()
            .for_each_init(workspace, |workspace, (block, (indices, distances))| {
                task(workspace, block * rows, indices, distances);
            });
    }

    /// Orders the shortlist of point `i` by value, then index, and writes out the nearest.
    fn write(&self, shortlist: &mut [Near<f64>], indices: &mut [u32], distances: &mut [T]) {
        if shortlist.len() > self.count {
            shortlist.select_nth_unstable_by(self.count - 1, Near::order);
        }
        let kept = &mut shortlist[..self.count];
        kept.sort_unstable_by(Near::order);
        for ((near, index), distance) in kept.iter().zip(indices).zip(distances) {
            *index = self.base + near.index;
            *distance = self.exact.distance(near.value);
        }
    }
}

/// A point, and how far it is; smaller is nearer.
#[derive(Clone, Copy, Debug)]
struct Near<T> {
    value: T,
    index: u32,
}

impl<T: PartialOrd> Near<T> {
    /// By value, then index. Values are never NaN: inputs are finite and scaled.
    #[inline(always)]
    fn order(a: &Self, b: &Self) -> std::cmp::Ordering {
        let by_value = a.value.partial_cmp(&b.value).unwrap_or(std::cmp::Ordering::Equal);
        by_value.then(a.index.cmp(&b.index))
    }
}

#[cfg(test)]
mod tests;
