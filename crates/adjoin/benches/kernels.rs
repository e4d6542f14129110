//! The remaining kernels, at the size of Cora: 2708 nodes, 10 556 edges, 64 features.

use adjoin::{
    Csr, Key, Normalisation, SelfLoops,
    kernels::{
        dropout, edge_messages, normalise, nuclear,
        pair_mlp::{self, Pairs, Upstream},
        pairs::{self, Similarity},
        selector::{self, Step},
        spmm,
    },
};
use divan::{Bencher, black_box};

const NODES: usize = 2708;
const WIDTH: usize = 64;

fn main() {
    divan::main();
}

fn graph() -> Csr {
    let key = Key::new(1);
    let edges =
        (0..5278u64).map(|e| (key.below(2 * e, NODES) as u32, key.below(2 * e + 1, NODES) as u32));
    Csr::undirected(NODES, edges, SelfLoops::Drop).unwrap()
}

fn normals(count: usize) -> Vec<f32> {
    (0..count as u64).map(|at| Key::new(2).normal(at) as f32).collect()
}

#[divan::bench]
fn spmm_forward(bencher: Bencher) {
    let (graph, x) = (graph(), normals(NODES * WIDTH));
    let weights = normals(graph.edges());
    bencher.bench(|| spmm::forward(&graph, black_box(&weights), &x, WIDTH));
}

#[divan::bench]
fn spmm_backward(bencher: Bencher) {
    let (graph, x) = (graph(), normals(NODES * WIDTH));
    let weights = normals(graph.edges());
    bencher.bench(|| {
        let to_weights = spmm::backward_weights(&graph, &x, black_box(&x), WIDTH);
        (to_weights, spmm::backward_features(&graph, &weights, &x, WIDTH))
    });
}

#[divan::bench]
fn normalise_both_ways(bencher: Bencher) {
    let graph = graph();
    let weights: Vec<f32> = normals(graph.edges()).into_iter().map(f32::abs).collect();
    bencher.bench(|| {
        let kind = Normalisation::Symmetric;
        let (scaled, degrees) = normalise::forward(&graph, black_box(&weights), kind);
        normalise::backward(&graph, &weights, kind, &degrees, &scaled)
    });
}

#[divan::bench]
fn dropout_of_features(bencher: Bencher) {
    let x = normals(NODES * WIDTH);
    bencher.bench(|| dropout::apply(black_box(&x), 0.5, Key::new(3)));
}

#[divan::bench(args = [Similarity::Distance, Similarity::Dot, Similarity::Cosine])]
fn pair_similarity_both_ways(bencher: Bencher, similarity: Similarity) {
    let (graph, u) = (graph(), normals(NODES * WIDTH));
    bencher.bench(|| {
        let values = pairs::forward(&graph, similarity, black_box(&u), WIDTH);
        pairs::backward(&graph, similarity, &u, WIDTH, &values, &values)
    });
}

#[divan::bench]
fn pair_network_both_ways(bencher: Bencher) {
    let (graph, x, w) = (graph(), normals(NODES * WIDTH), normals(WIDTH));
    let pairs =
        Pairs { topology: &graph, a: &x, b: &x, scalars: &[], v: &[], width: WIDTH, slope: 0.01 };
    bencher.bench(|| {
        let logits = pair_mlp::logits(black_box(pairs), &w);
        pair_mlp::backward(pairs, Upstream::Logits(&w, &logits))
    });
}

#[divan::bench]
fn edge_messages_both_ways(bencher: Bencher) {
    let graph = graph();
    let c = normals(graph.edges() * WIDTH);
    bencher.bench(|| {
        let m = edge_messages::forward(&graph, black_box(&c), WIDTH);
        edge_messages::backward(&graph, &m, WIDTH)
    });
}

#[divan::bench]
fn selector_both_ways(bencher: Bencher) {
    let graph = graph();
    let (e, k) = (normals(graph.edges()), vec![3.0f32; NODES]);
    let step = Step { lambda: 1.0, shift: 0.5, hard: false };
    bencher.bench(|| {
        let selection = selector::select(&graph, black_box(&e), &k, step);
        let h = selector::steps(&selection, &k, step);
        let weights = selector::forward(&selection, &e, &h, step);
        selector::backward(&selection, &e, &h, step, &weights)
    });
}

#[divan::bench]
fn nuclear_norm_of_rank_8(bencher: Bencher) {
    let stop = nuclear::Convergence { tolerance: 1e-4, most: 200 };
    let graph = graph();
    let weights = normals(graph.edges());
    bencher.bench(|| nuclear::forward(&graph, black_box(&weights), 8, stop, Key::new(5)));
}
