//! The largest values of a row, kept while the row streams by.

use super::tile::LANES;
use crate::kernels::Real;

/// The `limit` largest of the values offered so far; of equal ones those that came first.
///
/// Values above the threshold are collected until there are four times as many as wanted, then the
/// worst are dropped and the threshold rises: a row of n values costs n comparisons, sixteen at a
/// time, and O(limit log(n / limit)) moves.
pub(super) struct Top<T: Real> {
    limit: usize,
    threshold: T,
    /// Value and column in one, so that comparing them takes no branch; the first `len` count.
    entries: Vec<T::Ranked>,
    len: usize,
    /// When there are this many, the worst go.
    full: usize,
}

impl<T: Real> Top<T> {
    pub(super) fn new() -> Self {
        Self { limit: 0, threshold: T::NEG_INFINITY, entries: Vec::new(), len: 0, full: 0 }
    }

    /// Starts a new row.
    pub(super) fn reset(&mut self, limit: usize) {
        self.limit = limit;
        self.threshold = T::NEG_INFINITY;
        self.len = 0;
        self.full = 4 * limit.max(LANES);
        // It is looked at after every chunk.
        let space = self.full + LANES;
        if limit > 0 && self.entries.len() < space {
            self.entries.resize(space, T::ZERO.ranked(0));
        }
    }

    /// Takes in the values of the columns from `first` on, `best` being the largest of them.
    /// Values of minus infinity are never kept.
    #[inline(always)]
    pub(super) fn offer(&mut self, first: u32, values: &[T], best: T) {
        if self.limit == 0 || best <= self.threshold {
            return;
        }
        let (chunks, rest) = values.as_chunks::<LANES>();
        let mut column = first;
        for chunk in chunks {
            self.collect(column, chunk);
            column += LANES as u32;
        }
        if !rest.is_empty() {
            let mut last = [T::NEG_INFINITY; LANES];
            last[..rest.len()].copy_from_slice(rest);
            self.collect(column, &last);
        }
    }

    #[inline(always)]
    fn collect(&mut self, first: u32, values: &[T; LANES]) {
        // Where the values above the threshold are, as bits: no branch on each of them, which would
        // be guessed wrong often.
        let mut above = 0u32;
        for (lane, &value) in values.iter().enumerate() {
            above |= u32::from(value > self.threshold) << lane;
        }
        if above == 0 {
            return;
        }
        while above != 0 {
            let lane = above.trailing_zeros();
            self.entries[self.len] = values[lane as usize % LANES].ranked(first + lane);
            self.len += 1;
            above &= above - 1;
        }
        if self.len >= self.full {
            self.shrink();
        }
    }

    /// Drops all but the best, and lets nothing in that is worse than those.
    #[inline(never)]
    fn shrink(&mut self) {
        if self.len > self.limit {
            let entries = &mut self.entries[..self.len];
            let (_, &mut last, _) = entries.select_nth_unstable(self.limit - 1);
            // Columns come in increasing order, so a later equal value loses.
            self.threshold = T::of_rank(last);
            self.len = self.limit;
        }
    }

    /// The values that [`finish`](Self::finish) gave the columns of, in no order.
    pub(super) fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.entries[..self.len].iter().map(|&entry| T::of_rank(entry))
    }

    /// At most how many columns [`finish`](Self::finish) will give.
    pub(super) fn len(&self) -> usize {
        self.len.min(self.limit)
    }

    /// Appends the columns found, in increasing order, and says how many they are.
    #[inline(never)]
    pub(super) fn finish(&mut self, columns: &mut Vec<u32>) -> u32 {
        self.shrink();
        let start = columns.len();
        columns.extend(self.entries[..self.len].iter().map(|&entry| T::column_of_rank(entry)));
        columns[start..].sort_unstable();
        self.len as u32
    }
}
