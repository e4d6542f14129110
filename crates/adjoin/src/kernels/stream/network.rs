//! A network of several layers on pairs as score, with messages between edges: the second of the two passes.

use super::{
    Panels, Place, Rows, Scorer, Slopes, Totals,
    bilinear::log_sigmoid,
    layers::{self, Layer},
    tile::{COLUMNS, PANEL},
};
use crate::{
    kernels::{
        Real,
        rows::{axpy, dot, sum, zeros},
    },
    topology::Batch,
};
use pulp::Simd;
use std::{collections::BTreeMap, ops::Range};

/// Inputs of a [`PairLayers`], N nodes of width d.
pub(crate) struct NetworkInputs<'a, T> {
    /// `[N, d]`, the receiving node's share of the first layer, with its bias.
    pub(crate) a: &'a [T],
    /// `[N, d]`, the other node's.
    pub(crate) b: &'a [T],
    /// Messages: `S W_2`, `[N, d]`, with S the sums of the embeddings at every node; empty for none.
    pub(crate) t: &'a [T],
    /// `W_1`, `[d, d]`.
    pub(crate) own: &'a [T],
    /// `W_2`, `[d, d]`.
    pub(crate) other: &'a [T],
    /// `[d]`.
    pub(crate) bias: &'a [T],
    /// All square layers, `[layers, d, d]`: first those before the messages, then those after.
    pub(crate) weights: &'a [T],
    /// `[layers, d]`.
    pub(crate) biases: &'a [T],
    /// `[d]`.
    pub(crate) w: &'a [T],
    pub(crate) w0: T,
}

/// `log p_ij = log sigmoid(w . x_ij + w0)`, x the last of
///
/// - `c = leaky(a_i + b_j)`, then layers `c = leaky(c W + b)`,
/// - with messages `y = leaky(s (c W_1 + (c - m) W_2 + bias))`, `m_ij = (S_i + S_j - 2 c_ij) / n`,
/// - further layers.
///
/// `n = 4 N - 6` is the number of edges that share a node with an edge of a complete graph of N nodes, each as
/// often as it does; s is 1, or n when messages are summed. A pair of a node with itself has no neighbours: its
/// m is 0 and its s is 1.
pub(crate) struct PairLayers<T> {
    /// a, and t.
    rows: Rows<T>,
    /// b, and t.
    panels: Panels<T>,
    width: usize,
    /// In the order in which they are applied, but for that of the messages.
    layers: Vec<Layer<T>>,
    /// Layers before the messages.
    before: usize,
    messages: Option<Messages<T>>,
    w: Vec<T>,
    w0: T,
}

/// The layer that sees messages.
struct Messages<T> {
    /// One for every size of graphs.
    mixes: Vec<Mix<T>>,
    /// Which of them a graph has.
    of_graph: Vec<usize>,
    /// `W_1 + W_2` and the bias, for a node with itself.
    alone: Vec<T>,
    bias: Vec<T>,
}

/// `y = s (c W_1 + (1 + 2 / n) c W_2 + bias) - share (t_i + t_j)`.
struct Mix<T> {
    layer: Layer<T>,
    scale: T,
    /// `1 + 2 / n`.
    factor: T,
    /// `s / n`.
    share: T,
}

impl<T: Real> PairLayers<T> {
    /// With `summed`, messages are sums and not means.
    pub(crate) fn new(
        inputs: &NetworkInputs<'_, T>,
        before: usize,
        summed: bool,
        batch: &Batch,
    ) -> Self {
        let width = inputs.w.len();
        let joined = |x: &[T]| -> Vec<T> {
            if inputs.t.is_empty() {
                return x.to_vec();
            }
            let rows = x.chunks_exact(width).zip(inputs.t.chunks_exact(width));
            rows.flat_map(|(x, t)| x.iter().chain(t).copied()).collect()
        };
        let sides = if inputs.t.is_empty() { width } else { 2 * width };
        let columns = Rows::new(&joined(inputs.b), sides);
        Self {
            rows: Rows::new(&joined(inputs.a), sides),
            panels: Panels::new(&columns, T::ONE, batch),
            width,
            layers: Layer::all(inputs.weights, inputs.biases, width),
            before,
            messages: (!inputs.t.is_empty()).then(|| Messages::new(inputs, summed, batch)),
            w: inputs.w.to_vec(),
            w0: inputs.w0,
        }
    }

