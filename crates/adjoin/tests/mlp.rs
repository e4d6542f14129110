//! The perceptron: its formula, its gradients, and that no graph reaches it.

mod common;
#[path = "common/model.rs"]
mod model;

use adjoin::{
    Adjacency, Csr, Error, Features, Key, Pass,
    conv::{Backbone, BackboneConfig, Conv, Mlp},
    nn::Network,
    ops,
};
use burn::tensor::{Tensor, activation::relu};
use common::*;

const NODES: usize = 11;
const WIDTH: usize = 5;

fn mlp(layers: usize) -> Mlp {
    let config = BackboneConfig { layers, hidden: 7, ..BackboneConfig::named("mlp").unwrap() };
    let made = config.with_widths(WIDTH, 3).init(Key::new(3), &device()).unwrap();
    let Backbone::Mlp(mlp) = made else { panic!("{made:?}") };
    model::moved(mlp)
}

fn adjacency(seed: u64) -> Adjacency {
    let topology = graph(seed, NODES, NODES, 3);
    let weights = normals(seed, topology.edges());
    Adjacency::new(topology, tensor(&weights, [weights.len()])).unwrap()
}

fn features() -> Tensor<2> {
    tensor(&normals(1, NODES * WIDTH), [NODES, WIDTH])
}

#[test]
fn two_layers_are_their_formula() {
    let network = mlp(2);
    assert_eq!(network.layers.len(), 2);
    let pass = Pass::train(1, 2);
    let at = |layer: u64| pass.child(layer).child(0);
    let [first, second] = [&network.layers[0], &network.layers[1]];
    let hidden = first.forward_dense(ops::dropout(&features(), 0.5, at(0)).unwrap());
    let dropped = ops::dropout(&relu(hidden.clone()), 0.5, at(1)).unwrap();
    let expected = values(&second.forward_dense(dropped));
    let x = Features::from(features());
    let found = network.run(&x, &adjacency(2), Pass::train(1, 2)).unwrap();
    assert_close(&values(&found), &expected, 1e-12);
    let still = second.forward_dense(relu(first.forward_dense(features())));
    let found = network.run(&x, &adjacency(2), Pass::evaluate()).unwrap();
    assert_close(&values(&found), &values(&still), 1e-12);
}

#[test]
fn no_graph_reaches_it() {
    let config = BackboneConfig::named("mlp").unwrap().with_widths(WIDTH, 3);
    assert!(!config.takes_graph() && BackboneConfig::default().takes_graph());
    let network = config.init(Key::new(3), &device()).unwrap();
    assert_eq!((network.depth(), network.widths()), (0, vec![]));
    let x = Features::from(tensor32(&normals(1, NODES * WIDTH), [NODES, WIDTH]));
    let none = Adjacency::unweighted(Csr::empty(NODES, NODES), &device());
    let run = |graph: &Adjacency| values(&network.forward(&x, graph, Pass::train(1, 1)).unwrap());
    assert_eq!(run(&none), run(&adjacency(2)));
    assert_eq!(run(&none), run(&adjacency(3)));
    let pass = Pass::evaluate();
    let state = network.begin(&x, &pass).unwrap();
    let refused = network.layer(0, state, &none, &pass).unwrap_err();
    assert!(matches!(refused, Error::Shape { .. }), "{refused}");
}

#[test]
fn gradients_are_those_of_differences() {
    for layers in [1, 2, 3] {
        let graph = adjacency(2);
        let grads = model::check_module("mlp", &mlp(layers), &features(), |network, x| {
            let out = network.run(&x.into(), &graph, Pass::train(4, 1)).unwrap();
            out.reshape([NODES as i32 * 3])
        });
        assert_eq!(grads.len(), 2 * layers);
        assert!(grads.iter().all(|grad| grad.iter().any(|g| *g != 0.0)));
    }
}

#[test]
fn its_bits_do_not_depend_on_threads() {
    let network = mlp(2);
    let x = Features::from(tensor(&normals(1, 3000 * WIDTH), [3000, WIDTH]));
    let none = Adjacency::unweighted(Csr::empty(3000, 3000), &device());
    same_bits_on_any_threads(|| values(&network.run(&x, &none, Pass::train(1, 1)).unwrap()));
}
