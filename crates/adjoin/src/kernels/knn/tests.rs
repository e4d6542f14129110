//! Both ways of searching against a search that looks at every pair.

use super::*;
use crate::kernels::random::Key;
use proptest::prelude::*;

const METRICS: [Metric; 3] = [Metric::Euclidean, Metric::Cosine, Metric::Dot];

/// Distance by the definition.
fn distance(metric: Metric, x: &[f64], y: &[f64]) -> f64 {
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    match metric {
        Metric::Euclidean => x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt(),
        Metric::Dot => -dot(x, y),
        Metric::Cosine => {
            let norms = (dot(x, x) * dot(y, y)).sqrt();
            if norms > 0.0 { 1.0 - dot(x, y) / norms } else { 1.0 }
        }
    }
}

/// All allowed neighbours of a point, nearest first.
fn naive(
    points: &[f64],
    width: usize,
    i: usize,
    range: Range<usize>,
    metric: Metric,
    include_self: bool,
) -> Vec<(f64, u32)> {
    let row = |i: usize| &points[i * width..(i + 1) * width];
    let mut all: Vec<(f64, u32)> = range
        .filter(|&j| include_self || j != i)
        .map(|j| (distance(metric, row(i), row(j)), j as u32))
        .collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all
}

/// Compares with the naive search; indices must agree except where distances are the same up to
/// rounding of the reference.
fn check_search(
    points: &[f64],
    width: usize,
    k: usize,
    metric: Metric,
    include_self: bool,
    batch: &Batch,
    way: Way,
) {
    let found = search(points, width, k, metric, include_self, batch, way).unwrap();
    assert_eq!(found.rows(), batch.nodes());
    for range in batch.ranges() {
        for i in range.clone() {
            let expected = naive(points, width, i, range.clone(), metric, include_self);
            let count = k.min(expected.len());
            assert_eq!(found.row(i).len(), count);
            let mut seen = found.row(i).to_vec();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), count, "repeated neighbours of {i}");
            let pairs = found.row(i).iter().zip(found.distances_of(i)).zip(&expected);
            for ((&j, &distance), &(reference, index)) in pairs {
                let tolerance = 1e-12 * (1.0 + reference.abs());
                assert!((distance - reference).abs() <= tolerance, "{i}: {distance} {reference}");
                let own = expected.iter().find(|&&(_, other)| other == j).map(|near| near.0);
                let own = own.expect("a neighbour of the same graph");
                assert!(j == index || (own - reference).abs() <= tolerance, "{i}: {j} for {index}");
            }
        }
    }
}

/// Small whole numbers: every distance is exact, and ties and repeated points abound.
fn grid(len: usize, values: u64, seed: u64) -> Vec<f64> {
    let key = Key::new(seed);
    (0..len).map(|at| key.below(at as u64, values as usize) as f64 - 1.0).collect()
}

