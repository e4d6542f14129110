//! The forward pass: log mass and largest candidates of every row, in one stream.

use super::{
    Block, Pairs, Place, Plan, Scorer,
    tile::{COLUMNS, ROWS, TILE, maximum, sum_of_exp},
    tile_space,
    top::Top,
};
use crate::kernels::{Kernel, Real, vectorised_kernel};
use pulp::Simd;
use rayon::prelude::*;

/// The log of the mass of every row, `m_i = peak_i + log_i`: one number does not hold the digits of both
/// when scores are large.
pub(crate) struct Mass<T> {
    /// The largest exponent, `max_j l_ij / tau`; the lowest finite value where there are no pairs.
    pub(crate) peaks: Vec<T>,
    /// The log of the sum relative to it.
    pub(crate) logs: Vec<T>,
}

impl<T: Real> Mass<T> {
    /// `m_i` as one number.
    pub(crate) fn totals(&self) -> Vec<T> {
        self.peaks.iter().zip(&self.logs).map(|(&peak, &log)| peak + log).collect()
    }
}

/// What a pass is to find beside candidates.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a, T> {
    /// Nothing.
    Nothing,
    /// The mass at temperature `1 / inverse_tau`, and the share of the candidates in it.
    Mass(T),
    /// The share of the candidates in a mass at that temperature that is known.
    Share(T, &'a Mass<T>),
}

/// What a pass found.
pub(crate) struct Streamed<T> {
    /// `[nodes]`; the lowest finite value where there are no pairs, or no mass is wanted.
    pub(crate) mass: Mass<T>,
    /// The log of the share of the candidates in the mass of their row, `[nodes]`; 0 where none is wanted.
    pub(crate) shares: Vec<T>,
    /// Row pointers of the candidates.
    pub(crate) pointers: Vec<u32>,
    /// Columns of the candidates, increasing in a row.
    pub(crate) indices: Vec<u32>,
}

/// Streams all rows whose mass or candidates are wanted; candidates of row i are the `limit(i)` best.
pub(crate) fn stream<T: Real, S: Scorer<T>>(
    pairs: &Pairs<'_, T, S>,
    wanted: Wanted<'_, T>,
    limit: impl Fn(usize) -> usize + Sync,
) -> Streamed<T> {
    let every = matches!(wanted, Wanted::Mass(_));
    let plan = Plan::new(pairs.batch, pairs.itself, |i| every || limit(i) > 0);
    let found: Vec<Found<T>> = plan
        .blocks
        .par_iter()
        .map_init(
            || Scratch::new(pairs.scorer),
            |scratch, block| {
                let rows = &plan.rows[block.rows.clone()];
                let others = pairs.batch.range(block.graph).len() - usize::from(!pairs.itself);
                for (top, &i) in scratch.tops.iter_mut().zip(rows) {
                    top.reset(limit(i as usize).min(others));
                }
                vectorised_kernel(StreamBlock { pairs, block, rows, wanted, scratch })
            },
        )
        .collect();
    let nodes = pairs.batch.nodes();
    let mut mass = Mass { peaks: vec![T::LOWEST; nodes], logs: vec![T::ZERO; nodes] };
    let mut shares = vec![T::ZERO; nodes];
    let mut pointers = vec![0u32; nodes + 1];
    let mut indices = Vec::with_capacity(found.iter().map(|block| block.columns.len()).sum());
    for (block, found) in plan.blocks.iter().zip(&found) {
        for (n, &i) in plan.rows[block.rows.clone()].iter().enumerate() {
            (mass.peaks[i as usize], mass.logs[i as usize]) = found.mass[n];
            shares[i as usize] = found.shares[n];
            pointers[i as usize + 1] = found.counts[n];
        }
        indices.extend_from_slice(&found.columns);
    }
    for i in 1..pointers.len() {
        pointers[i] += pointers[i - 1];
    }
    Streamed { mass, shares, pointers, indices }
}

