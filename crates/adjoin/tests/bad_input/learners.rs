//! Learners on odd graphs and bad numbers.

use crate::{common::*, no_panic};
use adjoin::{
    Adjacency, Batch, CandidateRule, Candidates, Csr, Dgg, DggConfig, Error, Features, GraphInput,
    GraphLearner, Key, LearnedGraph, Metric, Pass, Prepared, Result, SparseFeatures,
    dgg::{DegreeRule, EncoderConfig, MergeRule, MessageReading, SampleForm, Score, ScorerConfig},
    learner::{DgmConfig, DropEdgeConfig, KnnConfig, KnnWeights, PageRankConfig, Unchanged},
};
use burn::tensor::Tensor;
use proptest::prelude::*;

const SCORES: [Score; 4] = [Score::Distance, Score::Dot, Score::Cosine, Score::Mlp];
const RULES: [DegreeRule; 4] =
    [DegreeRule::Literal, DegreeRule::Relative, DegreeRule::Standardised, DegreeRule::Fixed(9.0)];

fn dgg(inputs: usize, change: impl FnOnce(&mut DggConfig)) -> Dgg {
    let mut config = DggConfig {
        encoder: EncoderConfig { width: 4, ..EncoderConfig::default() },
        ..DggConfig::default()
    };
    change(&mut config);
    config.clone().with_inputs(inputs).init(Key::new(1), &device()).unwrap()
}

/// All kinds of generators for features of a width.
fn generators(inputs: usize) -> Vec<Dgg> {
    let mut all = Vec::new();
    let nearest = CandidateRule::Nearest { k: 2, metric: Metric::Euclidean };
    for candidates in [CandidateRule::InputEdges, CandidateRule::Complete, nearest] {
        for kind in SCORES {
            for rule in RULES {
                all.push(dgg(inputs, |c| {
                    c.candidates = candidates.clone();
                    c.scorer.kind = kind;
                    c.degree.rule = rule;
                    c.symmetric = rule == DegreeRule::Literal;
                    if kind == Score::Dot {
                        c.sample.form = SampleForm::Softmax;
                    }
                }));
            }
        }
    }
    all.push(dgg(inputs, |c| {
        c.scorer = ScorerConfig {
            kind: Score::Mlp,
            messages: true,
            edge_features: true,
            ..c.scorer.clone()
        };
    }));
    all.push(dgg(inputs, |c| c.merge = MergeRule::Add(0.0)));
    all.push(dgg(inputs, |c| c.selector.hard = true));
    all.push(dgg(inputs, |c| (c.encoder.propagation, c.encoder.extra_layers) = (2, 1)));
    all
}

fn learn(
    learner: &dyn GraphLearner,
    x: &Features,
    graph: Option<&Csr>,
    batch: &Batch,
    pass: Pass,
) -> Result<LearnedGraph> {
    let graph = graph.map(|graph| Adjacency::unweighted(graph.clone(), &device()));
    learner.learn(&GraphInput::new(x, graph.as_ref(), batch), pass)
}

/// The learned graph has finite weights and degrees, and one gradient step runs.
fn sound(learned: &LearnedGraph, nodes: usize) {
    assert_eq!(
        [learned.adjacency.topology().rows(), learned.adjacency.topology().columns()],
        [nodes; 2]
    );
    let weights = values(learned.adjacency.weights());
    assert!(weights.iter().all(|w| w.is_finite() && *w >= 0.0));
    let degrees = learned.degrees.clone().unwrap();
    assert_eq!(degrees.dims(), [nodes]);
    assert!(values(&degrees).iter().all(|k| k.is_finite() && *k > 0.0));
    learned.adjacency.weights().clone().sum().backward();
}

#[test]
fn odd_graphs_give_sound_results() {
    // Nodes, edges, sizes: nothing, one node, isolated nodes, k above n, a loop, empty graphs.
    type World = (&'static [(u32, u32)], &'static [usize]);
    let worlds: [World; 7] = [
        (&[], &[]),
        (&[], &[0]),
        (&[], &[1]),
        (&[(0, 0)], &[1]),
        (&[], &[5]),
        (&[(0, 1), (1, 0), (1, 1)], &[4]),
        (&[(1, 2), (2, 1), (4, 3)], &[0, 1, 2, 0, 2, 1]),
    ];
    for (edges, sizes) in worlds {
        let batch = Batch::of_sizes(sizes.iter().copied());
        let nodes = batch.nodes();
        let edges = edges.iter().copied();
        let graph = Csr::from_edges(nodes, nodes, edges, adjoin::SelfLoops::Keep).unwrap();
        for width in [3, 0] {
            let x = tensor32(&normals(1, nodes * width), [nodes, width]);
            for x in [Features::from(x), sparse(nodes, width)] {
                for dgg in generators(width) {
                    for pass in [Pass::train(1, 1), Pass::evaluate()] {
                        let name = format!("{nodes} nodes, width {width}, {:?}", dgg.config());
                        let run = || {
                            let learned = learn(&dgg, &x, Some(&graph), &batch, pass).unwrap();
                            sound(&learned, nodes);
                        };
                        no_panic(&name, run).unwrap();
                    }
                }
            }
        }
    }
}

