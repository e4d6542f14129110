//! Square layers on the pairs of one row with a panel of columns.
//!
//! The values of such pairs are `[width][PANEL]`: feature after feature, the columns side by side. A layer is
//! then one small matrix product whose sums stay in registers.

use super::tile::{LANES, PANEL, Product, TILE, VECTORS};
use crate::kernels::{Real, rows::zeros};
use pulp::Simd;

/// What leaky multiplies negative numbers by.
pub(super) const LEAKY_SLOPE: f64 = 0.01;

/// `y = leaky(x W + b)` for x and y of one width.
pub(super) struct Layer<T> {
    /// W by tiles of outputs, `[outputs / TILE][inputs][TILE]`.
    forward: Vec<T>,
    /// The same of its transpose.
    backward: Vec<T>,
    bias: Vec<T>,
}

impl<T: Real> Layer<T> {
    /// `weight` is `[width, width]`, `bias` `[width]`.
    pub(super) fn new(weight: &[T], bias: &[T]) -> Self {
        let width = bias.len();
        let forward = pack(width, |input, output| weight[input * width + output]);
        let backward = pack(width, |input, output| weight[output * width + input]);
        Self { forward, backward, bias: bias.to_vec() }
    }

    /// The layers of `[layers, width, width]` weights and `[layers, width]` biases.
    pub(super) fn all(weights: &[T], biases: &[T], width: usize) -> Vec<Self> {
        let weights = weights.chunks_exact(width * width);
        weights.zip(biases.chunks_exact(width)).map(|(w, b)| Self::new(w, b)).collect()
    }

    /// `x W + b`, before the activation.
    #[inline(always)]
    pub(super) fn affine<S: Simd>(&self, simd: S, x: &[T], y: &mut [T]) {
        for (y, &bias) in y.chunks_exact_mut(PANEL).zip(&self.bias) {
            y.fill(bias);
        }
        product(simd, &self.forward, x, y);
    }

    /// `dx = dy W^T`.
    #[inline(always)]
    pub(super) fn backward<S: Simd>(&self, simd: S, dy: &[T], dx: &mut [T]) {
        dx.fill(T::ZERO);
        product(simd, &self.backward, dy, dx);
    }
}

fn pack<T: Real>(width: usize, value: impl Fn(usize, usize) -> T) -> Vec<T> {
    let mut packed = zeros(width.next_multiple_of(TILE) * width);
    for (tile, packed) in packed.chunks_exact_mut(width * TILE).enumerate() {
        for (input, packed) in packed.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
            for (r, packed) in packed.iter_mut().enumerate().take(width - tile * TILE) {
                *packed = value(input, tile * TILE + r);
            }
        }
    }
    packed
}

/// `y[o] += sum_k packed[k, o] x[k]`.
#[inline(always)]
fn product<T: Real, S: Simd>(simd: S, packed: &[T], x: &[T], y: &mut [T]) {
    let width = x.len() / PANEL;
    let per_row = T::vectors::<S>(&x[..PANEL]).len();
    for (tile, y) in packed.chunks_exact(width * TILE).zip(y.chunks_mut(TILE * PANEL)) {
        let rows = y.len() / PANEL;
        for at in (0..per_row).step_by(VECTORS) {
            let mut sums = Product::<T, S, VECTORS>::new(simd, at);
            for (&w, x) in tile.as_chunks::<TILE>().0.iter().zip(x.chunks_exact(PANEL)) {
                sums.step(w, x);
            }
            sums.add_to(y, PANEL, rows);
        }
    }
}

/// Numbers in a row of a gradient of weights: whole vectors.
pub(super) fn padded(width: usize) -> usize {
    width.next_multiple_of(LANES)
}

/// Gradient of one layer: weights `[width, padded]`, then biases `[width]`.
pub(super) fn gradient_len(width: usize) -> usize {
    width * padded(width) + width
}

