//! NeuralSparse: its law, its weights, its gradients, and the plain network it becomes.

mod common;
#[path = "common/file.rs"]
mod file;
#[path = "common/model.rs"]
mod model;

use adjoin::{
    Adjacency, Batch, Csr, Error, Features, GraphInput, GraphLearner, Key, LearnedGraph, Linear,
    Pass, SelfLoops,
    conv::{BACKBONES, BackboneConfig},
    learner::{NeuralSparse, NeuralSparseConfig, SparseWeights},
    nn::{Network, Progress},
};
use burn::{
    module::Param,
    tensor::{Tensor, activation::softmax},
};
use common::*;

const KINDS: [SparseWeights; 2] = [SparseWeights::Soft, SparseWeights::Khot];

fn sparse(config: &NeuralSparseConfig, inputs: usize) -> NeuralSparse {
    let learner = config.clone().with_inputs(inputs).init(Key::new(6), &device()).unwrap();
    model::moved(learner)
}

/// A learner whose score of an edge is the one feature of its sender, which is above 0.
fn by_sender(config: &NeuralSparseConfig) -> NeuralSparse {
    let one = |value: f64| Param::from_tensor(tensor(&[value], [1]));
    let matrix = |value: f64| Param::from_tensor(tensor(&[value], [1, 1]));
    let mut learner = sparse(&NeuralSparseConfig { hidden: 1, ..config.clone() }, 1);
    learner.receiver = Linear { weight: matrix(0.0), bias: Some(one(0.0)) };
    learner.sender = Linear { weight: matrix(1.0), bias: None };
    (learner.edge, learner.output) = (one(0.0), one(1.0));
    learner
}

/// The scores of the neighbours of node 0; others have no neighbours.
fn star(scores: &[f64]) -> (Features, Adjacency, Batch) {
    let nodes = scores.len() + 1;
    let edges = (1..nodes as u32).map(|j| (0, j));
    let graph = Csr::from_edges(nodes, nodes, edges, SelfLoops::Drop).unwrap();
    let x: Vec<f64> = [1.0].iter().chain(scores).copied().collect();
    let weights = tensor(&vec![1.0; graph.edges()], [graph.edges()]);
    let graph = Adjacency::new(graph, weights).unwrap();
    (tensor(&x, [nodes, 1]).into(), graph, Batch::single(nodes))
}

fn learn(
    learner: &NeuralSparse,
    (x, graph, batch): &(Features, Adjacency, Batch),
    at: Option<Progress>,
    pass: Pass,
) -> LearnedGraph {
    let input = GraphInput { progress: at, ..GraphInput::new(x, Some(graph), batch) };
    learner.learn(&input, pass).unwrap()
}

fn kept(learned: &LearnedGraph) -> (Vec<u32>, Vec<f64>) {
    let topology = learned.adjacency.topology();
    (topology.row(0).to_vec(), values(learned.adjacency.weights()))
}

#[test]
fn the_largest_stay_with_the_weights_of_one_softmax() {
    let learner = by_sender(&NeuralSparseConfig { k: 2, ..NeuralSparseConfig::default() });
    // Scores 2, 1, 0, -1 in another order; whatever is added to all of them cancels.
    for more in [3.0, 40.0] {
        let world = star(&[0.0, 2.0, -1.0, 1.0].map(|z| z + more));
        let learned = learn(&learner, &world, None, Pass::evaluate());
        let (columns, weights) = kept(&learned);
        assert_eq!(columns, [2, 4]);
        assert_close(&weights, &[0.643_914, 0.236_883], 1e-6);
        let looped = learned.adjacency.with_self_loops().unwrap();
        let sum: f64 = values(looped.weights())[..3].iter().sum();
        assert_close(&[sum], &[1.880_797], 1e-6);
        let scores = learned.scores.unwrap();
        let total: f64 = values(&scores.log_scores).iter().map(|l| l.exp()).sum();
        assert_close(&[total], &[1.0], 1e-12);
    }
    // Of equal ones the first, and exactly k.
    let (columns, _) = kept(&learn(&learner, &star(&[1.0; 6]), None, Pass::evaluate()));
    assert_eq!(columns, [1, 2]);
}

#[test]
fn a_row_of_few_keeps_all_of_its_mass() {
    for (weights, mass) in [(SparseWeights::Soft, 1.0), (SparseWeights::Khot, 3.0)] {
        let config = NeuralSparseConfig { k: 5, weights, ..NeuralSparseConfig::default() };
        for pass in [|| Pass::train(1, 2), Pass::evaluate] {
            let learned = learn(&by_sender(&config), &star(&[0.3, 1.7, 0.9]), None, pass());
            let (columns, weights) = kept(&learned);
            assert_eq!(columns, [1, 2, 3]);
            assert_close(&[weights.iter().sum()], &[mass], 1e-12);
        }
    }
}

