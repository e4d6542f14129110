//! PTDNet: its gates, its terms, its gradients, and the plain network it becomes.

mod common;
#[path = "common/driven.rs"]
mod driven;
#[path = "common/file.rs"]
mod file;
#[path = "common/model.rs"]
mod model;

use adjoin::{
    Adjacency, Batch, Csr, Error, Features, GraphInput, GraphLearner, Key, Linear, Pass, SelfLoops,
    conv::BACKBONES,
    learner::{EdgeGate, PtdNet, PtdNetConfig},
    nn::{Network, Progress, Reading},
};
use burn::{module::Param, tensor::Tensor};
use common::*;
use driven::World;

fn of_widths(config: &PtdNetConfig, widths: Vec<usize>) -> PtdNet {
    config.clone().with_widths(widths).init(Key::new(6), &device()).unwrap()
}

/// One gate whose score is the only feature of the sender, which is above 0, plus a bias.
fn by_sender(config: &PtdNetConfig, bias: f64) -> PtdNet {
    let config = PtdNetConfig { hidden: 1, pair_hidden: 0, ..config.clone() };
    let mut learner = of_widths(&config, vec![1]);
    let linear = |weight: f64, bias: Option<f64>| Linear {
        weight: Param::from_tensor(tensor(&[weight], [1, 1])),
        bias: bias.map(|bias| Param::from_tensor(tensor(&[bias], [1]))),
    };
    let gate = &mut learner.gates[0];
    (gate.receiver, gate.sender) = (linear(0.0, Some(0.0)), linear(1.0, Some(0.0)));
    (gate.of_receiver, gate.of_sender) = (linear(0.0, None), linear(1.0, None));
    gate.bias = Param::from_tensor(tensor(&[bias], [1]));
    learner
}

/// Node 0 hears nodes 1, 2, .. with these features.
fn star(features: &[f64]) -> (Features, Adjacency, Batch) {
    let nodes = features.len() + 1;
    let edges = (1..nodes as u32).map(|j| (0, j));
    let graph = Csr::from_edges(nodes, nodes, edges, SelfLoops::Drop).unwrap();
    let x: Vec<f64> = [1.0].iter().chain(features).copied().collect();
    // Weights of the given graph are not looked at.
    let graph = Adjacency::new(graph, tensor(&vec![7.0; nodes - 1], [nodes - 1])).unwrap();
    (tensor(&x, [nodes, 1]).into(), graph, Batch::single(nodes))
}

#[test]
fn gates_of_evaluation_are_those_of_the_card() {
    // Scores 0, 1, -3 and 3.
    let learner = by_sender(&PtdNetConfig::default(), -4.0);
    let (x, graph, batch) = star(&[4.0, 5.0, 1.0, 7.0]);
    let input = GraphInput::new(&x, Some(&graph), &batch);
    let learned = learner.learn(&input, Pass::evaluate()).unwrap();
    assert_close(&values(learned.adjacency.weights()), &[0.5, 0.777_270, 0.0, 1.0], 1e-6);
}

#[test]
fn gates_open_as_often_as_the_term_says() {
    const GATES: usize = 20_000;
    let (x, graph, batch) = star(&vec![1.0; GATES]);
    for (temperature, expected) in [(0.5, 0.768_338), (1.0, 11.0 / 12.0), (2.0, 0.991_803)] {
        let config = PtdNetConfig { start: temperature, ..PtdNetConfig::default() };
        let learner = by_sender(&config, -1.0);
        let share = values(&learner.open_share(&tensor(&[0.0], [1]), temperature))[0];
        assert_close(&[share], &[expected], 1e-6);
        let input = GraphInput::new(&x, Some(&graph), &batch);
        let input = input.with_progress(Progress { epoch: 0, epochs: 10 });
        let learned = learner.learn(&input, Pass::train(1, 2)).unwrap();
        let open = values(learned.adjacency.weights()).iter().filter(|&&z| z > 0.0).count();
        let found = open as f64 / GATES as f64;
        assert!((found - expected).abs() < 0.01, "{temperature}: {found}, not {expected}");
    }
}

