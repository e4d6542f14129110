//! The backward pass of the log mass: the stream again, with gradients added up on the way.

use super::{
    Block, Pairs, Plan, Scorer, block_sums,
    tile::{COLUMNS, LANES, PANEL, ROWS, TILE, fold},
    tile_space,
};
use crate::kernels::{Kernel, Real, rows::zeros, vectorised_kernel};
use pulp::Simd;
use rayon::prelude::*;

/// Row blocks are dealt to this many lanes, each of which adds up its own column gradients; the
/// lanes are then added in order. The number is fixed so that the order of all additions is too.
const STREAMS: usize = 8;

/// Weights below e^-60 of a row's mass are taken as zero: they are far below rounding, and would
/// only bring in numbers so small that the processor handles them slowly.
const NEGLIGIBLE: f64 = -60.0;

/// `q_ij = dL/dx_ij` of a block.
pub(crate) struct Slopes<'a, T> {
    /// `[ROWS][COLUMNS]`; zero where there is no pair.
    pub(crate) q: &'a [T],
    /// The rows.
    pub(crate) rows: &'a [u32],
    /// Their tiles, as packed for the forward pass.
    pub(crate) tiles: &'a [T],
    /// The graph.
    pub(crate) graph: usize,
    /// First column of the block: in the batch, and in the graph.
    pub(crate) first: usize,
    pub(crate) local: usize,
    /// Number of columns.
    pub(crate) count: usize,
}

/// What the backward pass adds up.
pub(crate) struct Totals<T> {
    /// `[nodes, stride]`, as [`Scorer::accumulate`] adds to the side of the rows.
    pub(crate) rows: Vec<T>,
    /// As [`Scorer::accumulate`] adds to the side of the columns.
    pub(crate) columns: Vec<T>,
    /// `sum_j q_ij`.
    pub(crate) row_sums: Vec<T>,
    /// `sum_i q_ij`.
    pub(crate) column_sums: Vec<T>,
    /// `sum_j q_ij x_ij`.
    pub(crate) row_moments: Vec<T>,
}

/// Gradients of the scorer's inputs for `m_i = log sum_j exp(l_ij / tau)`:
/// `dL/dl_ij = grad_i softmax_ij / tau`, chained into the score.
pub(crate) fn log_mass_backward<T: Real, S: Scorer<T>>(
    pairs: &Pairs<'_, T, S>,
    inverse_tau: T,
    mass: &[T],
    grad: &[T],
) -> Vec<Vec<T>> {
    let active = grad.iter().filter(|&&grad| grad != T::ZERO).count();
    // Both directions of a pair at once take half the pairs of all rows; when few rows have a
    // gradient, those rows alone are less work.
    let both = S::SYMMETRIC && 2 * active > grad.len();
    let plan = Plan::new(pairs.batch, |i| both || grad[i] != T::ZERO);
    let lanes: Vec<Lane<T>> = (0..STREAMS.min(plan.blocks.len()))
        .into_par_iter()
        .map(|lane| {
            let mut state = Lane::new(pairs.scorer, pairs.batch.nodes());
            for block in plan.blocks.iter().skip(lane).step_by(STREAMS) {
                let rows = &plan.rows[block.rows.clone()];
                let task = Task { pairs, inverse_tau, mass, grad, both };
                vectorised_kernel(BackwardBlock { task, block, rows, lane: &mut state });
            }
            state
        })
        .collect();
    let totals = join(lanes, &plan, pairs);
    pairs.scorer.gradients(totals, pairs.batch)
}

/// What one lane adds up, and its buffers.
struct Lane<T> {
    /// The results of its blocks, one after the other.
    rows: Vec<T>,
    row_sums: Vec<T>,
    row_moments: Vec<T>,
    columns: Vec<T>,
    column_sums: Vec<T>,
    tiles: Vec<T>,
    values: Vec<T>,
    log_p: Vec<T>,
    slopes: Vec<T>,
    reverse: Vec<T>,
}