/// 1000 equal stars, 100 draws: the one that is kept follows the softmax, whatever the temperature.
#[test]
fn one_neighbour_follows_the_softmax_law() {
    const STARS: u32 = 1000;
    let scores = [2.0, 1.0, 0.5, 0.1];
    let nodes = (STARS + 4) as usize;
    let edges = (0..STARS).flat_map(|i| (0..4).map(move |j| (i, STARS + j)));
    let graph = Csr::from_edges(nodes, nodes, edges, SelfLoops::Drop).unwrap();
    let mut x = vec![1.0; STARS as usize];
    x.extend(scores);
    let weights = tensor(&vec![1.0; graph.edges()], [graph.edges()]);
    let graph = Adjacency::new(graph, weights).unwrap();
    let world = (tensor(&x, [nodes, 1]).into(), graph, Batch::single(nodes));
    let law = values(&softmax(tensor(&scores, [1, 4]), 1));
    let learner = by_sender(&NeuralSparseConfig { k: 1, ..NeuralSparseConfig::default() });
    for epoch in [0, 2500] {
        let mut counts = [0.0; 4];
        for draw in 0..100 {
            let at = Some(Progress { epoch, epochs: 3000 });
            let learned = learn(&learner, &world, at, Pass::sample(5, draw));
            let topology = learned.adjacency.topology();
            assert_eq!(topology.edges(), STARS as usize);
            topology.indices().iter().for_each(|&j| counts[(j - STARS) as usize] += 1e-5);
        }
        counts.iter().zip(&law).for_each(|(c, p)| assert!((c - p).abs() < 5e-3, "{counts:?}"));
    }
}

#[test]
fn noise_and_temperature_are_for_training() {
    let learner = by_sender(&NeuralSparseConfig { k: 4, ..NeuralSparseConfig::default() });
    let world = star(&[2.0, 1.0, 0.4, 1.3]);
    let at = |epoch| Progress { epoch, epochs: 3000 };
    for (epoch, temperature) in
        [(0, 1.0), (49, 1.0), (50, (-0.05f64).exp()), (299, (-0.25f64).exp()), (3000, 0.05)]
    {
        assert_close(&[learner.temperature(at(epoch))], &[temperature], 1e-15);
        let pass = || Pass::train(3, epoch as u64);
        let edges = world.1.topology();
        let noise = adjoin::ops::gumbel_noise(edges, pass().key(), false, world.1.weights());
        let z = tensor(&[2.0, 1.0, 0.4, 1.3], [4]) + noise.unwrap();
        let expected = values(&softmax(z / temperature, 0));
        let (_, found) = kept(&learn(&learner, &world, Some(at(epoch)), pass()));
        assert_close(&found, &expected, 1e-12);
        let (_, still) = kept(&learn(&learner, &world, Some(at(epoch)), Pass::evaluate()));
        assert_close(&still, &values(&softmax(tensor(&[2.0, 1.0, 0.4, 1.3], [4]), 0)), 1e-12);
    }
}

#[test]
fn scores_weights_and_gradients_are_those_of_pytorch() {
    file::both("neural_sparse", |file| {
        for (case, weights) in ["soft.", "khot."].into_iter().zip(KINDS) {
            let k = file.scalar("k") as usize;
            let config = NeuralSparseConfig { k, hidden: 6, weights, ..Default::default() };
            let mut learner = config.with_inputs(4).init(Key::new(1), &device()).unwrap();
            let bias = Some(file.param("b"));
            learner.receiver = Linear { weight: file.param("W_receiver"), bias };
            learner.sender = Linear { weight: file.param("W_sender"), bias: None };
            (learner.edge, learner.output) = (file.param("v"), file.param("a"));
            let (x, given) = (file.leaf::<2>("x"), file.leaf::<1>("weights"));
            let graph = Adjacency::new(file.csr("", 9), given.clone()).unwrap();
            let features = Features::from(x.clone());
            file.check("z", &learner.scores(&features, &graph).unwrap());
            let learned =
                learn(&learner, &(features, graph, Batch::single(9)), None, Pass::evaluate());
            assert_eq!(learned.adjacency.topology(), &file.csr("kept.", 9));
            let receiver = &learner.receiver;
            file.check_case(
                case,
                learned.adjacency.weights(),
                &[
                    ("weights", &given),
                    ("x", &x),
                    ("W_receiver", &receiver.weight),
                    ("b", receiver.bias.as_ref().unwrap()),
                    ("W_sender", &learner.sender.weight),
                    ("v", &learner.edge),
                    ("a", &learner.output),
                ],
            );
        }
    });
}

#[test]
fn gradients_are_those_of_differences_with_noise() {
    let topology = graph(4, 14, 14, 5);
    for weights in KINDS {
        let learner = sparse(&NeuralSparseConfig { k: 3, weights, ..Default::default() }, 4);
        let x = tensor(&normals(1, 14 * 4), [14, 4]);
        let at = Some(Progress { epoch: 400, epochs: 500 });
        let run = |learner: &NeuralSparse, x: Tensor<2>, given: Tensor<1>| {
            let graph = Adjacency::new(topology.clone(), given).unwrap();
            let world = (x.into(), graph, Batch::single(14));
            learn(learner, &world, at, Pass::train(2, 3)).adjacency.weights().clone()
        };
        let given: Vec<f64> = normals(8, topology.edges()).iter().map(|w| 0.3 + w.abs()).collect();
        let fixed = tensor(&given, [given.len()]);
        let grads =
            model::check_module("all", &learner, &x, |learner, x| run(learner, x, fixed.clone()));
        assert!(grads.iter().all(|grad| grad.iter().any(|g| *g != 0.0)), "{grads:?}");
        gradcheck(&[given], |t| run(&learner, x.clone(), t[0].clone()));
    }
}

