//! Nearest neighbours of sets by cosine, through an inverted index.

use super::{Near, Neighbours};
use crate::{
    Error, Result,
    topology::{Batch, Csr, fits},
};
use rayon::prelude::*;
use std::ops::Range;

/// Rows that one task works through with one set of counters.
const ROWS: usize = 32;

/// The `k` rows of largest cosine `|A and B| / sqrt(|A| |B|)` of every row, a row being the set of its columns,
/// within its graph of the batch, itself left out; distances are `1 - cos`. Ties go to the lower index.
///
/// Rows without a common column are no neighbours, so a row may have fewer than `k`, or none. Time is the sum over all
/// entries of how often their column occurs; memory `O(rows k)`, and `O(rows)` a thread.
///
/// # Errors
/// If `k` is 0, or rows and batch do not fit each other.
pub fn nearest_sets(rows: &Csr, k: usize, batch: &Batch) -> Result<Neighbours<f64>> {
    if k == 0 {
        return Err(Error::Setting { name: "k", value: "0".into(), expected: "at least 1" });
    }
    if rows.rows() != batch.nodes() {
        return Err(Error::shape("sets to compare", batch.nodes(), rows.rows()));
    }
    let mut found: Vec<Vec<Near<f64>>> = Vec::with_capacity(rows.rows());
    for range in batch.ranges() {
        let index = Index { rows, range: range.clone() };
        let firsts: Vec<usize> = range.step_by(ROWS).collect();
        let blocks: Vec<Vec<Vec<Near<f64>>>> = firsts
            .into_par_iter()
            .map_init(|| Counters::new(index.range.len()), |own, first| index.block(first, k, own))
            .collect();
        found.extend(blocks.into_iter().flatten());
    }
    let total = found.iter().map(Vec::len).sum();
    fits("number of neighbours", total)?;
    let mut pointers = vec![0u32];
    let (mut indices, mut distances) = (Vec::with_capacity(total), Vec::with_capacity(total));
    for row in found {
        indices.extend(row.iter().map(|near| near.index));
        distances.extend(row.iter().map(|near| near.value));
        pointers.push(indices.len() as u32);
    }
    Ok(Neighbours { pointers, indices, distances })
}

/// Columns that a row has in common with every other of its graph; all zero between rows.
struct Counters {
    common: Vec<u32>,
    /// Who has some, where these are few.
    touched: Vec<u32>,
    near: Vec<Near<f64>>,
}

impl Counters {
    fn new(size: usize) -> Self {
        Self { common: vec![0; size], touched: Vec::new(), near: Vec::new() }
    }
}

/// The rows of one graph, with the columns that lead back to them.
struct Index<'a> {
    rows: &'a Csr,
    range: Range<usize>,
}

impl Index<'_> {
    fn block(&self, first: usize, k: usize, counters: &mut Counters) -> Vec<Vec<Near<f64>>> {
        let last = (first + ROWS).min(self.range.end);
        (first..last).map(|row| self.nearest(row, k, counters)).collect()
    }

    /// The rows that have a column, those of this graph.
    fn having(&self, column: u32) -> &[u32] {
        let (by_column, column) = (self.rows.transpose(), column as usize);
        let all = by_column.pointers[column] as usize..by_column.pointers[column + 1] as usize;
        let others = &by_column.indices[all];
        let below = |limit: usize| others.partition_point(|&other| (other as usize) < limit);
        &others[below(self.range.start)..below(self.range.end)]
    }

    fn nearest(&self, row: usize, k: usize, counters: &mut Counters) -> Vec<Near<f64>> {
        let (start, columns) = (self.range.start, self.rows.row(row));
        let Counters { common, touched, near } = counters;
        let size = columns.len();
        let mut note = |slot: usize, count: &mut u32| {
            let index = start + slot;
            if index != row && *count > 0 {
                let product = (size * self.rows.degree(index)) as f64;
                let value = 1.0 - f64::from(*count) / product.sqrt();
                near.push(Near { value, index: index as u32 });
            }
            *count = 0;
        };
        // Where most rows have something in common with this one, a list of them only costs time.
        let visits: usize = columns.iter().map(|&column| self.having(column).len()).sum();
        if 4 * visits > common.len() {
            for &column in columns {
                self.having(column).iter().for_each(|&other| common[other as usize - start] += 1);
            }
            common.iter_mut().enumerate().for_each(|(slot, count)| note(slot, count));
        } else {
            for &column in columns {
                for &other in self.having(column) {
                    let slot = other as usize - start;
                    if common[slot] == 0 {
                        touched.push(slot as u32);
                    }
                    common[slot] += 1;
                }
            }
            touched.drain(..).for_each(|slot| note(slot as usize, &mut common[slot as usize]));
        }
        if near.len() > k {
            near.select_nth_unstable_by(k - 1, Near::order);
            near.truncate(k);
        }
        near.sort_unstable_by(Near::order);
        let found = near.clone();
        near.clear();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{knn, random::Key};
    use crate::topology::Metric;

    #[test]
    fn agrees_with_the_dense_search() {
        // Few columns: most rows have one in common. Many: few have.
        [12, 200].into_iter().for_each(agrees);
    }

    fn agrees(width: usize) {
        let (nodes, key) = (90, Key::new(3));
        let value = |at: usize| f64::from(key.below(at as u64, width / 3) == 0);
        let dense: Vec<f64> = (0..nodes * width).map(value).collect();
        let columns = |row: &[f64]| -> Vec<u32> {
            (0..width as u32).filter(|&column| row[column as usize] > 0.0).collect()
        };
        let rows: Vec<Vec<u32>> = dense.chunks_exact(width).map(columns).collect();
        let rows = Csr::from_sorted_rows(width, &rows);
        let batch = Batch::of_sizes([40, 50]);
        let found = nearest_sets(&rows, 7, &batch).unwrap();
        let expected = knn::nearest(&dense, width, 7, Metric::Cosine, false, &batch).unwrap();
        for row in 0..nodes {
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
            let (a, b) = (found.distances_of(row), expected.distances_of(row));
            assert!(a.iter().zip(b).all(close), "row {row}: {a:?} against {b:?}");
            // Those that are left out have nothing in common.
            assert!(b[a.len()..].iter().all(|&distance| distance > 1.0 - 1e-9));
        }
    }

    #[test]
    fn rows_without_a_common_column_are_no_neighbours() {
        let rows = Csr::new(3, vec![0, 1, 2, 3, 3], vec![0, 0, 2]).unwrap();
        let found = nearest_sets(&rows, 5, &Batch::single(4)).unwrap();
        let of = |row: usize| found.row(row).to_vec();
        assert_eq!([0, 1, 2, 3].map(of), [vec![1], vec![0], vec![], vec![]]);
        assert!(nearest_sets(&rows, 0, &Batch::single(4)).is_err());
        assert!(nearest_sets(&rows, 5, &Batch::single(3)).is_err());
    }
}
