//! Complete candidates: log mass forward and backward, with noise and the 64 best of each row.

use adjoin::{
    Batch,
    kernels::random::{Key, PairNoise},
    ops::{StreamScorer, log_mass_and_top, top_candidates},
};
use burn::tensor::{Device, Tensor, TensorData};
use divan::Bencher;

const WIDTH: usize = 64;

fn main() {
    divan::main();
}

#[derive(Clone, Copy, Debug)]
enum Scorer {
    Distance,
    Dot,
    Cosine,
    Mlp,
}

const SCORERS: [Scorer; 4] = [Scorer::Distance, Scorer::Dot, Scorer::Cosine, Scorer::Mlp];

fn normal<const D: usize>(shape: [usize; D], stream: u64, device: &Device) -> Tensor<D> {
    let key = Key::new(1).child(stream);
    let len: usize = shape.iter().product();
    let values: Vec<f32> = (0..len as u64).map(|n| 0.3 * key.normal(n) as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device).require_grad()
}

fn scorer(kind: Scorer, nodes: usize) -> StreamScorer {
    let device = &Device::flex().autodiff();
    let u = normal([nodes, WIDTH], 0, device);
    match kind {
        Scorer::Distance => {
            let t = Tensor::from_data([1.5f32], device).require_grad();
            StreamScorer::Distance { u, t }
        }
        Scorer::Dot => StreamScorer::Dot { u },
        Scorer::Cosine => StreamScorer::Cosine { u },
        Scorer::Mlp => StreamScorer::Mlp {
            a: u,
            b: normal([nodes, WIDTH], 1, device),
            w: normal([WIDTH], 2, device),
            w0: normal([1], 3, device),
        },
    }
}

fn noise() -> Option<PairNoise> {
    Some(PairNoise { key: Key::new(3), scale: 1.0, symmetric: false })
}

fn forward(bencher: Bencher, kind: Scorer, nodes: usize) {
    let (scorer, batch) = (scorer(kind, nodes), Batch::single(nodes));
    bencher.bench_local(|| log_mass_and_top(&scorer, noise(), 1.0, 64, &batch).expect("runs"));
}

fn step(bencher: Bencher, kind: Scorer, batch: Batch) {
    let scorer = scorer(kind, batch.nodes());
    bencher.bench_local(|| {
        let (mass, top) = log_mass_and_top(&scorer, noise(), 1.0, 64, &batch).expect("runs");
        (mass.sum().backward(), top)
    });
}

#[divan::bench(args = SCORERS)]
fn forward_2708(bencher: Bencher, kind: Scorer) {
    forward(bencher, kind, 2708);
}

#[divan::bench(args = SCORERS)]
fn forward_and_backward_2708(bencher: Bencher, kind: Scorer) {
    step(bencher, kind, Batch::single(2708));
}

#[divan::bench(args = [Scorer::Distance, Scorer::Mlp])]
fn forward_and_backward_1000_graphs_of_12(bencher: Bencher, kind: Scorer) {
    step(bencher, kind, Batch::of_sizes(vec![12; 1000]));
}

#[divan::bench(args = [Scorer::Distance, Scorer::Mlp], sample_count = 2, sample_size = 1)]
fn forward_and_backward_20000(bencher: Bencher, kind: Scorer) {
    step(bencher, kind, Batch::single(20_000));
}

#[divan::bench(args = [Scorer::Distance, Scorer::Mlp])]
fn top_200_of_one_row_in_ten_2708(bencher: Bencher, kind: Scorer) {
    let (scorer, batch) = (scorer(kind, 2708), Batch::single(2708));
    let limits: Vec<u32> = (0..2708).map(|i| if i % 10 == 0 { 200 } else { 0 }).collect();
    bencher.bench_local(|| top_candidates(&scorer, noise(), &limits, &batch).expect("runs"));
}
