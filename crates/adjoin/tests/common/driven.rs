//! Learners that drive a network: a small world, a network with the weights of a golden file, and checks of
//! gradients, threads and the plain limit.
#![allow(dead_code)] // every test file uses a part of it

use crate::{common::*, file::Golden, model};
use adjoin::{
    Adjacency, Batch, Csr, Features, GraphInput, GraphLearner, Key, Linear, Pass, SelfLoops,
    conv::{Backbone, BackboneConfig},
    nn::{Network, Outcome, Progress},
};
use burn::{module::Module, tensor::Tensor};

/// Nodes with features and an undirected graph.
pub struct World {
    pub features: Features,
    pub graph: Adjacency,
    pub batch: Batch,
}

impl World {
    /// Random features in f64 and about `degree` neighbours a node.
    pub fn new(nodes: usize, width: usize, degree: usize) -> Self {
        Self::of(tensor(&normals(1, nodes * width), [nodes, width]), degree)
    }

    /// The same in f32.
    pub fn single(nodes: usize, width: usize, degree: usize) -> Self {
        Self::of(tensor32(&normals(1, nodes * width), [nodes, width]), degree)
    }

    /// The nodes with these features.
    pub fn of(x: Tensor<2>, degree: usize) -> Self {
        let [nodes, _] = x.dims();
        let edges = graph(4, nodes, nodes, degree.div_ceil(2));
        let edges = Csr::undirected(nodes, edges.iter(), SelfLoops::Drop).unwrap();
        let graph = Adjacency::unweighted(edges, (&x.device(), x.dtype()));
        Self { features: x.into(), graph, batch: Batch::single(nodes) }
    }

    /// What a learner is given.
    pub fn input(&self) -> GraphInput<'_> {
        GraphInput::new(&self.features, Some(&self.graph), &self.batch)
    }

    /// The same in the middle of training.
    pub fn at(&self, epoch: usize) -> GraphInput<'_> {
        self.input().with_progress(Progress { epoch, epochs: 1000 })
    }
}

/// Two layers of a network.
pub fn network(name: &str, inputs: usize, hidden: usize, classes: usize) -> Backbone {
    let config = BackboneConfig { layers: 2, hidden, ..BackboneConfig::named(name).unwrap() };
    config.with_widths(inputs, classes).init(Key::new(3), &device()).unwrap()
}

/// Two layers of GCN with the weights `weights[l]` and `biases[l]` of a golden file, whose names are given.
pub fn gcn_of(file: &Golden, widths: [usize; 3], names: [[&str; 2]; 2]) -> Backbone {
    let mut network = network("gcn", widths[0], widths[1], widths[2]);
    let Backbone::Gcn(stack) = &mut network else { panic!("GCN") };
    for (layer, [weight, bias]) in stack.layers.iter_mut().zip(names) {
        layer.linear = Linear { weight: file.param(weight), bias: Some(file.param(bias)) };
    }
    network
}

/// The linear maps of two layers of GCN.
pub fn linears(network: &Backbone) -> [&Linear; 2] {
    let Backbone::Gcn(stack) = network else { panic!("GCN") };
    [&stack.layers[0].linear, &stack.layers[1].linear]
}

/// All outputs, terms, and log-weights of an outcome, one after the other.
pub fn everything(outcome: &Outcome) -> Tensor<1> {
    let logits = outcome.draws.iter().map(|draw| draw.logits.clone().flatten(0, 1));
    let weights = outcome.draws.iter().filter_map(|draw| draw.log_weight.clone());
    let terms = outcome.terms.iter().map(|(_, term)| term.clone());
    Tensor::cat(logits.chain(weights).chain(terms).collect(), 0)
}

/// Gradients of all that comes of a pass by learner and network, and by features if `features` says so, are
/// those of differences; every parameter of the learner has one.
pub fn gradients_are_those_of_differences<L: GraphLearner + Module>(
    learner: L,
    network: Backbone,
    world: &World,
    draws: usize,
    features: bool,
) {
    let both = (model::moved(learner), model::moved(network));
    let Features::Dense(x) = &world.features else { panic!("dense features") };
    let grads = model::check_module("driven", &both, x, |(learner, network), moved| {
        let features = if features { moved } else { x.clone() }.into();
        let input = GraphInput { features: &features, ..world.at(30) };
        everything(&learner.drive(&input, network, Pass::train(2, 3), draws).unwrap())
    });
    let count = model::gradients(&both.0, &x.clone().require_grad().sum().backward()).len();
    for (at, grad) in grads[..count].iter().enumerate() {
        assert!(grad.iter().any(|g| *g != 0.0), "parameter {at} has no gradient");
    }
}

/// Outputs and gradients have the same bits on any number of threads, and depend on the pass alone.
pub fn bits_do_not_depend_on_threads<L: GraphLearner + Module + Sync>(
    learner: L,
    network: Backbone,
    world: &World,
) {
    let both = (learner, network);
    let run = |pass| {
        let input = world.at(3);
        let prepared = both.0.prepare(&input).unwrap();
        let input = input.with_prepared(&prepared);
        everything(&both.0.drive(&input, &both.1, pass, 2).unwrap())
    };
    assert_eq!(values(&run(Pass::train(1, 4))), values(&run(Pass::train(1, 4))));
    assert_ne!(values(&run(Pass::train(1, 4))), values(&run(Pass::train(1, 5))));
    same_bits_on_any_threads(|| {
        let out = run(Pass::train(1, 4));
        let grads = model::gradients(&both, &out.clone().square().mean().backward());
        values(&out).into_iter().chain(grads.concat()).collect()
    });
}

/// Outputs are those of the network on the given graph, to the bit, with dropout and without.
pub fn is_the_plain_network<L: GraphLearner>(learner: &L, network: &Backbone, world: &World) {
    for pass in [|| Pass::train(1, 2), Pass::evaluate] {
        let outcome = learner.drive(&world.at(3), network, pass(), 2).unwrap();
        for (at, draw) in outcome.draws.iter().enumerate() {
            let pass = pass().child(2).child(at as u64);
            let expected = network.run(&world.features, &world.graph, pass).unwrap();
            assert_eq!(values(&draw.logits), values(&expected));
        }
    }
}
