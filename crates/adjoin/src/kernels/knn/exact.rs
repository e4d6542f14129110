//! Distances computed from the points themselves, in `f64`.

use super::{Metric, Near};
use crate::kernels::{Real, vectorised};

/// The points of one graph, ready for exact comparisons.
pub(super) struct Exact<'a, T> {
    pub points: &'a [T],
    pub width: usize,
    pub metric: Metric,
    /// A power of two that brings the largest coordinate near 1, so that no square overflows or
    /// underflows; multiplying by it is exact.
    pub scale: f64,
    /// `1 / |x_i|` of the scaled points, 0 for zero vectors; for the cosine only.
    pub inverse_norms: Vec<f64>,
}

impl<'a, T: Real> Exact<'a, T> {
    pub fn new(points: &'a [T], width: usize, metric: Metric) -> Self {
        let largest = points.iter().fold(T::ZERO, |most, &value| most.max(value.abs())).to_f64();
        // Beyond 2^1000 the factor itself would leave the range of f64.
        let exponent = if largest > 0.0 { largest.log2().clamp(-1000.0, 1000.0) } else { 0.0 };
        let scale = 2f64.powi(-(exponent as i32));
        let mut exact = Self { points, width, metric, scale, inverse_norms: Vec::new() };
        if metric == Metric::Cosine {
            exact.inverse_norms = vectorised(inverse_norms, (points, width, scale));
        }
        exact
    }

    pub fn row(&self, i: usize) -> &'a [T] {
        &self.points[i * self.width..(i + 1) * self.width]
    }

    /// Fills in how far each point of the shortlist is from point `i`, in scaled units: the squared
    /// distance, or the negated product.
    pub fn measure(&self, i: usize, shortlist: &mut [Near<f64>]) {
        match self.metric {
            Metric::Euclidean => vectorised(measure_squares, (self, i, shortlist)),
            Metric::Dot | Metric::Cosine => vectorised(measure_products, (self, i, shortlist)),
        }
        if self.metric == Metric::Cosine {
            // Width 0 has no norms: all its points are zero vectors.
            let inverse = |i: usize| self.inverse_norms.get(i).copied().unwrap_or(0.0);
            for near in shortlist {
                near.value *= inverse(i) * inverse(near.index as usize);
            }
        }
    }

    /// The distance a caller sees, from a value of [`measure`](Self::measure).
    pub fn distance(&self, value: f64) -> T {
        T::from_f64(match self.metric {
            Metric::Euclidean => value.sqrt() / self.scale,
            Metric::Dot => value / self.scale / self.scale,
            Metric::Cosine => 1.0 + value,
        })
    }
}

#[inline(always)]
fn inverse_norms<T: Real>((points, width, scale): (&[T], usize, f64)) -> Vec<f64> {
    let invert = |square: f64| if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
    points.chunks_exact(width.max(1)).map(|row| invert(dot(row, row, scale))).collect()
}

#[inline(always)]
fn measure_squares<T: Real>((exact, i, shortlist): (&Exact<T>, usize, &mut [Near<f64>])) {
    let (x, scale) = (exact.row(i), exact.scale);
    for near in shortlist {
        let y = exact.row(near.index as usize);
        near.value = accumulate(x, y, |a, b, sum| {
            let difference = a * scale - b * scale;
            difference.mul_add(difference, sum)
        });
    }
}

#[inline(always)]
fn measure_products<T: Real>((exact, i, shortlist): (&Exact<T>, usize, &mut [Near<f64>])) {
    for near in shortlist {
        near.value = -dot(exact.row(i), exact.row(near.index as usize), exact.scale);
    }
}

#[inline(always)]
fn dot<T: Real>(x: &[T], y: &[T], scale: f64) -> f64 {
    accumulate(x, y, |a, b, sum| (a * scale).mul_add(b * scale, sum))
}

/// Sum over coordinates in eight interleaved parts, so that it vectorises.
#[inline(always)]
fn accumulate<T: Real>(x: &[T], y: &[T], add: impl Fn(f64, f64, f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let mut parts = [0.0; LANES];
    let (xs, ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
    let (x_rest, y_rest) = (xs.remainder(), ys.remainder());
    for (a, b) in xs.zip(ys) {
        for lane in 0..LANES {
            parts[lane] = add(a[lane].to_f64(), b[lane].to_f64(), parts[lane]);
        }
    }
    for (part, (a, b)) in parts.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *part = add(a.to_f64(), b.to_f64(), *part);
    }
    let [a, b, c, d, e, f, g, h] = parts;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}