fn sparse(nodes: usize, width: usize) -> Features {
    let diagonal = (0..nodes.min(width) as u32).map(|i| (i, i));
    let topology = Csr::from_edges(nodes, width, diagonal, adjoin::SelfLoops::Keep).unwrap();
    let values = vec![1.0; topology.edges()];
    SparseFeatures::new(topology, &values, &device()).unwrap().into()
}

#[test]
fn nan_and_infinite_features_are_refused_with_their_place() {
    let graph = Csr::from_edges(6, 6, [(0, 1), (1, 0), (2, 3)], adjoin::SelfLoops::Keep).unwrap();
    let batch = Batch::single(6);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        // Row 5 is isolated: its features reach no edge.
        for row in [0, 3, 5] {
            let mut x = normals(1, 18);
            x[row * 3 + 2] = bad;
            let x = Features::from(tensor32(&x, [6, 3]));
            for dgg in generators(3) {
                for pass in [Pass::train(1, 1), Pass::evaluate()] {
                    let result = no_panic("dgg", || learn(&dgg, &x, Some(&graph), &batch, pass));
                    match result.unwrap() {
                        Err(Error::NotFinite { row: r, column, value, .. }) => {
                            assert_eq!((r, column), (row, 2));
                            assert!(value == bad || bad.is_nan() && value.is_nan());
                        }
                        other => panic!("{:?} for {bad}: {other:?}", dgg.config()),
                    }
                }
            }
            let knn =
                KnnConfig { k: 2, ..KnnConfig::default() }.init(Key::new(1), &device()).unwrap();
            let result = learn(&knn, &x, Some(&graph), &batch, Pass::evaluate());
            assert!(matches!(result, Err(Error::NotFinite { .. })), "{result:?}");
        }
        let topology = Csr::new(2, vec![0, 1, 3], vec![1, 0, 1]).unwrap();
        let result = SparseFeatures::new(topology, &[1.0, 2.0, bad as f32], &device());
        assert!(matches!(result, Err(Error::NotFinite { row: 1, column: 1, .. })));
    }
}

#[test]
fn a_view_is_judged_by_what_it_shows() {
    // The buffer behind these views goes on with a NaN.
    let graph = Csr::new(3, vec![0, 2, 3], vec![0, 1, 2]).unwrap();
    let step = adjoin::kernels::selector::Step { lambda: 1.0, shift: 0.5, hard: false };
    let e: Tensor<1> = tensor(&[0.1, 0.2, 0.3, f64::NAN], [4]).slice(0..3);
    let k: Tensor<1> = tensor(&[1.0, 1.0, f64::NAN], [3]).slice(0..2);
    let run =
        || adjoin::ops::select(&graph, &e, &k, step).map(|selected| values(&selected.weights));
    let found = no_panic("select", run).unwrap();
    assert_eq!(found.unwrap().len(), 3);
}

#[test]
fn missing_inputs_are_named() {
    let (x, batch) = (Features::from(tensor32(&normals(1, 12), [4, 3])), Batch::single(4));
    let none = |learner: &dyn GraphLearner| learn(learner, &x, None, &batch, Pass::train(1, 1));
    let needs = |result: Result<LearnedGraph>| matches!(result, Err(Error::NoInputGraph(_)));
    assert!(needs(none(&dgg(3, |_| ()))));
    assert!(needs(none(&dgg(3, |c| c.candidates = CandidateRule::Complete))));
    assert!(needs(none(&dgg(3, |c| {
        (c.candidates, c.merge) = (CandidateRule::Complete, MergeRule::Add(0.0));
        c.degree.rule = DegreeRule::Literal;
    }))));
    assert!(needs(none(&DropEdgeConfig::default().init(Key::new(1), &device()).unwrap())));
    let smooth = KnnConfig { k: 2, smoothing: 1, ..KnnConfig::default() }
        .init(Key::new(1), &device())
        .unwrap();
    assert!(needs(none(&smooth)));
    // These need none.
    let free = dgg(3, |c| {
        c.candidates = CandidateRule::Complete;
        c.degree.rule = DegreeRule::Literal;
    });
    sound(&none(&free).unwrap(), 4);
    assert_eq!(none(&Unchanged::default()).unwrap().adjacency.topology().edges(), 12);
}

