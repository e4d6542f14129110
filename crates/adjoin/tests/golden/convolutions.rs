//! Layers with the parameters of the golden files.

use crate::file::{Golden, both, double, numbers_of};
use adjoin::{
    Adjacency, Features, Key, Linear, Normalisation, Pass,
    conv::{Conv, EdgeConv, EdgeConvConfig, GatConfig, GcnConfig, GcnIIConfig, SageConfig},
};
use burn::{
    module::RunningState,
    tensor::{Device, Tensor, activation::relu},
};

fn device() -> Device {
    Device::flex().autodiff()
}

fn linear(file: &Golden, weight: &str, bias: Option<&str>) -> Linear {
    Linear { weight: file.param(weight), bias: bias.map(|bias| file.param(bias)) }
}

/// The graph of a file, and the leaf its weights are.
fn graph(file: &Golden, nodes: usize) -> (Adjacency, Tensor<1>) {
    let weights = file.leaf("weights");
    (Adjacency::new(file.csr("", nodes), weights.clone()).unwrap(), weights)
}

#[test]
fn gcn() {
    both("gcn", |file| {
        for (case, normalisation) in [("", Normalisation::Symmetric), ("row.", Normalisation::Row)]
        {
            let config = GcnConfig { normalisation, ..GcnConfig::new(5, 3) };
            let mut layer = config.init(Key::new(1), &device()).unwrap();
            layer.linear = linear(file, "W", Some("b"));
            let (x, (graph, weights)) = (file.leaf::<2>("x"), graph(file, 8));
            file.check(
                &format!("{case}norm"),
                graph.prepare(normalisation, true).unwrap().weights(),
            );
            let out = layer.forward(&x.clone().into(), &graph, Pass::evaluate()).unwrap();
            let Linear { weight, bias } = &layer.linear;
            let bias = bias.as_ref().unwrap();
            file.check_case(
                case,
                &out,
                &[("x", &x), ("W", weight), ("b", bias), ("weights", &weights)],
            );
        }
    });
}

#[test]
fn sage() {
    both("sage", |file| {
        for case in ["mean.", "weighted."] {
            let mut layer = SageConfig::new(5, 3).init(Key::new(1), &device()).unwrap();
            layer.own = linear(file, "W_self", Some("b"));
            layer.neighbours = linear(file, "W_neigh", None);
            let (x, (graph, weights)) = (file.leaf::<2>("x"), graph(file, 8));
            let weighted = case == "weighted.";
            let graph = match weighted {
                true => graph,
                false => graph.map_weights(|w| w.ones_like()).unwrap(),
            };
            let mean = graph.normalise(Normalisation::Row).unwrap().aggregate(&x).unwrap();
            file.check(&format!("{case}neighbours"), &mean);
            let out = layer.forward(&x.clone().into(), &graph, Pass::evaluate()).unwrap();
            let (own, bias) = (&layer.own.weight, layer.own.bias.as_ref().unwrap());
            let near = &layer.neighbours.weight;
            let mut inputs: Vec<(&str, &dyn crate::file::Leaf)> =
                vec![("x", &x), ("W_self", own), ("W_neigh", near), ("b", bias)];
            if weighted {
                inputs.push(("weights", &weights));
            }
            file.check_case(case, &out, &inputs);
        }
    });
}

#[test]
fn gat() {
    both("gat", |file| {
        for (case, average) in [("loops_layer.", false), ("loops_average.", true)] {
            let config = GatConfig { average, ..GatConfig::new(5, 3, 2) };
            let mut layer = config.init(Key::new(1), &device()).unwrap();
            layer.linear = linear(file, "W", None);
            let [source, target] = ["a_src", "a_dst"].map(|name| file.numbers(name));
            layer.source = burn::module::Param::from_tensor(file.tensor(source, [6]));
            layer.target = burn::module::Param::from_tensor(file.tensor(target, [6]));
            layer.bias = file.param(if average { "b_mean" } else { "b" });
            let (x, (graph, weights)) = (file.leaf::<2>("x"), graph(file, 7));
            let out = layer.forward(&x.clone().into(), &graph, Pass::evaluate()).unwrap();
            file.check_case(
                case,
                &out,
                &[
                    ("x", &x),
                    ("W", &layer.linear.weight),
                    ("a_src", &layer.source),
                    ("a_dst", &layer.target),
                    ("weights", &weights),
                ],
            );
        }
    });
}

#[test]
fn gcnii() {
    both("gcnii", |file| {
        let [alpha, beta] = ["alpha", "beta"].map(|name| file.scalar(name));
        for (case, variant) in [("layer_plain.", false), ("layer_variant.", true)] {
            let config = GcnIIConfig { width: 5, alpha, beta, variant };
            let mut layer = config.init(Key::new(1), &device()).unwrap();
            layer.weight = file.param(if variant { "W1" } else { "W" });
            layer.initial = variant.then(|| file.param("W2"));
            let [h, h0] = ["H", "H0"].map(|name| file.leaf::<2>(name));
            let (graph, weights) = graph(file, 8);
            let out = layer.forward_from(&h, &h0, &graph).unwrap();
            let mut inputs: Vec<(&str, &dyn crate::file::Leaf)> =
                vec![("H", &h), ("H0", &h0), ("weights", &weights)];
            inputs.push((if variant { "W1" } else { "W" }, &layer.weight));
            if let Some(second) = &layer.initial {
                inputs.push(("W2", second));
            }
            file.check_case(case, &out, &inputs);
        }
    });
}

