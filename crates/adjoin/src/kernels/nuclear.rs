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
    /// Left vectors `[rows, rank]`.
    pub left: Vec<T>,
    /// Right vectors `[columns, rank]`.
    pub right: Vec<T>,
    /// How many there are.
    pub rank: usize,
}

/// Sum of the `rank` largest singular values of the matrix, and their vectors.
///
/// A random block of vectors is multiplied by the matrix and its transpose in turn and made
/// orthonormal each time. Works in `f64` throughout, for the sake of the Gram matrices.
pub fn forward<T: Real>(
    topology: &Csr,
    weights: &[T],
    rank: usize,
    iterations: usize,
    key: Key,
) -> (T, Leading<T>) {
    let (rows, columns) = (topology.rows(), topology.columns());
    let rank = rank.min(rows).min(columns);
    let width = (rank + EXTRA).min(rows).min(columns);
    if topology.edges() == 0 || rank == 0 {
        return (T::ZERO, Leading { left: Vec::new(), right: Vec::new(), rank: 0 });
    }
    let weights: Vec<f64> = weights.iter().map(|&w| w.to_f64()).collect();
    let start: Vec<f64> = (0..columns * width).map(|n| key.normal(n as u64)).collect();
    let mut basis = orthonormal(&spmm::forward(topology, &weights, &start, width), width);
    for _ in 0..iterations {
        let back = orthonormal(&spmm::backward_features(topology, &weights, &basis, width), width);
        basis = orthonormal(&spmm::forward(topology, &weights, &back, width), width);
    }
    // With B = A^T Q and B^T B = W diag(s^2) W^T: A is close to (Q W) diag(s) (B W / s)^T.
    let back = spmm::backward_features(topology, &weights, &basis, width);
    let (squares, rotation) = eigen(gram(&back, width), width);
    let values: Vec<f64> = squares[..rank].iter().map(|&s| s.max(0.0).sqrt()).collect();
    let kept = values.iter().take_while(|&&s| s > 0.0 && s >= NEGLIGIBLE * values[0]).count();
    let select = |x: &[f64], scale: &dyn Fn(usize) -> f64| {
        let mut matrix = zeros(width * kept);
        for (to, from) in matrix.chunks_exact_mut(kept.max(1)).zip(rotation.chunks_exact(width)) {
            for k in 0..kept {
                to[k] = from[k] * scale(k);
            }
        }
        product(x, &matrix, width, kept).into_iter().map(T::from_f64).collect()
    };
    let left = select(&basis, &|_| 1.0);
    let right = select(&back, &|k| 1.0 / values[k]);
    (T::from_f64(values[..kept].iter().sum()), Leading { left, right, rank: kept })
}

/// Gradient of the sum for the weights: `da_ij = g sum_k u_ik v_jk` at the stored entries.
pub fn backward<T: Real>(topology: &Csr, leading: &Leading<T>, grad: T) -> Vec<T> {
    if leading.rank == 0 {
        return zeros(topology.edges());
    }
    let Leading { left, right, rank } = leading;
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
