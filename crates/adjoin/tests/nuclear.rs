//! Leading singular values of sparse matrices.

mod common;

use adjoin::{
    Adjacency, Csr, Error, Key,
    loss::{low_rank, sparsity},
    ops::{Convergence, nuclear},
};
use burn::tensor::Tensor;
use common::*;

const KEY: Key = Key::new(17);

/// As far as `most` iterations go.
fn most(most: usize) -> Convergence {
    Convergence { tolerance: 1e-12, most }
}

fn run(topology: &Csr, weights: &[f64], rank: usize, iterations: usize) -> f64 {
    let weights = tensor(weights, [weights.len()]);
    values(&nuclear(topology, &weights, rank, most(iterations), KEY).unwrap())[0]
}

/// Singular values of a dense matrix by one-sided Jacobi rotations of its columns.
fn singular_values(topology: &Csr, weights: &[f64]) -> Vec<f64> {
    let mut columns = vec![vec![0.0; topology.rows()]; topology.columns()];
    for ((i, j), w) in topology.iter().zip(weights) {
        columns[j as usize][i as usize] = *w;
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for _ in 0..60 {
        for i in 0..columns.len() {
            for j in i + 1..columns.len() {
                let (a, b) = (columns[i].clone(), columns[j].clone());
                let off = dot(&a, &b);
                if off.abs() < 1e-300 {
                    continue;
                }
                let theta = (dot(&b, &b) - dot(&a, &a)) / (2.0 * off);
                let t = 1f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                for k in 0..a.len() {
                    columns[i][k] = c * a[k] - c * t * b[k];
                    columns[j][k] = c * t * a[k] + c * b[k];
                }
            }
        }
    }
    let mut values: Vec<f64> = columns.iter().map(|c| dot(c, c).sqrt()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

#[test]
fn sums_equal_those_of_a_dense_decomposition() {
    for (rows, columns) in [(9, 9), (30, 30), (12, 40), (40, 12)] {
        let topology = graph(1, rows, columns, 5);
        let weights = normals(2, topology.edges());
        let expected = singular_values(&topology, &weights);
        for rank in [1, 3, 9] {
            let sum: f64 = expected.iter().take(rank).sum();
            assert_close(&[run(&topology, &weights, rank, 200)], &[sum], 1e-9);
        }
    }
}

#[test]
fn a_rank_above_the_size_gives_the_nuclear_norm() {
    let topology = graph(3, 10, 6, 4);
    let weights = normals(4, topology.edges());
    let sum: f64 = singular_values(&topology, &weights).iter().sum();
    assert_close(&[run(&topology, &weights, 100, 3)], &[sum], 1e-9);
}

#[test]
fn a_few_iterations_are_enough_when_the_values_fall_off() {
    // Three dense blocks with equal weights and weak noise: three large singular values.
    let n = 60;
    let full = Csr::new(
        n,
        (0..=n as u32).map(|i| i * n as u32).collect(),
        (0..n).flat_map(|_| 0..n as u32).collect(),
    )
    .unwrap();
    let noise = normals(5, n * n);
    let weights: Vec<f64> =
        (0..n * n).map(|e| f64::from(u8::from(e / n % 3 == e % n % 3)) + 0.05 * noise[e]).collect();
    let expected: f64 = singular_values(&full, &weights)[..3].iter().sum();
    assert_close(&[run(&full, &weights, 3, 4)], &[expected], 1e-8);
}

#[test]
fn gradients_equal_central_differences() {
    for (rows, columns, rank) in [(9, 9, 3), (7, 12, 2), (6, 6, 1)] {
        let topology = graph(6, rows, columns, 4);
        gradcheck(&[normals(7, topology.edges())], |x| {
            nuclear(&topology, &x[0], rank, most(200), KEY).unwrap() * 1.5
        });
    }
}

#[test]
fn zero_singular_values_pass_no_gradient_on() {
    // Rank one: u v^T with u, v the normalised ones; a second singular value does not exist.
    let full = Csr::new(2, vec![0, 2, 4], vec![0, 1, 0, 1]).unwrap();
    let w = tensor(&[1.0; 4], [4]).require_grad();
    let sum = nuclear(&full, &w, 2, most(3), KEY).unwrap();
    assert_close(&values(&sum), &[2.0], 1e-12);
    let grads = sum.backward();
    assert_close(&values(&w.grad(&grads).unwrap()), &[0.5; 4], 1e-9);
}

#[test]
fn threads_do_not_change_a_bit() {
    let topology = graph(8, 4000, 4000, 8);
    let weights = normals(9, topology.edges());
    same_bits_on_any_threads(|| {
        let w = tensor32(&weights, [weights.len()]).require_grad();
        let sum = nuclear(&topology, &w, 5, most(2), KEY).unwrap();
        let grads = sum.backward();
        let mut all = values(&sum);
        all.extend(values(&w.grad(&grads).unwrap()));
        all
    });
}

#[test]
fn graphs_without_edges_nodes_or_weight_give_zero() {
    for topology in [Csr::empty(0, 0), Csr::empty(3, 2), Csr::identity(1)] {
        assert_eq!(run(&topology, &vec![0.0; topology.edges()], 2, 2), 0.0);
    }
    assert_close(&[run(&Csr::identity(1), &[-3.0], 2, 2)], &[3.0], 1e-12);
    let w = tensor(&[0.0; 3], [3]).require_grad();
    let grads = nuclear(&Csr::identity(3), &w, 2, most(2), KEY).unwrap().backward();
    assert_eq!(values(&w.grad(&grads).unwrap()), [0.0; 3]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let w = tensor(&[1.0; 3], [3]);
    let shape = nuclear(&Csr::identity(2), &w, 1, most(1), KEY);
    assert!(matches!(shape, Err(Error::Shape { .. })));
    let rank = nuclear(&Csr::identity(3), &w, 0, most(1), KEY);
    assert!(matches!(rank, Err(Error::Setting { .. })));
}

/// Without a gap that stands out, a few iterations are not enough for the gradient.
#[test]
fn the_low_rank_loss_is_right_on_flat_spectra() {
    for (seed, rank) in [(1, 1), (2, 5), (3, 10)] {
        let topology = graph(seed, 1500, 1500, 5);
        let weights: Vec<f64> = normals(seed, topology.edges()).iter().map(|w| w.abs()).collect();
        let gradient = |loss: &dyn Fn(&Adjacency) -> Tensor<1>| {
            let leaf = tensor(&weights, [weights.len()]).require_grad();
            let graph = Adjacency::new(topology.clone(), leaf.clone()).unwrap();
            values(&leaf.grad(&loss(&graph).backward()).unwrap())
        };
        let found = gradient(&|graph| low_rank(graph, rank, KEY).unwrap());
        let exact = Convergence { tolerance: 1e-10, most: 5000 };
        let exact = gradient(&|graph| {
            nuclear(graph.topology(), graph.weights(), rank, exact, KEY).unwrap()
        });
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
        let off = norm(&mut found.iter().zip(&exact).map(|(a, b)| a - b));
        let off = off / norm(&mut exact.iter().copied());
        assert!(off < 0.02, "rank {rank}: {off}");
    }
}

#[test]
fn the_sparsity_of_a_huge_graph_does_not_depend_on_threads() {
    let count = 5_000_000u32;
    let one_row = Csr::new(count as usize, vec![0, count], (0..count).collect()).unwrap();
    for seed in 0..4 {
        let (key, other) = (Key::new(seed), Key::new(seed).child(1));
        let weight = |n: u64| (6.0 * key.uniform(n)).exp() * other.uniform(n);
        let weights: Vec<f64> = (0..u64::from(count)).map(weight).collect();
        let expected: f64 = weights.iter().sum();
        let leaf = tensor32(&weights, [weights.len()]).require_grad();
        let graph = Adjacency::new(one_row.clone(), leaf.clone()).unwrap();
        same_bits_on_any_threads(|| values(&sparsity(&graph)));
        let loss = sparsity(&graph);
        assert!((values(&loss)[0] / expected - 1.0).abs() < 1e-5);
        let grads = values(&leaf.grad(&loss.backward()).unwrap());
        assert!(grads.iter().all(|&g| g == 1.0));
    }
}
