//! How alike two nodes are, at the candidate pairs only: distance, inner product, cosine.
//!
//! The gradient of each with respect to the node vectors has the same shape: a pair (i, j) adds
//! `p u_i + q u_j` to the gradient of `u_i` and `q u_i + r u_j` to that of `u_j`. So the backward
//! pass is three coefficients per pair, two sparse products and a scaling of rows.

use super::{
    Real,
    rows::{dot, zeros},
    spmm::{self, for_entries},
    vectorise,
};
use crate::topology::Csr;

/// What is measured between two node vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// `|u_i - u_j|`.
    Distance,
    /// `<u_i, u_j>`.
    Dot,
    /// `<u_i, u_j> / (|u_i| |u_j|)`, 0 if a vector is 0.
    Cosine,
}

/// The measure at every candidate pair, `u` being `[nodes, width]`.
pub fn forward<T: Real>(pairs: &Csr, similarity: Similarity, u: &[T], width: usize) -> Vec<T> {
    if width == 0 {
        return zeros(pairs.edges());
    }
    let norms = if similarity == Similarity::Cosine { norms(u, width) } else { Vec::new() };
    let mut out = zeros(pairs.edges());
    for_entries(pairs, &mut out, width, |i, columns, slots| {
        let own = &u[i * width..(i + 1) * width];
        match similarity {
            Similarity::Distance => vectorise!(distances, (own, u, columns, slots)),
            Similarity::Dot => vectorise!(products, (own, u, columns, slots)),
            Similarity::Cosine => {
                vectorise!(products, (own, u, columns, &mut *slots));
                for (slot, &j) in slots.iter_mut().zip(columns) {
                    *slot *= inverse(norms[i] * norms[j as usize]);
                }
            }
        }
    });
    out
}

/// Gradient of the node vectors, given the measures `output` and their gradients.
pub fn backward<T: Real>(
    pairs: &Csr,
    similarity: Similarity,
    u: &[T],
    width: usize,
    output: &[T],
    grad: &[T],
) -> Vec<T> {
    if width == 0 {
        return Vec::new();
    }
    let norms = if similarity == Similarity::Cosine { norms(u, width) } else { Vec::new() };
    let nodes = u.len() / width;
    let mut cross = Vec::with_capacity(grad.len());
    let mut own = zeros::<T>(nodes);
    for i in 0..pairs.rows() {
        for (entry, &j) in pairs.range(i).zip(pairs.row(i)) {
            let (g, value, j) = (grad[entry], output[entry], j as usize);
            let (p, q, r) = match similarity {
                Similarity::Distance => {
                    let a = g * inverse(value);
                    (a, -a, a)
                }
                Similarity::Dot => (T::ZERO, g, T::ZERO),
                Similarity::Cosine => (
                    -g * value * inverse(norms[i] * norms[i]),
                    g * inverse(norms[i] * norms[j]),
                    -g * value * inverse(norms[j] * norms[j]),
                ),
            };
            cross.push(q);
            own[i] += p;
            own[j] += r;
        }
    }
    let mut out = spmm::forward(pairs, &cross, u, width);
    let columns = spmm::backward_features(pairs, &cross, u, width);
    for (at, (o, c)) in out.iter_mut().zip(columns).enumerate() {
        *o += own[at / width].mul_add(u[at], c);
    }
    out
}

/// 1/x, and 0 where x is 0: the chosen subgradient at coinciding or zero vectors.
#[inline(always)]
fn inverse<T: Real>(x: T) -> T {
    if x > T::TINY { T::ONE / x } else { T::ZERO }
}

fn norms<T: Real>(u: &[T], width: usize) -> Vec<T> {
    u.chunks_exact(width).map(|row| dot(row, row).sqrt()).collect()
}

#[inline(always)]
fn products<T: Real>((own, u, columns, out): (&[T], &[T], &[u32], &mut [T])) {
    let width = own.len();
    for (slot, &j) in out.iter_mut().zip(columns) {
        *slot = dot(own, &u[j as usize * width..(j as usize + 1) * width]);
    }
}

#[inline(always)]
fn distances<T: Real>((own, u, columns, out): (&[T], &[T], &[u32], &mut [T])) {
    const LANES: usize = 16;
    let width = own.len();
    for (slot, &j) in out.iter_mut().zip(columns) {
        let other = &u[j as usize * width..(j as usize + 1) * width];
        let mut parts = [T::ZERO; LANES];
        let (xs, ys) = (own.chunks_exact(LANES), other.chunks_exact(LANES));
        let mut total = T::ZERO;
        for (&x, &y) in xs.remainder().iter().zip(ys.remainder()) {
            total = (x - y).mul_add(x - y, total);
        }
        for (x, y) in xs.zip(ys) {
            for lane in 0..LANES {
                let d = x[lane] - y[lane];
                parts[lane] = d.mul_add(d, parts[lane]);
            }
        }
        for part in parts {
            total += part;
        }
        *slot = total.sqrt();
    }
}