    fn size(&self) -> usize {
        self.width * PANEL
    }

    /// Steps of a pair: the embedding, and one for every layer.
    fn steps(&self) -> usize {
        1 + self.layers.len() + usize::from(self.messages.is_some())
    }

    /// Numbers of the gradients of all weights, which are added up for every graph: layers, then the mix of the
    /// messages and that of a node with itself, then w.
    fn shared(&self) -> usize {
        let mixes = if self.messages.is_some() { 2 } else { 0 };
        (self.layers.len() + mixes) * layers::gradient_len(self.width) + self.width
    }

    /// All steps of row i with one panel of columns.
    #[inline(always)]
    fn forward<S: Simd>(&self, simd: S, pair: &Pair<'_, T>, steps: &mut [T]) {
        let (size, width) = (self.size(), self.width);
        let (own, panel) = (self.rows.row(pair.row), pair.panel);
        layers::embed(&own[..width], &panel[..size], &mut steps[..size]);
        let (before, after) = self.layers.split_at(self.before);
        layers::forward(simd, before, size, steps);
        let mut at = self.before * size;
        if let Some(messages) = &self.messages {
            let (c, y) = steps[at..at + 2 * size].split_at_mut(size);
            let mix = &messages.mixes[messages.of_graph[pair.graph]];
            mix.layer.affine(simd, c, y);
            let sums = y.chunks_exact_mut(PANEL).zip(panel[size..].chunks_exact(PANEL));
            for (&own, (y, others)) in own[width..].iter().zip(sums) {
                for (y, &other) in y.iter_mut().zip(others) {
                    *y -= mix.share * (own + other);
                }
            }
            if pair.lane < PANEL {
                messages.alone(c, y, pair.lane);
            }
            layers::leaky(y);
            at += size;
        }
        layers::forward(simd, after, size, &mut steps[at..]);
    }

    /// Adds the gradients of row i with one panel of columns, `room.grad` being that before the activation of
    /// the last step.
    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        simd: S,
        pair: &Pair<'_, T>,
        room: &mut Room<T>,
        shared: &mut [T],
        row: &mut [T],
        columns: &mut [T],
    ) {
        let (size, len) = (self.size(), layers::gradient_len(self.width));
        let (before, after) = self.layers.split_at(self.before);
        let Room { steps, grad, spare, turned, own } = room;
        let (first, rest) = shared.split_at_mut(self.before * len);
        let (last, mixes) = rest.split_at_mut(after.len() * len);
        let message = self.before * size;
        let start = if self.messages.is_some() { message + size } else { message };
        layers::backward(simd, after, &steps[start..], last, [grad, spare, turned]);
        if let Some(messages) = &self.messages {
            let c = &steps[message..message + size];
            let mix = &messages.mixes[messages.of_graph[pair.graph]];
            let alone = pair.lane < PANEL;
            if alone {
                for (own, grad) in own.iter_mut().zip(grad.chunks_exact_mut(PANEL)) {
                    *own = std::mem::replace(&mut grad[pair.lane], T::ZERO);
                }
            }
            let t = columns[size..].chunks_exact_mut(PANEL).zip(grad.chunks_exact(PANEL));
            for (own, (others, grad)) in row[self.width..].iter_mut().zip(t) {
                *own -= mix.share * layers::lane_sum(simd, grad);
                for (other, &grad) in others.iter_mut().zip(grad) {
                    *other -= mix.share * grad;
                }
            }
            layers::add_gradient(simd, c, grad, turned, &mut mixes[..len]);
            mix.layer.backward(simd, grad, spare);
            if alone {
                messages.alone_backward(c, own, pair.lane, spare, &mut mixes[len..2 * len]);
            }
            layers::gate(spare, c);
            grad.copy_from_slice(spare);
        }
        layers::backward(simd, before, steps, first, [grad, spare, turned]);
        let sides = columns[..size].chunks_exact_mut(PANEL).zip(grad.chunks_exact(PANEL));
        for (own, (others, grad)) in row.iter_mut().zip(sides) {
            *own += layers::lane_sum(simd, grad);
            others.iter_mut().zip(grad).for_each(|(other, &grad)| *other += grad);
        }
    }

    /// The panel's pairs with row `i`.
    #[inline(always)]
    fn pair<'a>(&self, i: usize, graph: usize, first: usize, panel: &'a [T]) -> Pair<'a, T> {
        Pair { row: i, graph, panel, lane: i.wrapping_sub(first) }
    }
}

