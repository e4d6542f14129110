//! The largest values of a row, kept while the row streams by.

use super::tile::LANES;
use crate::kernels::Real;

/// The `limit` largest of the values offered so far; of equal ones those that came first.
///
/// Values above the threshold are collected until there are twice as many as wanted, then the
/// smaller half is dropped and the threshold rises: a row of n values costs n comparisons, most of
/// them sixteen at a time, and O(limit log(n / limit)) moves.
pub(super) struct Top<T> {
    limit: usize,
    threshold: T,
    /// Value and column as one integer, so that comparing them takes no branch.
    entries: Vec<u128>,
}

impl<T: Real> Top<T> {
    pub(super) fn new() -> Self {
        Self { limit: 0, threshold: T::NEG_INFINITY, entries: Vec::new() }
    }

    /// Starts a new row.
    pub(super) fn reset(&mut self, limit: usize) {
        self.limit = limit;
        self.threshold = T::NEG_INFINITY;
        self.entries.clear();
    }

    /// Takes in the values of the columns from `first` on, `best` being the largest of them.
    /// Values of minus infinity are never kept.
    #[inline(always)]
    pub(super) fn offer(&mut self, first: u32, values: &[T], best: T) {
        if self.limit == 0 || best <= self.threshold {
            return;
        }
        let (chunks, rest) = values.as_chunks::<LANES>();
        for (chunk, column) in chunks.iter().zip((first..).step_by(LANES)) {
            // No early exit: one vector comparison.
            let mut any = false;
            for &value in chunk {
                any |= value > self.threshold;
            }
            if any {
                self.collect(column, chunk);
            }
        }
        self.collect(first + (values.len() - rest.len()) as u32, rest);
    }

    fn collect(&mut self, first: u32, values: &[T]) {
        for (column, &value) in (first..).zip(values) {
            if value > self.threshold {
                self.entries.push(entry(value, column));
            }
        }
        if self.entries.len() >= 2 * self.limit.max(LANES) {
            self.shrink();
        }
    }

    /// Drops all but the best, and lets nothing in that is worse than those.
    fn shrink(&mut self) {
        if self.entries.len() > self.limit {
            let (_, &mut last, _) = self.entries.select_nth_unstable(self.limit - 1);
            // Columns come in increasing order, so a later equal value loses.
            self.threshold = value_of(last);
            self.entries.truncate(self.limit);
        }
    }

    /// At most how many columns [`finish`](Self::finish) will give.
    pub(super) fn len(&self) -> usize {
        self.entries.len().min(self.limit)
    }

    /// Appends the columns found, in increasing order, and says how many they are.
    pub(super) fn finish(&mut self, columns: &mut Vec<u32>) -> u32 {
        self.shrink();
        let start = columns.len();
        columns.extend(self.entries.iter().map(|&entry| entry as u32));
        columns[start..].sort_unstable();
        (columns.len() - start) as u32
    }
}

/// An integer that is smaller for larger values and, among equal ones, for lower columns.
#[inline(always)]
fn entry<T: Real>(value: T, column: u32) -> u128 {
    // Floats order like integers of sign and magnitude; adding zero makes -0 and 0 one.
    let bits = (value.to_f64() + 0.0).to_bits();
    let ascending = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    (u128::from(!ascending) << 32) | u128::from(column)
}

/// The value of an [`entry`].
fn value_of<T: Real>(entry: u128) -> T {
    let ascending = !((entry >> 32) as u64);
    let bits = if ascending >> 63 == 1 { ascending & !(1 << 63) } else { !ascending };
    T::from_f64(f64::from_bits(bits))
}
