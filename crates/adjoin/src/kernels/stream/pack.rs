//! Layouts that the inner loops read without strides or remainders.

use super::tile::{LANES, PANEL, TILE};
use crate::{kernels::Real, topology::Batch};
use rayon::prelude::*;
use std::ops::Range;

/// A `[nodes, width]` matrix whose rows are padded with zeros to whole vectors.
pub(crate) struct Rows<T> {
    values: Vec<T>,
    pub(crate) width: usize,
    pub(crate) stride: usize,
}

impl<T: Real> Rows<T> {
    /// A padded copy of a `[nodes, width]` matrix.
    pub(crate) fn new(matrix: &[T], width: usize) -> Self {
        let stride = width.next_multiple_of(LANES).max(LANES);
        let nodes = matrix.len().checked_div(width).unwrap_or(0);
        let mut values = vec![T::ZERO; nodes * stride];
        for (to, from) in values.chunks_exact_mut(stride).zip(matrix.chunks_exact(width.max(1))) {
            to[..width].copy_from_slice(from);
        }
        Self { values, width, stride }
    }

    /// Row `i` with its padding.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> &[T] {
        &self.values[i * self.stride..(i + 1) * self.stride]
    }

    /// The rows from `start` on, with their padding.
    #[inline(always)]
    pub(crate) fn from(&self, start: usize) -> &[T] {
        &self.values[start * self.stride..]
    }

    /// Rows `range` with their padding, to change.
    pub(crate) fn range_mut(&mut self, range: Range<usize>) -> &mut [T] {
        &mut self.values[range.start * self.stride..range.end * self.stride]
    }

    /// Where the rows of some graphs lie.
    pub(crate) fn graphs(&self, graphs: Range<usize>, batch: &Batch) -> Range<usize> {
        let start = |graph: usize| batch.offsets()[graph] as usize * self.stride;
        start(graphs.start)..start(graphs.end)
    }

    /// The sum of two padded matrices of this shape, as `[nodes, width]`.
    pub(crate) fn unpad_sum(&self, x: &[T], y: &[T]) -> Vec<T> {
        let mut sum = Vec::with_capacity(x.len() / self.stride * self.width);
        for (x, y) in x.chunks_exact(self.stride).zip(y.chunks_exact(self.stride)) {
            sum.extend(x.iter().zip(y).take(self.width).map(|(&x, &y)| x + y));
        }
        sum
    }

    /// Copies the given rows as tiles `[depth][TILE]`; rows that are missing from the last tile
    /// become zeros.
    pub(crate) fn pack_tiles(&self, rows: &[u32], tiles: &mut [T]) {
        let tile = self.width * TILE;
        for (rows, tile) in rows.chunks(TILE).zip(tiles.chunks_exact_mut(tile.max(1))) {
            tile.fill(T::ZERO);
            for (r, &i) in rows.iter().enumerate() {
                let steps = tile.as_chunks_mut::<TILE>().0;
                for (step, &value) in steps.iter_mut().zip(self.row(i as usize)) {
                    step[r] = value;
                }
            }
        }
    }
}

/// A matrix by columns of pairs: the nodes of each graph in panels of [`PANEL`], each
/// `[depth][PANEL]`, the last one of a graph padded with zeros.
pub(crate) struct Panels<T> {
    values: Vec<T>,
    depth: usize,
    /// First panel of every graph.
    first: Vec<usize>,
}

impl<T: Real> Panels<T> {
    /// Packs `sign * rows`.
    pub(crate) fn new(rows: &Rows<T>, sign: T, batch: &Batch) -> Self {
        let depth = rows.width;
        let mut first = vec![0];
        let mut starts = Vec::new();
        for range in batch.ranges() {
            starts.extend(range.clone().step_by(PANEL).map(|start| (start, range.end)));
            first.push(starts.len());
        }
        let mut values = vec![T::ZERO; starts.len() * depth * PANEL];
        let chunks = values.par_chunks_exact_mut((depth * PANEL).max(1)).with_min_len(8);
        chunks.zip(&starts).for_each(|(panel, &(start, end))| {
            for (l, node) in (start..end.min(start + PANEL)).enumerate() {
                let steps = panel.as_chunks_mut::<PANEL>().0;
                for (step, &value) in steps.iter_mut().zip(rows.row(node)) {
                    step[l] = sign * value;
                }
            }
        });
        Self { values, depth, first }
    }

    /// Values of one panel.
    pub(crate) fn size(&self) -> usize {
        self.depth * PANEL
    }

    /// Where the panels of some graphs lie.
    pub(crate) fn graphs(&self, graphs: Range<usize>) -> Range<usize> {
        self.first[graphs.start] * self.size()..self.first[graphs.end] * self.size()
    }

    /// Where the panels of `count` columns from the local column `column` of a graph lie;
    /// `column` is a multiple of [`PANEL`].
    #[inline(always)]
    pub(crate) fn range(&self, graph: usize, column: usize, count: usize) -> Range<usize> {
        let start = self.first[graph] + column / PANEL;
        start * self.size()..(start + count.div_ceil(PANEL)) * self.size()
    }

    /// The panels at `range`.
    #[inline(always)]
    pub(crate) fn at(&self, range: Range<usize>) -> &[T] {
        &self.values[range]
    }

    /// Values in the layout of these panels, back as a `[nodes, depth]` matrix.
    pub(crate) fn unpack(&self, values: &[T], batch: &Batch) -> Vec<T> {
        let mut matrix = Vec::with_capacity(batch.nodes() * self.depth);
        for (range, &first) in batch.ranges().zip(&self.first) {
            for local in 0..range.len() {
                let start = (first + local / PANEL) * self.size() + local % PANEL;
                matrix.extend((0..self.depth).map(|k| values[start + k * PANEL]));
            }
        }
        matrix
    }
}
