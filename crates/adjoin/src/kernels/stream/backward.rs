//! The backward pass of the log mass: the stream again, with gradients added up on the way.

use super::{
    Block, Mass, Pairs, Place, Plan, Scorer,
    tile::{COLUMNS, LANES, PANEL, ROWS, TILE, fold},
    tile_space,
};
use crate::kernels::{Kernel, Real, rows::zeros, vectorised_kernel};
use pulp::Simd;
use rayon::prelude::*;
use std::ops::Range;

/// The row blocks of a large graph are dealt to this many jobs, each of which adds up its own column
/// gradients; those are then added in order. The number is fixed so that the order of all additions
/// is too.
const STREAMS: usize = 8;

/// Blocks of small graphs that make one job.
const SMALL: usize = 32;

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
    /// Where the buffer of column gradients begins, within that of the whole batch.
    pub(crate) offset: usize,
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
    mass: &Mass<T>,
    grad: &[T],
) -> Vec<Vec<T>> {
    let active = grad.iter().filter(|&&grad| grad != T::ZERO).count();
    // Both directions of a pair at once take half the pairs of all rows; when few rows have a
    // gradient, those rows alone are less work.
    let both = S::SYMMETRIC && 2 * active > grad.len();
    let plan = Plan::new(pairs.batch, pairs.itself, |i| both || grad[i] != T::ZERO);
    let jobs = jobs(&plan);
    let sums: Vec<Sums<T>> = jobs
        .par_iter()
        .map_init(
            || Scratch::new(pairs.scorer),
            |scratch, job| {
                let mut sums = Sums::new(pairs, job.graphs.clone());
                for block in job.blocks(&plan) {
                    let rows = &plan.rows[block.rows.clone()];
                    let task = Task { pairs, inverse_tau, mass, grad, both };
                    let sums = &mut sums;
                    vectorised_kernel(BackwardBlock { task, block, rows, scratch, sums });
                }
                sums
            },
        )
        .collect();
    let totals = join(&jobs, &sums, &plan, pairs);
    pairs.scorer.gradients(totals, pairs.batch)
}

/// Blocks that are done one after the other and add to the same sums.
struct Job {
    blocks: Range<usize>,
    /// Every n-th of them.
    step: usize,
    graphs: Range<usize>,
}

impl Job {
    fn blocks<'a>(&self, plan: &'a Plan) -> impl Iterator<Item = &'a Block> {
        plan.blocks[self.blocks.clone()].iter().step_by(self.step)
    }
}

/// A large graph is shared by several jobs, small ones share a job.
fn jobs(plan: &Plan) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut start = 0;
    for run in plan.blocks.chunk_by(|a, b| a.graph == b.graph) {
        let (blocks, graph) = (start..start + run.len(), run[0].graph);
        start = blocks.end;
        if run.len() >= STREAMS {
            jobs.extend((0..STREAMS).map(|lane| Job {
                blocks: blocks.start + lane..blocks.end,
                step: STREAMS,
                graphs: graph..graph + 1,
            }));
            continue;
        }
        match jobs.last_mut().filter(|job| job.step == 1 && job.blocks.len() < SMALL) {
            Some(job) => {
                job.blocks.end = blocks.end;
                job.graphs.end = graph + 1;
            }
            None => jobs.push(Job { blocks, step: 1, graphs: graph..graph + 1 }),
        }
    }
    jobs
}

/// Buffers of one task, kept between jobs.
struct Scratch<T> {
    tiles: Vec<T>,
    values: Vec<T>,
    l: Vec<T>,
    slopes: Vec<T>,
    reverse: Vec<T>,
}

impl<T: Real> Scratch<T> {
    fn new<S: Scorer<T>>(scorer: &S) -> Self {
        Self {
            tiles: tile_space(scorer.rows()),
            values: zeros(ROWS * COLUMNS),
            l: zeros(COLUMNS),
            slopes: zeros(COLUMNS),
            reverse: zeros(COLUMNS),
        }
    }
}