#[test]
fn settings_out_of_range_are_named() {
    type Change = fn(&mut DggConfig);
    let refused = |change: &dyn Fn(&mut DggConfig)| {
        let mut config = DggConfig::default();
        change(&mut config);
        match config.clone().with_inputs(3).init(Key::new(1), &device()) {
            Err(Error::Setting { name, .. }) => name.to_string(),
            other => panic!("{:?}", other.map(|_| ())),
        }
    };
    assert_eq!(refused(&|c| c.encoder.width = 0), "encoder.width");
    assert_eq!(refused(&|c| c.encoder.dropout = 1.0), "encoder.dropout");
    assert_eq!(refused(&|c| c.edge_dropout = -0.1), "edge_dropout");
    assert_eq!(refused(&|c| c.selector.lambda = 0.0), "selector.lambda");
    assert_eq!(refused(&|c| c.selector.lambda = f64::NAN), "selector.lambda");
    assert_eq!(refused(&|c| c.selector.shift = f64::INFINITY), "selector.shift");
    assert_eq!(refused(&|c| c.sample.tau = 0.0), "sample.tau");
    assert_eq!(refused(&|c| c.sample.noise = -1.0), "sample.noise");
    assert_eq!(refused(&|c| c.degree.width = 0), "degree.width");
    assert_eq!(refused(&|c| c.degree.rule = DegreeRule::Fixed(0.0)), "degree.rule");
    assert_eq!(refused(&|c| c.scorer.messages = true), "scorer.messages");
    assert_eq!(refused(&|c| c.candidates = CandidateRule::Hops { r: 0 }), "r");
    assert!(DropEdgeConfig { drop: 1.0 }.init(Key::new(1), &device()).is_err());
    assert!(KnnConfig { k: 0, ..KnnConfig::default() }.init(Key::new(1), &device()).is_err());
    let pagerank = PageRankConfig::default();
    assert!(PageRankConfig { k: 0, ..pagerank.clone() }.init(Key::new(1), &device()).is_err());
    assert!(
        PageRankConfig { alpha: 1.0, ..pagerank.clone() }.init(Key::new(1), &device()).is_err()
    );
    assert!(PageRankConfig { weight: f64::NAN, ..pagerank }.init(Key::new(1), &device()).is_err());
    let everything: [(&str, Change); 3] = [
        ("scorer.edge_features", |c| c.scorer.edge_features = true),
        ("keep_weights", |c| c.keep_weights = true),
        ("agreement", |c| c.agreement = true),
    ];
    for (name, change) in everything {
        let mut complete = DggConfig::paper();
        change(&mut complete);
        let refused = complete.check().unwrap_err();
        assert!(
            matches!(refused, Error::Setting { name: found, .. } if found == name),
            "{refused}"
        );
        // Explicit candidates can have it; complete ones that were prepared cannot, whoever prepared them.
        let explicit = DggConfig { candidates: CandidateRule::InputEdges, ..complete };
        let dgg = explicit.with_inputs(3).init(Key::new(1), &device()).unwrap();
        let (x, batch) = (Features::from(tensor32(&normals(1, 15), [5, 3])), Batch::single(5));
        let graph = Adjacency::unweighted(graph(1, 5, 5, 2), &device());
        let probabilities = Some(tensor32(&[0.5; 10], [5, 2]));
        let candidates = Some(Candidates::Complete(batch.clone()));
        let prepared = Prepared { candidates, probabilities, ..Prepared::default() };
        let input = GraphInput::new(&x, Some(&graph), &batch).with_prepared(&prepared);
        let refused = dgg.learn(&input, Pass::evaluate()).unwrap_err();
        assert!(
            matches!(refused, Error::Setting { name: found, .. } if found == name),
            "{refused}"
        );
    }
    let refused: [(&str, Change); 6] = [
        ("scorer.reading", |c| {
            (c.scorer.reading, c.scorer.depth) = (MessageReading::Sum, 2);
        }),
        ("scorer.depth", |c| {
            (c.scorer.messages, c.scorer.kind, c.scorer.depth) = (false, Score::Dot, 2)
        }),
        ("scorer.depth", |c| c.scorer.depth = 0),
        ("degree.depth", |c| c.degree.depth = 0),
        ("degree.start", |c| c.degree.start = f64::NAN),
        ("scorer.initial_offset", |c| c.scorer.initial_offset = f64::INFINITY),
    ];
    for (name, change) in refused {
        let mut config = DggConfig::paper().with_inputs(3);
        change(&mut config);
        let refused = config.init(Key::new(1), &device()).unwrap_err();
        assert!(
            matches!(refused, Error::Setting { name: found, .. } if found == name),
            "{refused}"
        );
    }
    let weighted = DggConfig { keep_weights: true, ..DggConfig::paper() };
    assert!(weighted.check().is_err(), "complete candidates have no input weights");
}

