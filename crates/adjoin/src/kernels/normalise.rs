//! Scaling a graph by its degrees, `d_i = sum_j a_ij`.
//!
//! Symmetric: `w_ij = s_i a_ij s_j`, `s = d^-1/2`. Row: `w_ij = a_ij / d_i`. A node whose degree is
//! not positive has `s = 0`: its edges get weight 0 and no gradient, never NaN.

use super::{Real, rows::zeros};
use crate::topology::Csr;
use serde::{Deserialize, Serialize};

/// How a weighted graph is scaled before it is used, `d_i` being the row sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Normalisation {
    /// `D^-1/2 A D^-1/2`.
    #[default]
    Symmetric,
    /// `D^-1 A`: rows sum to one.
    Row,
    /// Not at all.
    None,
}

/// What the backward pass needs: row sums and scale factors.
pub struct Degrees<T> {
    sums: Vec<T>,
    scales: Vec<T>,
}

/// Scaled weights, one per edge.
pub fn forward<T: Real>(
    topology: &Csr,
    weights: &[T],
    normalisation: Normalisation,
) -> (Vec<T>, Degrees<T>) {
    let sums: Vec<T> =
        (0..topology.rows()).map(|i| weights[topology.range(i)].iter().copied().sum()).collect();
    let scale = |d: T| match normalisation {
        _ if d <= T::TINY => T::ZERO,
        Normalisation::Symmetric => T::ONE / d.sqrt(),
        Normalisation::Row => T::ONE / d,
        Normalisation::None => T::ONE,
    };
    let scales: Vec<T> = sums.iter().map(|&d| scale(d)).collect();
    let mut scaled = Vec::with_capacity(weights.len());
    for i in 0..topology.rows() {
        for (entry, &j) in topology.range(i).zip(topology.row(i)) {
            let own = weights[entry] * scales[i];
            scaled.push(match normalisation {
                Normalisation::Symmetric => own * scales[j as usize],
                Normalisation::Row | Normalisation::None => own,
            });
        }
    }
    (scaled, Degrees { sums, scales })
}

/// Gradient of the weights: direct, and through the degrees.
pub fn backward<T: Real>(
    topology: &Csr,
    weights: &[T],
    normalisation: Normalisation,
    degrees: &Degrees<T>,
    grad: &[T],
) -> Vec<T> {
    let Degrees { sums, scales } = degrees;
    let symmetric = normalisation == Normalisation::Symmetric;
    let other = |j: u32| if symmetric { scales[j as usize] } else { T::ONE };
    // Gradient of the scale factors: s_i enters row i, and column i too if symmetric.
    let mut grad_scales = zeros::<T>(topology.rows());
    for i in 0..topology.rows() {
        for (entry, &j) in topology.range(i).zip(topology.row(i)) {
            let product = grad[entry] * weights[entry];
            grad_scales[i] += product * other(j);
            if symmetric {
                grad_scales[j as usize] += product * scales[i];
            }
        }
    }
    let mut out = Vec::with_capacity(weights.len());
    for i in 0..topology.rows() {
        let slope = match normalisation {
            _ if scales[i] == T::ZERO => T::ZERO,
            Normalisation::Symmetric => -T::HALF * scales[i] / sums[i],
            Normalisation::Row => -scales[i] / sums[i],
            Normalisation::None => T::ZERO,
        };
        let through_degree = grad_scales[i] * slope;
        for (entry, &j) in topology.range(i).zip(topology.row(i)) {
            out.push((grad[entry] * scales[i]).mul_add(other(j), through_degree));
        }
    }
    out
}
