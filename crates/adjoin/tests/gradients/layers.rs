//! Convolutions: gradients of features, graph weights and parameters.

use crate::{
    common::*,
    model::{check_module, moved, widened},
};
use adjoin::{
    Adjacency, Key, Pass,
    conv::{
        BackboneConfig, BackboneKind, Conv, EdgeConvConfig, EdgeWeighting, GatConfig, GcnConfig,
        GcnIIConfig, SageConfig,
    },
};
use burn::{module::Module, tensor::Tensor};

const NODES: usize = 9;
const WIDTH: usize = 4;

fn weights() -> Vec<f64> {
    let topology = graph(3, NODES, NODES, 3);
    (0..topology.edges() as u64).map(|n| 0.2 + 1.5 * Key::new(5).uniform(n)).collect()
}

fn with_weights(weights: Tensor<1>) -> Adjacency {
    Adjacency::new(graph(3, NODES, NODES, 3), weights).unwrap()
}

fn flat(tensor: Tensor<2>) -> Tensor<1> {
    let count: usize = tensor.dims().iter().product();
    tensor.reshape([count])
}

/// All gradients of a layer; those of the weights only if the layer looks at them.
fn check<M: Module + Conv>(name: &str, layer: M, pass: impl Fn() -> Pass, weighted: bool) {
    let layer = widened(layer);
    let fixed = with_weights(tensor(&weights(), [weights().len()]));
    let x = tensor(&normals(1, NODES * WIDTH), [NODES, WIDTH]);
    let grads = check_module(name, &layer, &x, |layer, x| {
        flat(layer.forward(&x.into(), &fixed, pass()).unwrap())
    });
    for (at, grad) in grads.iter().enumerate() {
        assert!(grad.iter().any(|g| *g != 0.0), "{name}: parameter {at} gets no gradient");
    }
    gradcheck(&[normals(1, NODES * WIDTH), weights()], |t| {
        let x = t[0].clone().reshape([NODES, WIDTH]);
        flat(layer.forward(&x.into(), &with_weights(t[1].clone()), pass()).unwrap())
    });
    let leaf = tensor(&weights(), [weights().len()]).require_grad();
    let out = layer.forward(&x.into(), &with_weights(leaf.clone()), pass()).unwrap();
    let grad = leaf.grad(&out.square().sum().backward());
    assert_eq!(grad.is_some_and(|g| values(&g).iter().any(|g| g.abs() > 1e-6)), weighted, "{name}");
}

#[test]
fn single_layers() {
    let (key, device) = (Key::new(2), device());
    let still = Pass::evaluate;
    check("gcn", GcnConfig::new(WIDTH, 3).init(key, &device).unwrap(), still, true);
    check("sage", SageConfig::new(WIDTH, 3).init(key, &device).unwrap(), still, true);
    check("gat", GatConfig::new(WIDTH, 3, 2).init(key, &device).unwrap(), still, true);
    let average = GatConfig { average: true, dropout: 0.3, ..GatConfig::new(WIDTH, 3, 2) };
    check("gat, average", average.init(key, &device).unwrap(), || Pass::train(1, 2), true);
    for variant in [false, true] {
        let config = GcnIIConfig { variant, ..GcnIIConfig::of_depth(WIDTH, 0.5, 1) };
        check("gcnii", config.init(key, &device).unwrap(), still, true);
    }
}

#[test]
fn edge_convolution() {
    for pass in [|| Pass::train(1, 1), Pass::evaluate] {
        for weighting in [EdgeWeighting::Scaled, EdgeWeighting::Shifted] {
            let config = EdgeConvConfig { weighting, ..EdgeConvConfig::new(WIDTH, 6) };
            let mut layer = config.init(Key::new(2), &device()).unwrap();
            let signs = [1.0, -0.5, 2.0, -1.0, 0.7, -0.3];
            layer.scale = burn::module::Param::from_tensor(tensor32(&signs, [6]));
            check("edgeconv", layer, pass, true);
        }
    }
}

#[test]
fn whole_networks_with_dropout() {
    for kind in [BackboneKind::Gcn, BackboneKind::Sage, BackboneKind::Gat, BackboneKind::Gcnii] {
        let config = BackboneConfig { layers: 3, hidden: 8, ..BackboneConfig::of_kind(kind) };
        let network = config.with_widths(WIDTH, 5).init(Key::new(3), &device()).unwrap();
        let network = moved(network);
        let fixed = with_weights(tensor(&weights(), [weights().len()]));
        let x = tensor(&normals(1, NODES * WIDTH), [NODES, WIDTH]);
        let pass = || Pass::train(1, 7);
        check_module(&format!("{kind:?}"), &network, &x, |network, x| {
            flat(network.forward(&x.into(), &fixed, pass()).unwrap())
        });
    }
}

/// The derivative of attention by a weight exists where the weight is 0, from above.
#[test]
fn attention_has_a_derivative_at_weight_zero() {
    const STEP: f64 = 1e-7;
    let layer = widened(GatConfig::new(WIDTH, 3, 2).init(Key::new(2), &device()).unwrap());
    let x = tensor(&normals(1, NODES * WIDTH), [NODES, WIDTH]);
    let mix = tensor(&normals(7, NODES * 6), [NODES, 6]);
    let mut weights = weights();
    let off: Vec<usize> = (0..weights.len()).step_by(2).collect();
    off.iter().for_each(|&at| weights[at] = 0.0);
    let run = |weights: Tensor<1>| {
        let out = layer.forward(&x.clone().into(), &with_weights(weights), Pass::evaluate());
        (out.unwrap() * mix.clone()).sum()
    };
    let at = |values: &[f64]| run(tensor(values, [values.len()])).into_scalar::<f64>();
    let leaf = tensor(&weights, [weights.len()]).require_grad();
    let grad = values(&leaf.grad(&run(leaf.clone()).backward()).unwrap());
    let still = at(&weights);
    for entry in off {
        let mut moved = weights.clone();
        moved[entry] = STEP;
        let expected = (at(&moved) - still) / STEP;
        assert!((grad[entry] - expected).abs() < 1e-5, "{entry}: {} {expected}", grad[entry]);
        assert!(grad[entry] != 0.0);
    }
}
