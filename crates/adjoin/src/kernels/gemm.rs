//! Dense matrix product on slices, `C = alpha A B + beta C`.
//!
//! The product itself is the `gemm` crate's, an unsafe function over raw pointers and strides. It
//! is wrapped here once, behind checked shapes, so that the rest of the crate stays safe.
#![allow(unsafe_code)]

use super::Real;
use crate::{Error, Result};
use std::any::TypeId;

/// A matrix operand: a row-major slice, or the transpose of one.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T> Operand<'a, T> {
    /// A `[rows, columns]` row-major matrix.
    ///
    /// # Errors
    /// If the slice does not hold exactly `rows * columns` elements.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> Result<Self> {
        if rows.checked_mul(columns) != Some(data.len()) {
            return Err(Error::shape("matrix", [rows, columns], data.len()));
        }
        Ok(Self { data, rows, columns, row_stride: columns, column_stride: 1 })
    }

    /// A `[rows, columns]` part of a wider row-major matrix: rows begin `stride` elements apart.
    ///
    /// # Errors
    /// If `stride` is below `columns`, or the last row ends beyond the slice.
    pub fn strided(data: &'a [T], rows: usize, columns: usize, stride: usize) -> Result<Self> {
        let end = rows.saturating_sub(1).checked_mul(stride).and_then(|at| at.checked_add(columns));
        let enough = rows == 0 || end.is_some_and(|end| end <= data.len());
        if !enough || stride < columns {
            let found = format!("{} elements, rows {stride} apart", data.len());
            return Err(Error::shape("strided matrix", [rows, columns], found));
        }
        Ok(Self { data, rows, columns, row_stride: stride, column_stride: 1 })
    }

    /// The transpose; nothing moves.
    pub fn transposed(self) -> Self {
        Self {
            data: self.data,
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
        }
    }
}

/// `C = alpha A B + beta C`, with `A` `[m, k]`, `B` `[k, n]` and `C` `[m, n]` row-major.
///
/// With `beta = 0` the old content of `C` is not read, so it may hold anything, even NaN. Runs on
/// the calling thread only: callers split the work by rows of `C`, which keeps every element's
/// order of summation the same for any number of threads.
///
/// # Errors
/// If the shapes do not fit, or the element type is neither `f32` nor `f64`.
pub fn gemm<T: Real>(
    alpha: T,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    beta: T,
    c: &mut [T],
) -> Result<()> {
    if a.columns != b.rows {
        let expected = [a.columns, b.columns];
        return Err(Error::shape("right operand of a product", expected, [b.rows, b.columns]));
    }
    let (m, n, k) = (a.rows, b.columns, a.columns);
    if m.checked_mul(n) != Some(c.len()) {
        return Err(Error::shape("result of a product", [m, n], c.len()));
    }
    if ![TypeId::of::<f32>(), TypeId::of::<f64>()].contains(&TypeId::of::<T>()) {
        let found = std::any::type_name::<T>().to_string();
        return Err(Error::Unsupported { what: "matrix product", found });
    }
    if c.is_empty() {
        return Ok(());
    }
    // SAFETY: `c` holds m x n elements, written with strides (n, 1), and is borrowed mutably, so it
    // overlaps neither operand. The constructors of `Operand`, whose fields are private, made sure
    // that every element (i, j) of an operand lies inside its slice. `T` is f32 or f64, the types
    // that `gemm` serves, so the call does not panic half-way.
    unsafe {
        ::gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            1,
            n as isize,
            beta != T::ZERO,
            a.data.as_ptr(),
            a.column_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.column_stride as isize,
            b.row_stride as isize,
            beta,
            alpha,
            false,
            false,
            false,
            ::gemm::Parallelism::None,
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(len: usize, salt: usize) -> Vec<f64> {
        (0..len).map(|i| ((i * 37 + salt * 11) % 17) as f64 - 8.0).collect()
    }

    #[test]
    fn agrees_with_three_loops_for_every_transposition() {
        for (m, n, k) in [(1, 1, 1), (3, 5, 7), (17, 33, 20), (4, 4, 0), (0, 3, 2)] {
            let (a, b, c) = (numbers(m * k, 1), numbers(k * n, 2), numbers(m * n, 3));
            let transpose = |x: &[f64], rows: usize, columns: usize| -> Vec<f64> {
                (0..columns * rows).map(|at| x[at % rows * columns + at / rows]).collect()
            };
            let (at, bt) = (transpose(&a, m, k), transpose(&b, k, n));
            let mut expected = c.clone();
            for i in 0..m {
                for j in 0..n {
                    let sum: f64 = (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
                    expected[i * n + j] = 2.0 * sum - 3.0 * c[i * n + j];
                }
            }
            let plain = |x, rows, columns| Operand::new(x, rows, columns).unwrap();
            for left in [plain(&a, m, k), plain(&at, k, m).transposed()] {
                for right in [plain(&b, k, n), plain(&bt, n, k).transposed()] {
                    let mut found = c.clone();
                    gemm(2.0, left, right, -3.0, &mut found).unwrap();
                    assert_eq!(found, expected, "{m} {n} {k}");
                }
            }
        }
    }

    #[test]
    fn beta_zero_ignores_what_was_there_and_strides_skip() {
        let wide = [1.0f32, 2.0, 9.0, 3.0, 4.0];
        let a = Operand::strided(&wide, 2, 2, 3).unwrap();
        let mut c = [f32::NAN; 4];
        gemm(1.0, a, Operand::new(&[1.0, 0.0, 0.0, 1.0], 2, 2).unwrap(), 0.0, &mut c).unwrap();
        assert_eq!(c, [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let data = [0.0f32; 6];
        assert!(Operand::new(&data, 2, 2).is_err());
        assert!(Operand::new(&data, usize::MAX, 2).is_err());
        assert!(Operand::strided(&data, 3, 2, 3).is_err());
        assert!(Operand::strided(&data, 2, 3, 2).is_err());
        let a = Operand::new(&data, 2, 3).unwrap();
        assert!(gemm(1.0, a, a, 0.0, &mut [0.0; 4]).is_err());
        assert!(gemm(1.0, a, a.transposed(), 0.0, &mut [0.0; 5]).is_err());
    }
}