#[test]
fn the_temperature_falls_to_its_lowest() {
    let learner = by_sender(&PtdNetConfig::default(), 0.0);
    let at = |epoch| learner.temperature(Progress { epoch, epochs: 1000 });
    assert_close(&[at(0), at(1), at(100)], &[2.0, 1.98, 2.0 * 0.99f64.powi(100)], 1e-12);
    assert!(at(366) > 0.05);
    assert_eq!((at(368), at(900)), (0.05, 0.05));
}

fn gate_of(file: &file::Golden, layer: usize) -> EdgeGate {
    let name = |part: &str| format!("{part}_{layer}");
    let linear = |weight: &str, bias: Option<&str>| Linear {
        weight: file.param(&name(weight)),
        bias: bias.map(|bias| file.param(&name(bias))),
    };
    EdgeGate {
        receiver: linear("W_1", Some("b_1")),
        sender: linear("W_2", Some("b_2")),
        of_receiver: linear("U", Some("c")),
        of_sender: linear("V", None),
        output: Some(file.param(&name("w"))),
        bias: file.param(&name("b")),
    }
}

#[test]
fn outputs_gates_and_gradients_are_those_of_pytorch() {
    file::both("ptdnet", |file| {
        let config = PtdNetConfig { hidden: 3, pair_hidden: 4, ..PtdNetConfig::default() };
        let mut learner = of_widths(&config, vec![4, 5]);
        learner.gates = vec![gate_of(file, 0), gate_of(file, 1)];
        let x = file.leaf::<2>("x");
        let given = Adjacency::new(file.csr("", 9), file.tensor(&[7.0; 30], [30])).unwrap();
        let (features, batch) = (Features::from(x.clone()), Batch::single(9));
        let input = GraphInput::new(&features, Some(&given), &batch);
        let names = [["W_0_conv", "bias_0"], ["W_1_conv", "bias_1"]];
        let network = driven::gcn_of(file, [4, 5, 3], names);
        let scores = learner.gates[0].scores(&features, given.topology()).unwrap();
        file.check("share", &learner.open_share(&scores, 0.7));
        let outcome = learner.drive(&input, &network, Pass::evaluate(), 1).unwrap();
        assert!(outcome.terms.is_empty());
        let mut names = vec![];
        let mut found: Vec<&dyn file::Leaf> = vec![];
        for (at, gate) in learner.gates.iter().enumerate() {
            let parts: [(&str, &dyn file::Leaf); 9] = [
                ("W_1", &gate.receiver.weight),
                ("b_1", gate.receiver.bias.as_ref().unwrap()),
                ("W_2", &gate.sender.weight),
                ("b_2", gate.sender.bias.as_ref().unwrap()),
                ("U", &gate.of_receiver.weight),
                ("c", gate.of_receiver.bias.as_ref().unwrap()),
                ("V", &gate.of_sender.weight),
                ("w", gate.output.as_ref().unwrap()),
                ("b", &gate.bias),
            ];
            for (part, leaf) in parts {
                names.push(format!("{part}_{at}"));
                found.push(leaf);
            }
            let linear = driven::linears(&network)[at];
            names.push(format!("W_{at}_conv"));
            found.push(&linear.weight);
            names.push(format!("bias_{at}"));
            found.push(linear.bias.as_ref().unwrap());
        }
        let mut all: Vec<(&str, &dyn file::Leaf)> = vec![("x", &x)];
        all.extend(names.iter().map(String::as_str).zip(found));
        file.check_case("", &outcome.draws[0].logits, &all);

        let config = PtdNetConfig { hidden: 3, pair_hidden: 0, ..PtdNetConfig::default() };
        let mut learner = of_widths(&config, vec![4, 5]);
        let (u, v) = (file.param("u"), file.param("v"));
        learner.gates[0] = EdgeGate {
            of_receiver: Linear { weight: u, bias: None },
            of_sender: Linear { weight: v, bias: None },
            output: None,
            ..gate_of(file, 0)
        };
        let learned = learner.learn(&input, Pass::evaluate()).unwrap();
        let gate = &learner.gates[0];
        let leaves: [(&str, &dyn file::Leaf); 8] = [
            ("x", &x),
            ("W_1_0", &gate.receiver.weight),
            ("b_1_0", gate.receiver.bias.as_ref().unwrap()),
            ("W_2_0", &gate.sender.weight),
            ("b_2_0", gate.sender.bias.as_ref().unwrap()),
            ("b_0", &gate.bias),
            ("u", &gate.of_receiver.weight),
            ("v", &gate.of_sender.weight),
        ];
        file.check_case("additive.", learned.adjacency.weights(), &leaves);
    });
}

