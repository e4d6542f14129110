//! NodeFormer: its attention, its patterns, its edge term, its gradients.

mod common;
#[path = "common/driven.rs"]
mod driven;
#[path = "common/file.rs"]
mod file;
#[path = "common/model.rs"]
mod model;

use adjoin::{
    Adjacency, Batch, Csr, Error, Features, GraphInput, GraphLearner, Key, Linear, Pass, Prepared,
    SelfLoops,
    learner::{AttentionNoise, NodeFormer, NodeFormerConfig, NodeFormerLayer, RowNorm},
    ops,
};
use burn::{
    module::Param,
    tensor::{Tensor, activation::softmax},
};
use common::*;
use driven::World;

fn small() -> NodeFormerConfig {
    NodeFormerConfig {
        width: 4,
        heads: 2,
        features: 6,
        draws: 3,
        orders: 2,
        ..NodeFormerConfig::default()
    }
}

fn made(config: &NodeFormerConfig, inputs: usize) -> NodeFormer {
    config.clone().with_widths(inputs, 3).init(Key::new(6), &device()).unwrap()
}

#[test]
fn outputs_term_and_gradients_are_those_of_pytorch() {
    file::both("nodeformer", |file| {
        let config = NodeFormerConfig { width: 3, features: 5, layers: 1, ..small() };
        let mut learner = made(&config, 4);
        let linear = |name: &str| Linear {
            weight: file.param(&format!("W_{name}")),
            bias: Some(file.param(&format!("b_{name}"))),
        };
        let norm = |scale: &str, shift: &str| RowNorm {
            scale: file.param(scale),
            shift: file.param(shift),
        };
        (learner.first, learner.last) = (linear("in"), linear("out"));
        learner.norm = norm("s_in", "t_in");
        learner.layers[0] = NodeFormerLayer {
            query: linear("q"),
            key: linear("k"),
            value: linear("v"),
            output: linear("o"),
            relation: file.param("r"),
            norm: norm("s", "t"),
        };
        let x = file.leaf::<2>("x");
        let given = file.csr("", 9);
        let ones = file.tensor(&vec![1.0; given.edges()], [given.edges()]);
        let given = Adjacency::new(given, ones).unwrap();
        let (features, batch) = (Features::from(x.clone()), Batch::single(9));
        let input = GraphInput::new(&features, Some(&given), &batch);
        let patterns = learner.prepare(&input).unwrap().patterns.unwrap();
        let layer = &learner.layers[0];
        let mut leaves: Vec<(&str, &dyn file::Leaf)> = vec![
            ("x", &x),
            ("r", &layer.relation),
            ("s_in", &learner.norm.scale),
            ("t_in", &learner.norm.shift),
            ("s", &layer.norm.scale),
            ("t", &layer.norm.shift),
        ];
        let linears = [
            (["W_in", "b_in"], &learner.first),
            (["W_q", "b_q"], &layer.query),
            (["W_k", "b_k"], &layer.key),
            (["W_v", "b_v"], &layer.value),
            (["W_o", "b_o"], &layer.output),
            (["W_out", "b_out"], &learner.last),
        ];
        for ([weight, bias], linear) in &linears {
            leaves.push((weight, &linear.weight));
            leaves.push((bias, linear.bias.as_ref().unwrap()));
        }
        for (case, noisy) in [("", false), ("train.", true)] {
            let noise = AttentionNoise {
                projection: file.constant("projection"),
                gumbel: noisy.then(|| file.constant("gumbel")),
            };
            let (logits, log_attention) =
                learner.forward(&features, &patterns, &[noise], Pass::evaluate()).unwrap();
            let term = NodeFormer::edge_term(patterns[0].topology(), &log_attention).unwrap();
            let out = Tensor::cat(vec![logits.flatten(0, 1), term], 0);
            file.check_case(case, &out, &leaves);
        }
    });
}

#[test]
fn patterns_square() {
    // A path of 8 nodes: neighbours at 1, 2 and 4 steps.
    let path = Csr::undirected(8, (0..7).map(|i| (i, i + 1)), SelfLoops::Drop).unwrap();
    let given = Adjacency::unweighted(path, &device());
    let x = Features::from(tensor32(&normals(1, 16), [8, 2]));
    let batch = Batch::single(8);
    let input = GraphInput::new(&x, Some(&given), &batch);
    let learner = made(&NodeFormerConfig { orders: 3, ..small() }, 2);
    let patterns = learner.prepare(&input).unwrap().patterns.unwrap();
    for (pattern, steps) in patterns.iter().zip([1, 2, 4]) {
        let near = |i: u32| (0..8).filter(move |&j| i.abs_diff(j) <= steps);
        for i in 0..8 {
            assert!(pattern.topology().row(i as usize).iter().copied().eq(near(i)), "{steps}");
        }
        // Weights are those of both degrees.
        let degree = |i: u32| near(i).count() as f64;
        let weights: Vec<f64> =
            pattern.topology().iter().map(|(i, j)| (degree(i) * degree(j)).powf(-0.5)).collect();
        assert_close(&values(pattern.weights()), &weights, 1e-6);
    }
    let narrow = NodeFormerConfig { orders: 3, most_entries: 30, ..small() };
    let error = made(&narrow, 2).learn(&input, Pass::evaluate()).unwrap_err();
    assert!(matches!(error, Error::Setting { name: "orders", .. }), "{error}");
}

