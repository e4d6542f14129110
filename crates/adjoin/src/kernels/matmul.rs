//! Dense matrix products on the widest vectors that the machine has.
//!
//! The right side is packed once into panels of columns; blocks of rows of the left side are packed and
//! multiplied in parallel, the depth cut into parts that stay in cache. Every value is summed in one fixed
//! order: the result does not depend on the number of threads.

use super::{
    Real,
    product::{HEIGHT, PANEL, product},
    rows::zeros,
};
use rayon::prelude::*;

/// Depth that is multiplied at once: a panel of it stays in the nearest cache.
const DEPTH: usize = 256;
/// Rows of a task.
const ROWS: usize = 8 * HEIGHT;

/// A matrix as it lies in memory, or its transpose.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    values: &'a [T],
    rows: usize,
    columns: usize,
    transposed: bool,
}

impl<'a, T: Real> Matrix<'a, T> {
    /// `[rows, columns]`, row after row.
    pub fn new(values: &'a [T], rows: usize, columns: usize) -> Self {
        debug_assert_eq!(values.len(), rows * columns);
        Self { values, rows, columns, transposed: false }
    }

    /// The transpose; nothing moves.
    pub fn transpose(self) -> Self {
        let Self { values, rows, columns, transposed } = self;
        Self { values, rows: columns, columns: rows, transposed: !transposed }
    }

    /// Writes the block of rows from `row` and columns from `column` so that `lanes` rows lie side by side
    /// for every column: `out` `[columns, lanes]`, with 0 for rows beyond the last.
    fn pack_rows(&self, row: usize, column: usize, lanes: usize, out: &mut [T]) {
        let count = lanes.min(self.rows - row);
        if self.transposed {
            for (at, out) in out.chunks_exact_mut(lanes).enumerate() {
                let start = (column + at) * self.rows + row;
                out[..count].copy_from_slice(&self.values[start..start + count]);
                out[count..].fill(T::ZERO);
            }
            return;
        }
        if count < lanes {
            out.fill(T::ZERO);
        }
        let columns = out.len() / lanes;
        for lane in 0..count {
            let start = (row + lane) * self.columns + column;
            let values = &self.values[start..start + columns];
            for (out, &value) in out[lane..].iter_mut().step_by(lanes).zip(values) {
                *out = value;
            }
        }
    }
}

/// `A B`, `[a.rows, b.columns]`.
pub fn matmul<T: Real>(a: Matrix<T>, b: Matrix<T>) -> Vec<T> {
    let (rows, columns, depth) = (a.rows, b.columns, a.columns);
    debug_assert_eq!(depth, b.rows);
    let mut out = zeros(rows * columns);
    if out.is_empty() || depth == 0 {
        return out;
    }
    let panels = columns.div_ceil(PANEL);
    let padded = panels * PANEL;
    // Part after part of the depth, in each of them panel after panel.
    let mut packed: Vec<T> = zeros(depth * padded);
    let columns_first = b.transpose();
    packed.par_chunks_mut(DEPTH * padded).enumerate().for_each(|(part, packed)| {
        let here = packed.len() / padded;
        packed.par_chunks_mut(here * PANEL).enumerate().for_each(|(panel, packed)| {
            columns_first.pack_rows(panel * PANEL, part * DEPTH, PANEL, packed);
        });
    });
    let workspace = || (zeros::<T>(ROWS * DEPTH.min(depth)), zeros::<T>(ROWS * padded));
    out.par_chunks_mut(ROWS * columns).enumerate().for_each_init(
        workspace,
        |(left, sums), (block, out)| {
            let first = block * ROWS;
            let here = out.len() / columns;
            let strips = here.div_ceil(HEIGHT);
            let sums = &mut sums[..strips * HEIGHT * padded];
            for (part, panels) in packed.chunks(DEPTH * padded).enumerate() {
                let depth = panels.len() / padded;
                let left = &mut left[..strips * HEIGHT * depth];
                for (strip, left) in left.chunks_exact_mut(HEIGHT * depth).enumerate() {
                    a.pack_rows(first + strip * HEIGHT, part * DEPTH, HEIGHT, left);
                }
                product(left, panels, depth, sums, part > 0);
            }
            for (out, sums) in out.chunks_exact_mut(columns).zip(sums.chunks_exact(padded)) {
                out.copy_from_slice(&sums[..columns]);
            }
        },
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::random::Key;

    fn normals(seed: u64, count: usize) -> Vec<f64> {
        (0..count as u64).map(|n| Key::new(seed).normal(n)).collect()
    }

    #[test]
    fn products_of_all_shapes_and_transposes_equal_the_definition() {
        let shapes = [(1, 1, 1), (5, 7, 3), (50, 33, 65), (7, 100, 1100), (97, 40, 513), (3, 4, 0)];
        for (rows, columns, depth) in shapes {
            let (a, b) = (normals(1, rows * depth), normals(2, depth * columns));
            let flip = |x: &[f64], rows: usize, columns: usize| -> Vec<f64> {
                (0..rows * columns).map(|at| x[at % rows * columns + at / rows]).collect()
            };
            let (flipped_a, flipped_b) = (flip(&a, rows, depth), flip(&b, depth, columns));
            let mut expected = vec![0.0; rows * columns];
            for i in 0..rows {
                for j in 0..columns {
                    let terms = (0..depth).map(|c| a[i * depth + c] * b[c * columns + j]);
                    expected[i * columns + j] = terms.sum();
                }
            }
            let lefts =
                [Matrix::new(&a, rows, depth), Matrix::new(&flipped_a, depth, rows).transpose()];
            let rights = [
                Matrix::new(&b, depth, columns),
                Matrix::new(&flipped_b, columns, depth).transpose(),
            ];
            for left in lefts {
                for right in rights {
                    let found = matmul(left, right);
                    assert_eq!(found.len(), expected.len());
                    for (a, b) in found.iter().zip(&expected) {
                        assert!((a - b).abs() < 1e-10, "{rows} {columns} {depth}: {a} {b}");
                    }
                }
            }
        }
    }
}