#[test]
fn terms_are_their_formulas() {
    let world = World::new(14, 4, 5);
    let network = driven::network("gcn", 4, 6, 3);
    let network = model::widened(network);
    let config = PtdNetConfig { rank: 14, ..PtdNetConfig::default() };
    let learner = model::moved(of_widths(&config, network.widths()));
    let outcome = learner.drive(&world.at(30), &network, Pass::train(1, 2), 3).unwrap();
    assert_eq!(outcome.reading, Reading::LossOfMean);
    let term = |name: &str| {
        let (_, value) = outcome.terms.iter().find(|(found, _)| *found == name).unwrap();
        values(value)[0]
    };
    assert_eq!(outcome.terms.len(), 3);
    // The spread of three outputs.
    let logits: Vec<Vec<f64>> = outcome.draws.iter().map(|draw| values(&draw.logits)).collect();
    let spread: f64 = (0..logits[0].len())
        .map(|at| {
            let mean = logits.iter().map(|draw| draw[at]).sum::<f64>() / 3.0;
            logits.iter().map(|draw| 0.5 * (draw[at] - mean).powi(2)).sum::<f64>()
        })
        .sum();
    assert_close(&[term("consistency")], &[0.01 * spread], 1e-10);
    // Layers and draws by hand.
    let edges = world.graph.topology();
    let (mut open, mut singular) = (0.0, 0.0);
    let temperature = learner.temperature(Progress { epoch: 30, epochs: 1000 });
    for draw in 0..3 {
        let [noise, pass] = [1, 2].map(|part| Pass::train(1, 2).child(part).child(draw));
        let mut state = network.begin(&world.features, &pass).unwrap();
        for (at, gate) in learner.gates.iter().enumerate() {
            let scores = gate.scores(&state.features().unwrap(), edges).unwrap();
            open += values(&learner.open_share(&scores, temperature))[0];
            let key = noise.child(at as u64).key();
            let noise = adjoin::ops::logistic_noise(edges, key, false, &scores).unwrap();
            let gates: Vec<f64> = values(&((scores + noise) / temperature))
                .iter()
                .map(|key| (1.2 / (1.0 + (-key).exp()) - 0.1).clamp(0.0, 1.0))
                .collect();
            let graph = tensor(&gates, [gates.len()]);
            let graph = Adjacency::new(edges.clone(), graph).unwrap();
            singular += values(&adjoin::loss::low_rank(&graph, 14, Key::new(5)).unwrap())[0];
            state = network.layer(at, state, &graph, &pass).unwrap();
        }
        let expected = values(&network.finish(state, &pass).unwrap());
        assert_close(&logits[draw as usize], &expected, 1e-12);
    }
    assert_close(&[term("sparsity")], &[0.1 * open], 1e-10);
    assert_close(&[term("low_rank")], &[0.01 * singular / 3.0], 1e-6);
    // Without the term, and where one draw cannot differ from itself.
    let config = PtdNetConfig::without_low_rank();
    let plain = model::moved(of_widths(&config, network.widths()));
    let outcome = plain.drive(&world.at(30), &network, Pass::train(1, 2), 1).unwrap();
    assert_eq!(outcome.terms.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["sparsity"]);
}

/// `diag(3, 1)`: the largest singular value is 3, and its gradient is at the first entry.
#[test]
fn the_largest_singular_value_has_its_gradient() {
    let graph = Csr::identity(2);
    let weights: Tensor<1> = tensor(&[3.0, 1.0], [2]).require_grad();
    let graph = Adjacency::new(graph, weights.clone()).unwrap();
    let found = adjoin::loss::low_rank(&graph, 1, Key::new(1)).unwrap();
    assert_close(&values(&found), &[3.0], 1e-6);
    let grad = weights.grad(&found.backward()).unwrap();
    assert_close(&values(&grad), &[1.0, 0.0], 1e-3);
}

