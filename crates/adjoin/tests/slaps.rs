//! SLAPS: its generators, its denoising term, its stages, its gradients.

mod common;
#[path = "common/driven.rs"]
mod driven;
#[path = "common/file.rs"]
mod file;
#[path = "common/model.rs"]
mod model;

use adjoin::{
    Adjacency, Batch, Csr, Error, Features, GraphInput, GraphLearner, Key, Linear, Normalisation,
    Pass, SelfLoops, SparseFeatures,
    conv::{Backbone, BackboneConfig},
    graph::{KnnConfig, KnnWeights},
    learner::{
        AutoencoderConfig, FreePairs, Generator, Masked, MlpPairs, ScaledPairs, Slaps, SlapsConfig,
        SlapsGenerator,
    },
    nn::{Network, Progress, Stage},
    ops,
};
use burn::tensor::Tensor;
use common::*;
use driven::World;

const KINDS: [SlapsGenerator; 3] = [SlapsGenerator::Fp, SlapsGenerator::Mlp, SlapsGenerator::MlpD];

fn small(generator: SlapsGenerator) -> SlapsConfig {
    let autoencoder = AutoencoderConfig { hidden: 6, ratio: 3.0, ..AutoencoderConfig::default() };
    SlapsConfig { generator, k: 3, autoencoder, ..SlapsConfig::default() }
}

fn made(config: &SlapsConfig, x: &Features) -> Slaps {
    let batch = Batch::single(x.nodes());
    config.init(&GraphInput::new(x, None, &batch), Key::new(6), &device()).unwrap()
}

/// Bags of words: `of` of the `width` words a node.
fn words(nodes: usize, width: usize, of: usize) -> SparseFeatures {
    let key = Key::new(8);
    let entries = (0..nodes * of).map(|n| ((n / of) as u32, key.below(n as u64, width) as u32));
    let rows = Csr::from_edges(nodes, width, entries, SelfLoops::Keep).unwrap();
    let ones = vec![1.0; rows.edges()];
    SparseFeatures::new(rows, &ones, &device()).unwrap()
}

#[test]
fn graphs_losses_and_gradients_are_those_of_pytorch() {
    file::both("slaps", |file| {
        let config = BackboneConfig { layers: 1, ..BackboneConfig::named("gcn").unwrap() };
        let mut network = config.with_widths(10, 3).init(Key::new(1), &device()).unwrap();
        let Backbone::Gcn(stack) = &mut network else { panic!("GCN") };
        let head = || Linear { weight: file.param("W"), bias: Some(file.param("bias")) };
        let x = Features::from(file.constant::<2>("x"));
        for kind in KINDS {
            stack.layers[0].linear = head();
            let linear = &stack.layers[0].linear.clone();
            let bias = linear.bias.as_ref().unwrap();
            let (case, x) = match kind {
                SlapsGenerator::Fp => ("free.", &Features::from(file.constant::<2>("free.x"))),
                SlapsGenerator::Mlp => ("mlp.", &x),
                SlapsGenerator::MlpD => ("scaled.", &x),
            };
            let mut learner = made(&small(kind), x);
            learner.generator = match kind {
                SlapsGenerator::Fp => Generator::Free(FreePairs {
                    values: file.param("free.m"),
                    pairs: file.csr("free.", 40),
                    background: (-6f64).exp(),
                }),
                SlapsGenerator::Mlp => Generator::Mlp(MlpPairs {
                    first: Linear {
                        weight: file.param("mlp.W_1"),
                        bias: Some(file.param("mlp.b_1")),
                    },
                    second: Linear {
                        weight: file.param("mlp.W_2"),
                        bias: Some(file.param("mlp.b_2")),
                    },
                }),
                SlapsGenerator::MlpD => Generator::Scaled(ScaledPairs {
                    first: file.param("scaled.w_1"),
                    second: file.param("scaled.w_2"),
                }),
            };
            let batch = Batch::single(x.nodes());
            let input = GraphInput::new(x, None, &batch);
            let network = &Backbone::Gcn(stack.clone());
            let outcome = learner.drive(&input, network, Pass::evaluate(), 1).unwrap();
            assert!(outcome.terms.is_empty());
            let mut leaves: Vec<(&str, &dyn file::Leaf)> =
                vec![("W", &linear.weight), ("bias", bias)];
            match &learner.generator {
                Generator::Free(free) => leaves.push(("m", &free.values)),
                Generator::Scaled(scaled) => {
                    leaves.extend([
                        ("w_1", &scaled.first as &dyn file::Leaf),
                        ("w_2", &scaled.second),
                    ]);
                }
                Generator::Mlp(MlpPairs { first, second }) => {
                    leaves.extend([
                        ("W_1", &first.weight as &dyn file::Leaf),
                        ("b_1", first.bias.as_ref().unwrap()),
                        ("W_2", &second.weight),
                        ("b_2", second.bias.as_ref().unwrap()),
                    ]);
                }
            }
            file.check_case(case, &outcome.draws[0].logits, &leaves);
        }
        let mut learner = made(&small(SlapsGenerator::MlpD), &x);
        assert!(learner.autoencoder.is_binary());
        let own = &mut learner.autoencoder;
        own.encoder = Linear { weight: file.param("dae.W_1"), bias: Some(file.param("dae.b_1")) };
        (own.decoder, own.bias) = (file.param("dae.W_2"), file.param("dae.b_2"));
        let masked = Masked {
            features: file.constant::<2>("masked").into(),
            hidden: file.csr("hidden.", 10),
            targets: file.numbers("targets").to_vec(),
        };
        let weights = file.leaf::<1>("dae.weights");
        let graph = Adjacency::new(file.csr("dae.", 9), weights.clone()).unwrap();
        let loss = own.loss(&graph, &masked, Pass::evaluate()).unwrap().unwrap();
        let leaves: [(&str, &dyn file::Leaf); 5] = [
            ("W_1", &own.encoder.weight),
            ("b_1", own.encoder.bias.as_ref().unwrap()),
            ("W_2", &own.decoder),
            ("b_2", &own.bias),
            ("weights", &weights),
        ];
        file.check_case("dae.", &loss, &leaves);
    });
}

