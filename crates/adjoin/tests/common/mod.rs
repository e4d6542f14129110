//! What the integration tests share: tensors in f64, a gradient check, a thread check.
#![allow(dead_code)] // every test file uses a part of it

use adjoin::{Adjacency, Csr, Key, Result, SelfLoops, ops};
use burn::tensor::{DType, Device, Tensor, TensorData};

/// The Flex device, with gradients.
pub fn device() -> Device {
    Device::flex().autodiff()
}

/// A double-precision tensor on the device that tracks gradients.
pub fn tensor<const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (&device(), DType::F64))
}

/// A single-precision tensor on the device that tracks gradients.
pub fn tensor32<const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<D> {
    let values: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), (&device(), DType::F32))
}

/// The values of a tensor, whatever its element type.
pub fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// What the selector kept as a graph, and where its edges were among the candidates.
pub fn selected(found: Result<ops::Selected>) -> (Adjacency, Vec<u32>) {
    let ops::Selected { topology, weights, entries } = found.expect("a selection");
    (Adjacency::new(topology, weights).expect("one weight an edge"), entries)
}

/// Standard normal values.
pub fn normals(seed: u64, count: usize) -> Vec<f64> {
    (0..count).map(|n| Key::new(seed).normal(n as u64)).collect()
}

/// A random directed graph with about `degree` edges a row; every fifth row has none.
pub fn graph(seed: u64, rows: usize, columns: usize, degree: usize) -> Csr {
    let key = Key::new(seed);
    let edges = (0..rows * degree).filter_map(|n| {
        let row = (n / degree) as u32;
        (row % 5 != 3).then(|| (row, key.below(n as u64, columns) as u32))
    });
    Csr::from_edges(rows, columns, edges, SelfLoops::Keep).expect("edges in range")
}

/// Asserts that two lists of numbers agree to `tolerance`, relative above 1 and absolute below.
#[track_caller]
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "lengths");
    for (at, (&a, &b)) in found.iter().zip(expected).enumerate() {
        let error = (a - b).abs() / b.abs().max(1.0);
        assert!(error <= tolerance, "at {at}: found {a}, expected {b}");
    }
}

/// Checks the gradients of `f` in f64 against central differences.
///
/// `f` takes flat tensors (reshape inside) and may return any number of values; what is
/// differentiated is a fixed random combination of them. Keep inputs away from kinks and ties.
#[track_caller]
pub fn gradcheck(inputs: &[Vec<f64>], f: impl Fn(&[Tensor<1>]) -> Tensor<1>) {
    const STEP: f64 = 1e-5;
    const TOLERANCE: f64 = 2e-6;
    let leaves = |inputs: &[Vec<f64>]| -> Vec<Tensor<1>> {
        inputs.iter().map(|v| tensor(v, [v.len()]).require_grad()).collect()
    };
    let tracked = leaves(inputs);
    let output = f(&tracked);
    let [count] = output.dims();
    let mix = normals(0x006d_6978, count);
    let grads = (output * tensor(&mix, [count])).sum().backward();
    let combined = |inputs: &[Vec<f64>]| -> f64 {
        values(&f(&leaves(inputs))).iter().zip(&mix).map(|(v, m)| v * m).sum()
    };
    for (n, input) in inputs.iter().enumerate() {
        let grad = tracked[n].grad(&grads).map_or(vec![0.0; input.len()], |g| values(&g));
        assert_eq!(grad.len(), input.len(), "gradient of input {n}");
        for at in 0..input.len() {
            let shifted = |by: f64| {
                let mut inputs = inputs.to_vec();
                inputs[n][at] += by;
                combined(&inputs)
            };
            let expected = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
            let error = (grad[at] - expected).abs() / expected.abs().max(1.0);
            assert!(
                error < TOLERANCE,
                "input {n}, element {at}: gradient {}, difference {expected}",
                grad[at]
            );
        }
    }
}

/// Runs `f` on pools of 1, 2 and 4 threads and asserts that the results have the same bits.
#[track_caller]
pub fn same_bits_on_any_threads(f: impl Fn() -> Vec<f64> + Sync) {
    let on = |threads: usize| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| f().iter().map(|v| v.to_bits()).collect())
    };
    let one = on(1);
    assert!(!one.is_empty());
    assert!(one == on(2), "2 threads differ from 1");
    assert!(one == on(4), "4 threads differ from 1");
}
