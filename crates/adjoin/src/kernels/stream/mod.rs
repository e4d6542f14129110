//! Complete candidates as a stream: every ordered pair of nodes of a graph is scored, none is stored. Pairs
//! of a node with itself take part if that is asked for.
//!
//! With `l_ij = log p_ij + s g_ij` two things are needed of the pairs of row i: the log of the mass,
//! `m_i = log sum_j exp(l_ij / tau)`, and the columns of the largest l_ij. Both come out of one pass
//! over blocks of rows x columns; the backward pass goes over the blocks again instead of keeping
//! them. Memory is O(N d) and one block per thread.
//!
//! A scorer is split in two. The *sum* `x_ij = sum_k term(w_k, a_ik, b_jk)` costs d operations per
//! pair and runs in register tiles ([`tile`]); what follows, `log p = f(x)`, the noise and the
//! exponential, costs O(1) per pair and runs as simple loops over a row of the block.

mod backward;
mod bilinear;
mod distance;
mod forward;
mod layers;
mod mlp;
mod network;
mod pack;
mod sums;
mod tile;
mod top;

pub(crate) use backward::log_mass_backward;
pub(crate) use bilinear::{Cosine, Dot};
pub(crate) use distance::Distance;
pub(crate) use forward::{Mass, Streamed, Wanted, stream};
pub(crate) use mlp::PairMlp;
pub(crate) use network::{NetworkInputs, PairLayers, neighbours};
pub(crate) use sums::{Embeddings, pair_sums, pair_sums_backward};

use super::{Real, random::NoiseRows};
use crate::topology::Batch;
use backward::{Slopes, Totals};
use pack::{Panels, Rows};
use pulp::Simd;
use std::ops::Range;
use tile::{PANEL, ROWS, TILE};

/// A score of pairs, `log p_ij = f(x_ij)` with `x_ij = sum_k term(w_k, a_ik, b_jk)`.
pub(crate) trait Scorer<T: Real>: Sync {
    /// Whether `x_ij = x_ji` and both sides have the same gradient, so that the backward pass can
    /// take both directions of a pair at once.
    const SYMMETRIC: bool;

    /// a, the side of the rows.
    fn rows(&self) -> &Rows<T>;
    /// b, the side of the columns.
    fn columns(&self) -> &Panels<T>;
    /// w, one weight per step of the sum; ones for scorers that have none.
    fn weights(&self) -> &[T];

    /// One step of the sum.
    fn term<S: Simd>(
        simd: S,
        weight: T::Vector<S>,
        a: T::Vector<S>,
        b: T::Vector<S>,
        sum: T::Vector<S>,
    ) -> T::Vector<S>;
    /// The sums of a block, `[ROWS][COLUMNS]`; `tiles` are its rows as packed by
    /// [`pack_tiles`](Rows::pack_tiles). Scorers whose x is no such sum compute it here.
    #[inline(always)]
    fn block<S: Simd>(&self, simd: S, place: &Place<'_>, tiles: &[T], out: &mut [T])
    where
        Self: Sized,
    {
        let panels = self.columns();
        let panels = panels.at(panels.range(place.graph, place.local, place.count));
        block_sums(simd, self, tiles, panels, out);
    }
    /// Turns the sums of row `i` and the columns from `first` on into log p.
    fn log_p(&self, i: usize, first: usize, sums: &mut [T]);
    /// Reads the same sums, writes log p and `d log p / dx`.
    fn slopes(&self, i: usize, first: usize, sums: &[T], log_p: &mut [T], slopes: &mut [T]);

    /// Where the gradients of the column side of some graphs lie, in the buffer that they are added
    /// up in.
    fn column_gradients(&self, graphs: Range<usize>, batch: &Batch) -> Range<usize>;
    /// Adds one block of `dL/dx_ij` to the gradients of both sides.
    fn accumulate<S: Simd>(&self, simd: S, block: Slopes<'_, T>, rows: &mut [T], columns: &mut [T]);
    /// Gradients of the scorer's inputs, in their order, from what was added up.
    fn gradients(&self, totals: Totals<T>, batch: &Batch) -> Vec<Vec<T>>;
}

/// Where a block of rows and columns is.
pub(crate) struct Place<'a> {
    /// The rows.
    pub(crate) rows: &'a [u32],
    /// The graph.
    pub(crate) graph: usize,
    /// First column: in the batch, and in the graph.
    pub(crate) first: usize,
    pub(crate) local: usize,
    /// Number of columns.
    pub(crate) count: usize,
}

/// A scorer, its noise and the graphs it runs over.
pub(crate) struct Pairs<'a, T, S> {
    pub(crate) scorer: &'a S,
    pub(crate) noise: Option<&'a NoiseRows<T>>,
    pub(crate) batch: &'a Batch,
    /// Whether a node is paired with itself too.
    pub(crate) itself: bool,
}

/// Rows to stream, in blocks of rows of one graph.
struct Plan {
    rows: Vec<u32>,
    blocks: Vec<Block>,
}

/// Up to [`ROWS`] rows of one graph.
struct Block {
    graph: usize,
    /// Positions in [`Plan::rows`].
    rows: std::ops::Range<usize>,
}

impl Plan {
    /// The rows for which `wanted` holds, but for nodes that have no pairs.
    fn new(batch: &Batch, itself: bool, wanted: impl Fn(usize) -> bool) -> Self {
        let mut plan = Self { rows: Vec::new(), blocks: Vec::new() };
        let least = if itself { 1 } else { 2 };
        for (graph, range) in batch.ranges().enumerate().filter(|(_, range)| range.len() >= least) {
            let start = plan.rows.len();
            plan.rows.extend(range.filter(|&i| wanted(i)).map(|i| i as u32));
            let end = plan.rows.len();
            let blocks = (start..end).step_by(ROWS);
            plan.blocks
                .extend(blocks.map(|first| Block { graph, rows: first..end.min(first + ROWS) }));
        }
        plan
    }
}

/// Room for the tiles of a block of rows.
fn tile_space<T: Real>(rows: &Rows<T>) -> Vec<T> {
    vec![T::ZERO; ROWS * rows.width]
}

/// Sums of a block: `[ROWS][COLUMNS]`, for `tiles` tiles of rows and the given panels.
#[inline(always)]
fn block_sums<T: Real, C: Scorer<T>, S: Simd>(
    simd: S,
    scorer: &C,
    tiles: &[T],
    panels: &[T],
    out: &mut [T],
) {
    let depth = scorer.rows().width;
    for (p, panel) in panels.chunks_exact(depth * PANEL).enumerate() {
        let rows = tiles.chunks_exact(depth * TILE).zip(out.chunks_mut(TILE * tile::COLUMNS));
        for (tile, out) in rows {
            tile::scores::<T, C, S>(simd, scorer.weights(), tile, panel, &mut out[p * PANEL..]);
        }
    }
}
