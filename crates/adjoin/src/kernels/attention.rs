//! Graph attention, fused: logits, softmax over neighbours, dropout and weighted sum in one pass.
//!
//! With `H` heads of `F` features, head by head:
//! ```text
//! raw_ij   = <a_src, h_j> + <a_dst, h_i>
//! alpha_ij = softmax_j(leaky(raw_ij) + log w_ij)
//! y_i      = sum_j dropout(alpha_ij) h_j
//! ```

use super::{
    Real,
    parts::{Entries, Rows, for_blocks},
    random::Key,
    rows::{dot_in_lanes, sum_blocks, zeros},
    segment::softmax_block,
    vectorise,
};
use crate::topology::Csr;
use std::ops::Range;

/// Heads, slope and dropout of an attention layer.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Number of heads, at least 1.
    pub heads: usize,
    /// Features of one head.
    pub features: usize,
    /// Slope of the leaky rectifier for negative logits.
    pub slope: f64,
    /// Stream and rate of the dropout on the attention coefficients.
    pub dropout: Option<(Key, f64)>,
}

impl Settings {
    fn width(&self) -> usize {
        self.heads * self.features
    }

    /// What a coefficient that is kept is multiplied by.
    fn kept<T: Real>(&self) -> T {
        T::from_f64(self.dropout.map_or(1.0, |(_, rate)| 1.0 / (1.0 - rate)))
    }

    fn cost(&self, topology: &Csr) -> usize {
        (1 + topology.edges() / topology.rows().max(1)) * (self.width() + 8 * self.heads)
    }
}

/// The inputs of the layer.
#[derive(Clone, Copy)]
pub struct Inputs<'a, T> {
    /// Node features `[N, H F]`.
    pub h: &'a [T],
    /// Attention vector of the node received from, `[H F]`.
    pub a_src: &'a [T],
    /// Attention vector of the node that receives, `[H F]`.
    pub a_dst: &'a [T],
    /// Logarithms of edge weights `[edges]`, if the edges have weights.
    pub log_weights: Option<&'a [T]>,
}

/// What the forward pass keeps for the backward pass.
pub struct Saved<T> {
    /// Attention coefficients before dropout `[edges, H]`, with a minus sign on dropped ones.
    pub alpha: Vec<T>,
    /// `<a_src, h_j>` of every node and head, `[N, H]`.
    source: Vec<T>,
    /// `<a_dst, h_i>` of every node and head, `[N, H]`.
    target: Vec<T>,
}

/// Gradients of the inputs.
pub struct Gradients<T> {
    /// Of the node features.
    pub h: Vec<T>,
    /// Of the attention vector of the node received from.
    pub a_src: Vec<T>,
    /// Of the attention vector of the node that receives.
    pub a_dst: Vec<T>,
    /// Of the logarithms of the edge weights, if there were any.
    pub log_weights: Option<Vec<T>>,
}

/// Everything the blocks of a pass read.
struct Pass<'a, T> {
    topology: &'a Csr,
    settings: Settings,
    inputs: Inputs<'a, T>,
    source: &'a [T],
    target: &'a [T],
    slope: T,
    kept: T,
}

impl<'a, T: Real> Pass<'a, T> {
    fn new(
        topology: &'a Csr,
        settings: Settings,
        inputs: Inputs<'a, T>,
        source: &'a [T],
        target: &'a [T],
    ) -> Self {
        let (slope, kept) = (T::from_f64(settings.slope), settings.kept());
        Self { topology, settings, inputs, source, target, slope, kept }
    }

    /// The features of one node.
    #[inline(always)]
    fn features(&self, node: usize) -> &'a [T] {
        let width = self.settings.width();
        &self.inputs.h[node * width..(node + 1) * width]
    }
}

