//! Segment reductions against naive loops, finite differences, and each other.

mod common;

use adjoin::{Csr, Error, Result, ops::*};
use burn::tensor::Tensor;
use common::*;

type Function = fn(&Csr, &Tensor<1>) -> Result<Tensor<1>>;

const EDGE_FUNCTIONS: [(&str, Function); 5] = [
    ("sum", segment_sum),
    ("mean", segment_mean),
    ("max", segment_max),
    ("softmax", segment_softmax),
    ("logsumexp", segment_logsumexp),
];

fn run(f: Function, topology: &Csr, input: &[f64]) -> Vec<f64> {
    values(&f(topology, &tensor(input, [input.len()])).unwrap())
}

#[test]
fn forward_equals_naive_loops() {
    let topology = graph(1, 23, 17, 4);
    let v = normals(2, topology.edges());
    let rows = |f: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
        (0..topology.rows()).map(|i| f(&v[topology.range(i)])).collect()
    };
    let total = |row: &[f64]| row.iter().map(|v| v.exp()).sum::<f64>();
    assert_close(&run(segment_sum, &topology, &v), &rows(&|r| r.iter().sum()), 1e-12);
    let mean = rows(&|r| r.iter().sum::<f64>() / r.len().max(1) as f64);
    assert_close(&run(segment_mean, &topology, &v), &mean, 1e-12);
    let max = rows(&|r| r.iter().copied().reduce(f64::max).unwrap_or(0.0));
    assert_close(&run(segment_max, &topology, &v), &max, 0.0);
    let log = rows(&|r| if r.is_empty() { f64::MIN } else { total(r).ln() });
    assert_close(&run(segment_logsumexp, &topology, &v), &log, 1e-12);
    let softmax: Vec<f64> = topology
        .iter()
        .zip(&v)
        .map(|((i, _), v)| {
            v.exp() / total(&normals(2, topology.edges())[topology.range(i as usize)])
        })
        .collect();
    assert_close(&run(segment_softmax, &topology, &v), &softmax, 1e-12);
    let (x, y) = (normals(3, topology.rows()), normals(4, topology.columns()));
    let of_rows: Vec<f64> = topology.iter().map(|(i, _)| x[i as usize]).collect();
    let of_columns: Vec<f64> = topology.iter().map(|(_, j)| y[j as usize]).collect();
    assert_close(&run(broadcast_rows, &topology, &x), &of_rows, 0.0);
    assert_close(&run(gather_columns, &topology, &y), &of_columns, 0.0);
}

#[test]
fn gradients_equal_central_differences() {
    let topology = graph(5, 9, 7, 3);
    for (_, f) in EDGE_FUNCTIONS {
        gradcheck(&[normals(6, topology.edges())], |x| {
            let y = f(&topology, &x[0]).unwrap();
            // The value of empty rows is the lowest finite number: too large to sum.
            y.clamp(-1e3, 1e3)
        });
    }
    gradcheck(&[normals(7, topology.rows())], |x| broadcast_rows(&topology, &x[0]).unwrap());
    gradcheck(&[normals(7, topology.columns())], |x| gather_columns(&topology, &x[0]).unwrap());
}

#[test]
fn the_first_of_equal_maxima_gets_the_gradient() {
    let topology = Csr::new(4, vec![0, 4], vec![0, 1, 2, 3]).unwrap();
    let x = tensor(&[1.0, 2.0, 2.0, 0.0], [4]).require_grad();
    let grads = segment_max(&topology, &x).unwrap().sum().backward();
    assert_eq!(values(&x.grad(&grads).unwrap()), [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn large_values_do_not_overflow_and_infinite_ones_vanish() {
    let topology = Csr::new(3, vec![0, 3, 5, 5], vec![0, 1, 2, 0, 1]).unwrap();
    let hidden = f64::NEG_INFINITY;
    let v = [3000.0, 3000.0, hidden, hidden, hidden];
    for make in [tensor, tensor32] {
        let v = make(&v, [5]);
        let softmax = values(&segment_softmax(&topology, &v).unwrap());
        assert_close(&softmax, &[0.5, 0.5, 0.0, 0.0, 0.0], 1e-6);
        let log = values(&segment_logsumexp(&topology, &v).unwrap());
        assert!((log[0] - 3000.0 - 2f64.ln()).abs() < 1e-3);
        assert!(log[1] < -1e37 && log[1].is_finite() && log[2] == log[1]);
    }
}

#[test]
fn an_empty_row_passes_no_gradient_on() {
    let topology = Csr::new(1, vec![0, 0, 1], vec![0]).unwrap();
    for (name, f) in EDGE_FUNCTIONS {
        let x = tensor(&[0.3], [1]).require_grad();
        let grads = f(&topology, &x).unwrap().sum().backward();
        let expected = if name == "softmax" { 0.0 } else { 1.0 };
        assert_close(&values(&x.grad(&grads).unwrap()), &[expected], 1e-12);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let topology = graph(8, 20_000, 20_000, 9);
    let v = normals(9, topology.edges());
    for (_, f) in EDGE_FUNCTIONS {
        same_bits_on_any_threads(|| {
            let x = tensor32(&v, [v.len()]).require_grad();
            let y = f(&topology, &x).unwrap();
            let grads = (y.clone() * y.clone().clamp(-2.0, 2.0)).sum().backward();
            let mut all = values(&y);
            all.extend(values(&x.grad(&grads).unwrap()));
            all
        });
    }
}

#[test]
fn graphs_without_edges_or_nodes_work() {
    for topology in [Csr::empty(3, 2), Csr::empty(1, 1), Csr::empty(0, 0)] {
        for (name, f) in EDGE_FUNCTIONS {
            let y = run(f, &topology, &[]);
            let expected = if name == "logsumexp" { f64::MIN } else { 0.0 };
            let rows = if name == "softmax" { 0 } else { topology.rows() };
            assert_eq!(y, vec![expected; rows], "{name}");
        }
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let topology = graph(1, 4, 5, 2);
    for (_, f) in EDGE_FUNCTIONS
        .into_iter()
        .chain([("broadcast", broadcast_rows as Function), ("gather", gather_columns as Function)])
    {
        let found = f(&topology, &tensor(&[0.0; 77], [77]));
        assert!(matches!(found, Err(Error::Shape { .. })));
    }
}
