//! The backward pass of the log mass: the stream again, with gradients added up on the way.

use super::{
    Block, Pairs, Plan, Scorer, block_sums,
    tile::{COLUMNS, LANES, ROWS, TILE, fold},
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
    let plan = Plan::new(pairs.batch, |i| grad[i] != T::ZERO);
    let lanes: Vec<Lane<T>> = (0..STREAMS.min(plan.blocks.len()))
        .into_par_iter()
        .map(|lane| {
            let mut state = Lane::new(pairs.scorer, pairs.batch.nodes());
            for block in plan.blocks.iter().skip(lane).step_by(STREAMS) {
                let rows = &plan.rows[block.rows.clone()];
                let lane = &mut state;
                vectorised_kernel(BackwardBlock {
                    pairs,
                    block,
                    rows,
                    inverse_tau,
                    mass,
                    grad,
                    lane,
                });
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

/// One block of rows against all columns of its graph.
struct BackwardBlock<'a, T, S> {
    pairs: &'a Pairs<'a, T, S>,
    block: &'a Block,
    rows: &'a [u32],
    inverse_tau: T,
    mass: &'a [T],
    grad: &'a [T],
    lane: &'a mut Lane<T>,
}

impl<T: Real, S: Scorer<T>> Kernel for BackwardBlock<'_, T, S> {
    type Output = ();

    #[inline(always)]
    fn run<I: Simd>(self, simd: I) {
        let Self { pairs, block, rows, inverse_tau, mass, grad, lane } = self;
        let Pairs { scorer, noise, batch } = *pairs;
        let nodes = batch.range(block.graph);
        let side = scorer.rows();
        side.pack_tiles(rows, &mut lane.tiles);
        let tiled = rows.len().next_multiple_of(TILE);
        let tiles = &lane.tiles[..tiled * side.width];
        let base = lane.row_sums.len();
        lane.rows.resize((base + rows.len()) * side.stride, T::ZERO);
        lane.row_sums.resize(base + rows.len(), T::ZERO);
        lane.row_moments.resize(base + rows.len(), T::ZERO);
        for local in (0..nodes.len()).step_by(COLUMNS) {
            let count = COLUMNS.min(nodes.len() - local);
            let first = nodes.start + local;
            let panels = scorer.columns();
            let panels = panels.at(panels.range(block.graph, local, count));
            block_sums(simd, scorer, tiles, panels, &mut lane.values);
            for (n, &i) in rows.iter().enumerate() {
                let i = i as usize;
                let values = &mut lane.values[n * COLUMNS..(n + 1) * COLUMNS];
                let (values, padding) = values.split_at_mut(count);
                let (log_p, slopes) = (&mut lane.log_p[..count], &mut lane.slopes[..count]);
                scorer.slopes(i, first, values, log_p, slopes);
                if let Some(noise) = noise {
                    noise.add(i, first, log_p);
                }
                if (first..first + count).contains(&i) {
                    log_p[i - first] = T::NEG_INFINITY;
                }
                weigh(log_p, slopes, inverse_tau, mass[i], grad[i] * inverse_tau);
                let (sum, moment) = replace(values, slopes);
                lane.row_sums[base + n] += sum;
                lane.row_moments[base + n] += moment;
                padding.fill(T::ZERO);
                let sums = lane.column_sums[first..].iter_mut();
                sums.zip(values.iter()).for_each(|(sum, &q)| *sum += q);
            }
            lane.values[rows.len() * COLUMNS..tiled * COLUMNS].fill(T::ZERO);
            let q = &lane.values[..tiled * COLUMNS];
            let slopes = Slopes { q, rows, tiles, graph: block.graph, first, local, count };
            scorer.accumulate(
                simd,
                slopes,
                &mut lane.rows[base * side.stride..],
                &mut lane.columns,
            );
        }
    }
}

/// `slopes_n *= weight * exp(scale * l_n - mass)`.
#[inline(always)]
fn weigh<T: Real>(l: &[T], slopes: &mut [T], scale: T, mass: T, weight: T) {
    let negligible = T::from_f64(NEGLIGIBLE);
    for (slope, &l) in slopes.iter_mut().zip(l) {
        let exponent = l.mul_add(scale, -mass);
        let share = if exponent < negligible { T::ZERO } else { exponent.exp() };
        *slope *= weight * share;
    }
}

/// Puts q in the place of x; gives the sums of q and of q x.
#[inline(always)]
fn replace<T: Real>(values: &mut [T], q: &[T]) -> (T, T) {
    let (mut sums, mut moments) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    let (chunks, rest) = values.as_chunks_mut::<LANES>();
    let (q_chunks, q_rest) = q.as_chunks::<LANES>();
    for (x, q) in chunks.iter_mut().zip(q_chunks) {
        for lane in 0..LANES {
            sums[lane] += q[lane];
            moments[lane] = q[lane].mul_add(x[lane], moments[lane]);
        }
        *x = *q;
    }
    let (mut sum, mut moment) = (fold(sums, |a, b| a + b), fold(moments, |a, b| a + b));
    for (x, &q) in rest.iter_mut().zip(q_rest) {
        sum += q;
        moment = q.mul_add(*x, moment);
        *x = q;
    }
    (sum, moment)
}
