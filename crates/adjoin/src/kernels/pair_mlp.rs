//! The pair network with its first layer split into two node-level products.
//!
//! `c_ij = leaky(a_i + b_j + s_ij v)` with `a = x U + bias`, `b = x V` computed per node and `s` an
//! optional scalar per pair; `logit_ij = <w, c_ij>`. Nothing of size `[pairs, 2 d]` exists, and with
//! [`logits`] nothing of size `[pairs, d]` either: the backward pass recomputes `c`.

use super::{
    Real,
    rows::{axpy, for_row_blocks, zeros},
    spmm::for_entries,
    vectorise,
};
use crate::topology::Csr;
use rayon::prelude::*;

/// Inputs of the pair network.
#[derive(Clone, Copy)]
pub struct Pairs<'a, T> {
    /// The candidate pairs.
    pub topology: &'a Csr,
    /// `[rows, width]`, the receiving node's share.
    pub a: &'a [T],
    /// `[columns, width]`, the other node's share.
    pub b: &'a [T],
    /// One scalar per pair, or nothing.
    pub scalars: &'a [T],
    /// `[width]`, how a pair's scalar enters, or nothing.
    pub v: &'a [T],
    /// Width of the hidden layer.
    pub width: usize,
    /// Slope of the LeakyReLU below zero.
    pub slope: T,
}

/// Gradients of the inputs of the pair network, but for the scalars: see [`backward_scalars`].
pub struct Gradients<T> {
    /// Of `a`.
    pub a: Vec<T>,
    /// Of `b`.
    pub b: Vec<T>,
    /// Of `w`; empty when there is none.
    pub w: Vec<T>,
    /// Of `v`; empty when there is none.
    pub v: Vec<T>,
}

impl<T: Real> Pairs<'_, T> {
    /// Writes `a_i + b_j + s v`, before the activation.
    #[inline(always)]
    fn preactivation(&self, i: usize, j: usize, entry: usize, out: &mut [T]) {
        let d = self.width;
        let (a, b) = (&self.a[i * d..(i + 1) * d], &self.b[j * d..(j + 1) * d]);
        for ((o, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *o = a + b;
        }
        if let Some(&s) = self.scalars.get(entry) {
            axpy(s, self.v, out);
        }
    }

    #[inline(always)]
    fn leaky(&self, x: T) -> T {
        if x > T::ZERO { x } else { x * self.slope }
    }

    #[inline(always)]
    fn gate(&self, x: T) -> T {
        if x > T::ZERO { T::ONE } else { self.slope }
    }
}

/// `logit = <w, c>` at every pair.
pub fn logits<T: Real>(pairs: Pairs<T>, w: &[T]) -> Vec<T> {
    let mut out = zeros(pairs.topology.edges());
    for_entries(pairs.topology, &mut out, 3 * pairs.width, |i, _, slots| {
        vectorise!(logit_row, (pairs, w, i, slots));
    });
    out
}

#[inline(always)]
fn logit_row<T: Real>((pairs, w, i, slots): (Pairs<T>, &[T], usize, &mut [T])) {
    const LANES: usize = 16;
    let d = pairs.width;
    let a = &pairs.a[i * d..(i + 1) * d];
    for (entry, slot) in pairs.topology.range(i).zip(slots) {
        let j = pairs.topology.indices()[entry] as usize;
        let b = &pairs.b[j * d..(j + 1) * d];
        let s = pairs.scalars.get(entry).copied();
        let mut parts = [T::ZERO; LANES];
        for at in 0..d {
            let mut x = a[at] + b[at];
            if let Some(s) = s {
                x = s.mul_add(pairs.v[at], x);
            }
            parts[at % LANES] = w[at].mul_add(pairs.leaky(x), parts[at % LANES]);
        }
        *slot = parts.into_iter().sum();
    }
}

/// `c` at every pair, `[pairs, width]`: for message passing between edges.
pub fn embeddings<T: Real>(pairs: Pairs<T>) -> Vec<T> {
    let d = pairs.width;
    let rows = pairs.topology.row_indices();
    let mut out = zeros(rows.len() * d);
    for_row_blocks(&mut out, d, 4 * d, |first, block| {
        for (at, c) in block.chunks_exact_mut(d).enumerate() {
            let entry = first + at;
            let j = pairs.topology.indices()[entry] as usize;
            pairs.preactivation(rows[entry] as usize, j, entry, c);
            c.iter_mut().for_each(|x| *x = pairs.leaky(*x));
        }
    });
    out
}

/// Where the gradient of the hidden layer comes from.
#[derive(Clone, Copy)]
pub enum Upstream<'a, T> {
    /// From `logit = <w, c>`: `w`, and one number per pair.
    Logits(&'a [T], &'a [T]),
    /// From `c` itself: `[pairs, width]`.
    Embeddings(&'a [T]),
}