#[test]
fn scaled_features_start_at_the_cosine_graph() {
    let x = Features::from(words(60, 40, 6));
    let batch = Batch::single(60);
    let input = GraphInput::new(&x, None, &batch);
    let config = KnnConfig { k: 3, weights: KnnWeights::Cosine, ..KnnConfig::default() };
    let nearest = KnnConfig { add_input: false, symmetric: false, ..config }.build(&input).unwrap();
    let looped = nearest.with_self_loops().unwrap();
    let expected = looped.symmetrised().unwrap().normalise(Normalisation::Symmetric).unwrap();
    for kind in [SlapsGenerator::MlpD, SlapsGenerator::Mlp] {
        let learned = made(&small(kind), &x).learn(&input, Pass::evaluate()).unwrap();
        let [found, expected] =
            [&learned.adjacency, &expected].map(|graph| values(&graph.to_dense().unwrap()));
        assert_close(&found, &expected, 1e-5);
    }
}

/// At the start row i of P is 1 at k + 1 entries and e^-6 elsewhere.
#[test]
fn free_pairs_start_at_nearest_neighbours_over_a_background() {
    let x = Features::from(words(40, 30, 6));
    let learner = made(&small(SlapsGenerator::Fp), &x);
    let Generator::Free(free) = &learner.generator else { panic!("free pairs") };
    assert!((0..40).all(|i| free.pairs.degree(i) == 4 && free.pairs.find(i, i as u32).is_some()));
    assert_close(&[free.background], &[0.002_478_8], 1e-7);
    // Cora: 2708 nodes, k = 30.
    assert_close(&[free.background * (2708.0 - 31.0)], &[6.6356], 1e-4);
    // Node 0 and one that is neither a candidate of it nor has it as one: the dense form.
    let n = 40;
    let mut p = vec![free.background; n * n];
    free.pairs.iter().for_each(|(i, j)| p[i as usize * n + j as usize] = 1.0);
    let s: Vec<f64> = (0..n * n).map(|at| (p[at] + p[at % n * n + at / n]) / 2.0).collect();
    let d: Vec<f64> = s.chunks(n).map(|row| row.iter().sum::<f64>().sqrt()).collect();
    let expected: Vec<f64> = (0..n * n).map(|at| s[at] / d[at / n] / d[at % n]).collect();
    let config = BackboneConfig { layers: 1, ..BackboneConfig::named("gcn").unwrap() };
    let mut network = config.with_widths(40, 40).init(Key::new(1), &device()).unwrap();
    let Backbone::Gcn(stack) = &mut network else { panic!("GCN") };
    let eye: Tensor<2> = Tensor::eye(40, &device());
    stack.layers[0].linear.weight = burn::module::Param::from_tensor(eye.clone());
    let (features, batch) = (Features::from(eye), Batch::single(40));
    let input = GraphInput::new(&features, None, &batch);
    let outcome = learner.drive(&input, &network, Pass::evaluate(), 1).unwrap();
    assert_close(&values(&outcome.draws[0].logits), &expected, 1e-6);
}

