//! Outputs of several shapes, split together by rows.
//!
//! A fused kernel writes some results per row and some per edge. [`for_blocks`] cuts all of them at
//! the same rows and runs the pieces in parallel, so that no two threads write to one place.

use super::rows::rows_per_task;
use std::ops::Range;

/// Something that belongs to a run of rows and can be cut between two of them.
pub(crate) trait Parts: Send + Sized {
    /// The parts of rows `first..middle` and of the rows from `middle` on, `first` being the first
    /// row that `self` belongs to.
    fn cut(self, first: usize, middle: usize) -> (Self, Self);
}

/// `width` values per row.
pub(crate) struct Rows<'a, T>(pub &'a mut [T], pub usize);

/// `width` values per entry of the rows that the pointers describe.
pub(crate) struct Entries<'a, T>(pub &'a mut [T], pub usize, pub &'a [u32]);

impl<T: Send> Parts for Rows<'_, T> {
    fn cut(self, first: usize, middle: usize) -> (Self, Self) {
        let Self(values, width) = self;
        let (left, right) = values.split_at_mut((middle - first) * width);
        (Self(left, width), Self(right, width))
    }
}

impl<T: Send> Parts for Entries<'_, T> {
    fn cut(self, first: usize, middle: usize) -> (Self, Self) {
        let Self(values, width, pointers) = self;
        let entries = (pointers[middle] - pointers[first]) as usize;
        let (left, right) = values.split_at_mut(entries * width);
        (Self(left, width, pointers), Self(right, width, pointers))
    }
}

impl<A: Parts, B: Parts> Parts for (A, B) {
    fn cut(self, first: usize, middle: usize) -> (Self, Self) {
        let (a, b) = (self.0.cut(first, middle), self.1.cut(first, middle));
        ((a.0, b.0), (a.1, b.1))
    }
}

impl<A: Parts, B: Parts, C: Parts> Parts for (A, B, C) {
    fn cut(self, first: usize, middle: usize) -> (Self, Self) {
        let (left, right) = ((self.0, self.1), self.2).cut(first, middle);
        ((left.0.0, left.0.1, left.1), (right.0.0, right.0.1, right.1))
    }
}

/// Calls `task(rows, parts)` for runs of the rows `0..rows`, in parallel, when a row costs about
/// `cost` operations.
pub(crate) fn for_blocks<P: Parts>(
    rows: usize,
    cost: usize,
    parts: P,
    task: impl Fn(Range<usize>, P) + Sync,
) {
    halve(0..rows, rows_per_task(rows, cost), parts, &task);
}

fn halve<P: Parts>(
    rows: Range<usize>,
    block: usize,
    parts: P,
    task: &(impl Fn(Range<usize>, P) + Sync),
) {
    if rows.len() <= block {
        return task(rows, parts);
    }
    let middle = rows.start + rows.len() / 2;
    let (left, right) = parts.cut(rows.start, middle);
    rayon::join(
        || halve(rows.start..middle, block, left, task),
        || halve(middle..rows.end, block, right, task),
    );
}