/// A row and a panel of columns.
struct Pair<'a, T> {
    row: usize,
    graph: usize,
    panel: &'a [T],
    /// Where in the panel the node itself is; beyond it if it is not.
    lane: usize,
}

/// Buffers of the backward pass.
struct Room<T> {
    steps: Vec<T>,
    grad: Vec<T>,
    spare: Vec<T>,
    turned: Vec<T>,
    own: Vec<T>,
}

impl<T: Real> Messages<T> {
    fn new(inputs: &NetworkInputs<'_, T>, summed: bool, batch: &Batch) -> Self {
        let NetworkInputs { own, other, bias, .. } = *inputs;
        let mut sizes = BTreeMap::new();
        let mut mixes = Vec::new();
        let of_graph = batch.ranges().map(|range| {
            *sizes.entry(range.len()).or_insert_with(|| {
                mixes.push(Mix::new([own, other, bias], summed, range.len()));
                mixes.len() - 1
            })
        });
        let of_graph = of_graph.collect();
        let alone = own.iter().zip(other).map(|(&own, &other)| own + other).collect();
        Self { mixes, of_graph, alone, bias: bias.to_vec() }
    }

    /// `y = c (W_1 + W_2) + bias` of a node with itself.
    #[inline(always)]
    fn alone(&self, c: &[T], y: &mut [T], lane: usize) {
        let width = self.bias.len();
        for (y, &bias) in y.chunks_exact_mut(PANEL).zip(&self.bias) {
            y[lane] = bias;
        }
        for (c, weights) in c.chunks_exact(PANEL).zip(self.alone.chunks_exact(width)) {
            for (y, &w) in y.chunks_exact_mut(PANEL).zip(weights) {
                y[lane] = w.mul_add(c[lane], y[lane]);
            }
        }
    }

    /// Its backward pass, from the gradient of y to those of c and of weights and bias.
    #[inline(always)]
    fn alone_backward(&self, c: &[T], dy: &[T], lane: usize, dc: &mut [T], grad: &mut [T]) {
        let width = self.bias.len();
        let stride = layers::padded(width);
        let (weights, biases) = grad.split_at_mut(width * stride);
        axpy(T::ONE, dy, biases);
        let rows = c.chunks_exact(PANEL).zip(dc.chunks_exact_mut(PANEL));
        let weights = self.alone.chunks_exact(width).zip(weights.chunks_exact_mut(stride));
        for ((c, dc), (w, grad)) in rows.zip(weights) {
            dc[lane] = dot(w, dy);
            axpy(c[lane], dy, grad);
        }
    }
}

/// How many edges share a node with an edge of a complete graph, each as often as it does; 0 if there are no
/// edges.
pub(crate) fn neighbours(nodes: usize) -> usize {
    if nodes < 2 { 0 } else { 4 * nodes - 6 }
}