fn normal(len: usize, seed: u64) -> Vec<f64> {
    let key = Key::new(seed);
    (0..len).map(|at| key.normal(at as u64)).collect()
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![Just(0usize), Just(1), Just(2), 3usize..90], 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn agrees_with_a_naive_search(
        sizes in sizes(), width in 0usize..12, k in 1usize..40,
        metric in prop::sample::select(&METRICS[..]), include_self: bool, seed: u64,
    ) {
        let batch = Batch::of_sizes(sizes);
        let points = normal(batch.nodes() * width, seed);
        for way in [Way::Best, Way::Dense, Way::Tree] {
            check_search(&points, width, k, metric, include_self, &batch, way);
        }
    }

    #[test]
    fn ties_and_repeated_points_go_to_the_lower_index(
        sizes in sizes(), width in 0usize..6, k in 1usize..30, values in 1u64..4,
        include_self: bool, seed: u64,
    ) {
        let batch = Batch::of_sizes(sizes);
        let points = grid(batch.nodes() * width, values, seed);
        for metric in [Metric::Euclidean, Metric::Dot] {
            for way in [Way::Dense, Way::Tree] {
                let found = search(&points, width, k, metric, include_self, &batch, way).unwrap();
                for range in batch.ranges() {
                    for i in range.clone() {
                        let expected = naive(&points, width, i, range.clone(), metric, include_self);
                        let expected: Vec<u32> =
                            expected.iter().take(k).map(|&(_, index)| index).collect();
                        prop_assert_eq!(found.row(i), &expected[..]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_batch_equals_its_parts(sizes in sizes(), width in 1usize..5, k in 1usize..20, seed: u64) {
        let batch = Batch::of_sizes(sizes);
        let points: Vec<f32> =
            normal(batch.nodes() * width, seed).into_iter().map(|x| x as f32).collect();
        for metric in METRICS {
            let whole = nearest(&points, width, k, metric, false, &batch).unwrap();
            for range in batch.ranges() {
                let own = &points[range.start * width..range.end * width];
                let single = Batch::single(range.len());
                let part = nearest(own, width, k, metric, false, &single).unwrap();
                for i in range.clone() {
                    let shifted: Vec<u32> =
                        part.row(i - range.start).iter().map(|j| j + range.start as u32).collect();
                    prop_assert_eq!(whole.row(i), &shifted[..]);
                    prop_assert_eq!(whole.distances_of(i), part.distances_of(i - range.start));
                }
            }
        }
    }
}

/// More columns than a tile, so that the running bound is used; `f32`, where products round.
#[test]
fn several_tiles_and_both_ways_agree_bit_for_bit() {
    let n = 5000;
    let batch = Batch::single(n);
    let narrow: Vec<f32> = normal(n * 3, 1).into_iter().map(|x| x as f32).collect();
    for k in [1, 20, 150] {
        let run = |way| search(&narrow, 3, k, Metric::Euclidean, false, &batch, way).unwrap();
        assert_eq!(run(Way::Dense), run(Way::Tree));
    }
    let wide: Vec<f32> = normal(n * 16, 2).into_iter().map(|x| x as f32).collect();
    let wide64: Vec<f64> = wide.iter().map(|&x| f64::from(x)).collect();
    for metric in METRICS {
        let found = nearest(&wide, 16, 20, metric, false, &batch).unwrap();
        for i in (0..n).step_by(97) {
            let expected = naive(&wide64, 16, i, 0..n, metric, false);
            let expected: Vec<u32> = expected.iter().take(20).map(|&(_, index)| index).collect();
            assert_eq!(found.row(i), &expected[..], "{metric:?} {i}");
        }
    }
}

/// Tight clusters far from the origin and from each other: there a product in `f32` keeps no digit
/// of the distances within a cluster.
#[test]
fn close_points_far_away_are_ordered_by_their_true_distance() {
    let (n, width) = (600, 8);
    let noise = normal(n * width, 3);
    let points: Vec<f32> = (0..n * width)
        .map(|at| 1000.0 * ((at / width) % 3) as f32 + 1e-2 * noise[at] as f32)
        .collect();
    let wide: Vec<f64> = points.iter().map(|&x| f64::from(x)).collect();
    let found = nearest(&points, width, 10, Metric::Euclidean, false, &Batch::single(n)).unwrap();
    for i in 0..n {
        let expected = naive(&wide, width, i, 0..n, Metric::Euclidean, false);
        let found: Vec<f32> = found.distances_of(i).to_vec();
        let expected: Vec<f32> = expected.iter().take(10).map(|near| near.0 as f32).collect();
        assert_eq!(found, expected, "{i}");
    }
}

#[test]
fn the_largest_and_the_smallest_numbers_neither_overflow_nor_vanish() {
    for magnitude in [1e-300, 1e-30, 1e30, 1e300] {
        for width in [2, 5] {
            let points: Vec<f64> =
                (0..60 * width).map(|at| (at * at % 101) as f64 * magnitude).collect();
            let plain: Vec<f64> = (0..60 * width).map(|at| (at * at % 101) as f64).collect();
            for way in [Way::Dense, Way::Tree] {
                let run = |points: &[f64]| {
                    search(points, width, 7, Metric::Euclidean, false, &Batch::single(60), way)
                };
                let (found, expected) = (run(&points).unwrap(), run(&plain).unwrap());
                for (a, b) in found.distances.iter().zip(&expected.distances) {
                    assert!((a / magnitude - b).abs() <= 1e-9 * b, "{magnitude}: {a} {b}");
                }
            }
        }
    }
    let extreme = [f32::MAX, -f32::MAX, 0.0, f32::MIN_POSITIVE];
    let found = nearest(&extreme, 1, 3, Metric::Euclidean, false, &Batch::single(4)).unwrap();
    assert_eq!(found.row(2), [3, 0, 1]);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (n, width) = (3000, 3);
    let points: Vec<f32> = normal(n * 16, 4).into_iter().map(|x| x as f32).collect();
    let batch = Batch::of_sizes([n - 700, 0, 1, 699]);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let wide = METRICS.map(|m| nearest(&points, 16, 20, m, false, &batch).unwrap());
            let low = [Way::Dense, Way::Tree].map(|way| {
                let narrow = &points[..n * width];
                search(narrow, width, 20, Metric::Euclidean, true, &batch, way).unwrap()
            });
            (wide, low)
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(4));
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let batch = Batch::of_sizes([2, 1]);
    let mut points = vec![0.0f32; 6];
    let run = |points: &[f32], k| nearest(points, 2, k, Metric::Euclidean, false, &batch);
    assert!(matches!(run(&points, 0), Err(Error::Setting { name: "k", .. })));
    assert!(matches!(run(&points[..5], 1), Err(Error::Shape { .. })));
    for value in [f32::NAN, f32::INFINITY] {
        points[3] = value;
        let refused = run(&points, 1).unwrap_err();
        assert!(matches!(refused, Error::NotFinite { row: 1, column: 1, .. }), "{refused}");
    }
    let nothing = nearest::<f32>(&[], 3, 5, Metric::Dot, false, &Batch::single(0)).unwrap();
    assert_eq!(nothing.to_csr(), Csr::empty(0, 0));
}