#[test]
fn scores_of_pairs_that_do_not_fit_are_refused() {
    let dgg = dgg(3, |c| {
        c.scorer = ScorerConfig { kind: Score::Mlp, edge_features: true, ..c.scorer.clone() };
    });
    let latent = tensor32(&normals(1, 16), [4, 4]);
    let graph = |nodes| Adjacency::unweighted(Csr::identity(nodes), &device());
    let run = |latent: &Tensor<2>, pairs: usize, nodes: usize| {
        let run = || dgg.log_scores(latent, &Csr::identity(pairs), Some(&graph(nodes)));
        no_panic("log_scores", run).unwrap()
    };
    assert!(run(&latent, 4, 4).is_ok());
    for (pairs, nodes) in [(5, 4), (4, 5), (3, 4), (4, 3), (5, 5)] {
        assert!(matches!(run(&latent, pairs, nodes), Err(Error::Shape { .. })));
    }
    let narrow = tensor32(&normals(1, 12), [4, 3]);
    assert!(matches!(run(&narrow, 4, 4), Err(Error::Shape { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn learners_never_panic(
        n in prop::array::uniform5(0usize..5),
        edges in prop::collection::vec((0u32..5, 0u32..5), 0..10),
        double in any::<bool>(),
        double_graph in any::<bool>(),
    ) {
        let [nodes, width, inputs, rows, columns] = n;
        let values = normals(1, nodes * width);
        let x = match double {
            true => tensor(&values, [nodes, width]),
            false => tensor32(&values, [nodes, width]),
        };
        let x = Features::from(x);
        let edges = edges.into_iter().filter(|e| (e.0 as usize) < rows && (e.1 as usize) < columns);
        let graph = Csr::from_edges(rows, columns, edges, adjoin::SelfLoops::Keep).unwrap();
        let ones = vec![1.0; graph.edges()];
        let graph = match double_graph {
            true => Adjacency::new(graph, tensor(&ones, [ones.len()])),
            false => Adjacency::new(graph, tensor32(&ones, [ones.len()])),
        };
        let graph = graph.unwrap();
        let mut learners: Vec<Box<dyn GraphLearner>> = vec![
            Box::new(Unchanged::default()),
            Box::new(DropEdgeConfig::default().init(Key::new(1), &device()).unwrap()),
        ];
        for propagation in [0, 1] {
            let mut config = DgmConfig::default();
            config.encoder.propagation = propagation;
            learners.push(Box::new(config.clone().with_inputs(inputs).init(Key::new(1), &device()).unwrap()));
        }
        for weights in [KnnWeights::Uniform, KnnWeights::Cosine] {
            let config = KnnConfig { k: 2, weights, smoothing: inputs % 2, ..KnnConfig::default() };
            learners.push(Box::new(config.init(Key::new(1), &device()).unwrap()));
        }
        learners.extend(generators(inputs).into_iter().map(|dgg| Box::new(dgg) as _));
        for sizes in [vec![nodes], vec![rows, nodes.saturating_sub(rows)]] {
            let batch = Batch::of_sizes(sizes);
            for learner in &learners {
                let input = GraphInput::new(&x, Some(&graph), &batch);
                let run = || {
                    let _ = learner.prepare(&input);
                    learner.learn(&input, Pass::train(1, 1)).map(|_| ())
                };
                let result = no_panic("learner", run);
                prop_assert!(result.is_ok(), "a panic: {nodes} nodes, width {width}");
            }
        }
    }
}
