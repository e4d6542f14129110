//! EdgeConv from node-level products against the layer on all messages.

mod common;

use adjoin::{
    Csr, Error, Result,
    ops::{edgeconv, edgeconv_extremes, edgeconv_normalise, edgeconv_statistics},
};
use burn::tensor::Tensor;
use common::*;

const SLOPE: f64 = 0.2;
const EPS: f64 = 1e-5;

/// Inputs p, q, scale (of both signs) and shift.
fn inputs(topology: &Csr, width: usize) -> [Vec<f64>; 4] {
    let [p, q] = [topology.columns(), topology.rows()].map(|n| normals(n as u64, n * width));
    let q = q.iter().map(|v| 0.7 * v + 0.3).collect();
    [p, q, normals(3, width), normals(4, width)]
}

/// All messages, `[edges, C]`.
fn messages(topology: &Csr, p: &[f64], q: &[f64], width: usize) -> Vec<Vec<f64>> {
    let message = |(i, j): (u32, u32)| {
        (0..width).map(|c| p[j as usize * width + c] + q[i as usize * width + c]).collect()
    };
    topology.iter().map(message).collect()
}

/// Mean and biased variance of the messages of a channel.
fn moments(messages: &[Vec<f64>], c: usize) -> (f64, f64) {
    let n = messages.len().max(1) as f64;
    let mean = messages.iter().map(|m| m[c]).sum::<f64>() / n;
    (mean, messages.iter().map(|m| (m[c] - mean).powi(2)).sum::<f64>() / n)
}

/// The layer as the paper writes it: normalise and rectify every message, then the maximum.
fn naive(topology: &Csr, [p, q, scale, shift]: [&[f64]; 4]) -> Vec<f64> {
    let width = scale.len();
    let messages = messages(topology, p, q, width);
    let mut out = vec![0.0; topology.rows() * width];
    for c in 0..width {
        let (mean, variance) = moments(&messages, c);
        for i in 0..topology.rows() {
            let values = messages[topology.range(i)].iter().map(|m| {
                let y = (m[c] - mean) / (variance + EPS).sqrt() * scale[c] + shift[c];
                if y > 0.0 { y } else { SLOPE * y }
            });
            out[i * width + c] = values.reduce(f64::max).unwrap_or(0.0);
        }
    }
    out
}

#[test]
fn forward_equals_the_layer_on_all_messages() {
    for (rows, columns, width) in [(23, 23, 5), (31, 31, 64), (12, 20, 43)] {
        let topology = graph(1, rows, columns, 4);
        let [p, q, scale, shift] = inputs(&topology, width);
        let expected = naive(&topology, [&p, &q, &scale, &shift]);
        let all = messages(&topology, &p, &q, width);
        for (make, tolerance) in [(tensor as fn(&_, _) -> _, 1e-11), (tensor32, 2e-5)] {
            let vector = |v: &[f64]| make(v, [1, width]).reshape([width]);
            let (p, q) = (make(&p, [columns, width]), make(&q, [rows, width]));
            let (scale, shift) = (vector(&scale), vector(&shift));
            let (y, mean, variance) =
                edgeconv(&topology, &p, &q, &scale, &shift, SLOPE, EPS).unwrap();
            assert_close(&values(&y), &expected, tolerance);
            let naive: Vec<(f64, f64)> = (0..width).map(|c| moments(&all, c)).collect();
            let (means, variances): (Vec<f64>, Vec<f64>) = naive.into_iter().unzip();
            assert_close(&values(&mean), &means, tolerance);
            assert_close(&values(&variance), &variances, tolerance);
        }
    }
}

#[test]
fn gradients_equal_central_differences() {
    for (rows, columns, width) in [(8, 8, 3), (6, 9, 9)] {
        let topology = graph(2, rows, columns, 3);
        let [p, q, scale, shift] = inputs(&topology, width);
        let nodes = |x: &[Tensor<1>]| {
            (x[0].clone().reshape([columns, width]), x[1].clone().reshape([rows, width]))
        };
        let pair = [p.clone(), q.clone()];
        gradcheck(&pair, |x| {
            let ((p, q), scale) = (nodes(x), tensor(&scale, [width]));
            edgeconv_extremes(&topology, &p, &q, &scale).unwrap().reshape([rows * width])
        });
        gradcheck(&pair, |x| {
            let (p, q) = nodes(x);
            edgeconv_statistics(&topology, &p, &q).unwrap().reshape([2 * width])
        });
        let statistics: Vec<f64> = normals(8, 2 * width).iter().map(|v| v.abs() + 0.1).collect();
        gradcheck(&[q.clone(), statistics, scale.clone(), shift.clone()], |x| {
            let (m, s) = (x[0].clone().reshape([rows, width]), x[1].clone().reshape([2, width]));
            let y = edgeconv_normalise(&topology, &m, &s, &x[2], &x[3], SLOPE, EPS).unwrap();
            y.reshape([rows * width])
        });
        gradcheck(&[p, q, scale, shift], |x| {
            let (p, q) = nodes(x);
            let (y, ..) = edgeconv(&topology, &p, &q, &x[2], &x[3], SLOPE, EPS).unwrap();
            y.reshape([rows * width])
        });
    }
}