/// Adds `x^T dy`, and the sums of dy, to the gradient of a layer; `turned` is room for `[PANEL][padded]`.
#[inline(always)]
pub(super) fn add_gradient<T: Real, S: Simd>(
    simd: S,
    x: &[T],
    dy: &[T],
    turned: &mut [T],
    grad: &mut [T],
) {
    let (width, stride) = (x.len() / PANEL, turned.len() / PANEL);
    let (weights, biases) = grad.split_at_mut(width * stride);
    for (o, (dy, bias)) in dy.chunks_exact(PANEL).zip(biases).enumerate() {
        *bias += lane_sum(simd, dy);
        for (l, &dy) in dy.iter().enumerate() {
            turned[l * stride + o] = dy;
        }
    }
    let per_row = T::vectors::<S>(&turned[..stride]).len();
    for (tile, weights) in weights.chunks_mut(TILE * stride).enumerate() {
        let rows = weights.len() / stride;
        let x = &x[tile * TILE * PANEL..];
        for at in 0..per_row {
            let mut sums = Product::<T, S, 1>::new(simd, at);
            for (l, turned) in turned.chunks_exact(stride).enumerate() {
                let own =
                    std::array::from_fn(|r| if r < rows { x[r * PANEL + l] } else { T::ZERO });
                sums.step(own, turned);
            }
            sums.add_to(weights, stride, rows);
        }
    }
}

/// The sum of a panel.
#[inline(always)]
pub(super) fn lane_sum<T: Real, S: Simd>(simd: S, values: &[T]) -> T {
    let vectors = T::vectors::<S>(&values[..PANEL]);
    let start = T::splat(simd, T::ZERO);
    T::total(simd, vectors.iter().fold(start, |sum, &v| T::plus(simd, sum, v)))
}

#[inline(always)]
pub(super) fn leaky<T: Real>(values: &mut [T]) {
    let slope = T::from_f64(LEAKY_SLOPE);
    for value in values {
        *value = value.max(*value * slope);
    }
}

/// `values *= leaky'`, told from what leaky gave: it keeps signs.
#[inline(always)]
pub(super) fn gate<T: Real>(values: &mut [T], output: &[T]) {
    let slope = T::from_f64(LEAKY_SLOPE);
    for (value, &output) in values.iter_mut().zip(output) {
        *value *= if output > T::ZERO { T::ONE } else { slope };
    }
}

/// `leaky(own + others)`, own being `[width]` and others `[width][PANEL]`.
#[inline(always)]
pub(super) fn embed<T: Real>(own: &[T], others: &[T], out: &mut [T]) {
    let panels = others.chunks_exact(PANEL).zip(out.chunks_exact_mut(PANEL));
    for (&own, (others, out)) in own.iter().zip(panels) {
        for (out, &other) in out.iter_mut().zip(others) {
            *out = own + other;
        }
        leaky(out);
    }
}

/// All layers, one after the other: `steps` is `[layers + 1][width][PANEL]`, and its first part is given.
#[inline(always)]
pub(super) fn forward<T: Real, S: Simd>(
    simd: S,
    layers: &[Layer<T>],
    size: usize,
    steps: &mut [T],
) {
    for (at, layer) in layers.iter().enumerate() {
        let (x, y) = steps[at * size..(at + 2) * size].split_at_mut(size);
        layer.affine(simd, x, y);
        leaky(y);
    }
}

/// Backward through one layer after the other, from `grad`, the gradient before the activation of the last
/// step, to that before the activation of the first. `grads` holds the gradients of the layers; none are added
/// up if it is empty. `spare` and `turned` are room.
#[inline(always)]
pub(super) fn backward<T: Real, S: Simd>(
    simd: S,
    layers: &[Layer<T>],
    steps: &[T],
    grads: &mut [T],
    [grad, spare, turned]: [&mut [T]; 3],
) {
    let (size, len) = (grad.len(), gradient_len(grad.len() / PANEL));
    for (at, layer) in layers.iter().enumerate().rev() {
        let x = &steps[at * size..(at + 1) * size];
        if !grads.is_empty() {
            add_gradient(simd, x, grad, turned, &mut grads[at * len..(at + 1) * len]);
        }
        layer.backward(simd, grad, spare);
        gate(spare, x);
        grad.copy_from_slice(spare);
    }
}

/// Weights `[layers, width, width]` and biases `[layers, width]` of gradients that were added up.
pub(super) fn unpack_gradients<T: Real>(grads: &[T], width: usize) -> (Vec<T>, Vec<T>) {
    let (mut weights, mut biases) = (Vec::new(), Vec::new());
    let stride = padded(width);
    for layer in grads.chunks_exact(gradient_len(width).max(1)) {
        let (matrix, bias) = layer.split_at(width * stride);
        matrix.chunks_exact(stride).for_each(|row| weights.extend_from_slice(&row[..width]));
        biases.extend_from_slice(bias);
    }
    (weights, biases)
}