/// Gradients of all inputs; rows for `a`, `w` and `v`, rows of the transpose for `b`.
pub fn backward<T: Real>(pairs: Pairs<T>, upstream: Upstream<T>) -> Gradients<T> {
    let d = pairs.width;
    let (has_w, has_v) = (matches!(upstream, Upstream::Logits(..)), !pairs.v.is_empty());
    let mut a = zeros(pairs.topology.rows() * d);
    // Sums over all pairs are taken block by block of a fixed size, then in order.
    const BLOCK: usize = 64;
    let partial: Vec<Vec<T>> = a
        .par_chunks_mut(BLOCK * d.max(1))
        .enumerate()
        .map(|(at, block)| {
            let mut sums = zeros(2 * d);
            vectorise!(backward_rows, (pairs, upstream, at * BLOCK, block, &mut sums[..]));
            sums
        })
        .collect();
    let mut sums = zeros(2 * d);
    for part in partial {
        axpy(T::ONE, &part, &mut sums);
    }
    let mut b = zeros(pairs.topology.columns() * d);
    let cost = 6 * d * (1 + pairs.topology.edges() / pairs.topology.columns().max(1));
    // The transpose is made before the parallel part, not under a lock inside it.
    pairs.topology.transpose();
    for_row_blocks(&mut b, d, cost, |first, block| {
        vectorise!(backward_columns, (pairs, upstream, first, block));
    });
    let v = if has_v { sums[d..].to_vec() } else { Vec::new() };
    sums.truncate(if has_w { d } else { 0 });
    Gradients { a, b, w: sums, v }
}

/// Gradients of the scalars, `ds_ij = <dx_ij, v>` with `x` the layer before its activation.
pub fn backward_scalars<T: Real>(pairs: Pairs<T>, upstream: Upstream<T>) -> Vec<T> {
    let mut out = zeros(pairs.scalars.len());
    for_entries(pairs.topology, &mut out, 4 * pairs.width, |i, _, slots| {
        vectorise!(scalar_row, (pairs, upstream, i, slots));
    });
    out
}

#[inline(always)]
fn scalar_row<T: Real>((pairs, upstream, i, slots): (Pairs<T>, Upstream<T>, usize, &mut [T])) {
    let d = pairs.width;
    let mut x = vec![T::ZERO; d];
    for (entry, slot) in pairs.topology.range(i).zip(slots) {
        let j = pairs.topology.indices()[entry] as usize;
        pairs.preactivation(i, j, entry, &mut x);
        for at in 0..d {
            let upstream = match upstream {
                Upstream::Logits(w, grad) => grad[entry] * w[at],
                Upstream::Embeddings(grad) => grad[entry * d + at],
            };
            *slot = (upstream * pairs.gate(x[at])).mul_add(pairs.v[at], *slot);
        }
    }
}

#[inline(always)]
fn backward_rows<T: Real>(
    (pairs, upstream, first, block, sums): (Pairs<T>, Upstream<T>, usize, &mut [T], &mut [T]),
) {
    let d = pairs.width;
    let mut x = vec![T::ZERO; d];
    let (sum_w, sum_v) = sums.split_at_mut(d);
    for (at, grad_a) in block.chunks_exact_mut(d).enumerate() {
        let i = first + at;
        for entry in pairs.topology.range(i) {
            let j = pairs.topology.indices()[entry] as usize;
            pairs.preactivation(i, j, entry, &mut x);
            match upstream {
                Upstream::Logits(w, grad) => {
                    let g = grad[entry];
                    for at in 0..d {
                        sum_w[at] = g.mul_add(pairs.leaky(x[at]), sum_w[at]);
                        x[at] = g * w[at] * pairs.gate(x[at]);
                    }
                }
                Upstream::Embeddings(grad) => {
                    let grad = &grad[entry * d..(entry + 1) * d];
                    for at in 0..d {
                        x[at] = grad[at] * pairs.gate(x[at]);
                    }
                }
            }
            axpy(T::ONE, &x, grad_a);
            if let Some(&s) = pairs.scalars.get(entry) {
                axpy(s, &x, sum_v);
            }
        }
    }
}

#[inline(always)]
fn backward_columns<T: Real>(
    (pairs, upstream, first, block): (Pairs<T>, Upstream<T>, usize, &mut [T]),
) {
    let d = pairs.width;
    let transpose = pairs.topology.transpose();
    let mut x = vec![T::ZERO; d];
    for (at, grad_b) in block.chunks_exact_mut(d).enumerate() {
        let j = first + at;
        let range = transpose.pointers[j] as usize..transpose.pointers[j + 1] as usize;
        for back in range {
            let (i, entry) = (transpose.indices[back] as usize, transpose.entries[back] as usize);
            pairs.preactivation(i, j, entry, &mut x);
            match upstream {
                Upstream::Logits(w, grad) => {
                    for at in 0..d {
                        grad_b[at] = (grad[entry] * w[at]).mul_add(pairs.gate(x[at]), grad_b[at]);
                    }
                }
                Upstream::Embeddings(grad) => {
                    let grad = &grad[entry * d..(entry + 1) * d];
                    for at in 0..d {
                        grad_b[at] = grad[at].mul_add(pairs.gate(x[at]), grad_b[at]);
                    }
                }
            }
        }
    }
}