impl<T: Real> Lane<T> {
    fn new<S: Scorer<T>>(scorer: &S, nodes: usize) -> Self {
        Self {
            rows: Vec::new(),
            row_sums: Vec::new(),
            row_moments: Vec::new(),
            columns: zeros(scorer.column_gradients()),
            column_sums: zeros(nodes),
            tiles: tile_space(scorer.rows()),
            values: zeros(ROWS * COLUMNS),
            log_p: zeros(COLUMNS),
            slopes: zeros(COLUMNS),
            reverse: zeros(COLUMNS),
        }
    }
}

fn join<T: Real, S: Scorer<T>>(
    mut lanes: Vec<Lane<T>>,
    plan: &Plan,
    pairs: &Pairs<'_, T, S>,
) -> Totals<T> {
    let (nodes, stride) = (pairs.batch.nodes(), pairs.scorer.rows().stride);
    let mut totals = Totals {
        rows: zeros(nodes * stride),
        columns: zeros(pairs.scorer.column_gradients()),
        row_sums: zeros(nodes),
        column_sums: zeros(nodes),
        row_moments: zeros(nodes),
    };
    for (lane, state) in lanes.iter().enumerate() {
        let blocks = plan.blocks.iter().skip(lane).step_by(STREAMS);
        let rows = blocks.flat_map(|block| &plan.rows[block.rows.clone()]);
        for (n, &i) in rows.enumerate() {
            let i = i as usize;
            totals.row_sums[i] = state.row_sums[n];
            totals.row_moments[i] = state.row_moments[n];
            let from = &state.rows[n * stride..(n + 1) * stride];
            totals.rows[i * stride..(i + 1) * stride].copy_from_slice(from);
        }
    }
    const CHUNK: usize = 1 << 14;
    totals.columns.par_chunks_mut(CHUNK).enumerate().for_each(|(at, total)| {
        for lane in &lanes {
            let part = &lane.columns[at * CHUNK..][..total.len()];
            total.iter_mut().zip(part).for_each(|(total, &part)| *total += part);
        }
    });
    for lane in lanes.drain(..) {
        let sums = totals.column_sums.iter_mut().zip(lane.column_sums);
        sums.for_each(|(total, part)| *total += part);
    }
    totals
}

/// What all blocks share.
struct Task<'a, T, S> {
    pairs: &'a Pairs<'a, T, S>,
    inverse_tau: T,
    mass: &'a [T],
    grad: &'a [T],
    both: bool,
}

/// One block of rows against all columns of its graph or, when both directions of a pair are taken
/// at once, against those from its own first row on.
struct BackwardBlock<'a, T, S> {
    task: Task<'a, T, S>,
    block: &'a Block,
    rows: &'a [u32],
    lane: &'a mut Lane<T>,
}

impl<T: Real, S: Scorer<T>> Kernel for BackwardBlock<'_, T, S> {
    type Output = ();

    #[inline(always)]
    fn run<I: Simd>(self, simd: I) {
        let Self { task, block, rows, lane } = self;
        let Pairs { scorer, batch, .. } = *task.pairs;
        let nodes = batch.range(block.graph);
        let side = scorer.rows();
        side.pack_tiles(rows, &mut lane.tiles);
        let tiled = rows.len().next_multiple_of(TILE);
        let base = lane.row_sums.len();
        lane.rows.resize((base + rows.len()) * side.stride, T::ZERO);
        lane.row_sums.resize(base + rows.len(), T::ZERO);
        lane.row_moments.resize(base + rows.len(), T::ZERO);
        // Blocks of columns begin with a panel.
        let start = if task.both { (rows[0] as usize - nodes.start) / PANEL * PANEL } else { 0 };
        for local in (start..nodes.len()).step_by(COLUMNS) {
            let count = COLUMNS.min(nodes.len() - local);
            let first = nodes.start + local;
            let panels = scorer.columns();
            let panels = panels.at(panels.range(block.graph, local, count));
            block_sums(simd, scorer, &lane.tiles[..tiled * side.width], panels, &mut lane.values);
            for (n, &i) in rows.iter().enumerate() {
                let (sum, moment) = slope_row(&task, i as usize, first, count, n, lane);
                lane.row_sums[base + n] += sum;
                lane.row_moments[base + n] += moment;
            }
            lane.values[rows.len() * COLUMNS..tiled * COLUMNS].fill(T::ZERO);
            let (q, tiles) = (&lane.values[..tiled * COLUMNS], &lane.tiles[..tiled * side.width]);
            let slopes = Slopes { q, rows, tiles, graph: block.graph, first, local, count };
            let rows = &mut lane.rows[base * side.stride..];
            scorer.accumulate(simd, slopes, rows, &mut lane.columns);
        }
    }
}

