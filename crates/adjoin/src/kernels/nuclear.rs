//! The leading singular values of a sparse matrix, by randomised subspace iteration.

use super::{
    Real,
    random::Key,
    rows::{axpy, for_row_blocks, sum_blocks, zeros},
    spmm, vectorise,
};
use crate::topology::Csr;
use std::ops::Range;

/// Directions carried along beyond those wanted: they speed the leading ones up.
const EXTRA: usize = 8;

/// Singular values below this part of the largest count as zero: the Gram matrices below square
/// them, so they drown in rounding, and their singular vectors mean nothing.
const NEGLIGIBLE: f64 = 1e-7;

/// Singular vectors that go with the leading singular values.
pub struct Leading<T> {
    /// The values, largest first.
    pub values: Vec<T>,
    /// Left vectors `[rows, rank]`.
    pub left: Vec<T>,
    /// Right vectors `[columns, rank]`.
    pub right: Vec<T>,
    /// How many there are.
    pub rank: usize,
}

/// When subspace iteration has gone far enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// Largest `|A v - s u|` of a singular value s and its vectors, relative to the largest singular value.
    /// The gradient is off by about this over the relative gap to the next singular value.
    pub tolerance: f64,
    /// Most iterations, however far off.
    pub most: usize,
}

/// Sum of the `rank` largest singular values of the matrix, and their vectors.
///
/// A random block of vectors is multiplied by the matrix and its transpose in turn and made
/// orthonormal each time. Works in `f64` throughout, for the sake of the Gram matrices.
pub fn forward<T: Real>(
    topology: &Csr,
    weights: &[T],
    rank: usize,
    convergence: Convergence,
    key: Key,
) -> (T, Leading<T>) {
    let (rows, columns) = (topology.rows(), topology.columns());
    let rank = rank.min(rows).min(columns);
    let width = (rank + EXTRA).min(rows).min(columns);
    if topology.edges() == 0 || rank == 0 {
        let (values, left, right) = (Vec::new(), Vec::new(), Vec::new());
        return (T::ZERO, Leading { values, left, right, rank: 0 });
    }
    let weights: Vec<f64> = weights.iter().map(|&w| w.to_f64()).collect();
    let ahead = |x: &[f64]| spmm::forward(topology, &weights, x, width);
    let back = |x: &[f64]| spmm::backward_features(topology, &weights, x, width);
    let start: Vec<f64> = (0..columns * width).map(|n| key.normal(n as u64)).collect();
    let basis = orthonormal(&ahead(&start), width);
    let mut found = Triples::new(&basis, &back(&basis), width);
    for _ in 0..convergence.most {
        let next = ahead(&found.right);
        if found.residual(&next, rank) <= convergence.tolerance {
            break;
        }
        let basis = orthonormal(&next, width);
        found = Triples::new(&basis, &back(&basis), width);
    }
    let Triples { values, left, right, .. } = found;
    let kept = values[..rank].iter().take_while(|&&s| s > 0.0).count();
    let leading = |x: &[f64]| -> Vec<T> {
        let rows = x.chunks_exact(width);
        rows.flat_map(|row| row[..kept].iter().map(|&v| T::from_f64(v))).collect()
    };
    let (left, right) = (leading(&left), leading(&right));
    let sum = T::from_f64(values[..kept].iter().sum());
    let values = values[..kept].iter().map(|&s| T::from_f64(s)).collect();
    (sum, Leading { values, left, right, rank: kept })
}

/// Singular values, largest first, with their vectors `[rows, width]` and `[columns, width]`, as far as a
/// basis of the left ones goes: `A^T u = s v` holds, `A v = s u` in the limit. Negligible values are 0.
struct Triples {
    values: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
    width: usize,
}

impl Triples {
    /// With `B = A^T Q` and `B^T B = W diag(s^2) W^T`: A is close to `(Q W) diag(s) (B W / s)^T`.
    fn new(basis: &[f64], back: &[f64], width: usize) -> Self {
        let (squares, rotation) = eigen(gram(back, width), width);
        let mut values: Vec<f64> = squares.iter().map(|&s| s.max(0.0).sqrt()).collect();
        let floor = NEGLIGIBLE * values[0];
        values.iter_mut().filter(|s| **s < floor).for_each(|s| *s = 0.0);
        let left = product(basis, &rotation, width, width);
        let mut right = product(back, &rotation, width, width);
        for row in right.chunks_exact_mut(width) {
            for (v, &s) in row.iter_mut().zip(&values) {
                *v *= if s > 0.0 { 1.0 / s } else { 0.0 };
            }
        }
        Self { values, left, right, width }
    }

    /// The largest `|A v - s u|` of the first `rank`, relative to the largest value; `ahead` is `A v`.
    fn residual(&self, ahead: &[f64], rank: usize) -> f64 {
        let mut squares = vec![0.0; rank];
        for (next, left) in ahead.chunks_exact(self.width).zip(self.left.chunks_exact(self.width)) {
            for k in 0..rank {
                squares[k] += (next[k] - self.values[k] * left[k]).powi(2);
            }
        }
        let largest = squares.into_iter().fold(0.0, f64::max).sqrt();
        if self.values[0] > 0.0 { largest / self.values[0] } else { 0.0 }
    }
}

