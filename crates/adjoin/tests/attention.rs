//! Fused attention against a naive implementation and finite differences.

mod common;

use adjoin::{
    Csr, Error, SelfLoops,
    kernels::random::Key,
    ops::{Attention, attention},
};
use burn::tensor::Tensor;
use common::*;

const PLAIN: Attention = Attention { heads: 2, slope: 0.2, dropout: None };

/// Attention head by head, edge by edge, without dropout.
fn naive(topology: &Csr, [h, src, dst, w]: [&[f64]; 4], heads: usize, slope: f64) -> Vec<f64> {
    let width = src.len();
    let features = width / heads;
    let mut out = vec![0.0; topology.rows() * width];
    for head in 0..heads {
        let part = |x: &[f64], node: usize| -> Vec<f64> {
            x[node * width + head * features..][..features].to_vec()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for i in 0..topology.rows() {
            let logits: Vec<f64> = topology
                .range(i)
                .map(|e| {
                    let j = topology.indices()[e] as usize;
                    let raw = dot(&part(src, 0), &part(h, j)) + dot(&part(dst, 0), &part(h, i));
                    (if raw > 0.0 { raw } else { slope * raw }) + w[e]
                })
                .collect();
            let total: f64 = logits.iter().map(|l| l.exp()).sum();
            for (&j, logit) in topology.row(i).iter().zip(&logits) {
                for (f, x) in part(h, j as usize).iter().enumerate() {
                    out[i * width + head * features + f] += logit.exp() / total * x;
                }
            }
        }
    }
    out
}

fn inputs(topology: &Csr, width: usize) -> [Vec<f64>; 4] {
    let small = |seed| normals(seed, width).iter().map(|v| 0.5 * v).collect();
    [normals(1, topology.rows() * width), small(2), small(3), normals(4, topology.edges())]
}

#[test]
fn forward_equals_a_naive_loop() {
    let topology = graph(1, 19, 19, 4);
    for (heads, width) in [(1, 7), (2, 6), (8, 64), (8, 24), (3, 30), (16, 32)] {
        let [h, src, dst, w] = inputs(&topology, width);
        let expected = naive(&topology, [&h, &src, &dst, &w], heads, 0.2);
        let none = naive(&topology, [&h, &src, &dst, &vec![0.0; w.len()]], heads, 0.2);
        let options = Attention { heads, ..PLAIN };
        for (make, tolerance) in [(tensor as fn(&_, _) -> _, 1e-12), (tensor32, 2e-6)] {
            let h = make(&h, [19, width]);
            let vector = |v: &[f64]| make(v, [v.len(), 1]).reshape([v.len()]);
            let (src, dst, w) = (vector(&src), vector(&dst), vector(&w));
            let y = attention(&topology, &h, &src, &dst, Some(&w), options).unwrap();
            assert_close(&values(&y), &expected, tolerance);
            let y = attention(&topology, &h, &src, &dst, None, options).unwrap();
            assert_close(&values(&y), &none, tolerance);
        }
    }
}

#[test]
fn gradients_equal_central_differences() {
    let topology = graph(2, 8, 8, 3);
    let dropout = Some((Key::new(5), 0.4));
    for (heads, width) in [(1, 3), (2, 6), (8, 16)] {
        for dropout in [None, dropout] {
            let options = Attention { heads, slope: 0.2, dropout };
            gradcheck(&inputs(&topology, width), |x| {
                let h = x[0].clone().reshape([8, width]);
                let y = attention(&topology, &h, &x[1], &x[2], Some(&x[3]), options).unwrap();
                y.reshape([8 * width])
            });
        }
    }
    gradcheck(&inputs(&topology, 4)[..3], |x| {
        let h = x[0].clone().reshape([8, 4]);
        attention(&topology, &h, &x[1], &x[2], None, PLAIN).unwrap().reshape([32])
    });
}

#[test]
fn dropout_drops_its_share_keeps_the_mean_and_depends_on_the_key() {
    let n = 400;
    let edges = (0..n as u32).flat_map(|i| (0..30).map(move |k| (i, (i * 7 + k * 11) % n as u32)));
    let topology = Csr::from_edges(n, n, edges, SelfLoops::Drop).unwrap();
    // Equal logits and features of 1: an output is the number of kept neighbours, rescaled.
    let (h, zero) = (tensor(&vec![1.0; n * 2], [n, 2]), tensor(&[0.0; 2], [2]));
    let run = |key, rate| {
        let options = Attention { dropout: Some((Key::new(key), rate)), ..PLAIN };
        values(&attention(&topology, &h, &zero, &zero, None, options).unwrap())
    };
    let y = run(1, 0.6);
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    let variance = y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / y.len() as f64;
    // Binomial: rate / (1 - rate) / degree.
    assert!((variance * 30.0 / 1.5 - 1.0).abs() < 0.25, "{variance}");
    let heads_agree = y.chunks(2).filter(|pair| pair[0] == pair[1]).count();
    assert!(heads_agree < n / 3, "heads draw their own masks: {heads_agree}");
    assert_eq!(y, run(1, 0.6));
    assert_ne!(y, run(2, 0.6));
    assert_close(&run(1, 0.0), &vec![1.0; 2 * n], 1e-12);
}

#[test]
fn a_weight_of_zero_removes_the_edge() {
    let full = Csr::new(3, vec![0, 3, 5, 6], vec![0, 1, 2, 0, 1, 0]).unwrap();
    let less = Csr::new(3, vec![0, 2, 4, 4], vec![0, 2, 0, 1]).unwrap();
    let [h, src, dst, _] = inputs(&full, 4);
    let run = |topology: &Csr, w: &[f64]| {
        let (h, w) = (tensor(&h, [3, 4]), tensor(w, [w.len()]));
        let (src, dst) = (tensor(&src, [4]), tensor(&dst, [4]));
        values(&attention(topology, &h, &src, &dst, Some(&w), PLAIN).unwrap())
    };
    let hidden = f64::NEG_INFINITY;
    let found = run(&full, &[0.1, hidden, 0.2, 0.3, 0.4, hidden]);
    assert_close(&found, &run(&less, &[0.1, 0.2, 0.3, 0.4]), 1e-12);
    assert_eq!(found[8..], [0.0; 4]);
}

#[test]
fn threads_do_not_change_a_bit() {
    let topology = graph(3, 3000, 3000, 6);
    for (heads, width) in [(8, 64), (1, 7)] {
        let options = Attention { heads, slope: 0.2, dropout: Some((Key::new(1), 0.5)) };
        let [h, src, dst, w] = inputs(&topology, width);
        same_bits_on_any_threads(|| {
            let h = tensor32(&h, [3000, width]).require_grad();
            let vector = |v: &[f64]| tensor32(v, [v.len()]).require_grad();
            let vectors = [vector(&src), vector(&dst), vector(&w)];
            let [src, dst, w] = &vectors;
            let y = attention(&topology, &h, src, dst, Some(w), options).unwrap();
            let grads = (y.clone() * y.clone()).sum_dim(1).sum().backward();
            let mut all = values(&y);
            all.extend(values(&h.grad(&grads).unwrap()));
            for v in &vectors {
                all.extend(values(&v.grad(&grads).unwrap()));
            }
            all
        });
    }
}

#[test]
fn graphs_without_edges_or_nodes_and_single_nodes_work() {
    let a = tensor(&[0.5; 4], [4]);
    for topology in [Csr::empty(3, 3), Csr::empty(0, 0)] {
        let n = topology.rows();
        let h = tensor(&vec![1.0; 4 * n], [n, 4]);
        let y = attention(&topology, &h, &a, &a, None, PLAIN).unwrap();
        assert_eq!(values(&y), vec![0.0; 4 * n]);
    }
    let h = tensor(&[1.0, 2.0, 3.0, 4.0], [1, 4]);
    let y = attention(&Csr::identity(1), &h, &a, &a, None, PLAIN).unwrap();
    assert_close(&values(&y), &[1.0, 2.0, 3.0, 4.0], 1e-12);
}

#[test]
fn what_does_not_fit_is_refused() {
    let topology = Csr::identity(3);
    let (h, a) = (tensor(&[0.0; 12], [3, 4]), tensor(&[0.0; 4], [4]));
    let short: Tensor<1> = tensor(&[0.0; 2], [2]);
    let shape = |result: adjoin::Result<Tensor<2>>| matches!(result, Err(Error::Shape { .. }));
    let setting = |result: adjoin::Result<Tensor<2>>| matches!(result, Err(Error::Setting { .. }));
    assert!(shape(attention(&Csr::empty(3, 2), &h, &a, &a, None, PLAIN)));
    assert!(shape(attention(&Csr::identity(2), &h, &a, &a, None, PLAIN)));
    assert!(shape(attention(&topology, &h, &short, &a, None, PLAIN)));
    assert!(shape(attention(&topology, &h, &a, &short, None, PLAIN)));
    assert!(shape(attention(&topology, &h, &a, &a, Some(&short), PLAIN)));
    for options in [
        Attention { heads: 0, ..PLAIN },
        Attention { heads: 3, ..PLAIN },
        Attention { slope: f64::NAN, ..PLAIN },
        Attention { dropout: Some((Key::new(1), 1.0)), ..PLAIN },
        Attention { dropout: Some((Key::new(1), -0.1)), ..PLAIN },
    ] {
        assert!(setting(attention(&topology, &h, &a, &a, None, options)), "{options:?}");
    }
    let single = attention(&topology, &tensor32(&[0.0; 12], [3, 4]), &a, &a, None, PLAIN);
    assert!(matches!(single, Err(Error::Unsupported { .. })));
}
