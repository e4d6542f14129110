//! Streaming and sparse forms agree, nodes have no order, a batch is its parts.

use crate::{World, common::*, degrees, dense, generator, model::gradients, small, with_rule};
use adjoin::{
    CandidateRule, Candidates, DggConfig, GraphInput, GraphLearner, Metric, Pass, Prepared,
    dgg::{DegreeRule, SampleConfig, SampleForm, Score, ScorerConfig, SelfLoopRule},
};

const SCORES: [Score; 4] = [Score::Distance, Score::Dot, Score::Cosine, Score::Mlp];
const RULES: [DegreeRule; 4] =
    [DegreeRule::Literal, DegreeRule::Relative, DegreeRule::Standardised, DegreeRule::Fixed(3.3)];

#[test]
fn complete_candidates_streamed_or_written_out_are_the_same() {
    // 90 nodes are more than one pass keeps; one node is alone.
    let world = World::new(1, &[90, 1, 7]);
    let all = Candidates::Complete(world.batch.clone()).to_pairs(usize::MAX).unwrap();
    let written = Prepared { candidates: Some(Candidates::Pairs(all)), ..Prepared::default() };
    let base = small(CandidateRule::Complete);
    for kind in SCORES {
        for form in [SampleForm::Exp, SampleForm::Softmax] {
            for rule in [DegreeRule::Literal, DegreeRule::Relative, DegreeRule::Fixed(71.3)] {
                let config = DggConfig {
                    scorer: ScorerConfig { kind, ..base.scorer.clone() },
                    sample: SampleConfig {
                        form,
                        tau: 0.6,
                        symmetric_noise: kind == Score::Dot,
                        ..base.sample.clone()
                    },
                    ..with_rule(&base, rule)
                };
                let dgg = generator(&config);
                let run = |written: Option<&Prepared>| {
                    let (features, graph) = (world.features().into(), world.adjacency());
                    let mut input = GraphInput::new(&features, Some(&graph), &world.batch);
                    input.prepared = written;
                    let learned = dgg.learn(&input, Pass::train(3, 4)).unwrap();
                    let out = learned.adjacency.to_dense().unwrap();
                    let count = world.nodes();
                    let mix = tensor(&normals(5, count * count), [count, count]);
                    let grads = (out.clone() * mix).sum().backward();
                    (values(&out), degrees(&learned), gradients(&dgg, &grads).concat())
                };
                let (streamed, explicit) = (run(None), run(Some(&written)));
                assert!(streamed.0.iter().any(|a| *a > 0.0));
                assert_close(&streamed.0, &explicit.0, 1e-9);
                assert_close(&streamed.1, &explicit.1, 1e-9);
                let largest = explicit.2.iter().fold(1.0, |m: f64, g| m.max(g.abs()));
                for (a, b) in streamed.2.iter().zip(&explicit.2) {
                    assert!((a - b).abs() < 1e-8 * largest, "{kind:?} {form:?} {rule:?}: {a}, {b}");
                }
            }
        }
    }
}

/// Configurations whose result must not depend on the order of nodes or on the batch.
fn configurations() -> Vec<DggConfig> {
    let mut all = Vec::new();
    let nearest = CandidateRule::Nearest { k: 3, metric: Metric::Euclidean };
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete, nearest] {
        for kind in SCORES {
            for form in [SampleForm::Exp, SampleForm::Softmax] {
                for rule in RULES {
                    let base = small(candidates.clone());
                    all.push(DggConfig {
                        scorer: ScorerConfig { kind, ..base.scorer.clone() },
                        sample: SampleConfig { form, ..base.sample.clone() },
                        ..with_rule(&base, rule)
                    });
                }
            }
        }
    }
    let base = small(CandidateRule::InputEdges);
    let scorer = ScorerConfig {
        kind: Score::Mlp,
        messages: true,
        edge_features: true,
        ..base.scorer.clone()
    };
    all.push(DggConfig { scorer: scorer.clone(), symmetric: true, ..base.clone() });
    all.push(DggConfig { scorer, self_loops: SelfLoopRule::Ranked, ..base.clone() });
    all.push(DggConfig { candidates: CandidateRule::Hops { r: 2 }, ..base.clone() });
    all.push(DggConfig {
        candidates: CandidateRule::PageRank { alpha: 0.2, k: 4 },
        ..base.clone()
    });
    let mut deep = base;
    (deep.encoder.propagation, deep.encoder.extra_layers) = (2, 1);
    all.push(deep);
    all
}

#[test]
fn permuting_nodes_permutes_the_result() {
    let world = World::new(2, &[23]);
    let order = adjoin::Key::new(4).permutation(23);
    let permuted = world.permuted(&order);
    for config in configurations() {
        let dgg = generator(&config);
        let (a, b) = (world.learn(&dgg, Pass::evaluate()), permuted.learn(&dgg, Pass::evaluate()));
        let (before, after) = (dense(&a.adjacency), dense(&b.adjacency));
        let (k_before, k_after) = (degrees(&a), degrees(&b));
        for (i, &old_i) in order.iter().enumerate() {
            assert!((k_after[i] - k_before[old_i as usize]).abs() < 1e-9, "{config:?}");
            for (j, &old_j) in order.iter().enumerate() {
                let (x, y) = (after[i * 23 + j], before[old_i as usize * 23 + old_j as usize]);
                assert!((x - y).abs() < 1e-9, "{config:?}: ({i}, {j}) is {x}, not {y}");
            }
        }
    }
}

