//! Constant tensors of counter-based noise.

use super::bridge::constant;
use crate::{
    Result,
    kernels::{
        Real,
        random::{Key, pair_gumbel, pair_logistic},
        spmm::for_entries,
        vectorise,
    },
    topology::Csr,
};
use burn::tensor::{DType, Tensor};

/// Gumbel(0, 1) noise for every pair, in the element type of `like`; symmetric noise gives (i, j)
/// and (j, i) the same. The number of a pair depends on (key, i, j) only, not on which other pairs
/// are candidates.
///
/// # Errors
/// If the element type is neither `f32` nor `f64`.
pub fn gumbel_noise<const D: usize>(
    pairs: &Csr,
    key: Key,
    symmetric: bool,
    like: &Tensor<D>,
) -> Result<Tensor<1>> {
    match like.dtype() {
        DType::F64 => drawn::<f64, D>(pairs, key, symmetric, pair_gumbel, like),
        _ => drawn::<f32, D>(pairs, key, symmetric, pair_gumbel, like),
    }
}

/// Standard logistic noise `ln(u / (1 - u))` for every pair, otherwise as [`gumbel_noise`].
///
/// # Errors
/// As [`gumbel_noise`].
pub fn logistic_noise<const D: usize>(
    pairs: &Csr,
    key: Key,
    symmetric: bool,
    like: &Tensor<D>,
) -> Result<Tensor<1>> {
    match like.dtype() {
        DType::F64 => drawn::<f64, D>(pairs, key, symmetric, pair_logistic, like),
        _ => drawn::<f32, D>(pairs, key, symmetric, pair_logistic, like),
    }
}

/// Gumbel(0, 1) noise for every entry of a matrix, in the element type of `like`.
///
/// # Errors
/// If the element type is neither `f32` nor `f64`.
pub fn gumbel_matrix<const D: usize>(
    shape: [usize; 2],
    key: Key,
    like: &Tensor<D>,
) -> Result<Tensor<2>> {
    fn draw<T: Real>([rows, columns]: [usize; 2], key: Key) -> Vec<T> {
        let row = |row: u32| (0..columns as u32).map(move |column| key.row(row).gumbel(column));
        (0..rows as u32).flat_map(row).collect()
    }
    match like.dtype() {
        DType::F64 => constant(draw::<f64>(shape, key), shape, like),
        _ => constant(draw::<f32>(shape, key), shape, like),
    }
}

/// A number `law(key, symmetric, i, j)` for every pair.
fn drawn<T: Real, const D: usize>(
    pairs: &Csr,
    key: Key,
    symmetric: bool,
    law: impl Fn(Key, bool, u32, u32) -> T + Copy + Sync,
    like: &Tensor<D>,
) -> Result<Tensor<1>> {
    #[inline(always)]
    fn draw_row<T: Real, L: Fn(Key, bool, u32, u32) -> T>(
        (law, key, symmetric, i, columns, slots): (L, Key, bool, u32, &[u32], &mut [T]),
    ) {
        for (slot, &j) in slots.iter_mut().zip(columns) {
            *slot = law(key, symmetric, i, j);
        }
    }
    let mut out = vec![T::ZERO; pairs.edges()];
    for_entries(pairs, &mut out, 64, |i, columns, slots| {
        vectorise!(draw_row, (law, key, symmetric, i as u32, columns, slots));
    });
    constant(out, [pairs.edges()], like)
}

/// Standard normal noise of the shape and element type of `like`.
///
/// # Errors
/// If the element type is neither `f32` nor `f64`.
pub fn normal_noise(like: &Tensor<2>, key: Key) -> Result<Tensor<2>> {
    let count = like.dims().iter().product::<usize>() as u64;
    match like.dtype() {
        DType::F64 => constant((0..count).map(|at| key.normal(at)).collect(), like.dims(), like),
        _ => {
            let values: Vec<f32> = (0..count).map(|at| key.normal(at) as f32).collect();
            constant(values, like.dims(), like)
        }
    }
}
