//! The whole generator, along random directions of all its parameters and of the features.

use crate::{
    common::*,
    model::{check_module, moved},
};
use adjoin::{
    Adjacency, Batch, CandidateRule, Dgg, DggConfig, GraphInput, GraphLearner, Key, Metric, Pass,
    Prepared,
    dgg::{
        DegreeConfig, DegreeRule, EncoderConfig, MergeRule, SampleConfig, SampleForm, Score,
        ScorerConfig, SelectorConfig, SelfLoopRule,
    },
};
use burn::tensor::{Tensor, activation::softmax};

const NODES: usize = 12;
const INPUTS: usize = 5;
const SCORES: [Score; 4] = [Score::Distance, Score::Dot, Score::Cosine, Score::Mlp];
const RULES: [DegreeRule; 4] =
    [DegreeRule::Literal, DegreeRule::Relative, DegreeRule::Standardised, DegreeRule::Fixed(3.3)];

fn input_graph() -> Adjacency {
    let topology = graph(4, NODES, NODES, 4);
    let weights: Vec<f64> =
        (0..topology.edges() as u64).map(|n| 0.3 + Key::new(6).uniform(n)).collect();
    Adjacency::new(topology, tensor(&weights, [weights.len()])).unwrap()
}

fn config() -> DggConfig {
    DggConfig {
        encoder: EncoderConfig { width: 6, dropout: 0.2, ..EncoderConfig::default() },
        degree: DegreeConfig { width: 4, ..DegreeConfig::default() },
        scorer: ScorerConfig { initial_scale: 0.1, ..ScorerConfig::default() },
        ..DggConfig::default()
    }
}

/// Adjacency and degrees of a pass, as one list of numbers.
fn outcome(dgg: &Dgg, x: Tensor<2>, pass: Pass) -> Tensor<1> {
    let (graph, batch) = (input_graph(), Batch::of_sizes([7, 1, 4]));
    let graph = graph.filter(|i, j| batch_of(i) == batch_of(j)).unwrap();
    let features = x.into();
    let probabilities = Some(softmax(tensor(&normals(9, NODES * 3), [NODES, 3]), 1));
    let prepared = Prepared { probabilities, ..Prepared::default() };
    let input = GraphInput::new(&features, Some(&graph), &batch).with_prepared(&prepared);
    let learned = dgg.learn(&input, pass).unwrap();
    let dense = learned.adjacency.to_dense().unwrap().reshape([NODES * NODES]);
    Tensor::cat(vec![dense, learned.degrees.unwrap()], 0)
}

fn batch_of(node: u32) -> u32 {
    u32::from(node >= 7) + u32::from(node >= 8)
}

/// Checks one configuration; the encoder, the scorer and the degrees must all be reached.
fn check(name: &str, config: &DggConfig) {
    let dgg = moved(config.clone().with_inputs(INPUTS).init(Key::new(8), &device()).unwrap());
    let x = tensor(&normals(1, NODES * INPUTS), [NODES, INPUTS]);
    let pass = || Pass::train(5, 6);
    check_module(name, &dgg, &x, |dgg, x| outcome(dgg, x, pass()));
    // Gradients of the adjacency alone.
    let leaf = x.require_grad();
    let all = outcome(&dgg, leaf.clone(), pass());
    let adjacency = all.slice(0..NODES * NODES);
    let mix = tensor(&normals(2, NODES * NODES), [NODES * NODES]);
    let grads = (adjacency * mix).sum().backward();
    let reached = |grad: Option<Vec<f64>>| grad.is_some_and(|g| g.iter().any(|g| g.abs() > 1e-12));
    assert!(reached(leaf.grad(&grads).map(|g| values(&g))), "{name}: features");
    let first = dgg.encoder.first.weight.val();
    assert!(reached(first.grad(&grads).map(|g| values(&g))), "{name}: encoder");
    if let Some(decoder) = &dgg.degree.decoder {
        let grad = decoder.weight.val().grad(&grads).map(|g| values(&g));
        assert!(reached(grad), "{name}: d/dk vanishes");
    }
    for weights in [&dgg.scorer.scale, &dgg.scorer.output].into_iter().flatten() {
        let grad = weights.val().grad(&grads).map(|g| values(&g));
        assert!(reached(grad), "{name}: d/dscore vanishes");
    }
    if let Some(exponent) = &dgg.agreement.exponent {
        let grad = exponent.val().grad(&grads).map(|g| values(&g));
        assert!(reached(grad), "{name}: d/dgamma vanishes");
    }
    if let Some(mix) = &dgg.merge.mix {
        assert!(reached(mix.val().grad(&grads).map(|g| values(&g))), "{name}: mix");
    }
}