#[test]
fn a_batch_equals_its_parts() {
    let sizes = [11, 1, 6, 17];
    let world = World::new(3, &sizes);
    for config in configurations() {
        let dgg = generator(&config);
        let whole = world.learn(&dgg, Pass::evaluate());
        let all = dense(&whole.adjacency);
        let k = degrees(&whole);
        let mut seen = 0;
        for (graph, range) in world.batch.ranges().enumerate() {
            let part = world.part(graph).learn(&dgg, Pass::evaluate());
            assert_close(&k[range.clone()], &degrees(&part), 1e-9);
            let found: Vec<f64> = range
                .clone()
                .flat_map(|i| all[i * world.nodes()..][range.clone()].to_vec())
                .collect();
            assert_close(&found, &dense(&part.adjacency), 1e-9);
            seen += part.adjacency.topology().edges();
        }
        // Nothing between the graphs.
        assert_eq!(seen, whole.adjacency.topology().edges(), "{config:?}");
    }
}

/// In single precision a large score over a small temperature has no digits left after the point: the
/// normaliser must lose the same ones.
#[test]
fn softmax_rows_sum_to_one_at_any_scale() {
    // 90 nodes are more than one pass keeps.
    let world = World::new(1, &[90, 1, 7]);
    let base = small(CandidateRule::Complete);
    for kind in SCORES {
        for (scale, tau) in [(1.0, 1.0), (1.0, 0.01), (1e2, 0.01), (1e4, 0.01), (1e4, 1.0)] {
            for (k, all) in [(500.0, true), (70.5, false), (3.5, false)] {
                let sample = SampleConfig { form: SampleForm::Softmax, tau, ..base.sample.clone() };
                let scorer = ScorerConfig { kind, ..base.scorer.clone() };
                let config = DggConfig { scorer, sample, ..base.clone() }.with_fixed_degree(k);
                let config = config.with_inputs(crate::INPUTS);
                let dgg = config.init(adjoin::Key::new(8), &device()).unwrap();
                let x: Vec<f64> = world.x.iter().map(|x| x * scale).collect();
                let x = tensor32(&x, [98, crate::INPUTS]).into();
                let every = Candidates::Complete(world.batch.clone()).to_pairs(usize::MAX).unwrap();
                let every = Some(Candidates::Pairs(every));
                let written = Prepared { candidates: every, ..Prepared::default() };
                let input = GraphInput::new(&x, None, &world.batch);
                for input in [input, input.with_prepared(&written)] {
                    let learned = dgg.learn(&input, Pass::train(1, 2)).unwrap().adjacency;
                    let weights = values(learned.weights());
                    for row in (0..98).filter(|&row| row != 90) {
                        let sum: f64 = weights[learned.topology().range(row)].iter().sum();
                        let fits = if all { (sum - 1.0).abs() < 1e-4 } else { sum < 1.0 + 1e-4 };
                        assert!(fits, "{kind:?} {scale} {tau} {k}: row {row} sums to {sum}");
                    }
                }
            }
        }
    }
}

/// Distances so large that every sample is 0 leave nothing to choose from: that is said, not hidden.
#[test]
fn samples_that_all_vanish_are_refused() {
    let world = World::new(1, &[30, 9]);
    for candidates in [CandidateRule::Complete, CandidateRule::InputEdges] {
        for scale in [1.0, 1e6] {
            let config = small(candidates.clone()).with_inputs(crate::INPUTS);
            let dgg = config.init(adjoin::Key::new(8), &device()).unwrap();
            let x: Vec<f64> = world.x.iter().map(|x| x * scale).collect();
            let x = tensor32(&x, [39, crate::INPUTS]).into();
            let weights = tensor32(&world.weights, [world.weights.len()]);
            let graph = adjoin::Adjacency::new(world.graph.clone(), weights).unwrap();
            let input = GraphInput::new(&x, Some(&graph), &world.batch);
            let learned = dgg.learn(&input, Pass::evaluate());
            match learned {
                Ok(_) => assert_eq!(scale, 1.0, "{candidates:?}"),
                Err(error) => {
                    assert_eq!((scale, &error), (1e6, &adjoin::Error::Vanished), "{candidates:?}");
                    assert!(error.to_string().contains("scale the features"), "{error}");
                }
            }
        }
    }
    // No candidates, no samples: that is no error.
    let lonely = World::new(1, &[1, 1]);
    let dgg = generator(&small(CandidateRule::InputEdges));
    assert_eq!(lonely.learn(&dgg, Pass::evaluate()).adjacency.topology().edges(), 0);
}