/// What one job adds up.
struct Sums<T> {
    /// Of the rows of its blocks, one after the other.
    rows: Vec<T>,
    row_sums: Vec<T>,
    row_moments: Vec<T>,
    /// Of the columns of its graphs.
    columns: Vec<T>,
    column_sums: Vec<T>,
    /// Where those two begin, within the whole batch.
    offset: usize,
    first_node: usize,
}

impl<T: Real> Sums<T> {
    fn new<S: Scorer<T>>(pairs: &Pairs<'_, T, S>, graphs: Range<usize>) -> Self {
        let offsets = pairs.batch.offsets();
        let first_node = offsets[graphs.start] as usize;
        let nodes = offsets[graphs.end] as usize - first_node;
        let columns = pairs.scorer.column_gradients(graphs, pairs.batch);
        Self {
            rows: Vec::new(),
            row_sums: Vec::new(),
            row_moments: Vec::new(),
            columns: zeros(columns.len()),
            column_sums: zeros(nodes),
            offset: columns.start,
            first_node,
        }
    }
}

fn join<T: Real, S: Scorer<T>>(
    jobs: &[Job],
    sums: &[Sums<T>],
    plan: &Plan,
    pairs: &Pairs<'_, T, S>,
) -> Totals<T> {
    let (nodes, stride) = (pairs.batch.nodes(), pairs.scorer.rows().stride);
    let columns = pairs.scorer.column_gradients(0..pairs.batch.graphs(), pairs.batch);
    let mut totals = Totals {
        rows: zeros(nodes * stride),
        columns: zeros(columns.len()),
        row_sums: zeros(nodes),
        column_sums: zeros(nodes),
        row_moments: zeros(nodes),
    };
    for (job, sums) in jobs.iter().zip(sums) {
        let rows = job.blocks(plan).flat_map(|block| &plan.rows[block.rows.clone()]);
        for (n, &i) in rows.enumerate() {
            let i = i as usize;
            totals.row_sums[i] = sums.row_sums[n];
            totals.row_moments[i] = sums.row_moments[n];
            let from = &sums.rows[n * stride..(n + 1) * stride];
            totals.rows[i * stride..(i + 1) * stride].copy_from_slice(from);
        }
        add(&mut totals.columns[sums.offset..], &sums.columns);
        add(&mut totals.column_sums[sums.first_node..], &sums.column_sums);
    }
    totals
}

/// Adds `part` to the front of `total`.
fn add<T: Real>(total: &mut [T], part: &[T]) {
    const CHUNK: usize = 1 << 15;
    let chunks = total[..part.len()].par_chunks_mut(CHUNK).zip(part.par_chunks(CHUNK));
    chunks.for_each(|(total, part)| {
        total.iter_mut().zip(part).for_each(|(total, &part)| *total += part);
    });
}

/// What all blocks share.
struct Task<'a, T, S> {
    pairs: &'a Pairs<'a, T, S>,
    inverse_tau: T,
    mass: &'a Mass<T>,
    grad: &'a [T],
    both: bool,
}

/// One block of rows against all columns of its graph or, when both directions of a pair are taken
/// at once, against those from its own first row on.
struct BackwardBlock<'a, T, S> {
    task: Task<'a, T, S>,
    block: &'a Block,
    rows: &'a [u32],
    scratch: &'a mut Scratch<T>,
    sums: &'a mut Sums<T>,
}