fn all_forms(candidates: CandidateRule) {
    for kind in SCORES {
        for form in [SampleForm::Exp, SampleForm::Softmax] {
            for rule in RULES {
                for merge in [MergeRule::Replace, MergeRule::Add(-0.5)] {
                    let base = config();
                    let config = DggConfig {
                        candidates: candidates.clone(),
                        scorer: ScorerConfig { kind, ..base.scorer },
                        sample: SampleConfig { form, tau: 0.7, ..base.sample },
                        degree: DegreeConfig { rule, ..base.degree },
                        merge,
                        ..base
                    };
                    let name = format!("{candidates:?} {kind:?} {form:?} {rule:?} {merge:?}");
                    check(&name, &config);
                }
            }
        }
    }
}

#[test]
fn every_form_on_explicit_candidates() {
    all_forms(CandidateRule::InputEdges);
}

#[test]
fn every_form_on_complete_candidates() {
    all_forms(CandidateRule::Complete);
}

#[test]
fn every_switch() {
    let base = config();
    let mlp = ScorerConfig { kind: Score::Mlp, ..base.scorer.clone() };
    let with = |change: &dyn Fn(&mut DggConfig)| {
        let mut config = base.clone();
        change(&mut config);
        config
    };
    let switches: [(&str, DggConfig); 14] = [
        ("messages", with(&|c| c.scorer = ScorerConfig { messages: true, ..mlp.clone() })),
        (
            "edge features",
            with(&|c| c.scorer = ScorerConfig { edge_features: true, ..mlp.clone() }),
        ),
        (
            "ranked loops",
            with(&|c| {
                c.self_loops = SelfLoopRule::Ranked;
                c.scorer = ScorerConfig { messages: true, edge_features: true, ..mlp.clone() };
            }),
        ),
        ("agreement", with(&|c| c.agreement = true)),
        ("symmetric", with(&|c| c.symmetric = true)),
        ("symmetric noise", with(&|c| c.sample.symmetric_noise = true)),
        ("edge dropout", with(&|c| c.edge_dropout = 0.2)),
        ("deterministic degrees", with(&|c| c.degree.stochastic = false)),
        ("no edge noise", with(&|c| c.sample.noise = 0.0)),
        (
            "literal selector",
            with(&|c| {
                c.selector = SelectorConfig { shift: 0.0, lambda: 0.8, hard: false };
            }),
        ),
        (
            "propagation and layers",
            with(&|c| {
                (c.encoder.propagation, c.encoder.extra_layers) = (2, 2);
            }),
        ),
        ("hops", with(&|c| c.candidates = CandidateRule::Hops { r: 2 })),
        (
            "nearest",
            with(&|c| {
                c.candidates = CandidateRule::Nearest { k: 3, metric: Metric::Euclidean };
            }),
        ),
        (
            "union",
            with(&|c| {
                let nearest = CandidateRule::Nearest { k: 2, metric: Metric::Cosine };
                c.candidates = CandidateRule::Union(vec![CandidateRule::InputEdges, nearest]);
            }),
        ),
    ];
    for (name, config) in &switches {
        check(name, config);
    }
}

/// The weights of the input graph are features of the pair network, and may be learned themselves.
#[test]
fn input_weights_as_edge_features() {
    let given = input_graph();
    for messages in [false, true] {
        for keep_weights in [false, true] {
            let base = config();
            let scorer = ScorerConfig {
                kind: Score::Mlp,
                messages,
                edge_features: true,
                ..base.scorer.clone()
            };
            let config = DggConfig { scorer, keep_weights, ..base };
            let config = config.with_inputs(INPUTS);
            let dgg = moved(config.init(Key::new(8), &device()).unwrap());
            let x = tensor(&normals(1, NODES * INPUTS), [NODES, INPUTS]);
            gradcheck(&[values(given.weights())], |t| {
                let graph = Adjacency::new(given.topology().clone(), t[0].clone()).unwrap();
                let learned = dgg.forward(&x.clone().into(), &graph, Pass::train(5, 6)).unwrap();
                learned.adjacency.to_dense().unwrap().reshape([NODES * NODES])
            });
        }
    }
}

#[test]
fn presets_and_ablations() {
    let narrow = |config: DggConfig| DggConfig {
        encoder: EncoderConfig { width: 6, ..config.encoder },
        ..config
    };
    let (paper, reference) = (narrow(DggConfig::paper()), narrow(DggConfig::reference()));
    check("paper", &paper);
    check("reference", &reference);
    check("fixed k", &paper.clone().with_fixed_degree(2.6));
    check("no edge noise", &paper.clone().without_edge_noise());
    check("no degree noise", &reference.without_degree_noise());
    check("neither", &paper.without_edge_noise().without_degree_noise());
}