#[test]
fn as_many_features_are_hidden_as_the_law_says() {
    // As Cora: one of ten ones, and five zeros for each.
    let x = Features::from(words(900, 300, 18));
    let Features::Sparse(sparse) = &x else { panic!("sparse") };
    let ones = sparse.topology().edges() as f64;
    let learner = made(&SlapsConfig::default(), &x);
    assert!(learner.autoencoder.is_binary());
    let (mut of_ones, mut of_zeros) = (0.0, 0.0);
    for draw in 0..10 {
        let masked = learner.autoencoder.mask(&x, Key::new(1).child(draw)).unwrap();
        let Features::Sparse(left) = &masked.features else { panic!("sparse") };
        let zeroed = values(left.values()).iter().filter(|&&v| v == 0.0).count();
        let asked = masked.targets.iter().filter(|&&t| t == 1.0).count();
        assert_eq!((zeroed, masked.hidden.edges()), (asked, masked.targets.len()));
        for ((i, j), target) in masked.hidden.iter().zip(&masked.targets) {
            assert_eq!(sparse.topology().find(i as usize, j).is_some(), *target == 1.0);
        }
        of_ones += asked as f64 / 10.0;
        of_zeros += (masked.targets.len() - asked) as f64 / 10.0;
    }
    assert!((of_ones / (ones / 10.0) - 1.0).abs() < 0.02, "{of_ones} of {ones}");
    assert!((of_zeros / (ones / 2.0) - 1.0).abs() < 0.02, "{of_zeros} of {ones}");
    // Real numbers: one entry of ten, and squared distances.
    let x = Features::from(tensor32(&normals(3, 300 * 40), [300, 40]));
    let learner = made(&SlapsConfig::default(), &x);
    assert!(!learner.autoencoder.is_binary());
    let hidden = learner.autoencoder.mask(&x, Key::new(1)).unwrap().targets.len() as f64;
    assert!((hidden / 1200.0 - 1.0).abs() < 0.1, "{hidden}");
}

#[test]
fn the_network_waits_for_the_generator() {
    let x = Features::from(words(30, 20, 4));
    let learner = made(&small(SlapsGenerator::MlpD), &x);
    let stage = |learner: &Slaps, epoch| learner.stage(Progress { epoch, epochs: 2000 });
    let waits = Stage { task: false, network: false, learner: true };
    assert_eq!(stage(&learner, 0), waits);
    assert_eq!((stage(&learner, 399), stage(&learner, 400)), (waits, Stage::ALL));
    let mut config = small(SlapsGenerator::MlpD);
    config.autoencoder.weight = 0.0;
    assert_eq!(stage(&made(&config, &x), 0), Stage::ALL);
}

#[test]
fn gradients_are_those_of_differences() {
    for kind in KINDS {
        // Features above 0, as a start of ones leaves them, in f64.
        let x: Vec<f64> = normals(1, 14 * 5).iter().map(|v| v.abs().max(0.1)).collect();
        let world = World::of(tensor(&x, [14, 5]), 4);
        let learner = made(&small(kind), &world.features);
        let network = driven::network("gcn", 5, 6, 3);
        driven::gradients_are_those_of_differences(learner, network, &world, 2, false);
    }
}