#[test]
fn a_large_common_offset_costs_no_digits_of_the_variance() {
    let topology = graph(4, 200, 200, 8);
    let [p, q, ..] = inputs(&topology, 3);
    let exact: Vec<f64> = (0..3).map(|c| moments(&messages(&topology, &p, &q, 3), c).1).collect();
    let offset = |v: &[f64], by: f64| -> Vec<f64> { v.iter().map(|v| v + by).collect() };
    let p = tensor32(&offset(&p, 1000.0), [200, 3]);
    let q = tensor32(&offset(&q, -3000.0), [200, 3]);
    let found = values(&edgeconv_statistics(&topology, &p, &q).unwrap());
    assert_close(&found[3..], &exact, 2e-4);
}

#[test]
fn the_first_of_equal_neighbours_gets_the_gradient() {
    let topology = Csr::new(3, vec![0, 3, 5, 5], vec![0, 1, 2, 1, 2]).unwrap();
    let p = tensor(&[1.0, 2.0, 2.0, 1.0, 2.0, 1.0], [3, 2]).require_grad();
    let q = tensor(&[0.0; 6], [3, 2]).require_grad();
    let scale = tensor(&[1.0, -1.0], [2]);
    let m = edgeconv_extremes(&topology, &p, &q, &scale).unwrap();
    assert_eq!(values(&m), [2.0, 1.0, 2.0, 1.0, 0.0, 0.0]);
    let grads = m.sum().backward();
    assert_eq!(values(&p.grad(&grads).unwrap()), [0.0, 0.0, 2.0, 2.0, 0.0, 0.0]);
    assert_eq!(values(&q.grad(&grads).unwrap()), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn only_the_sign_of_a_tracked_scale_matters_to_the_extremes() {
    let topology = Csr::identity(2);
    let leaf = tensor(&[0.5, -0.5], [2]).require_grad();
    let p = tensor(&[1.0; 4], [2, 2]).require_grad();
    // The scale is an intermediate result without any other use: the backward pass must not trip.
    let m = edgeconv_extremes(&topology, &p, &p, &(leaf.clone() * 2.0)).unwrap();
    let grads = m.sum().backward();
    assert_eq!(values(&p.grad(&grads).unwrap()), [2.0; 4]);
    assert!(leaf.grad(&grads).is_none());
}

#[test]
fn threads_do_not_change_a_bit() {
    let topology = graph(5, 3000, 3000, 10);
    let [p, q, scale, shift] = inputs(&topology, 40);
    same_bits_on_any_threads(|| {
        let [p, q] = [&p, &q].map(|v| tensor32(v, [3000, 40]).require_grad());
        let [scale, shift] = [&scale, &shift].map(|v| tensor32(v, [40]).require_grad());
        let (y, mean, variance) = edgeconv(&topology, &p, &q, &scale, &shift, SLOPE, EPS).unwrap();
        let grads = (y.clone() * y.clone()).sum_dim(1).sum().backward();
        let mut all = values(&y);
        all.extend([&mean, &variance].into_iter().flat_map(values));
        all.extend([&p, &q].into_iter().flat_map(|x| values(&x.grad(&grads).unwrap())));
        all.extend([&scale, &shift].into_iter().flat_map(|x| values(&x.grad(&grads).unwrap())));
        all
    });
}

#[test]
fn graphs_without_edges_or_nodes_give_zeros() {
    for n in [0, 1, 3] {
        let topology = Csr::empty(n, n);
        let p = tensor(&vec![1.5; 2 * n], [n, 2]).require_grad();
        let scale = tensor(&[1.0, -1.0], [2]).require_grad();
        let (y, mean, variance) = edgeconv(&topology, &p, &p, &scale, &scale, SLOPE, EPS).unwrap();
        assert_eq!(values(&y), vec![0.0; 2 * n]);
        assert_eq!([values(&mean), values(&variance)], [[0.0; 2]; 2]);
        if n > 0 {
            let grads = y.sum().backward();
            assert_eq!(values(&p.grad(&grads).unwrap()), vec![0.0; 2 * n]);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let topology = Csr::identity(3);
    let (x, v) = (tensor(&[0.0; 6], [3, 2]), tensor(&[0.0; 2], [2]));
    let (wide, short) = (tensor(&[0.0; 9], [3, 3]), tensor(&[0.0; 4], [2, 2]));
    let none: Tensor<2> = tensor(&[], [3, 0]);
    let vector: Tensor<1> = tensor(&[0.0; 3], [3]);
    let shape = |result: Result<Tensor<2>>| assert!(matches!(result, Err(Error::Shape { .. })));
    shape(edgeconv_extremes(&topology, &short, &x, &v));
    shape(edgeconv_extremes(&topology, &x, &wide, &v));
    shape(edgeconv_extremes(&topology, &x, &x, &vector));
    shape(edgeconv_statistics(&topology, &none, &none));
    shape(edgeconv_statistics(&topology, &x, &short));
    shape(edgeconv_normalise(&topology, &short, &short, &v, &v, SLOPE, EPS));
    shape(edgeconv_normalise(&topology, &x, &x, &v, &v, SLOPE, EPS));
    shape(edgeconv_normalise(&topology, &x, &short, &vector, &v, SLOPE, EPS));
    for (slope, eps) in [(-0.1, EPS), (f64::NAN, EPS), (SLOPE, -1.0), (SLOPE, f64::INFINITY)] {
        let result = edgeconv(&topology, &x, &x, &v, &v, slope, eps);
        assert!(matches!(result, Err(Error::Setting { .. })));
    }
}