#[test]
fn gcnii_step_with_a_given_propagation() {
    both("gcnii", |file| {
        let [alpha, beta] = ["alpha", "beta"].map(|name| file.scalar(name));
        let [h, h0, w] = ["H", "H0", "W"].map(|name| file.leaf::<2>(name));
        let (graph, weights) = graph(file, 8);
        let joined = graph.aggregate_onto(&h, &h0, 1.0 - alpha, alpha).unwrap();
        let eye = Tensor::<2>::eye(5, &device()).cast(h.dtype());
        let pre = joined.matmul(w.clone() * beta + eye * (1.0 - beta));
        file.check("plain.pre", &pre);
        let inputs: [(&str, &dyn crate::file::Leaf); 4] =
            [("H", &h), ("H0", &h0), ("W", &w), ("weights", &weights)];
        file.check_case("plain.", &relu(pre), &inputs);
    });
}

fn edge_conv(file: &Golden) -> EdgeConv {
    let config = EdgeConvConfig { epsilon: file.scalar("eps"), ..EdgeConvConfig::new(4, 6) };
    let mut layer =
        EdgeConvConfig { momentum: 1.0, ..config }.init(Key::new(1), &device()).unwrap();
    let rows = |first: usize| {
        let values = &file.numbers("W")[first * 6..(first + 4) * 6];
        burn::module::Param::from_tensor(file.tensor(values, [4, 6]))
    };
    layer.difference = Linear { weight: rows(0), bias: None };
    layer.centre = Linear { weight: rows(4), bias: None };
    (layer.scale, layer.shift) = (file.param("scale"), file.param("shift"));
    layer.running_mean = RunningState::new(file.constant("eval.mean"));
    layer.running_variance = RunningState::new(file.constant("eval.var"));
    layer
}

#[test]
fn edgeconv() {
    both("edgeconv", |file| {
        for (case, graph, training) in [
            ("eval.", "regular.", false),
            ("regular.", "regular.", true),
            ("ragged.", "ragged.", true),
        ] {
            let (layer, x) = (edge_conv(file), file.leaf::<2>("x"));
            let topology = file.csr(graph, 10);
            let graph = Adjacency::unweighted(topology, &device());
            let features = Features::from(x.clone());
            let pass = if training { Pass::train(1, 1) } else { Pass::evaluate() };
            let out = layer.forward(&features, &graph, pass).unwrap();
            file.check(&format!("{case}out"), &out);
            let grads = (out * file.constant(&format!("{case}probe"))).sum().backward();
            file.check_grads(
                case,
                &grads,
                &[("x", &x), ("scale", &layer.scale), ("shift", &layer.shift)],
            );
            let halves = [&layer.difference, &layer.centre]
                .map(|half| numbers_of(&half.weight.val().grad(&grads).unwrap()));
            file.check_numbers(&format!("{case}grad.W"), &halves.concat());
            if training {
                // Momentum 1: the running statistics are those of the batch.
                file.check(&format!("{case}mean"), &layer.running_mean.value());
                file.check(&format!("{case}var"), &layer.running_variance.value());
                let again = layer.forward(&features, &graph, Pass::evaluate()).unwrap();
                file.check(&format!("{case}out"), &again);
            }
        }
    });
}

#[test]
fn attention_layer_without_loops_is_the_operation() {
    // `layer.` has no self-loops; the layer would add them, so the operation is checked instead.
    double("gat", |file| {
        let (x, w, b) = (file.leaf::<2>("x"), file.leaf::<2>("W"), file.leaf::<1>("b"));
        let [source, target] = ["a_src", "a_dst"].map(|name| file.leaf::<2>(name));
        let (graph, weights) = graph(file, 7);
        let log_weights = weights.clone().log();
        let options = adjoin::ops::Attention { heads: 2, slope: 0.2, dropout: None };
        let out = adjoin::ops::attention(
            graph.topology(),
            &x.clone().matmul(w.clone()),
            &source.clone().reshape([6]),
            &target.clone().reshape([6]),
            Some(&log_weights),
            options,
        );
        let out = out.unwrap() + b.clone().unsqueeze();
        let inputs: [(&str, &dyn crate::file::Leaf); 6] = [
            ("x", &x),
            ("W", &w),
            ("b", &b),
            ("a_src", &source),
            ("a_dst", &target),
            ("weights", &weights),
        ];
        file.check_case("layer.", &out, &inputs);
    });
}