/// Rings of 2 and 4 neighbours: their shares are exact in binary.
#[test]
fn even_weights_and_room_for_all_are_the_plain_network() {
    const NODES: u32 = 16;
    let near = |i: u32, by: u32| (i, if i < 8 { (i + by) % 8 } else { 8 + (i - 8 + by) % 8 });
    let edges = (0..NODES).flat_map(|i| {
        let steps: &[u32] = if i < 8 { &[1, 7] } else { &[1, 2, 6, 7] };
        steps.iter().map(move |&by| near(i, by))
    });
    let topology = Csr::from_edges(16, 16, edges, SelfLoops::Drop).unwrap();
    let plain = Adjacency::unweighted(topology, &device());
    let x = Features::from(tensor32(&normals(3, 16 * 5), [16, 5]));
    for (weights, names) in [
        (SparseWeights::Khot, &["gcn", "sage", "gat", "gcnii"][..]),
        (SparseWeights::Soft, &["sage"]),
    ] {
        let config = NeuralSparseConfig { k: 4, weights, ..Default::default() };
        let mut learner = config.with_inputs(5).init(Key::new(6), &device()).unwrap();
        learner.output = Param::from_tensor(learner.output.val().zeros_like());
        let world = (x.clone(), plain.clone(), Batch::single(16));
        let learned = learn(&learner, &world, None, Pass::evaluate());
        assert_eq!(learned.adjacency.topology(), plain.topology());
        for entry in BACKBONES.iter().filter(|entry| names.contains(&entry.name)) {
            let config = BackboneConfig { layers: 2, hidden: 8, ..(entry.config)() };
            let network = config.with_widths(5, 3).init(Key::new(2), &device()).unwrap();
            let run =
                |graph: &Adjacency| values(&network.run(&x, graph, Pass::train(1, 1)).unwrap());
            assert_eq!(run(&learned.adjacency), run(&plain), "{}", entry.name);
        }
    }
}

#[test]
fn draws_repeat_differ_and_do_not_depend_on_threads() {
    let topology = graph(4, 300, 300, 9);
    let weights = tensor(&vec![1.0; topology.edges()], [topology.edges()]);
    let graph = Adjacency::new(topology, weights).unwrap();
    let world = (tensor(&normals(1, 1200), [300, 4]).into(), graph, Batch::single(300));
    for weights in KINDS {
        let learner = sparse(&NeuralSparseConfig { weights, ..Default::default() }, 4);
        let edges = |pass| learn(&learner, &world, None, pass).adjacency.topology().clone();
        assert_eq!(edges(Pass::train(1, 4)), edges(Pass::train(1, 4)));
        assert_ne!(edges(Pass::train(1, 4)), edges(Pass::train(1, 5)));
        same_bits_on_any_threads(|| {
            let learned = learn(&learner, &world, None, Pass::train(1, 4));
            let weights = learned.adjacency.weights();
            let grads = model::gradients(&learner, &weights.clone().square().sum().backward());
            values(weights).into_iter().chain(grads.concat()).collect()
        });
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let default = NeuralSparseConfig::default();
    let wrong = [
        ("k", NeuralSparseConfig { k: 0, ..default.clone() }),
        ("hidden", NeuralSparseConfig { hidden: 0, ..default.clone() }),
        ("every", NeuralSparseConfig { every: 0, ..default.clone() }),
        ("cooling", NeuralSparseConfig { cooling: -1.0, ..default.clone() }),
        ("lowest", NeuralSparseConfig { lowest: 0.0, ..default.clone() }),
        ("lowest", NeuralSparseConfig { lowest: f64::NAN, ..default.clone() }),
    ];
    for (setting, config) in wrong {
        let error = config.with_inputs(3).init(Key::new(1), &device()).unwrap_err();
        assert!(matches!(error, Error::Setting { name, .. } if name == setting), "{error}");
    }
    let missing = default.init(Key::new(1), &device()).unwrap_err();
    assert!(matches!(missing, Error::Setting { name: "inputs", .. }), "{missing}");
    let (x, graph, batch) = star(&[1.0, 2.0]);
    let learner = by_sender(&default);
    let alone = learner.learn(&GraphInput::new(&x, None, &batch), Pass::evaluate()).unwrap_err();
    assert_eq!(alone, Error::NoInputGraph("NeuralSparse"));
    // Self-loops are no candidates: convolutions add their own.
    let looped = (x, graph.with_self_loops().unwrap(), batch);
    assert_eq!(kept(&learn(&learner, &looped, None, Pass::evaluate())).0, [1, 2]);
}
