//! EdgeConv on 8 clouds of 1024 points, 20 neighbours each, 64 to 64 channels.

use adjoin::{
    Csr, SelfLoops,
    kernels::{edgeconv as kernel, random::Key},
    ops::edgeconv,
};
use burn::tensor::{Device, Tensor, TensorData};
use divan::Bencher;

fn main() {
    divan::main();
}

const CLOUDS: usize = 8;
const POINTS: usize = 1024;
const NEIGHBOURS: usize = 20;
const WIDTH: usize = 64;
const NODES: usize = CLOUDS * POINTS;

/// Neighbours among the near indices of the same cloud: sorted points have theirs there too.
fn clouds() -> Csr {
    let key = Key::new(1);
    let edges = (0..NODES).flat_map(|i| {
        let (base, own) = (i / POINTS * POINTS, i % POINTS);
        (0..NEIGHBOURS).map(move |n| {
            let step = 1 + n * 12 + key.below((i * NEIGHBOURS + n) as u64, 12);
            (i as u32, (base + (own + step) % POINTS) as u32)
        })
    });
    Csr::from_edges(NODES, NODES, edges, SelfLoops::Keep).expect("edges in range")
}

fn normals(seed: u64, count: usize) -> Vec<f32> {
    (0..count).map(|n| Key::new(seed).normal(n as u64) as f32).collect()
}

fn tensor<const D: usize>(seed: u64, shape: [usize; D]) -> Tensor<D> {
    let data = TensorData::new(normals(seed, shape.iter().product()), shape);
    Tensor::from_data(data, &Device::flex().autodiff()).require_grad()
}

#[divan::bench]
fn kernel_extremes(bencher: Bencher) {
    let (topology, p, scale) = (clouds(), normals(1, NODES * WIDTH), normals(2, WIDTH));
    bencher.bench(|| kernel::extremes(&topology, &p, &p, &scale));
}

#[divan::bench]
fn kernel_extremes_backward(bencher: Bencher) {
    let (topology, p, scale) = (clouds(), normals(1, NODES * WIDTH), normals(2, WIDTH));
    let (_, chosen) = kernel::extremes(&topology, &p, &p, &scale);
    topology.transpose();
    bencher.bench(|| kernel::extremes_backward_p(&topology, &chosen, &p, WIDTH));
}

#[divan::bench]
fn kernel_statistics(bencher: Bencher) {
    let (topology, p) = (clouds(), normals(1, NODES * WIDTH));
    topology.transpose();
    bencher.bench(|| kernel::statistics(&topology, &p, &p, WIDTH).0);
}

#[divan::bench]
fn kernel_statistics_backward(bencher: Bencher) {
    let (topology, p) = (clouds(), normals(1, NODES * WIDTH));
    let (grad, centres) = kernel::statistics(&topology, &p, &p, WIDTH);
    bencher.bench(|| kernel::statistics_backward(&topology, &p, &p, &centres, &grad, [true, true]));
}

#[divan::bench]
fn transpose(bencher: Bencher) {
    let topology = clouds();
    bencher
        .with_inputs(|| topology.filter(|_, _, _| true))
        .bench_values(|topology| topology.transpose().entries[0]);
}

/// Two node-level products, aggregation, normalisation and rectifier, with all gradients; the graph
/// is new every time, as in a network that rebuilds it, so its transpose is part of the work.
#[divan::bench]
fn layer_forward_and_backward(bencher: Bencher) {
    let topology = clouds();
    let x = tensor(1, [NODES, WIDTH]);
    let (theta, phi) = (tensor(2, [WIDTH, WIDTH]), tensor(3, [WIDTH, WIDTH]));
    let (scale, shift) = (tensor(4, [WIDTH]), tensor(5, [WIDTH]));
    bencher.with_inputs(|| topology.filter(|_, _, _| true)).bench_values(|topology| {
        let p = x.clone().matmul(theta.clone());
        let q = x.clone().matmul(phi.clone() - theta.clone());
        let (y, ..) = edgeconv(&topology, &p, &q, &scale, &shift, 0.2, 1e-5).expect("shapes fit");
        x.grad(&y.sum().backward())
    });
}

/// The same without the products: what this crate adds.
#[divan::bench]
fn aggregation_forward_and_backward(bencher: Bencher) {
    let topology = clouds();
    let (p, q) = (tensor(1, [NODES, WIDTH]), tensor(2, [NODES, WIDTH]));
    let (scale, shift) = (tensor(4, [WIDTH]), tensor(5, [WIDTH]));
    bencher.with_inputs(|| topology.filter(|_, _, _| true)).bench_values(|topology| {
        let (y, ..) = edgeconv(&topology, &p, &q, &scale, &shift, 0.2, 1e-5).expect("shapes fit");
        p.grad(&y.sum().backward())
    });
}