/// Gradient of the sum for the weights: `da_ij = g sum_k u_ik v_jk` at the stored entries.
pub fn backward<T: Real>(topology: &Csr, leading: &Leading<T>, grad: T) -> Vec<T> {
    if leading.rank == 0 {
        return zeros(topology.edges());
    }
    let Leading { left, right, rank, .. } = leading;
    let mut out = spmm::backward_weights(topology, right, left, *rank);
    out.iter_mut().for_each(|g| *g *= grad);
    out
}

/// An orthonormal basis of the columns of `x` `[n, width]`; columns of zeros where `x` has a
/// lower rank.
fn orthonormal(x: &[f64], width: usize) -> Vec<f64> {
    // The second round removes what rounding in the first one left.
    (0..2).fold(x.to_vec(), |x, _| {
        let (squares, mut rotation) = eigen(gram(&x, width), width);
        let floor = squares[0] * NEGLIGIBLE * NEGLIGIBLE;
        for row in rotation.chunks_exact_mut(width) {
            for (value, &square) in row.iter_mut().zip(&squares) {
                *value *= if square > floor { 1.0 / square.sqrt() } else { 0.0 };
            }
        }
        product(&x, &rotation, width, width)
    })
}

/// `X^T X` of `x` `[n, width]`, summed in a fixed order.
fn gram(x: &[f64], width: usize) -> Vec<f64> {
    sum_blocks(x.len() / width, width * width, |rows, sums| {
        vectorise!(gram_block, (x, width, rows, sums));
    })
}

#[inline(always)]
fn gram_block((x, width, rows, sums): (&[f64], usize, Range<usize>, &mut [f64])) {
    for row in x[rows.start * width..rows.end * width].chunks_exact(width) {
        for (sums, &value) in sums.chunks_exact_mut(width).zip(row) {
            axpy(value, row, sums);
        }
    }
}

/// `X M` with `x` `[n, inner]`, `m` `[inner, outer]`.
fn product(x: &[f64], m: &[f64], inner: usize, outer: usize) -> Vec<f64> {
    let mut out = zeros(x.len() / inner * outer);
    for_row_blocks(&mut out, outer, inner * outer, |first, out| {
        vectorise!(product_block, (&x[first * inner..], m, inner, outer, out));
    });
    out
}

#[inline(always)]
fn product_block((x, m, inner, outer, out): (&[f64], &[f64], usize, usize, &mut [f64])) {
    for (out, x) in out.chunks_exact_mut(outer).zip(x.chunks_exact(inner)) {
        for (&x, m) in x.iter().zip(m.chunks_exact(outer)) {
            axpy(x, m, out);
        }
    }
}

/// Eigenvalues, largest first, and eigenvectors (as columns) of a symmetric `[n, n]` matrix, by
/// Jacobi rotations: each one makes an off-diagonal pair zero, until all of them are.
fn eigen(mut a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    const SWEEPS: usize = 30;
    let mut vectors = zeros::<f64>(n * n);
    (0..n).for_each(|i| vectors[i * n + i] = 1.0);
    for _ in 0..SWEEPS {
        let mut turned = false;
        for i in 0..n {
            for j in i + 1..n {
                let off = a[i * n + j];
                if off.abs() <= f64::EPSILON * (a[i * n + i] * a[j * n + j]).abs().sqrt() {
                    continue;
                }
                turned = true;
                let theta = (a[j * n + j] - a[i * n + i]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..n {
                    turn(&mut a, k * n + i, k * n + j, c, s);
                }
                for k in 0..n {
                    turn(&mut a, i * n + k, j * n + k, c, s);
                }
                for k in 0..n {
                    turn(&mut vectors, k * n + i, k * n + j, c, s);
                }
            }
        }
        if !turned {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]));
    let values = order.iter().map(|&i| a[i * n + i]).collect();
    let sorted = (0..n * n).map(|at| vectors[at / n * n + order[at % n]]).collect();
    (values, sorted)
}

fn turn(a: &mut [f64], i: usize, j: usize, c: f64, s: f64) {
    let (x, y) = (a[i], a[j]);
    a[i] = c * x - s * y;
    a[j] = s * x + c * y;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jacobi_rebuilds_a_symmetric_matrix() {
        let n = 7;
        let key = Key::new(3);
        let mut a = zeros::<f64>(n * n);
        for i in 0..n {
            for j in 0..n {
                a[i * n + j] = key.normal((i.min(j) * n + i.max(j)) as u64);
            }
        }
        let (values, vectors) = eigen(a.clone(), n);
        assert!(values.windows(2).all(|pair| pair[0] >= pair[1]));
        for i in 0..n {
            for j in 0..n {
                let rebuilt: f64 =
                    (0..n).map(|k| vectors[i * n + k] * values[k] * vectors[j * n + k]).sum();
                assert!((rebuilt - a[i * n + j]).abs() < 1e-12);
            }
        }
    }
}