impl<T: Real, S: Scorer<T>> Kernel for BackwardBlock<'_, T, S> {
    type Output = ();

    #[inline(always)]
    fn run<I: Simd>(self, simd: I) {
        let Self { task, block, rows, scratch, sums } = self;
        let Pairs { scorer, batch, .. } = *task.pairs;
        let nodes = batch.range(block.graph);
        let side = scorer.rows();
        side.pack_tiles(rows, &mut scratch.tiles);
        let tiled = rows.len().next_multiple_of(TILE);
        let base = sums.row_sums.len();
        sums.rows.resize((base + rows.len()) * side.stride, T::ZERO);
        sums.row_sums.resize(base + rows.len(), T::ZERO);
        sums.row_moments.resize(base + rows.len(), T::ZERO);
        // Blocks of columns begin with a panel.
        let start = if task.both { (rows[0] as usize - nodes.start) / PANEL * PANEL } else { 0 };
        for local in (start..nodes.len()).step_by(COLUMNS) {
            let count = COLUMNS.min(nodes.len() - local);
            let first = nodes.start + local;
            let place = Place { rows, graph: block.graph, first, local, count };
            let tiles = &scratch.tiles[..tiled * side.width];
            scorer.block(simd, &place, tiles, &mut scratch.values);
            for (n, &i) in rows.iter().enumerate() {
                let (sum, moment) = slope_row(&task, i as usize, first, count, n, scratch);
                let q = &scratch.values[n * COLUMNS..][..count];
                let columns = sums.column_sums[first - sums.first_node..].iter_mut();
                columns.zip(q).for_each(|(sum, &q)| *sum += q);
                sums.row_sums[base + n] += sum;
                sums.row_moments[base + n] += moment;
            }
            scratch.values[rows.len() * COLUMNS..tiled * COLUMNS].fill(T::ZERO);
            let (q, tiles) =
                (&scratch.values[..tiled * COLUMNS], &scratch.tiles[..tiled * side.width]);
            let offset = sums.offset;
            let slopes = Slopes { q, rows, tiles, graph: block.graph, first, local, count, offset };
            let rows = &mut sums.rows[base * side.stride..];
            scorer.accumulate(simd, slopes, rows, &mut sums.columns);
        }
    }
}

/// Puts q in the place of the sums of row i, the n-th of its block; gives the sums of q and of q x.
#[inline(always)]
fn slope_row<'a, T: Real, S: Scorer<T>>(
    task: &Task<'a, T, S>,
    i: usize,
    first: usize,
    count: usize,
    n: usize,
    scratch: &mut Scratch<T>,
) -> (T, T) {
    let Pairs { scorer, noise, itself, .. } = *task.pairs;
    let values = &mut scratch.values[n * COLUMNS..(n + 1) * COLUMNS];
    let (values, padding) = values.split_at_mut(count);
    padding.fill(T::ZERO);
    let (l, slopes) = (&mut scratch.l[..count], &mut scratch.slopes[..count]);
    scorer.slopes(i, first, values, l, slopes);
    // The pairs that are not to be counted: the node itself, or all up to it. Of both directions of a node with
    // itself one counts.
    let within = |column: usize| column.clamp(first, first + count) - first;
    let (begin, end) = (if task.both { 0 } else { within(i) }, within(i + 1));
    let reverse = &mut scratch.reverse[..count];
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
    l[begin..if itself { within(i) } else { end }].fill(T::NEG_INFINITY);
    let scale = task.inverse_tau;
    let (peak, log, weight) = (task.mass.peaks[i], task.mass.logs[i], task.grad[i] * scale);
    for l in l.iter_mut() {
        *l = weight * share(*l, scale, peak, log);
    }
    if task.both {
        let of = |values: &'a [T]| &values[first..first + count];
        let (peaks, logs, grads) = (of(&task.mass.peaks), of(&task.mass.logs), of(task.grad));
        for n in 0..count {
            let share = share(reverse[n], scale, peaks[n], logs[n]);
            l[n] = (grads[n] * scale).mul_add(share, l[n]);
        }
    }
    replace(values, l, slopes)
}

/// The share of a pair in the mass of its row, `exp(l / tau - m)`, the mass being in two parts.
#[inline(always)]
fn share<T: Real>(l: T, inverse_tau: T, peak: T, log: T) -> T {
    let exponent = l.mul_add(inverse_tau, -peak) - log;
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
