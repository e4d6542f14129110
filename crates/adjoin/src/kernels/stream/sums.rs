//! The first of the two passes of message passing between edges: sums of pair embeddings at every node.

use super::{
    Panels, Rows,
    layers::{self, Layer},
    tile::PANEL,
};
use crate::{
    kernels::{
        Kernel, Real,
        rows::{axpy, zeros},
        vectorised_kernel,
    },
    topology::Batch,
};
use pulp::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a task; fixed, so that the order of all additions is too.
const BLOCK: usize = 32;

/// Inputs of the pair embeddings `c_ij = leaky(.. leaky(a_i + b_j) W + b ..)`.
pub(crate) struct Embeddings<'a, T> {
    /// `[nodes, width]`, the receiving node's share.
    pub(crate) a: &'a [T],
    /// `[nodes, width]`, the other node's share.
    pub(crate) b: &'a [T],
    /// `[layers, width, width]`.
    pub(crate) weights: &'a [T],
    /// `[layers, width]`.
    pub(crate) biases: &'a [T],
    pub(crate) width: usize,
}

/// Gradients of [`Embeddings`], in the same order.
pub(crate) type Gradients<T> = [Vec<T>; 4];

/// `S_v = sum_j c_vj + c_jv` over the other nodes of v's graph, `[nodes, width]`.
pub(crate) fn pair_sums<T: Real>(inputs: &Embeddings<'_, T>, batch: &Batch) -> Vec<T> {
    let sides = Sides::new(inputs, batch);
    let mut sums = zeros(inputs.a.len());
    let chunks = sums.par_chunks_mut(BLOCK * inputs.width).enumerate();
    chunks.for_each(|(block, out)| {
        vectorised_kernel(Sums { sides: &sides, first: block * BLOCK, out });
    });
    sums
}

/// Gradients, given those of the sums: `dL/dc_ij = g_i + g_j`. Every row takes both directions of its pairs, so
/// that none adds to another.
pub(crate) fn pair_sums_backward<T: Real>(
    inputs: &Embeddings<'_, T>,
    batch: &Batch,
    grad: &[T],
) -> Gradients<T> {
    let (width, count) = (inputs.width, inputs.biases.len() / inputs.width);
    let sides = Sides::new(inputs, batch);
    let rows = Rows::new(grad, width);
    let panels = Panels::new(&rows, T::ONE, batch);
    let (mut da, mut db) = (zeros(inputs.a.len()), zeros(inputs.a.len()));
    let size = BLOCK * width;
    let parts: Vec<Vec<T>> = da
        .par_chunks_mut(size)
        .zip(db.par_chunks_mut(size))
        .enumerate()
        .map(|(block, (da, db))| {
            let mut weights = zeros(count * layers::gradient_len(width));
            let (sides, grad, first) = (&sides, (&rows, &panels), block * BLOCK);
            vectorised_kernel(Back { sides, grad, first, da, db, weights: &mut weights });
            weights
        })
        .collect();
    let mut total = zeros(count * layers::gradient_len(width));
    parts.iter().for_each(|part| axpy(T::ONE, part, &mut total));
    let (weights, biases) = layers::unpack_gradients(&total, width);
    [da, db, weights, biases]
}

/// Both shares, by rows and by columns.
struct Sides<'a, T> {
    rows: [Rows<T>; 2],
    columns: [Panels<T>; 2],
    layers: Vec<Layer<T>>,
    width: usize,
    batch: &'a Batch,
    graphs: Vec<u32>,
}

impl<'a, T: Real> Sides<'a, T> {
    fn new(inputs: &Embeddings<'_, T>, batch: &'a Batch) -> Self {
        let width = inputs.width;
        let rows = [Rows::new(inputs.a, width), Rows::new(inputs.b, width)];
        // What meets a is b, and the other way round.
        let columns = [&rows[1], &rows[0]].map(|rows| Panels::new(rows, T::ONE, batch));
        let layers = Layer::all(inputs.weights, inputs.biases, width);
        Self { rows, columns, layers, width, batch, graphs: batch.graph_of_nodes() }
    }

    fn size(&self) -> usize {
        self.width * PANEL
    }

    fn steps(&self) -> Vec<T> {
        zeros((self.layers.len() + 1) * self.size())
    }

    /// First nodes of the panels of the graph of node `i`, and the nodes of the graph.
    fn panels(&self, i: usize) -> (usize, Range<usize>) {
        let graph = self.graphs[i] as usize;
        (graph, self.batch.range(graph))
    }

