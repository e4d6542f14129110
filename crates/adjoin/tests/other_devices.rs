//! Everything works on devices other than Flex: NdArray stands for them.
//!
//! Needs the feature `ndarray`, see `Cargo.toml`.

mod common;

#[path = "common/model.rs"]
mod model;

use adjoin::{
    Adjacency, Batch, CandidateRule, DggConfig, Error, Features, GraphInput, GraphLearner, Key,
    Pass, SparseFeatures,
    conv::{BACKBONES, BackboneConfig, Conv, EdgeConvConfig},
    dgg::{Score, ScorerConfig},
    learner::{LEARNERS, LearnerConfig, Shape},
    loss,
    nn::Network,
    ops,
};
use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData},
};
use common::{graph, normals, values};

const NODES: usize = 30;
const WIDTH: usize = 8;
const CLASSES: usize = 3;

#[allow(deprecated)] // it goes when another small backend comes
fn other() -> Device {
    Device::ndarray()
}

fn tensor<const D: usize>(values: &[f64], shape: [usize; D], device: &Device) -> Tensor<D> {
    let values: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn features(device: &Device) -> Tensor<2> {
    tensor(&normals(1, NODES * WIDTH), [NODES, WIDTH], device)
}

fn adjacency(device: &Device) -> Adjacency {
    let topology = graph(2, NODES, NODES, 4).with_self_loops(adjoin::SelfLoops::Drop);
    let weights: Vec<f64> =
        (0..topology.edges() as u64).map(|e| 0.2 + Key::new(3).uniform(e)).collect();
    let weights = tensor(&weights, [weights.len()], device);
    Adjacency::new(topology, weights).unwrap()
}

/// Runs on Flex and on NdArray, with gradients, and compares.
fn compare(name: &str, run: impl Fn(&Device) -> Vec<f64>) {
    let [flex, moved] = [Device::flex(), other()].map(|device| run(&device.autodiff()));
    assert_eq!(flex.len(), moved.len(), "{name}");
    let largest = flex.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
    for (at, (a, b)) in flex.iter().zip(&moved).enumerate() {
        assert!((a - b).abs() < 2e-4 * largest, "{name} at {at}: Flex {a}, NdArray {b}");
    }
}

/// Values, and gradients of the module and of the features, of a sum of squares.
fn report<M: Module>(module: &M, x: &Tensor<2>, out: &Tensor<2>, extra: Tensor<1>) -> Vec<f64> {
    let grads = (out.clone().square().sum_dim(1).sum() + extra).backward();
    let mut all = values(out);
    all.extend(model::gradients(module, &grads).concat());
    let own = x.grad(&grads).map_or(vec![0.0; NODES * WIDTH], |grad| values(&grad));
    all.extend(own);
    all
}

#[test]
fn convolutions_and_their_gradients() {
    for entry in BACKBONES {
        for pass in [|| Pass::train(1, 2), Pass::evaluate] {
            compare(entry.name, |device| {
                let config = BackboneConfig { layers: 2, hidden: 8, ..(entry.config)() };
                let network = config.with_widths(WIDTH, CLASSES).init(Key::new(4), device).unwrap();
                let (x, graph) = (features(device).require_grad(), adjacency(device));
                let out = network.forward(&x.clone().into(), &graph, pass()).unwrap();
                assert_eq!(out.device().without_autodiff(), device.clone().without_autodiff());
                report(&network, &x, &out, Tensor::zeros([1], device))
            });
        }
    }
    compare("edgeconv", |device| {
        let layer = EdgeConvConfig::new(WIDTH, 5).init(Key::new(4), device).unwrap();
        let (x, graph) = (features(device).require_grad(), adjacency(device));
        let out = layer.forward(&x.clone().into(), &graph, Pass::train(1, 2)).unwrap();
        report(&layer, &x, &out, Tensor::zeros([1], device))
    });
    compare("gcn on sparse features", |device| {
        let words = graph(5, NODES, WIDTH, 3);
        let counts = vec![0.5; words.edges()];
        let sparse = SparseFeatures::new(words, &counts, device).unwrap().row_normalised().unwrap();
        let config = BackboneConfig::default().with_widths(WIDTH, CLASSES);
        let network = config.init(Key::new(4), device).unwrap();
        let out = network.run(&sparse.into(), &adjacency(device), Pass::train(1, 2)).unwrap();
        report(&network, &features(device), &out, Tensor::zeros([1], device))
    });
}

#[test]
fn the_generator_and_its_gradients() {
    let mlp = ScorerConfig { kind: Score::Mlp, messages: true, ..ScorerConfig::default() };
    let complete = DggConfig { candidates: CandidateRule::Complete, ..DggConfig::default() };
    let configs = [
        ("default", DggConfig::default()),
        ("paper", DggConfig::paper()),
        ("reference", DggConfig::reference()),
        ("complete", complete),
        ("messages", DggConfig { scorer: mlp, symmetric: true, ..DggConfig::default() }),
    ];
    for (name, config) in configs {
        for pass in [|| Pass::train(1, 2), Pass::evaluate] {
            compare(name, |device| {
                let dgg = config.clone().with_inputs(WIDTH).init(Key::new(4), device).unwrap();
                let (x, graph) = (features(device).require_grad(), adjacency(device));
                let learned = dgg.forward(&x.clone().into(), &graph, pass()).unwrap();
                let out = learned.adjacency.aggregate(&features(device)).unwrap();
                let low_rank = loss::low_rank(&learned.adjacency, 1, Key::new(1)).unwrap();
                let mut all = report(&dgg, &x, &out, low_rank);
                all.extend(learned.adjacency.topology().indices().iter().map(|&j| f64::from(j)));
                all.extend(values(learned.degrees.as_ref().unwrap()));
                all
            });
        }
    }
}

#[test]
fn every_learner_drives_a_network() {
    for entry in LEARNERS {
        compare(entry.name, |device| {
            let (x, graph, batch) =
                (Features::from(features(device)), adjacency(device), Batch::single(NODES));
            let input = GraphInput::new(&x, Some(&graph), &batch);
            let shape = Shape {
                features: WIDTH,
                classes: CLASSES,
                widths: vec![WIDTH, 16],
                training: 4,
                extras: [0; 2],
            };
            let config: LearnerConfig = (entry.config)();
            let learner = config.init(&input, &shape, Key::new(5), device).unwrap();
            let inputs = config.network_inputs().unwrap_or(WIDTH);
            let config = BackboneConfig::default().with_widths(inputs, CLASSES);
            let network = config.init(Key::new(4), device).unwrap();
            let outcome = learner.drive(&input, &network, Pass::train(2, 3), 2).unwrap();
            let out = outcome.prediction().unwrap();
            report(&learner, &features(device), &out, Tensor::zeros([1], device))
        });
    }
}

#[test]
fn double_precision_works_too() {
    compare("f64", |device| {
        let data = TensorData::new(normals(1, NODES * WIDTH), [NODES, WIDTH]);
        let x: Tensor<2> = Tensor::from_data(data, (device, burn::tensor::DType::F64));
        values(&ops::elu(&x).unwrap())
    });
}

#[test]
fn devices_are_not_mixed() {
    let (here, there) = (Device::flex(), other());
    let graph = adjacency(&here);
    let refused = graph.aggregate(&features(&there)).unwrap_err();
    assert!(matches!(&refused, Error::Unsupported { what: "spmm", .. }), "{refused}");
    assert!(refused.to_string().contains("NdArray"), "{refused}");
}