/// `y` `[N, H F]`, and what the backward pass needs.
pub fn forward<T: Real>(
    topology: &Csr,
    settings: Settings,
    inputs: Inputs<T>,
) -> (Vec<T>, Saved<T>) {
    let (rows, heads, width) = (topology.rows(), settings.heads, settings.width());
    let (mut source, mut target) = (zeros(rows * heads), zeros(rows * heads));
    let scores = (Rows(&mut source, heads), Rows(&mut target, heads));
    for_blocks(rows, 2 * width, scores, |rows, (Rows(source, _), Rows(target, _))| {
        vectorise!(node_scores, (settings, inputs, rows, source, target));
    });
    let (mut out, mut alpha) = (zeros(rows * width), zeros(topology.edges() * heads));
    let pass = Pass::new(topology, settings, inputs, &source, &target);
    let parts = (Rows(&mut out, width), Entries(&mut alpha, heads, topology.pointers()));
    for_blocks(rows, settings.cost(topology), parts, |rows, (Rows(out, _), Entries(alpha, ..))| {
        if heads % 8 == 0 {
            vectorise!(forward_block::<T, 8>, (&pass, rows, out, alpha));
        } else {
            vectorise!(forward_block::<T, 1>, (&pass, rows, out, alpha));
        }
    });
    (out, Saved { alpha, source, target })
}

/// Gradients of all inputs from the gradient of the output, in two passes: by rows for the logits,
/// then by rows of the transpose for what nodes get back from the nodes they sent to.
pub fn backward<T: Real>(
    topology: &Csr,
    settings: Settings,
    inputs: Inputs<T>,
    saved: &Saved<T>,
    grad: &[T],
) -> Gradients<T> {
    let (rows, heads, width) = (topology.rows(), settings.heads, settings.width());
    let cost = settings.cost(topology);
    let pass = Pass::new(topology, settings, inputs, &saved.source, &saved.target);
    let mut raw = zeros(topology.edges() * heads);
    let mut target = zeros(rows * heads);
    let per_edge = usize::from(inputs.log_weights.is_some());
    let mut log_weights = zeros(topology.edges() * per_edge);
    let parts = (
        Entries(&mut raw, heads, topology.pointers()),
        Rows(&mut target, heads),
        Entries(&mut log_weights, per_edge, topology.pointers()),
    );
    let task = |rows, (Entries(raw, ..), Rows(target, _), Entries(log_weights, ..)): (_, _, _)| {
        let out = (raw, target, log_weights);
        if heads % 8 == 0 {
            vectorise!(logits_backward::<T, 8>, (&pass, &saved.alpha[..], grad, rows, out));
        } else {
            vectorise!(logits_backward::<T, 1>, (&pass, &saved.alpha[..], grad, rows, out));
        }
    };
    for_blocks(rows, cost, parts, task);

    let (mut h, mut source) = (zeros(rows * width), zeros(rows * heads));
    let parts = (Rows(&mut h, width), Rows(&mut source, heads));
    for_blocks(rows, cost, parts, |rows, (Rows(h, _), Rows(source, _))| {
        let edges = (&saved.alpha[..], &raw[..], &target[..]);
        vectorise!(nodes_backward, (&pass, edges, grad, rows, h, source));
    });
    let vectors = sum_blocks(rows, 2 * width, |rows, sums| {
        vectorise!(vectors_backward, (&pass, &source[..], &target[..], rows, sums));
    });
    let (a_src, a_dst) = vectors.split_at(width);
    Gradients {
        h,
        a_src: a_src.to_vec(),
        a_dst: a_dst.to_vec(),
        log_weights: inputs.log_weights.map(|_| log_weights),
    }
}

/// The values of all heads at one node or edge, in groups of `L`.
#[inline(always)]
fn lanes<T, const L: usize>(values: &[T], heads: usize, at: usize) -> &[[T; L]] {
    values[at * heads..(at + 1) * heads].as_chunks::<L>().0
}

/// Heads are short: eight lanes leave no scalar rest for the usual sizes.
#[inline(always)]
fn head_dot<T: Real>(x: &[T], y: &[T]) -> T {
    dot_in_lanes::<T, 8>(x, y)
}

/// `y_h += c_h x_h` for every head h.
///
/// Plain ranges: iterators over chunks divide by the chunk size, which takes longer than a head.
#[inline(always)]
fn add_heads<T: Real>(
    features: usize,
    coefficients: impl Iterator<Item = T>,
    x: &[T],
    y: &mut [T],
) {
    for (head, c) in coefficients.enumerate() {
        let range = head * features..(head + 1) * features;
        let ((xs, x_tail), (ys, y_tail)) =
            (x[range.clone()].as_chunks::<8>(), y[range].as_chunks_mut::<8>());
        for (x, y) in xs.iter().zip(ys) {
            // Built, then stored: element by element, `x` might change under way for all the
            // compiler knows, and the loop would not vectorise. The same below.
            *y = std::array::from_fn(|l| c.mul_add(x[l], y[l]));
        }
        for (x, y) in x_tail.iter().zip(y_tail) {
            *y = c.mul_add(*x, *y);
        }
    }
}