    #[inline(always)]
    fn embed<S: Simd>(&self, simd: S, side: usize, i: usize, panel: &[T], steps: &mut [T]) {
        let size = self.size();
        layers::embed(&self.rows[side].row(i)[..self.width], panel, &mut steps[..size]);
        layers::forward(simd, &self.layers, size, steps);
    }
}

/// Sets the pairs of a panel to 0 that do not exist: of a node with itself, and beyond the graph.
#[inline(always)]
fn mask<T: Real>(values: &mut [T], i: usize, first: usize, end: usize) {
    let (own, count) = (i.wrapping_sub(first), (end - first).min(PANEL));
    if own >= PANEL && count == PANEL {
        return;
    }
    for values in values.chunks_exact_mut(PANEL) {
        values[count..].fill(T::ZERO);
        if own < PANEL {
            values[own] = T::ZERO;
        }
    }
}

struct Sums<'a, T> {
    sides: &'a Sides<'a, T>,
    first: usize,
    out: &'a mut [T],
}

impl<T: Real> Kernel for Sums<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { sides, first, out } = self;
        let size = sides.size();
        let (mut steps, mut total) = (sides.steps(), zeros::<T>(size));
        for (at, out) in out.chunks_exact_mut(sides.width).enumerate() {
            let i = first + at;
            let (graph, nodes) = sides.panels(i);
            total.fill(T::ZERO);
            for (side, columns) in sides.columns.iter().enumerate() {
                let panels = columns.at(columns.range(graph, 0, nodes.len()));
                for (p, panel) in panels.chunks_exact(size).enumerate() {
                    sides.embed(simd, side, i, panel, &mut steps);
                    let last = &mut steps[sides.layers.len() * size..];
                    mask(last, i, nodes.start + p * PANEL, nodes.end);
                    total.iter_mut().zip(last.iter()).for_each(|(total, &c)| *total += c);
                }
            }
            for (out, total) in out.iter_mut().zip(total.chunks_exact(PANEL)) {
                *out = layers::lane_sum(simd, total);
            }
        }
    }
}

struct Back<'a, T> {
    sides: &'a Sides<'a, T>,
    grad: (&'a Rows<T>, &'a Panels<T>),
    first: usize,
    da: &'a mut [T],
    db: &'a mut [T],
    weights: &'a mut [T],
}

impl<T: Real> Kernel for Back<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { sides, grad: (rows, columns), first, da, db, weights } = self;
        let (size, width) = (sides.size(), sides.width);
        let mut steps = sides.steps();
        let [mut grad, mut spare, mut total] = [(); 3].map(|()| zeros::<T>(size));
        let mut turned = zeros::<T>(PANEL * layers::padded(width));
        for (side, out) in [da, db].into_iter().enumerate() {
            // Every ordered pair is met once in each direction; one of them has the gradients of the layers.
            let weights = if side == 0 { &mut *weights } else { &mut [] };
            for (at, out) in out.chunks_exact_mut(width).enumerate() {
                let i = first + at;
                let (graph, nodes) = sides.panels(i);
                let others = &sides.columns[side];
                let range = others.range(graph, 0, nodes.len());
                let panels = others.at(range.clone()).chunks_exact(size);
                total.fill(T::ZERO);
                for (p, (panel, other)) in
                    panels.zip(columns.at(range).chunks_exact(size)).enumerate()
                {
                    sides.embed(simd, side, i, panel, &mut steps);
                    let both = grad.chunks_exact_mut(PANEL).zip(other.chunks_exact(PANEL));
                    for (&own, (grad, other)) in rows.row(i).iter().zip(both) {
                        grad.iter_mut().zip(other).for_each(|(grad, &other)| *grad = own + other);
                    }
                    mask(&mut grad, i, nodes.start + p * PANEL, nodes.end);
                    layers::gate(&mut grad, &steps[sides.layers.len() * size..]);
                    let room = [&mut grad[..], &mut spare, &mut turned];
                    layers::backward(simd, &sides.layers, &steps, weights, room);
                    total.iter_mut().zip(&grad).for_each(|(total, &grad)| *total += grad);
                }
                for (out, total) in out.iter_mut().zip(total.chunks_exact(PANEL)) {
                    *out = layers::lane_sum(simd, total);
                }
            }
        }
    }
}