#[test]
fn constant_values_stay_and_constants_of_the_noise_cancel() {
    let positive = |seed| -> Vec<f64> { normals(seed, 12 * 5).iter().map(|v| v.exp()).collect() };
    let [p, r] = [1, 2].map(|seed| tensor(&positive(seed), [12, 5]));
    let constant = tensor(&[2.5; 24], [12, 2]);
    let noise: Vec<f64> = normals(3, 36).iter().map(|g| (g / 0.25).exp()).collect();
    let weights = tensor(&noise, [3, 12]);
    for weights in [weights.clone(), Tensor::ones_like(&weights).slice([0..1])] {
        let found = ops::feature_attention(&p, &r, &constant, &weights).unwrap();
        assert_close(&values(&found), &[2.5; 24], 1e-12);
    }
    let v = tensor(&normals(4, 24), [12, 2]);
    let [a, b] = [1.0, 7.0]
        .map(|c| values(&ops::feature_attention(&p, &r, &v, &(weights.clone() * c)).unwrap()));
    assert_close(&a, &b, 1e-12);
    gradcheck(&[positive(1), positive(2), normals(4, 24)], |t| {
        let [p, r] = [0, 1].map(|n| t[n].clone().reshape([12, 5]));
        let v = t[2].clone().reshape([12, 2]);
        ops::feature_attention(&p, &r, &v, &weights).unwrap().flatten(0, 1)
    });
}

/// With queries of 0 all nodes attend evenly: the mean of the values, pi = 1 / N, and the term follows.
#[test]
fn queries_of_zero_are_a_mean() {
    let world = World::new(12, 4, 4);
    let config = NodeFormerConfig { heads: 1, layers: 1, orders: 1, ..small() };
    let mut learner = model::widened(made(&config, 4));
    let layer = &mut learner.layers[0];
    let zero = |linear: &Linear| Linear {
        weight: Param::from_tensor(linear.weight.val().zeros_like()),
        bias: linear.bias.as_ref().map(|bias| Param::from_tensor(bias.val().zeros_like())),
    };
    (layer.query, layer.key) = (zero(&layer.query), zero(&layer.key));
    let outcome = learner
        .drive(&world.input(), &driven::network("gcn", 4, 4, 3), Pass::evaluate(), 1)
        .unwrap();
    let graph = &outcome.draws[0].graph.adjacency;
    assert_close(&values(graph.weights()), &vec![1.0 / 12.0; graph.topology().edges()], 1e-12);
    let patterns = learner.prepare(&world.input()).unwrap().patterns.unwrap();
    let noise = AttentionNoise { projection: tensor(&normals(5, 24), [6, 4]), gumbel: None };
    let run = |learner: &NodeFormer| {
        let noise = std::slice::from_ref(&noise);
        learner.forward(&world.features, &patterns, noise, Pass::evaluate()).unwrap()
    };
    let (logits, log_attention) = run(&learner);
    let edges = patterns[0].topology();
    let term = values(&NodeFormer::edge_term(edges, &log_attention).unwrap())[0];
    let mean = edges.iter().map(|(i, _)| 1.0 / edges.degree(i as usize) as f64).sum::<f64>()
        / edges.edges() as f64;
    assert_close(&[term], &[12f64.ln() * mean], 1e-12);
    // The layer is a mean and a convolution with the weight sigmoid(b).
    let NodeFormer { first, norm, last, .. } = &learner;
    let layer = &learner.layers[0];
    let scaled = |norm: &RowNorm, x: Tensor<2>| {
        let centred = x.clone() - x.mean_dim(1);
        let deviation = (centred.clone().square().mean_dim(1) + 1e-5).sqrt();
        centred / deviation * norm.scale.val().unsqueeze() + norm.shift.val().unsqueeze()
    };
    let z = ops::elu(&scaled(norm, first.forward(&world.features).unwrap())).unwrap();
    let v = layer.value.forward_dense(z.clone());
    let gate = 1.0 / (1.0 + (-0.1f64).exp());
    let near = patterns[0].aggregate(&v).unwrap() * gate;
    let all = v.mean_dim(0).expand([12, 4]) + near;
    let expected = last.forward_dense(scaled(&layer.norm, layer.output.forward_dense(all) + z));
    assert_close(&values(&logits), &values(&expected), 1e-7);
}

