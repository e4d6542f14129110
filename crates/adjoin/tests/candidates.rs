//! Candidates against definitions that look at everything.

use adjoin::{
    Batch, CandidateRule, Candidates, Csr, Error, Key, Metric, SelfLoops, ops,
    topology::{approximate_pagerank, pagerank_neighbours},
};
use burn::tensor::{Device, Tensor, TensorData};
use proptest::prelude::*;

fn graph(nodes: usize, edges: &[(u32, u32)]) -> Csr {
    let edges = edges.iter().map(|&(i, j)| (i % nodes.max(1) as u32, j % nodes.max(1) as u32));
    let edges: Vec<_> = if nodes == 0 { Vec::new() } else { edges.collect() };
    Csr::from_edges(nodes, nodes, edges, SelfLoops::Keep).unwrap()
}

fn points(values: &[f32], width: usize) -> Tensor<2> {
    let data = TensorData::new(values.to_vec(), [values.len() / width, width]);
    Tensor::from_data(data, &Device::flex())
}

fn pairs(candidates: &Candidates) -> Csr {
    candidates.to_pairs(usize::MAX).unwrap()
}

/// Steps between all pairs of nodes, by relaxing until nothing changes.
fn steps(graph: &Csr) -> Vec<Vec<usize>> {
    let n = graph.rows();
    let from = |source: usize| {
        let mut steps = vec![usize::MAX; n];
        steps[source] = 0;
        for length in 0..n {
            for i in (0..n).filter(|&i| steps[i] == length).collect::<Vec<_>>() {
                for &j in graph.row(i) {
                    steps[j as usize] = steps[j as usize].min(length + 1);
                }
            }
        }
        steps
    };
    (0..n).map(from).collect()
}

/// Personalised PageRank by power iteration on the dense matrix.
fn dense_pagerank(graph: &Csr, source: usize, alpha: f64) -> Vec<f64> {
    let n = graph.rows();
    let mut value = vec![0.0; n];
    value[source] = 1.0;
    for _ in 0..2000 {
        let mut next = vec![0.0; n];
        next[source] = alpha;
        for (i, &mass) in value.iter().enumerate() {
            let row = graph.row(i);
            if row.is_empty() {
                next[i] += (1.0 - alpha) * mass;
            }
            for &j in row {
                next[j as usize] += (1.0 - alpha) * mass / row.len() as f64;
            }
        }
        value = next;
    }
    value
}