#[inline(always)]
fn node_scores<T: Real>(
    (settings, inputs, rows, source, target): (
        Settings,
        Inputs<T>,
        Range<usize>,
        &mut [T],
        &mut [T],
    ),
) {
    let (features, width) = (settings.features, settings.width());
    let scores =
        source.chunks_exact_mut(settings.heads).zip(target.chunks_exact_mut(settings.heads));
    for (row, (source, target)) in rows.zip(scores) {
        let h = &inputs.h[row * width..(row + 1) * width];
        for head in 0..settings.heads {
            let range = head * features..(head + 1) * features;
            source[head] = head_dot(&inputs.a_src[range.clone()], &h[range.clone()]);
            target[head] = head_dot(&inputs.a_dst[range.clone()], &h[range]);
        }
    }
}

#[inline(always)]
fn forward_block<T: Real, const L: usize>(
    (pass, rows, out, alpha): (&Pass<T>, Range<usize>, &mut [T], &mut [T]),
) {
    let (topology, settings) = (pass.topology, pass.settings);
    let (heads, features) = (settings.heads, settings.features);
    let (slope, kept) = (pass.slope, pass.kept);
    let pointers = topology.pointers();
    let base = pointers[rows.start] as usize;
    let slots = |entry: usize| (entry - base) * heads..(entry - base + 1) * heads;
    for row in rows.clone() {
        let target = lanes::<T, L>(pass.target, heads, row);
        for entry in topology.range(row) {
            let j = topology.indices()[entry] as usize;
            let source = lanes::<T, L>(pass.source, heads, j);
            let shift = pass.inputs.log_weights.map_or(T::ZERO, |w| w[entry]);
            let logits = alpha[slots(entry)].as_chunks_mut::<L>().0;
            for ((logit, source), target) in logits.iter_mut().zip(source).zip(target) {
                *logit = std::array::from_fn(|l| {
                    let raw = source[l] + target[l];
                    raw.mul_add(if raw > T::ZERO { T::ONE } else { slope }, shift)
                });
            }
        }
    }
    softmax_block::<T, L>((pointers, rows.clone(), heads, alpha));
    if let Some((key, rate)) = settings.dropout {
        let threshold = (rate * 4_294_967_296.0) as u32;
        for row in rows.clone() {
            let key = key.row(row as u32);
            for entry in topology.range(row) {
                let mut first = topology.indices()[entry].wrapping_mul(heads as u32);
                for alpha in alpha[slots(entry)].as_chunks_mut::<L>().0 {
                    *alpha = std::array::from_fn(|l| {
                        let drop = key.bits(first.wrapping_add(l as u32)) < threshold;
                        if drop { -alpha[l] } else { alpha[l] }
                    });
                    first = first.wrapping_add(L as u32);
                }
            }
        }
    }
    for (row, out) in rows.zip(out.chunks_exact_mut(settings.width())) {
        for entry in topology.range(row) {
            let j = topology.indices()[entry] as usize;
            let kept = alpha[slots(entry)].iter().map(|&a| a.max(T::ZERO) * kept);
            add_heads(features, kept, pass.features(j), out);
        }
    }
}

/// Gradients of `raw_ij`, of `<a_dst, h_i>` and of the logarithms of the weights.
type LogitGradients<'a, T> = (&'a mut [T], &'a mut [T], &'a mut [T]);

