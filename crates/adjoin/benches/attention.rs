//! Fused attention at the size of Cora: 2708 nodes, 13264 edges with self-loops.

use adjoin::{
    Csr, SelfLoops,
    kernels::{
        attention::{Inputs, Settings, backward, forward},
        random::Key,
    },
    ops::{Attention, attention},
};
use burn::tensor::{Device, Tensor, TensorData};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

const NODES: usize = 2708;

fn cora() -> Csr {
    let key = Key::new(1);
    let edges = (0..5278u64).map(|n| {
        // Squaring one end's position makes a few nodes popular, as in citation graphs.
        let popular = (key.uniform(2 * n).powi(2) * NODES as f64) as u32;
        (popular, key.below(2 * n + 1, NODES) as u32)
    });
    Csr::undirected(NODES, edges, SelfLoops::Add).expect("edges in range")
}

fn normals(seed: u64, count: usize) -> Vec<f32> {
    (0..count).map(|n| Key::new(seed).normal(n as u64) as f32).collect()
}

/// (heads, features of a head): the two layers of GAT on Cora.
const SIZES: [(usize, usize); 2] = [(8, 8), (1, 7)];

struct Case {
    topology: Csr,
    settings: Settings,
    h: Vec<f32>,
    a: Vec<f32>,
    log_weights: Vec<f32>,
}

impl Case {
    fn new((heads, features): (usize, usize)) -> Self {
        let topology = cora();
        topology.transpose();
        Self {
            settings: Settings { heads, features, slope: 0.2, dropout: Some((Key::new(2), 0.6)) },
            h: normals(3, NODES * heads * features),
            a: normals(4, heads * features),
            log_weights: normals(5, topology.edges()),
            topology,
        }
    }

    fn inputs(&self) -> Inputs<'_, f32> {
        let log_weights = Some(&self.log_weights[..]);
        Inputs { h: &self.h, a_src: &self.a, a_dst: &self.a, log_weights }
    }
}

#[divan::bench(args = SIZES)]
fn kernel_forward(bencher: Bencher, size: (usize, usize)) {
    let case = Case::new(size);
    bencher.bench(|| forward(&case.topology, case.settings, black_box(case.inputs())).0);
}

#[divan::bench(args = SIZES)]
fn kernel_backward(bencher: Bencher, size: (usize, usize)) {
    let case = Case::new(size);
    let (y, saved) = forward(&case.topology, case.settings, case.inputs());
    bencher.bench(|| backward(&case.topology, case.settings, case.inputs(), &saved, &y).h);
}

#[divan::bench(args = SIZES)]
fn operation_forward_and_backward(bencher: Bencher, size: (usize, usize)) {
    let case = Case::new(size);
    let device = Device::flex().autodiff();
    let width = size.0 * size.1;
    let h: Tensor<2> = Tensor::from_data(TensorData::new(case.h, [NODES, width]), &device);
    let a: Tensor<1> = Tensor::from_data(TensorData::new(case.a, [width]), &device);
    let (h, a) = (h.require_grad(), a.require_grad());
    let options = Attention { heads: size.0, slope: 0.2, dropout: case.settings.dropout };
    bencher.bench(|| {
        let y = attention(&case.topology, &h, &a, &a, None, options).expect("shapes fit");
        h.grad(&y.sum().backward())
    });
}