#[test]
fn gradients_are_those_of_differences_with_noise() {
    for pair_hidden in [5, 0] {
        let network = driven::network("gcn", 4, 6, 3);
        let config = PtdNetConfig { hidden: 4, pair_hidden, ..PtdNetConfig::without_low_rank() };
        let learner = of_widths(&config, network.widths());
        let world = World::new(14, 4, 5);
        driven::gradients_are_those_of_differences(learner, network, &world, 3, true);
    }
}

#[test]
fn open_gates_are_the_plain_network() {
    let world = World::single(30, 5, 6);
    for entry in BACKBONES.iter().filter(|entry| entry.name != "mlp") {
        let network = driven::network(entry.name, 5, 8, 3);
        let mut learner = of_widths(&PtdNetConfig::default(), network.widths());
        for gate in &mut learner.gates {
            gate.bias = Param::from_tensor(tensor32(&[1e6], [1]));
        }
        driven::is_the_plain_network(&learner, &network, &world);
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let network = driven::network("gcn", 4, 8, 3);
    let learner = of_widths(&PtdNetConfig::default(), network.widths());
    driven::bits_do_not_depend_on_threads(learner, network, &World::single(300, 4, 8));
}

#[test]
fn what_does_not_fit_is_refused() {
    let default = PtdNetConfig::default();
    let wrong = [
        ("hidden", PtdNetConfig { hidden: 0, ..default.clone() }),
        ("rank", PtdNetConfig { rank: 0, ..default.clone() }),
        // There the expected share of open gates has no gradient.
        ("low", PtdNetConfig { low: -0.0, ..default.clone() }),
        ("high", PtdNetConfig { high: 1.0, ..default.clone() }),
        ("start", PtdNetConfig { start: 0.0, ..default.clone() }),
        ("cooling", PtdNetConfig { cooling: 1.5, ..default.clone() }),
        ("lowest", PtdNetConfig { lowest: f64::NAN, ..default.clone() }),
        ("sparsity", PtdNetConfig { sparsity: -1.0, ..default.clone() }),
        ("low_rank", PtdNetConfig { low_rank: f64::INFINITY, ..default.clone() }),
        ("consistency", PtdNetConfig { consistency: f64::NAN, ..default.clone() }),
    ];
    for (setting, config) in wrong {
        let error = config.with_widths(vec![3]).init(Key::new(1), &device()).unwrap_err();
        assert!(matches!(error, Error::Setting { name, .. } if name == setting), "{error}");
    }
    let missing = default.init(Key::new(1), &device()).unwrap_err();
    assert!(matches!(missing, Error::Setting { name: "widths", .. }), "{missing}");
    let world = World::single(9, 4, 3);
    let network = driven::network("gcn", 4, 8, 3);
    let learner = of_widths(&PtdNetConfig::default(), vec![4]);
    let error = learner.drive(&world.input(), &network, Pass::evaluate(), 1).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
    let alone = GraphInput::new(&world.features, None, &world.batch);
    let error = learner.learn(&alone, Pass::evaluate()).unwrap_err();
    assert_eq!(error, Error::NoInputGraph("PTDNet"));
    // Nodes without edges, and graphs with loops.
    let empty = Adjacency::unweighted(Csr::empty(9, 9), &device());
    let input = GraphInput { graph: Some(&empty), ..world.at(1) };
    let learner = of_widths(&PtdNetConfig::default(), network.widths());
    assert!(learner.drive(&input, &network, Pass::train(1, 1), 2).is_ok());
    let looped = world.graph.with_self_loops().unwrap();
    let input = GraphInput { graph: Some(&looped), ..world.at(1) };
    let learned = learner.learn(&input, Pass::evaluate()).unwrap();
    assert_eq!(learned.adjacency.topology(), world.graph.topology());
}