impl<T: Real> Mix<T> {
    fn new([own, other, bias]: [&[T]; 3], summed: bool, nodes: usize) -> Self {
        let count = T::from_usize(neighbours(nodes).max(1));
        let scale = if summed { count } else { T::ONE };
        let factor = T::ONE + (T::ONE + T::ONE) / count;
        let mixed = |(&own, &other): (&T, &T)| scale * factor.mul_add(other, own);
        let weight: Vec<T> = own.iter().zip(other).map(mixed).collect();
        let bias: Vec<T> = bias.iter().map(|&bias| scale * bias).collect();
        Self { layer: Layer::new(&weight, &bias), scale, factor, share: scale / count }
    }
}

impl<T: Real> Scorer<T> for PairLayers<T> {
    const SYMMETRIC: bool = false;

    fn rows(&self) -> &Rows<T> {
        &self.rows
    }
    fn columns(&self) -> &Panels<T> {
        &self.panels
    }
    fn weights(&self) -> &[T] {
        &self.w
    }
    /// Not a sum of terms: see [`block`](Scorer::block).
    #[inline(always)]
    fn term<S: Simd>(
        _: S,
        _: T::Vector<S>,
        _: T::Vector<S>,
        _: T::Vector<S>,
        sum: T::Vector<S>,
    ) -> T::Vector<S> {
        sum
    }
    #[inline(always)]
    fn block<S: Simd>(&self, simd: S, place: &Place<'_>, _: &[T], out: &mut [T]) {
        let size = self.size();
        let mut steps = zeros(self.steps() * size);
        let range = self.panels.range(place.graph, place.local, place.count);
        for (&i, out) in place.rows.iter().zip(out.chunks_exact_mut(COLUMNS)) {
            let panels = self.panels.at(range.clone()).chunks_exact(self.panels.size());
            for (p, (panel, out)) in panels.zip(out.chunks_exact_mut(PANEL)).enumerate() {
                let pair = self.pair(i as usize, place.graph, place.first + p * PANEL, panel);
                self.forward(simd, &pair, &mut steps);
                out.fill(self.w0);
                let last = steps[(self.steps() - 1) * size..].chunks_exact(PANEL);
                for (&w, x) in self.w.iter().zip(last) {
                    axpy(w, x, out);
                }
            }
        }
    }
    #[inline(always)]
    fn log_p(&self, _: usize, _: usize, sums: &mut [T]) {
        sums.iter_mut().for_each(|x| *x = log_sigmoid(*x).0);
    }
    #[inline(always)]
    fn slopes(&self, _: usize, _: usize, sums: &[T], log_p: &mut [T], slopes: &mut [T]) {
        for ((&x, log_p), slope) in sums.iter().zip(log_p).zip(slopes) {
            (*log_p, *slope) = log_sigmoid(x);
        }
    }
    /// For every graph the gradients of the weights, then those of its panels.
    fn column_gradients(&self, graphs: Range<usize>, _: &Batch) -> Range<usize> {
        let (start, end) = (graphs.start * self.shared(), graphs.end * self.shared());
        let panels = self.panels.graphs(graphs);
        panels.start + start..panels.end + end
    }
    #[inline(always)]
    fn accumulate<S: Simd>(
        &self,
        simd: S,
        block: Slopes<'_, T>,
        rows: &mut [T],
        columns: &mut [T],
    ) {
        let (size, stride) = (self.size(), self.rows.stride);
        let mut room = Room {
            steps: zeros(self.steps() * size),
            grad: zeros(size),
            spare: zeros(size),
            turned: zeros(PANEL * layers::padded(self.width)),
            own: zeros(self.width),
        };
        let all = self.panels.graphs(block.graph..block.graph + 1);
        let start = all.start + block.graph * self.shared() - block.offset;
        let (shared, columns) = columns[start..].split_at_mut(self.shared());
        let (shared, dw) = shared.split_at_mut(self.shared() - self.width);
        let range = self.panels.range(block.graph, block.local, block.count);
        let columns = &mut columns[range.start - all.start..range.end - all.start];
        let rows = rows.chunks_exact_mut(stride).zip(block.q.chunks_exact(COLUMNS));
        for (&i, (row, q)) in block.rows.iter().zip(rows) {
            let panels = self.panels.at(range.clone()).chunks_exact(self.panels.size());
            let columns = columns.chunks_exact_mut(self.panels.size());
            let panels = panels.zip(columns).zip(q.chunks_exact(PANEL)).enumerate();
            for (p, ((panel, columns), q)) in panels {
                if q.iter().all(|&q| q == T::ZERO) {
                    continue;
                }
                let pair = self.pair(i as usize, block.graph, block.first + p * PANEL, panel);
                self.forward(simd, &pair, &mut room.steps);
                let last = &room.steps[(self.steps() - 1) * size..];
                let weights = self.w.iter().zip(dw.iter_mut());
                let values = last.chunks_exact(PANEL).zip(room.grad.chunks_exact_mut(PANEL));
                for ((&w, dw), (x, grad)) in weights.zip(values) {
                    *dw += dot(q, x);
                    grad.iter_mut().zip(q).for_each(|(grad, &q)| *grad = w * q);
                }
                layers::gate(&mut room.grad, last);
                self.backward(simd, &pair, &mut room, shared, row, columns);
            }
        }
    }
    fn gradients(&self, totals: Totals<T>, batch: &Batch) -> Vec<Vec<T>> {
        let (width, len) = (self.width, layers::gradient_len(self.width));
        let count = self.layers.len() * len;
        let (mut shared, mut panels) = (zeros(self.shared()), Vec::new());
        let [mut own, mut other, mut bias] =
            [width * width, width * width, width].map(|len| zeros::<T>(len));
        for graph in 0..batch.graphs() {
            let part = &totals.columns[self.column_gradients(graph..graph + 1, batch)];
            let (weights, rest) = part.split_at(self.shared());
            axpy(T::ONE, weights, &mut shared);
            panels.extend_from_slice(rest);
            let Some(messages) = &self.messages else { continue };
            let mix = &messages.mixes[messages.of_graph[graph]];
            let (mixed, mixed_bias) = layers::unpack_gradients(&weights[count..count + len], width);
            axpy(mix.scale, &mixed, &mut own);
            axpy(mix.scale * mix.factor, &mixed, &mut other);
            axpy(mix.scale, &mixed_bias, &mut bias);
        }
        if self.messages.is_some() {
            let alone = &shared[count + len..count + 2 * len];
            let (alone, alone_bias) = layers::unpack_gradients(alone, width);
            axpy(T::ONE, &alone, &mut own);
            axpy(T::ONE, &alone, &mut other);
            axpy(T::ONE, &alone_bias, &mut bias);
        }
        let (weights, biases) = layers::unpack_gradients(&shared[..count], width);
        let dw = shared[self.shared() - width..].to_vec();
        let none = zeros(totals.rows.len());
        let rows = self.rows.unpad_sum(&totals.rows, &none);
        let columns = self.panels.unpack(&panels, batch);
        let sides = self.rows.width;
        let part = |x: &[T], range: Range<usize>| -> Vec<T> {
            x.chunks_exact(sides).flat_map(|row| row[range.clone()].iter().copied()).collect()
        };
        let (da, db) = (part(&rows, 0..width), part(&columns, 0..width));
        let mut dt = part(&rows, width..sides);
        axpy(T::ONE, &part(&columns, width..sides), &mut dt);
        if self.messages.is_none() {
            [&mut own, &mut other, &mut bias].into_iter().for_each(Vec::clear);
        }
        let dw0 = vec![sum(&totals.row_sums)];
        vec![da, db, dt, own, other, bias, weights, biases, dw, dw0]
    }
}
