//! The largest values of a row, kept while the row streams by.

use super::tile::{LANES, maximum};
use crate::kernels::Real;
use std::cmp::Ordering;

/// The `limit` largest of the values offered so far; of equal ones those that came first.
///
/// Values above the threshold are collected until there are twice as many as wanted, then the
/// smaller half is dropped and the threshold rises: a row of n values costs n comparisons, most of
/// them sixteen at a time, and O(limit log(n / limit)) moves.
pub(super) struct Top<T> {
    limit: usize,
    threshold: T,
    entries: Vec<(T, u32)>,
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
        let mut column = first;
        for chunk in values.chunks(LANES) {
            if maximum(chunk) > self.threshold {
                self.collect(column, chunk);
            }
            column += chunk.len() as u32;
        }
    }

    fn collect(&mut self, first: u32, values: &[T]) {
        for (column, &value) in (first..).zip(values) {
            if value > self.threshold {
                self.entries.push((value, column));
            }
        }
        if self.entries.len() >= 2 * self.limit.max(LANES) {
            self.shrink();
        }
    }

    /// Drops all but the best, and lets nothing in that is worse than those.
    fn shrink(&mut self) {
        if self.entries.len() > self.limit {
            let order = |a: &(T, u32), b: &(T, u32)| {
                b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
            };
            let (_, last, _) = self.entries.select_nth_unstable_by(self.limit - 1, order);
            // Columns come in increasing order, so a later equal value loses.
            self.threshold = last.0;
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
        columns.extend(self.entries.iter().map(|&(_, column)| column));
        columns[start..].sort_unstable();
        (columns.len() - start) as u32
    }
}
