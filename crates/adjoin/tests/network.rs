//! Networks opened at their layers, and the widths they are told.

mod common;

use adjoin::{
    Adjacency, DggConfig, Error, Features, Normalisation, Pass, Result,
    conv::{
        BACKBONES, Backbone, BackboneConfig, Conv, GatConfig, GcnConfig, GcnIIConfig, SageConfig,
    },
    dgg::{DegreeConfig, EncoderConfig, ScorerConfig},
    learner::DgmConfig,
    nn::{Aggregate, Network},
};
use burn::tensor::Tensor;
use common::*;

const NODES: usize = 12;
const WIDTH: usize = 5;

/// A map that keeps its edges to itself.
struct Hidden(Adjacency);

impl Aggregate for Hidden {
    fn nodes(&self) -> usize {
        self.0.nodes()
    }

    fn aggregate(&self, x: &Tensor<2>) -> Result<Tensor<2>> {
        self.0.aggregate(x)
    }
}

fn weighted(seed: u64) -> Adjacency {
    let topology = graph(seed, NODES, NODES, 3);
    let weights: Vec<f64> = normals(seed, topology.edges()).iter().map(|w| 0.1 + w.abs()).collect();
    let weights = tensor32(&weights, [weights.len()]);
    Adjacency::new(topology, weights).unwrap()
}

fn features() -> Features {
    tensor32(&normals(1, NODES * WIDTH), [NODES, WIDTH]).into()
}

fn networks() -> Vec<(&'static str, Backbone)> {
    let network = |name| {
        let config =
            BackboneConfig { layers: 3, hidden: 6, ..BackboneConfig::named(name).unwrap() };
        config.with_widths(WIDTH, 4).init(adjoin::Key::new(3), &device()).unwrap()
    };
    BACKBONES.iter().map(|entry| (entry.name, network(entry.name))).collect()
}

/// Those that take a graph.
fn with_graph() -> impl Iterator<Item = (&'static str, Backbone)> {
    networks().into_iter().filter(|(_, network)| network.depth() > 0)
}

#[test]
fn layer_by_layer_is_the_whole_network() {
    let (x, graph) = (features(), weighted(2));
    for (name, network) in networks() {
        for pass in [|| Pass::train(1, 2), Pass::evaluate] {
            let whole = network.forward(&x, &graph, pass()).unwrap();
            let pass = pass();
            let mut state = network.begin(&x, &pass).unwrap();
            for at in 0..network.depth() {
                assert_eq!(state.features().unwrap().width(), network.widths()[at], "{name}");
                state = network.layer(at, state, &graph, &pass).unwrap();
            }
            assert!(network.layer(network.depth(), state.clone(), &graph, &pass).is_err());
            let parts = network.finish(state, &pass).unwrap();
            assert_eq!(values(&whole), values(&parts), "{name}");
        }
    }
}

#[test]
fn every_layer_may_have_a_graph_of_its_own() {
    let (x, graphs) = (features(), [weighted(2), weighted(3), weighted(4)]);
    for (name, network) in with_graph() {
        let run = |last: usize| {
            let pass = Pass::train(1, 2);
            let mut state = network.begin(&x, &pass).unwrap();
            for (at, graph) in [0, 1, last].into_iter().enumerate() {
                state = network.layer(at, state, &graphs[graph], &pass).unwrap();
            }
            let hidden = state.features().unwrap().to_dense().unwrap();
            (values(&hidden), values(&network.finish(state, &pass).unwrap()))
        };
        assert_ne!(run(1), run(2), "{name}");
        let (hidden, _) = run(2);
        // What a layer hands on is activated: ELU reaches down to -1, the others to 0.
        let least = if name == "gat" { -1.0 } else { 0.0 };
        assert!(hidden.iter().all(|&h| h >= least) && hidden.iter().any(|&h| h > 0.0), "{name}");
    }
}

#[test]
fn maps_without_edges_are_applied_as_they_are_or_refused() {
    let (x, graph, key) = (features(), weighted(2), adjoin::Key::new(1));
    let hidden = Hidden(graph.clone());
    let pass = Pass::evaluate;
    let gcn = GcnConfig::new(WIDTH, 3).init(key, &device()).unwrap();
    let expected = graph.aggregate(&gcn.linear.product(&x).unwrap()).unwrap();
    let found = gcn.forward_with(&x, &hidden, pass()).unwrap();
    assert_close(&values(&found), &values(&gcn.linear.add_bias(expected)), 1e-6);
    let sage = SageConfig::new(WIDTH, 3).init(key, &device()).unwrap();
    let mean = graph.aggregate(&sage.neighbours.product(&x).unwrap()).unwrap();
    let found = sage.forward_with(&x, &hidden, pass()).unwrap();
    assert_close(&values(&found), &values(&(sage.own.forward(&x).unwrap() + mean)), 1e-6);
    // With edges it is the layer itself.
    let found = gcn.forward_with(&x, &graph, pass()).unwrap();
    assert_eq!(values(&found), values(&gcn.forward(&x, &graph, pass()).unwrap()));
    let gat = GatConfig::new(WIDTH, 3, 2).init(key, &device()).unwrap();
    let refused = gat.forward_with(&x, &hidden, pass()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "this layer needs edges, and the map over nodes that it was given has none"
    );
    let gcnii = GcnIIConfig::of_depth(WIDTH, 0.5, 1).init(key, &device()).unwrap();
    assert!(matches!(gcnii.forward_with(&x, &hidden, pass()), Err(Error::NoEdges(_))));
    for (name, network) in with_graph() {
        let takes = network.run(&x, &hidden, pass()).is_ok();
        assert_eq!(takes, ["gcn", "sage"].contains(&name), "{name}");
    }
}