#[inline(always)]
fn logits_backward<T: Real, const L: usize>(
    (pass, alpha, grad, rows, (raw, target, log_weights)): (
        &Pass<T>,
        &[T],
        &[T],
        Range<usize>,
        LogitGradients<T>,
    ),
) {
    let (topology, settings) = (pass.topology, pass.settings);
    let (heads, features, width) = (settings.heads, settings.features, settings.width());
    let (slope, kept) = (pass.slope, pass.kept);
    let base = topology.pointers()[rows.start] as usize;
    let slots = |entry: usize| (entry - base) * heads..(entry - base + 1) * heads;
    for (row, target) in rows.zip(target.chunks_exact_mut(heads)) {
        let (entries, own) = (topology.range(row), lanes::<T, L>(pass.target, heads, row));
        let (target, _) = target.as_chunks_mut::<L>();
        let grad = &grad[row * width..(row + 1) * width];
        // First the gradients of the coefficients; `target` holds their weighted mean meanwhile.
        for entry in entries.clone() {
            let x = pass.features(topology.indices()[entry] as usize);
            let raw = &mut raw[slots(entry)];
            for (head, raw) in raw.iter_mut().enumerate() {
                let range = head * features..(head + 1) * features;
                *raw = head_dot(&grad[range.clone()], &x[range]);
            }
            let raw = raw.as_chunks_mut::<L>().0.iter_mut();
            for ((raw, alpha), mean) in
                raw.zip(lanes::<T, L>(alpha, heads, entry)).zip(target.iter_mut())
            {
                *raw = std::array::from_fn(|l| {
                    raw[l] * if alpha[l] > T::ZERO { kept } else { T::ZERO }
                });
                *mean = std::array::from_fn(|l| alpha[l].mul_add(raw[l], mean[l]));
            }
        }
        for (chunk, (target, own)) in target.iter_mut().zip(own).enumerate() {
            let mean = *target;
            let mut sums = [T::ZERO; L];
            for entry in entries.clone() {
                let source =
                    &lanes::<T, L>(pass.source, heads, topology.indices()[entry] as usize)[chunk];
                let alpha = &lanes::<T, L>(alpha, heads, entry)[chunk];
                let raw = &mut raw[slots(entry)].as_chunks_mut::<L>().0[chunk];
                let logit: [T; L] = std::array::from_fn(|l| alpha[l].abs() * (raw[l] - mean[l]));
                *raw = std::array::from_fn(|l| {
                    logit[l] * if source[l] + own[l] > T::ZERO { T::ONE } else { slope }
                });
                for l in 0..L {
                    sums[l] += raw[l];
                }
                if let Some(out) = log_weights.get_mut(entry - base) {
                    *out += logit.iter().copied().sum();
                }
            }
            *target = sums;
        }
    }
}

/// Coefficients, and gradients of `raw_ij` and of `<a_dst, h_i>`.
type EdgeGradients<'a, T> = (&'a [T], &'a [T], &'a [T]);

#[inline(always)]
fn nodes_backward<T: Real>(
    (pass, (alpha, raw, target), grad, rows, h, source): (
        &Pass<T>,
        EdgeGradients<T>,
        &[T],
        Range<usize>,
        &mut [T],
        &mut [T],
    ),
) {
    let Settings { heads, features, .. } = pass.settings;
    let (width, transpose) = (pass.settings.width(), pass.topology.transpose());
    let outputs = h.chunks_exact_mut(width).zip(source.chunks_exact_mut(heads));
    for (node, (h, source)) in rows.zip(outputs) {
        let range = transpose.pointers[node] as usize..transpose.pointers[node + 1] as usize;
        for (&entry, &i) in transpose.entries[range.clone()].iter().zip(&transpose.indices[range]) {
            let (entry, i) = (entry as usize, i as usize);
            let slots = entry * heads..(entry + 1) * heads;
            let kept = alpha[slots.clone()].iter().map(|&a| a.max(T::ZERO) * pass.kept);
            add_heads(features, kept, &grad[i * width..(i + 1) * width], h);
            for (source, &raw) in source.iter_mut().zip(&raw[slots]) {
                *source += raw;
            }
        }
        add_heads(features, source.iter().copied(), pass.inputs.a_src, h);
        let target = &target[node * heads..(node + 1) * heads];
        add_heads(features, target.iter().copied(), pass.inputs.a_dst, h);
    }
}

#[inline(always)]
fn vectors_backward<T: Real>(
    (pass, source, target, rows, sums): (&Pass<T>, &[T], &[T], Range<usize>, &mut [T]),
) {
    let Settings { heads, features, .. } = pass.settings;
    let (a_src, a_dst) = sums.split_at_mut(pass.settings.width());
    for row in rows {
        let (x, scores) = (pass.features(row), row * heads..(row + 1) * heads);
        add_heads(features, source[scores.clone()].iter().copied(), x, a_src);
        add_heads(features, target[scores].iter().copied(), x, a_dst);
    }
}