#[test]
fn products_of_rows_are_those_of_dense_ones() {
    let rows = words(20, 12, 5).topology().clone();
    let pairs = graph(3, 20, 20, 4);
    let numbers = normals(5, rows.edges());
    gradcheck(&[numbers.clone()], |t| ops::row_dots(&pairs, &rows, &t[0]).unwrap());
    let dense = Adjacency::new(rows.clone(), tensor(&numbers, [rows.edges()])).unwrap();
    let dense = values(&dense.to_dense().unwrap());
    let dot = |i: usize, j: usize| -> f64 {
        dense[i * 12..][..12].iter().zip(&dense[j * 12..][..12]).map(|(a, b)| a * b).sum()
    };
    let found = ops::row_dots(&pairs, &rows, &tensor(&numbers, [rows.edges()])).unwrap();
    let expected: Vec<f64> = pairs.iter().map(|(i, j)| dot(i as usize, j as usize)).collect();
    assert_close(&values(&found), &expected, 1e-12);
    let batch = Batch::of_sizes([8, 12]);
    let near = ops::nearest_rows(&rows, &tensor(&numbers, [rows.edges()]), 3, &batch).unwrap();
    for i in 0..20 {
        let graph = if i < 8 { 0..8 } else { 8..20 };
        let mut others: Vec<usize> = graph.filter(|&j| j != i && dot(i, j) > 0.0).collect();
        others.sort_by(|&a, &b| dot(i, b).total_cmp(&dot(i, a)));
        others.truncate(3);
        others.sort_unstable();
        assert!(near.row(i).iter().map(|&j| j as usize).eq(others), "{i}");
    }
    let [a, b] = [normals(1, 60), normals(2, 36)];
    let some = graph(4, 20, 12, 3);
    gradcheck(&[a, b], |t| {
        let (a, b) = (t[0].clone().reshape([20, 3]), t[1].clone().reshape([12, 3]));
        ops::sampled_products(&some, &a, &b).unwrap()
    });
}

#[test]
fn bits_do_not_depend_on_threads() {
    for kind in KINDS {
        let world = World { features: words(300, 60, 8).into(), ..World::single(300, 60, 4) };
        let learner = made(&small(kind), &world.features);
        let network = driven::network("gcn", 60, 8, 3);
        driven::bits_do_not_depend_on_threads(learner, network, &world);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let default = SlapsConfig::default();
    let inner = default.autoencoder.clone();
    let with = |autoencoder| SlapsConfig { autoencoder, ..default.clone() };
    let wrong = [
        ("k", SlapsConfig { k: 0, ..default.clone() }),
        ("depth", SlapsConfig { depth: 0.0, ..default.clone() }),
        ("edge_dropout", SlapsConfig { edge_dropout: 1.0, ..default.clone() }),
        ("alone", SlapsConfig { alone: 1.0, ..default.clone() }),
        ("autoencoder.hidden", with(AutoencoderConfig { hidden: 0, ..inner.clone() })),
        ("autoencoder.weight", with(AutoencoderConfig { weight: f64::NAN, ..inner.clone() })),
        ("autoencoder.zeros", with(AutoencoderConfig { zeros: -1.0, ..inner.clone() })),
        ("autoencoder.dropout", with(AutoencoderConfig { dropout: 1.0, ..inner.clone() })),
        (
            "autoencoder.edge_dropout",
            with(AutoencoderConfig { edge_dropout: -0.1, ..inner.clone() }),
        ),
        ("autoencoder.ratio", with(AutoencoderConfig { ratio: 0.5, ..inner })),
    ];
    let (x, batch) = (Features::from(words(9, 7, 3)), Batch::single(9));
    for (setting, config) in wrong {
        let input = GraphInput::new(&x, None, &batch);
        let error = config.init(&input, Key::new(1), &device()).unwrap_err();
        assert!(matches!(error, Error::Setting { name, .. } if name == setting), "{error}");
    }
    // Free pairs are those of the nodes they were made for, and no network of edges takes them.
    let learner = made(&small(SlapsGenerator::Fp), &x);
    for (nodes, sizes) in [(8, vec![8]), (9, vec![4, 5])] {
        let (x, batch) = (Features::from(words(nodes, 7, 3)), Batch::of_sizes(sizes));
        let error = learner.learn(&GraphInput::new(&x, None, &batch), Pass::evaluate());
        assert!(matches!(error, Err(Error::Shape { .. })), "{error:?}");
    }
    for (name, fits) in [("gcn", true), ("sage", true), ("gat", false), ("gcnii", false)] {
        let network = driven::network(name, 7, 4, 3);
        assert_eq!(network.depth(), 2);
        let input = GraphInput::new(&x, None, &batch);
        let found = learner.drive(&input, &network, Pass::evaluate(), 1);
        assert_eq!(found.is_ok(), fits, "{name}");
        assert!(fits || matches!(found, Err(Error::NoEdges(_))), "{name}");
    }
    let other = Features::from(words(9, 6, 3));
    let input = GraphInput::new(&other, None, &batch);
    let learner = made(&small(SlapsGenerator::MlpD), &x);
    assert!(matches!(learner.learn(&input, Pass::evaluate()), Err(Error::Shape { .. })));
}