/// Layer l of GCNII counts from 1: `b = ln(lambda / l + 1)`.
#[test]
fn gcnii_weighs_its_matrices_by_the_number_of_the_layer() {
    let (lambda, alpha) = (0.7, 0.2);
    let config = BackboneConfig {
        layers: 4,
        hidden: 6,
        lambda,
        alpha,
        ..BackboneConfig::named("gcnii").unwrap()
    };
    let network = config.with_widths(WIDTH, 3).init(adjoin::Key::new(3), &device()).unwrap();
    let Backbone::Gcnii(layers) = &network else { panic!("GCNII") };
    let graph = weighted(2);
    let propagation = graph.prepare(Normalisation::Symmetric, true).unwrap();
    let pass = Pass::evaluate();
    let mut state = network.begin(&features(), &pass).unwrap();
    for (at, layer) in layers.layers.iter().enumerate() {
        let h = state.features().unwrap().to_dense().unwrap();
        let initial = state.first().unwrap().clone();
        let joined = propagation.aggregate(&h).unwrap() * (1.0 - alpha) + initial * alpha;
        let beta = (lambda / (at + 1) as f64 + 1.0).ln();
        let expected = joined.clone().matmul(layer.weight.val()) * beta + joined * (1.0 - beta);
        state = network.layer(at, state, &graph, &pass).unwrap();
        assert_close(&values(&state.output().unwrap()), &values(&expected), 1e-5);
    }
}

#[test]
fn widths_that_were_never_set_are_named() {
    let (key, device) = (adjoin::Key::new(1), device());
    let missing = |error: Error| match error {
        Error::Setting { name, expected, .. } => (name, expected.split('(').next().unwrap()),
        other => panic!("{other}"),
    };
    let inputs = ("inputs", "call with_inputs");
    assert_eq!(missing(DggConfig::default().init(key, &device).unwrap_err()), inputs);
    assert_eq!(missing(DgmConfig::default().init(key, &device).unwrap_err()), inputs);
    assert_eq!(missing(EncoderConfig::default().init(key, &device).unwrap_err()), inputs);
    assert_eq!(missing(ScorerConfig::default().init(key, &device).unwrap_err()), inputs);
    assert_eq!(missing(DegreeConfig::default().init(key, &device).unwrap_err()), inputs);
    let network = BackboneConfig::default().init(key, &device).unwrap_err();
    assert_eq!(missing(network), ("inputs", "call with_widths"));
    assert!(DggConfig::new(3).init(key, &device).is_ok());
    // Widths belong to the data, not to a configuration file.
    let written = serde_json::to_string(&DggConfig::new(3)).unwrap();
    assert_eq!(written, serde_json::to_string(&DggConfig::default()).unwrap());
    let widths = BackboneConfig::default().with_widths(3, 2);
    let written = serde_json::to_string(&widths).unwrap();
    assert_eq!(written, serde_json::to_string(&BackboneConfig::default()).unwrap());
}

#[test]
fn backbones_are_found_by_name() {
    for entry in BACKBONES {
        let config = BackboneConfig::named(entry.name).unwrap();
        assert_eq!(serde_json::to_value(&config).unwrap()["kind"], entry.name);
        assert!(!entry.about.is_empty());
    }
    let refused = BackboneConfig::named("gcn2").unwrap_err().to_string();
    let names: Vec<&str> = BACKBONES.iter().map(|entry| entry.name).collect();
    assert_eq!(names[..4], ["gcn", "sage", "gat", "gcnii"]);
    let expected = format!(
        "there is no backbone \"gcn2\" (did you mean \"gcn\"?); choose one of {}",
        names.join(", ")
    );
    assert_eq!(refused, expected);
    let (x, graph) = (features(), weighted(2));
    for (name, network) in networks() {
        let out = network.forward(&x, &graph, Pass::evaluate()).unwrap();
        let names = parameter_names(&network);
        let first = |path: &String| network.first_parameters().iter().any(|p| path.contains(p));
        assert!(names.iter().any(first) && !names.iter().all(first), "{name}: {names:?}");
        assert_eq!(out.dims(), [NODES, 4]);
    }
}

/// Paths of all parameters of a module.
fn parameter_names(network: &Backbone) -> Vec<String> {
    use burn::module::{Module, ModuleVisitor, Param};
    #[derive(Default)]
    struct Names(Vec<String>, Vec<String>);
    impl ModuleVisitor for Names {
        fn enter_module(&mut self, name: &str, _container: &str) {
            self.0.push(name.to_string());
        }

        fn exit_module(&mut self, _name: &str, _container: &str) {
            self.0.pop();
        }

        fn visit_float<const D: usize>(&mut self, _param: &Param<Tensor<D>>) {
            self.1.push(self.0.join("."));
        }
    }
    let mut names = Names::default();
    network.visit(&mut names);
    names.1
}