/// The results of a block of rows.
struct Found<T> {
    /// Peak and log of every row.
    mass: [(T, T); ROWS],
    shares: [T; ROWS],
    counts: [u32; ROWS],
    columns: Vec<u32>,
}

/// Buffers of one task, kept between blocks.
struct Scratch<T: Real> {
    tiles: Vec<T>,
    values: Vec<T>,
    tops: Vec<Top<T>>,
}

impl<T: Real> Scratch<T> {
    fn new<S: Scorer<T>>(scorer: &S) -> Self {
        let tops = (0..ROWS).map(|_| Top::new()).collect();
        let values = vec![T::ZERO; ROWS * COLUMNS];
        Self { tiles: tile_space(scorer.rows()), values, tops }
    }
}

/// One block of rows against all columns of its graph.
struct StreamBlock<'a, T: Real, S> {
    pairs: &'a Pairs<'a, T, S>,
    block: &'a Block,
    rows: &'a [u32],
    wanted: Wanted<'a, T>,
    scratch: &'a mut Scratch<T>,
}

impl<T: Real, S: Scorer<T>> Kernel for StreamBlock<'_, T, S> {
    type Output = Found<T>;

    #[inline(always)]
    fn run<I: Simd>(self, simd: I) -> Found<T> {
        let Self { pairs, block, rows, wanted, scratch } = self;
        let Scratch { tiles, values, tops } = scratch;
        let Pairs { scorer, noise, batch, itself } = *pairs;
        let nodes = batch.range(block.graph);
        scorer.rows().pack_tiles(rows, tiles);
        let tiles = &tiles[..rows.len().div_ceil(TILE) * TILE * scorer.rows().width];
        // Log-sum-exp on the run: the largest exponent so far, and the sum relative to it.
        let (mut peaks, mut sums) = ([T::NEG_INFINITY; ROWS], [T::ZERO; ROWS]);
        for column in (0..nodes.len()).step_by(COLUMNS) {
            let count = COLUMNS.min(nodes.len() - column);
            let first = nodes.start + column;
            let place = Place { rows, graph: block.graph, first, local: column, count };
            scorer.block(simd, &place, tiles, values);
            for (n, &i) in rows.iter().enumerate() {
                let i = i as usize;
                let values = &mut values[n * COLUMNS..][..count];
                scorer.log_p(i, first, values);
                if let Some(noise) = noise {
                    noise.add(i, first, values);
                }
                if !itself && (first..first + count).contains(&i) {
                    values[i - first] = T::NEG_INFINITY;
                }
                let best = maximum(values);
                tops[n].offer(first as u32, values, best);
                // A block may hold the node itself and nothing else.
                if let Wanted::Mass(scale) = wanted
                    && best > T::NEG_INFINITY
                {
                    let peak = peaks[n].max(best * scale);
                    sums[n] = sums[n] * (peaks[n] - peak).exp() + sum_of_exp(values, scale, peak);
                    peaks[n] = peak;
                }
            }
        }
        let mut found = Found {
            mass: [(T::LOWEST, T::ZERO); ROWS],
            shares: [T::ZERO; ROWS],
            counts: [0; ROWS],
            columns: Vec::new(),
        };
        found.columns.reserve_exact(tops.iter().take(rows.len()).map(Top::len).sum());
        for (n, &i) in rows.iter().enumerate() {
            found.counts[n] = tops[n].finish(&mut found.columns);
            let (scale, (peak, log)) = match wanted {
                Wanted::Nothing => continue,
                Wanted::Mass(scale) => {
                    found.mass[n] = (peaks[n], sums[n].ln());
                    (scale, found.mass[n])
                }
                Wanted::Share(scale, known) => {
                    (scale, (known.peaks[i as usize], known.logs[i as usize]))
                }
            };
            let share = |value: T| (value.mul_add(scale, -peak) - log).exp();
            found.shares[n] = tops[n].values().map(share).sum::<T>().ln();
        }
        found
    }
}