fn edges() -> impl Strategy<Value = Vec<(u32, u32)>> {
    prop::collection::vec((0u32..30, 0u32..30), 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hops_are_what_a_search_reaches(nodes in 0usize..25, edges in edges(), r in 1usize..5) {
        let graph = graph(nodes, &edges);
        let found = pairs(&Candidates::hops(&graph, r).unwrap());
        let steps = steps(&graph);
        for (i, steps) in steps.iter().enumerate() {
            let expected: Vec<u32> = (0..nodes as u32)
                .filter(|&j| j as usize != i && steps[j as usize] <= r)
                .collect();
            prop_assert_eq!(found.row(i), &expected[..]);
        }
    }

    #[test]
    fn pagerank_is_within_its_bound(
        nodes in 1usize..20, edges in edges(), alpha in 0.05f64..0.9, exponent in 1i32..9,
    ) {
        let graph = graph(nodes, &edges);
        let epsilon = 10f64.powi(-exponent);
        for source in 0..nodes {
            let found = approximate_pagerank(&graph, source as u32, alpha, epsilon).unwrap();
            prop_assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let mut expected = dense_pagerank(&graph, source, alpha);
            for (node, value) in found {
                expected[node as usize] -= value;
            }
            let bound: f64 = (0..nodes).map(|i| epsilon * graph.degree(i).max(1) as f64).sum();
            let total: f64 = expected.iter().sum();
            prop_assert!(expected.iter().all(|&missing| missing >= -1e-12), "above the truth");
            prop_assert!(total <= bound + 1e-12, "{total} over {bound}");
        }
    }

    #[test]
    fn pagerank_neighbours_carry_their_values(nodes in 1usize..20, edges in edges(), k in 1usize..6) {
        let graph = graph(nodes, &edges);
        let (pairs, values) = pagerank_neighbours(&graph, 0.15, k, 1e-6, false).unwrap();
        prop_assert_eq!(pairs.edges(), values.len());
        for ((i, j), value) in pairs.iter().zip(values) {
            let of_row = approximate_pagerank(&graph, i, 0.15, 1e-6).unwrap();
            prop_assert!(of_row.contains(&(j, value)), "{i} {j} {value} {of_row:?}");
        }
    }

    #[test]
    fn symmetric_pagerank_is_symmetric(nodes in 1usize..20, edges in edges()) {
        let given = graph(nodes, &edges);
        let graph = Csr::undirected(nodes, given.iter(), SelfLoops::Drop).unwrap();
        let (pairs, values) = pagerank_neighbours(&graph, 0.15, nodes, 1e-9, true).unwrap();
        for ((i, j), value) in pairs.iter().zip(&values) {
            let mirrored = pairs.find(j as usize, i).map_or(0.0, |at| values[at]);
            prop_assert!((mirrored - value).abs() < 1e-6, "({i}, {j}): {value} {mirrored}");
        }
    }

    #[test]
    fn pagerank_keeps_the_most_important(nodes in 1usize..20, edges in edges(), k in 1usize..6) {
        let graph = graph(nodes, &edges);
        let found = pairs(&Candidates::pagerank(&graph, 0.15, k, 1e-9).unwrap());
        for i in 0..nodes {
            let values = dense_pagerank(&graph, i, 0.15);
            let reached = (0..nodes).filter(|&j| j != i && values[j] > 1e-6).count();
            prop_assert!(found.degree(i) >= k.min(reached) && found.degree(i) <= k);
            let kept = |j: &usize| found.find(i, *j as u32).is_some();
            prop_assert!(!kept(&i));
            let least = (0..nodes).filter(kept).map(|j| values[j]).fold(f64::INFINITY, f64::min);
            for j in (0..nodes).filter(|j| *j != i && !kept(j)) {
                prop_assert!(values[j] <= least + 1e-6);
            }
        }
    }

    #[test]
    fn a_batch_equals_its_parts(
        parts in prop::collection::vec((0usize..12, edges()), 0..4), k in 1usize..5, seed: u64,
    ) {
        let graphs: Vec<Csr> = parts.iter().map(|(nodes, edges)| graph(*nodes, edges)).collect();
        let (whole, batch) = Csr::block_diagonal(&graphs).unwrap();
        let key = Key::new(seed);
        let x: Vec<f32> = (0..batch.nodes() * 4).map(|at| key.normal(at as u64) as f32).collect();
        let rule = |rules| CandidateRule::Union(rules);
        let rules = [
            CandidateRule::Complete,
            CandidateRule::InputEdges,
            CandidateRule::Hops { r: 2 },
            CandidateRule::PageRank { alpha: 0.2, k },
            CandidateRule::Nearest { k, metric: Metric::Cosine },
            rule(vec![CandidateRule::InputEdges, CandidateRule::Nearest { k, metric: Metric::Euclidean }]),
        ];
        for rule in rules {
            let all = points(&x, 4);
            let joint = ops::candidates(&rule, Some(&whole), Some(&all), &batch).unwrap();
            prop_assert_eq!(joint.nodes(), batch.nodes());
            let pieces = pairs(&joint).split(&batch).unwrap();
            for ((range, graph), piece) in batch.ranges().zip(&graphs).zip(pieces) {
                let own = points(&x[range.start * 4..range.end * 4], 4);
                let single = Batch::single(range.len());
                let alone = ops::candidates(&rule, Some(graph), Some(&own), &single).unwrap();
                prop_assert_eq!(&pairs(&alone), &piece);
                prop_assert_eq!(alone.total(), piece.edges() as u64);
                prop_assert!((0..piece.rows()).all(|i| piece.find(i, i as u32).is_none()));
                let counts: Vec<u32> = (0..piece.rows()).map(|i| piece.degree(i) as u32).collect();
                prop_assert_eq!(alone.counts(), counts);
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_pairs() {
    let key = Key::new(9);
    let edges = (0..3000).map(|e| (key.below(2 * e, 700) as u32, key.below(2 * e + 1, 700) as u32));
    let graph = Csr::undirected(700, edges, SelfLoops::Drop).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let hops = Candidates::hops(&graph, 2).unwrap();
            (hops, Candidates::pagerank(&graph, 0.15, 16, 1e-4).unwrap())
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(4));
}

#[test]
fn a_source_of_high_degree_is_still_pushed() {
    let star = Csr::undirected(50, (1..50).map(|j| (0, j)), SelfLoops::Drop).unwrap();
    let found = pairs(&Candidates::pagerank(&star, 0.5, 3, 0.1).unwrap());
    assert!(!approximate_pagerank(&star, 0, 0.5, 0.1).unwrap().is_empty());
    assert_eq!(found.rows(), 50);
}

#[test]
fn unions_join_and_complete_wins() {
    let graph = graph(4, &[(0, 1), (1, 1), (2, 3)]);
    let edges = Candidates::input_edges(&graph).unwrap();
    assert_eq!(pairs(&edges).edges(), 2);
    let other = Candidates::Pairs(Csr::new(4, vec![0, 2, 2, 2, 2], vec![1, 2]).unwrap());
    assert_eq!(
        pairs(&edges.union(&other).unwrap()).iter().collect::<Vec<_>>(),
        [(0, 1), (0, 2), (2, 3)]
    );
    let complete = Candidates::Complete(Batch::single(4));
    assert_eq!(edges.union(&complete).unwrap(), complete);
    assert_eq!(complete.union(&edges).unwrap(), complete);
    let halves = Candidates::Complete(Batch::of_sizes([1, 3]));
    assert!(matches!(complete.union(&halves), Err(Error::Shape { .. })));
    assert!(matches!(halves.union(&edges), Err(Error::BetweenGraphs { row: 0, column: 1, .. })));
    assert!(matches!(complete.to_pairs(11), Err(Error::TooManyPairs { pairs: 12, limit: 11 })));
    // Complete candidates of many nodes cost nothing until someone lists them.
    let huge = Candidates::Complete(Batch::single(3_000_000_000));
    assert!(matches!(huge.to_pairs(1 << 20), Err(Error::TooManyPairs { .. })));
}

#[test]
fn rules_say_what_is_missing_or_out_of_range() {
    let batch = Batch::of_sizes([2, 2]);
    let nearest = |k| CandidateRule::Nearest { k, metric: Metric::Euclidean };
    let pagerank = |alpha, k| CandidateRule::PageRank { alpha, k };
    let fail = |rule: CandidateRule| ops::candidates(&rule, None, None, &batch).unwrap_err();
    for rule in [CandidateRule::InputEdges, CandidateRule::Hops { r: 1 }, pagerank(0.1, 3)] {
        assert!(matches!(fail(rule), Error::NoInputGraph(_)));
    }
    assert!(matches!(fail(nearest(2)), Error::NoFeatures(_)));
    for rule in [nearest(0), CandidateRule::Hops { r: 0 }, pagerank(0.5, 0)] {
        assert!(matches!(fail(rule), Error::Setting { .. }));
    }
    for alpha in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(matches!(fail(pagerank(alpha, 1)), Error::Setting { name: "alpha", .. }));
    }
    assert!(matches!(fail(CandidateRule::Union(vec![])), Error::Setting { name: "union", .. }));
    let crossing = graph(4, &[(0, 1), (1, 3)]);
    let edges = |graph| ops::candidates(&CandidateRule::InputEdges, Some(graph), None, &batch);
    let refused = edges(&crossing).unwrap_err();
    assert_eq!(refused, Error::BetweenGraphs { entry: 1, row: 1, column: 3 });
    let small = graph(3, &[]);
    assert!(matches!(edges(&small), Err(Error::Shape { .. })));
    let nan = points(&[0.0, 0.0, f32::NAN, 0.0], 1);
    let refused = ops::candidates(&nearest(1), None, Some(&nan), &batch);
    assert!(matches!(refused, Err(Error::NotFinite { row: 2, column: 0, .. })));
    let all = CandidateRule::Union(vec![nearest(1), CandidateRule::Complete]);
    assert_eq!(
        ops::candidates(&all, None, None, &batch).unwrap(),
        Candidates::Complete(batch.clone())
    );
    let rectangular = Csr::empty(2, 3);
    assert!(Candidates::input_edges(&rectangular).is_err());
    assert!(Candidates::hops(&rectangular, 1).is_err());
    assert!(Candidates::pagerank(&rectangular, 0.1, 1, 1e-3).is_err());
}

#[test]
fn rules_survive_being_stored() {
    let rule = CandidateRule::Union(vec![
        CandidateRule::InputEdges,
        CandidateRule::Nearest { k: 7, metric: Metric::Cosine },
        CandidateRule::PageRank { alpha: 0.15, k: 32 },
    ]);
    let text = serde_json::to_string(&rule).unwrap();
    assert_eq!(
        text,
        r#"{"union":["input_edges",{"nearest":{"k":7,"metric":"cosine"}},{"pagerank":{"alpha":0.15,"k":32}}]}"#
    );
    assert_eq!(serde_json::from_str::<CandidateRule>(&text).unwrap(), rule);
}