/// Puts q in the place of the sums of row i, the n-th of its block, and adds it to the sums of the
/// columns; gives the sums of q and of q x.
#[inline(always)]
fn slope_row<T: Real, S: Scorer<T>>(
    task: &Task<'_, T, S>,
    i: usize,
    first: usize,
    count: usize,
    n: usize,
    lane: &mut Lane<T>,
) -> (T, T) {
    let Pairs { scorer, noise, .. } = *task.pairs;
    let values = &mut lane.values[n * COLUMNS..(n + 1) * COLUMNS];
    let (values, padding) = values.split_at_mut(count);
    padding.fill(T::ZERO);
    let (l, slopes) = (&mut lane.log_p[..count], &mut lane.slopes[..count]);
    scorer.slopes(i, first, values, l, slopes);
    // The pairs that are not to be counted: the node itself, or all up to it.
    let end = (i + 1).clamp(first, first + count) - first;
    let begin = if task.both { 0 } else { i.clamp(first, first + count) - first };
    let reverse = &mut lane.reverse[..count];
    if task.both {
        reverse.copy_from_slice(l);
        if let Some(noise) = noise {
            noise.add_reverse(i, first, reverse);
        }
        reverse[..end].fill(T::NEG_INFINITY);
    }
    if let Some(noise) = noise {
        noise.add(i, first, l);
    }
    l[begin..end].fill(T::NEG_INFINITY);
    let scale = task.inverse_tau;
    let (mass, weight) = (task.mass[i], task.grad[i] * scale);
    for l in l.iter_mut() {
        *l = weight * share(*l, scale, mass);
    }
    if task.both {
        let others = task.mass[first..].iter().zip(&task.grad[first..]);
        for ((l, &reverse), (&mass, &grad)) in l.iter_mut().zip(reverse.iter()).zip(others) {
            *l = (grad * scale).mul_add(share(reverse, scale, mass), *l);
        }
    }
    let (sum, moment) = replace(values, l, slopes);
    let sums = lane.column_sums[first..].iter_mut();
    sums.zip(values.iter()).for_each(|(sum, &q)| *sum += q);
    (sum, moment)
}

/// The share of a pair in the mass of its row, `exp(l / tau - m)`.
#[inline(always)]
fn share<T: Real>(l: T, inverse_tau: T, mass: T) -> T {
    let exponent = l.mul_add(inverse_tau, -mass);
    if exponent < T::from_f64(NEGLIGIBLE) { T::ZERO } else { exponent.exp() }
}

/// Puts `q = weight slope` in the place of x; gives the sums of q and of q x.
#[inline(always)]
fn replace<T: Real>(values: &mut [T], weights: &[T], slopes: &[T]) -> (T, T) {
    let (mut sums, mut moments) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    let (chunks, rest) = values.as_chunks_mut::<LANES>();
    let (weight_chunks, weight_rest) = weights.as_chunks::<LANES>();
    let (slope_chunks, slope_rest) = slopes.as_chunks::<LANES>();
    for ((x, weight), slope) in chunks.iter_mut().zip(weight_chunks).zip(slope_chunks) {
        for lane in 0..LANES {
            let q = weight[lane] * slope[lane];
            sums[lane] += q;
            moments[lane] = q.mul_add(x[lane], moments[lane]);
            x[lane] = q;
        }
    }
    let (mut sum, mut moment) = (fold(sums, |a, b| a + b), fold(moments, |a, b| a + b));
    for ((x, &weight), &slope) in rest.iter_mut().zip(weight_rest).zip(slope_rest) {
        let q = weight * slope;
        sum += q;
        moment = q.mul_add(*x, moment);
        *x = q;
    }
    (sum, moment)
}