/// 4096 random features of short queries and keys: within a hundredth of the softmax they stand for.
#[test]
fn many_features_are_softmax_attention() {
    let (n, d) = (20, 4);
    let config =
        NodeFormerConfig { width: d, heads: 1, layers: 1, features: 4096, orders: 0, ..small() };
    let mut learner = model::widened(made(&config, d));
    // Attention is read off the graph on complete edges.
    let complete = (0..n as u32).flat_map(|i| (0..n as u32).map(move |j| (i, j)));
    let complete = Csr::from_edges(n, n, complete, SelfLoops::Keep).unwrap();
    let x = tensor(&normals(2, n * d), [n, d]);
    let given = Adjacency::unweighted(complete, (&x.device(), x.dtype()));
    let layer = &mut learner.layers[0];
    let short = |seed| Linear {
        weight: Param::from_tensor(tensor(&normals(seed, d * d), [d, d]) * 0.08),
        bias: None,
    };
    (layer.query, layer.key) = (short(7), short(8));
    let features = Features::from(x);
    let batch = Batch::single(n);
    let input = GraphInput::new(&features, Some(&given), &batch);
    let found = learner.learn(&input, Pass::evaluate()).unwrap().adjacency;
    let z = learner.first.forward(&features).unwrap();
    let centred = z.clone() - z.mean_dim(1);
    let z = ops::elu(&(centred.clone() / (centred.square().mean_dim(1) + 1e-5).sqrt())).unwrap();
    let layer = &learner.layers[0];
    let [q, k] = [&layer.query, &layer.key].map(|linear| linear.forward_dense(z.clone()));
    let logits = q.matmul(k.transpose()) / (0.25 * (d as f64).sqrt());
    let expected = values(&softmax(logits, 1));
    for (found, expected) in values(found.weights()).iter().zip(&expected) {
        assert!((found / expected - 1.0).abs() < 0.03, "{found}, not {expected}");
    }
}

#[test]
fn gradients_are_those_of_differences_with_noise() {
    let world = World::new(12, 4, 4);
    let (learner, network) = (made(&small(), 4), driven::network("gcn", 4, 4, 3));
    let learner = model::moved(learner);
    let Features::Dense(x) = &world.features else { panic!("dense") };
    let grads = model::check_module("nodeformer", &learner, x, |learner, x| {
        let features = x.into();
        let input = GraphInput { features: &features, ..world.at(3) };
        driven::everything(&learner.drive(&input, &network, Pass::train(2, 3), 2).unwrap())
    });
    // A constant of all keys cancels in the attention, so their bias hardly matters; all else does.
    assert!(grads.iter().filter(|grad| grad.iter().all(|g| *g == 0.0)).count() == 0);
}

#[test]
fn bits_do_not_depend_on_threads() {
    let world = World::single(300, 4, 8);
    driven::bits_do_not_depend_on_threads(
        made(&small(), 4),
        driven::network("gcn", 4, 4, 3),
        &world,
    );
}

#[test]
fn evaluation_is_the_same_every_time_and_training_is_not() {
    let world = World::single(20, 4, 4);
    let learner = made(&small(), 4);
    let run = |pass| values(learner.learn(&world.input(), pass).unwrap().adjacency.weights());
    assert_eq!(run(Pass::evaluate()), run(Pass::evaluate().child(5)));
    assert_ne!(run(Pass::train(1, 1)), run(Pass::train(1, 2)));
}

#[test]
fn what_does_not_fit_is_refused() {
    let wrong = [
        ("width", NodeFormerConfig { width: 0, ..small() }),
        ("layers", NodeFormerConfig { layers: 0, ..small() }),
        ("heads", NodeFormerConfig { heads: 0, ..small() }),
        ("features", NodeFormerConfig { features: 0, ..small() }),
        ("draws", NodeFormerConfig { draws: 0, ..small() }),
        ("temperature", NodeFormerConfig { temperature: 0.0, ..small() }),
        ("relation", NodeFormerConfig { relation: f64::NAN, ..small() }),
        ("dropout", NodeFormerConfig { dropout: 1.0, ..small() }),
        ("edge_weight", NodeFormerConfig { edge_weight: -1.0, ..small() }),
    ];
    for (setting, config) in wrong {
        let error = config.with_widths(3, 2).init(Key::new(1), &device()).unwrap_err();
        assert!(matches!(error, Error::Setting { name, .. } if name == setting), "{error}");
    }
    let missing = small().init(Key::new(1), &device()).unwrap_err();
    assert!(matches!(missing, Error::Setting { name: "inputs", .. }), "{missing}");
    let (world, learner) = (World::single(9, 4, 3), made(&small(), 4));
    let alone = GraphInput::new(&world.features, None, &world.batch);
    let error = learner.learn(&alone, Pass::evaluate()).unwrap_err();
    assert_eq!(error, Error::NoInputGraph("NodeFormer"));
    let two = Batch::of_sizes([4, 5]);
    let empty = Adjacency::unweighted(Csr::empty(9, 9), &device());
    let prepared = Prepared::default();
    let input = GraphInput::new(&world.features, Some(&empty), &two).with_prepared(&prepared);
    assert!(matches!(learner.learn(&input, Pass::evaluate()), Err(Error::Shape { .. })));
    // Without edges every node still has itself.
    let input = GraphInput { batch: &world.batch, ..input };
    assert_eq!(learner.learn(&input, Pass::evaluate()).unwrap().adjacency.topology().edges(), 9);
}
