//! Exact k nearest neighbours, k = 20: `cargo bench -p adjoin --bench knn`.

use adjoin::Batch;
use adjoin::kernels::knn::{Metric, nearest};
use adjoin::kernels::random::Key;
use divan::Bencher;

fn main() {
    divan::main();
}

const K: usize = 20;

fn points(n: usize, width: usize) -> Vec<f32> {
    let key = Key::new(1);
    (0..n * width).map(|at| key.normal(at as u64) as f32).collect()
}

fn run(bencher: Bencher, n: usize, width: usize, metric: Metric, batch: Batch) {
    let x = points(n, width);
    bencher.bench(|| nearest(divan::black_box(&x), width, K, metric, false, &batch));
}

#[divan::bench(args = [(1024, 3), (8192, 3), (65536, 3), (1024, 64), (8192, 64)])]
fn euclidean(bencher: Bencher, (n, width): (usize, usize)) {
    run(bencher, n, width, Metric::Euclidean, Batch::single(n));
}

#[divan::bench(args = [(1024, 64), (8192, 64)])]
fn cosine(bencher: Bencher, (n, width): (usize, usize)) {
    run(bencher, n, width, Metric::Cosine, Batch::single(n));
}

/// Point clouds as EdgeConv sees them: clouds of 1024 points.
#[divan::bench(args = [(8, 3), (32, 3), (32, 64)])]
fn clouds(bencher: Bencher, (clouds, width): (usize, usize)) {
    let batch = Batch::of_sizes(std::iter::repeat_n(1024, clouds));
    run(bencher, clouds * 1024, width, Metric::Euclidean, batch);
}

/// Thousands of small graphs of different sizes, as trajectories have them.
#[divan::bench]
fn small_graphs(bencher: Bencher) {
    let batch = Batch::of_sizes((0..4000).map(|graph| graph % 40));
    run(bencher, batch.nodes(), 16, Metric::Euclidean, batch);
}
