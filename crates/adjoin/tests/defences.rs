//! Learners that defend a network against wrong edges: self-weight, Jaccard, SVD and GNNGuard.

mod common;
#[path = "common/file.rs"]
mod file;
#[path = "common/model.rs"]
mod model;

use adjoin::{
    Adjacency, Batch, Csr, Error, Features, GraphInput, GraphLearner, Key, LearnedGraph, Linear,
    Pass, Prepared, SelfLoops, SparseFeatures,
    conv::{BACKBONES, Backbone, BackboneConfig},
    graph::LowRank,
    learner::{
        GnnGuardConfig, Jaccard, JaccardConfig, LearnerConfig, SelfWeight, SelfWeightConfig, Shape,
        SvdConfig,
    },
    nn::{Aggregate, Network, State},
    ops::Convergence,
};
use burn::tensor::Tensor;
use common::*;

const NODES: usize = 20;
const WIDTH: usize = 5;

fn features() -> Features {
    tensor32(&normals(1, NODES * WIDTH), [NODES, WIDTH]).into()
}

fn unweighted(topology: Csr) -> Adjacency {
    Adjacency::unweighted(topology, &device())
}

fn undirected(seed: u64) -> Adjacency {
    let edges = graph(seed, NODES, NODES, 3);
    unweighted(Csr::undirected(NODES, edges.iter(), SelfLoops::Drop).unwrap())
}

fn backbone(name: &str, hidden: usize) -> Backbone {
    let config = BackboneConfig { layers: 2, hidden, ..BackboneConfig::named(name).unwrap() };
    config.with_widths(WIDTH, 3).init(Key::new(3), &device()).unwrap()
}

fn learn(learner: &impl GraphLearner, x: &Features, graph: &Adjacency) -> LearnedGraph {
    let batch = Batch::single(graph.nodes());
    learner.learn(&GraphInput::new(x, Some(graph), &batch), Pass::evaluate()).unwrap()
}

fn self_weight(weight: f64, learn: bool) -> SelfWeight {
    SelfWeightConfig { weight, learn }.init(Key::new(1), &device()).unwrap()
}

#[test]
fn the_self_loop_has_the_weight_it_is_given() {
    let edges = Csr::from_edges(3, 3, [(0, 1), (1, 0), (1, 1)], SelfLoops::Keep).unwrap();
    let given = Adjacency::new(edges, tensor32(&[2.0, 3.0, 9.0], [3])).unwrap();
    let x = Features::from(tensor32(&[1.0, 2.0, 3.0], [3, 1]));
    let expected = [0.25, 2.0, 0.0, 3.0, 0.25, 0.0, 0.0, 0.0, 0.25];
    for is_learned in [false, true] {
        let learned = learn(&self_weight(0.25, is_learned), &x, &given);
        assert_close(&values(&learned.adjacency.to_dense().unwrap()), &expected, 1e-6);
    }
    // GCN divides by the sums of its rows, the self-loop among them: here 2.25 and 3.25.
    let scaled = learn(&self_weight(0.25, false), &x, &given).adjacency;
    let scaled = scaled.prepare(adjoin::Normalisation::Symmetric, true).unwrap();
    let d = [2.25f64, 3.25];
    let cross = |w: f64| w / (d[0] * d[1]).sqrt();
    let expected = [0.25 / d[0], cross(2.0), 0.0, cross(3.0), 0.25 / d[1], 0.0, 0.0, 0.0, 1.0];
    assert_close(&values(&scaled.to_dense().unwrap()), &expected, 1e-6);
}

#[test]
fn a_self_loop_of_one_is_what_networks_add_themselves() {
    let (x, given) = (features(), undirected(4));
    let learned = learn(&self_weight(1.0, false), &x, &given).adjacency;
    for name in ["gcn", "gat", "gcnii"] {
        let network = backbone(name, 8);
        let run = |graph: &Adjacency| values(&network.run(&x, graph, Pass::train(1, 1)).unwrap());
        assert_eq!(run(&learned), run(&given), "{name}");
        let heavy = learn(&self_weight(5.0, false), &x, &given).adjacency;
        assert_ne!(run(&heavy), run(&given), "{name}");
    }
}

#[test]
fn the_self_weight_learns_and_has_the_gradient_of_differences() {
    for weight in [0.1, 1.0, 50.0] {
        let start = self_weight(weight, true).learned_weight().unwrap();
        assert_close(&values(&start), &[weight], 1e-5);
    }
    let topology = graph(4, 9, 9, 3);
    let given: Vec<f64> = normals(8, topology.edges()).iter().map(|w| 0.3 + w.abs()).collect();
    let x = tensor(&normals(1, 9 * WIDTH), [9, WIDTH]);
    let run = |learner: &SelfWeight, x: Tensor<2>, weights: Tensor<1>| {
        let graph = Adjacency::new(topology.clone(), weights).unwrap();
        let learned = learn(learner, &x.clone().into(), &graph).adjacency;
        let scaled = learned.prepare(adjoin::Normalisation::Symmetric, true).unwrap();
        scaled.aggregate(&x).unwrap().reshape([9 * WIDTH as i32])
    };
    let learner = model::moved(self_weight(0.7, true));
    let fixed = tensor(&given, [given.len()]);
    let grads =
        model::check_module("theta", &learner, &x, |learner, x| run(learner, x, fixed.clone()));
    assert!(grads.len() == 1 && grads[0][0] != 0.0, "{grads:?}");
    gradcheck(&[given], |t| run(&learner, x.clone(), t[0].clone()));
}

/// Words of five papers; the fourth shares none with the others, the fifth has none.
fn words() -> Csr {
    let rows = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (1, 3), (1, 4), (2, 2), (2, 5), (3, 7)];
    Csr::from_edges(5, 8, rows, SelfLoops::Keep).unwrap()
}

fn jaccard(threshold: f64) -> Jaccard {
    JaccardConfig { threshold }.init(Key::new(1), &device()).unwrap()
}

#[test]
fn edges_of_unlike_words_are_left_out() {
    let words = words();
    let binary = SparseFeatures::new(words.clone(), &[1.0; 10], &device()).unwrap();
    let given = unweighted(
        Csr::undirected(5, [(0, 1), (0, 2), (0, 3), (1, 2), (2, 4), (3, 3)], SelfLoops::Keep)
            .unwrap(),
    );
    let kept = |x: &Features, threshold: f64| -> Vec<(u32, u32)> {
        let learned = learn(&jaccard(threshold), x, &given);
        learned.adjacency.topology().iter().filter(|(i, j)| i <= j).collect()
    };
    // 0 and 1 share 2 of 5 words, 0 and 2 share 1 of 4, 1 and 2 share 1 of 5.
    let all = [(0, 1), (0, 2), (1, 2), (3, 3)];
    let dense = Features::Sparse(binary.clone()).to_dense().unwrap();
    for x in [
        Features::Sparse(binary.clone()),
        Features::Sparse(binary.row_normalised().unwrap()),
        dense.into(),
    ] {
        assert_eq!(kept(&x, 0.01), all);
        assert_eq!(kept(&x, 0.199), all);
        // At the threshold is below it.
        assert_eq!(kept(&x, 0.2), [(0, 1), (0, 2), (3, 3)]);
        assert_eq!(kept(&x, 0.25), [(0, 1), (3, 3)]);
        assert_eq!(kept(&x, 0.4), [(3, 3)]);
    }
    // Other features are compared by their cosine.
    let counts = [2.0, 1.0, 2.0, 2.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let counted = SparseFeatures::new(words, &counts, &device()).unwrap();
    let cosine = |shared: f64, a: f64, b: f64| shared / (a * b).sqrt();
    let expected = [cosine(2.0, 9.0, 6.0), cosine(2.0, 9.0, 2.0)];
    for x in
        [Features::Sparse(counted.clone()), Features::Sparse(counted).to_dense().unwrap().into()]
    {
        for (cosine, pair) in expected.into_iter().zip([(0, 1), (0, 2)]) {
            assert!(kept(&x, cosine - 1e-6).contains(&pair), "{pair:?}");
            assert!(!kept(&x, cosine + 1e-6).contains(&pair), "{pair:?}");
        }
        // The zero that is written down is no word: 1 and 2 share nothing.
        assert!(!kept(&x, 0.0).contains(&(1, 2)));
    }
}

/// A map by its effect on the unit vectors.
fn dense(map: &LowRank, nodes: usize) -> Vec<f64> {
    let eye = unweighted(Csr::identity(nodes)).to_dense().unwrap().cast(map.left.dtype());
    values(&map.aggregate(&eye).unwrap())
}

/// Hands the map it is given on to the outside.
struct Probe(Tensor<2>);

impl Network for Probe {
    fn depth(&self) -> usize {
        1
    }

    fn widths(&self) -> Vec<usize> {
        vec![self.0.dims()[1]]
    }

    fn begin(&self, _x: &Features, _pass: &Pass) -> adjoin::Result<State> {
        Ok(State::new(self.0.clone()))
    }

    fn layer(
        &self,
        _at: usize,
        _state: State,
        graph: &dyn Aggregate,
        _pass: &Pass,
    ) -> adjoin::Result<State> {
        assert!(graph.edges().is_none());
        Ok(State::new(graph.aggregate(&self.0)?))
    }

    fn finish(&self, state: State, _pass: &Pass) -> adjoin::Result<Tensor<2>> {
        state.output()
    }
}

#[test]
fn the_low_rank_map_is_that_of_numpy() {
    file::both("svd", |file| {
        let rank = file.scalar("rank") as usize;
        let given = Adjacency::new(file.csr("", 12), file.constant("weights")).unwrap();
        let until = Convergence { tolerance: 1e-13, most: 500 };
        let factors = LowRank::of(&given, rank, until, Key::new(2)).unwrap();
        file.check_numbers("approximation", &dense(&factors, 12));
    });
    file::both("svd", |file| {
        let learner = SvdConfig { rank: 3 }.init(Key::new(1), &device()).unwrap();
        let given = Adjacency::new(file.csr("", 12), file.constant("weights")).unwrap();
        let (x, batch) = (file.leaf::<2>("x"), Batch::single(12));
        let features = Features::from(x.clone());
        let input = GraphInput::new(&features, Some(&given), &batch);
        let prepared = learner.prepare(&input).unwrap();
        for input in [input, input.with_prepared(&prepared)] {
            let outcome = learner.drive(&input, &Probe(x.clone()), Pass::evaluate(), 1).unwrap();
            // As far as the iteration of the learner goes.
            let near = |found: &[f64], key: &str| assert_close(found, file.numbers(key), 1e-4);
            near(&values(&outcome.draws[0].logits), "out");
            near(&values(outcome.draws[0].graph.adjacency.weights()), "shown");
            let probe = file.constant::<2>("probe");
            let grads = (outcome.draws[0].logits.clone() * probe).sum().backward();
            near(&values(&x.grad(&grads).unwrap()), "grad.x");
        }
    });
}

#[test]
fn with_all_singular_values_the_map_is_the_graph() {
    let (x, given, batch) = (features(), undirected(4), Batch::single(NODES));
    let learner = SvdConfig { rank: NODES }.init(Key::new(1), &device()).unwrap();
    let input = GraphInput::new(&x, Some(&given), &batch);
    let network = backbone("gcn", 8);
    let outcome = learner.drive(&input, &network, Pass::train(1, 1), 1).unwrap();
    let pass = Pass::train(1, 1).child(2).child(0);
    let expected = network.run(&x, &given, pass).unwrap();
    assert_close(&values(&outcome.draws[0].logits), &values(&expected), 1e-4);
    // Without edges every node is alone.
    let alone = unweighted(Csr::empty(NODES, NODES));
    let input = GraphInput::new(&x, Some(&alone), &batch);
    let outcome = learner.drive(&input, &network, Pass::evaluate(), 2).unwrap();
    let expected = network.run(&x, &alone, Pass::evaluate()).unwrap();
    assert_close(&values(&outcome.draws[1].logits), &values(&expected), 1e-6);
    for name in ["gat", "gcnii"] {
        let refused = learner.drive(&input, &backbone(name, 8), Pass::evaluate(), 1).unwrap_err();
        assert!(refused.to_string().contains("needs edges"), "{refused}");
    }
}

#[test]
fn gnnguard_is_that_of_pytorch() {
    file::both("gnnguard", |file| {
        let [threshold, memory] = ["threshold", "memory"].map(|key| file.scalar(key));
        let learner = GnnGuardConfig { threshold, memory }.init(Key::new(1), &device()).unwrap();
        let x = file.leaf::<2>("x");
        let given = Adjacency::new(file.csr("", 9), file.tensor(&[7.0; 30], [30])).unwrap();
        let (features, batch) = (Features::from(x.clone()), Batch::single(9));
        let input = GraphInput::new(&features, Some(&given), &batch);
        let config = BackboneConfig { hidden: 5, ..BackboneConfig::named("gcn").unwrap() };
        let mut network = config.with_widths(4, 3).init(Key::new(1), &device()).unwrap();
        let Backbone::Gcn(stack) = &mut network else { panic!("GCN") };
        for (at, layer) in stack.layers.iter_mut().enumerate() {
            let [weight, bias] = [format!("W_{at}"), format!("b_{at}")];
            layer.linear = Linear { weight: file.param(&weight), bias: Some(file.param(&bias)) };
        }
        let first = learner.learn(&input, Pass::evaluate()).unwrap().adjacency;
        file.check("first", &first.to_dense().unwrap());
        let outcome = learner.drive(&input, &network, Pass::evaluate(), 1).unwrap();
        file.check("second", &outcome.draws[0].graph.adjacency.to_dense().unwrap());
        let Backbone::Gcn(stack) = &network else { panic!("GCN") };
        let [a, b] = [&stack.layers[0].linear, &stack.layers[1].linear];
        file.check_case(
            "",
            &outcome.draws[0].logits,
            &[
                ("x", &x),
                ("W_0", &a.weight),
                ("b_0", a.bias.as_ref().unwrap()),
                ("W_1", &b.weight),
                ("b_1", b.bias.as_ref().unwrap()),
            ],
        );
    });
}

#[test]
fn gnnguard_prunes_counts_and_remembers() {
    // Node 0 has cosines 1, 0.6, 0 and -1 with its neighbours.
    let x = tensor(&[1.0, 0.0, 2.0, 0.0, 0.6, 0.8, 0.0, 3.0, -1.0, 0.0], [5, 2]);
    let star = Csr::from_edges(5, 5, (1..5).map(|j| (0, j)), SelfLoops::Drop).unwrap();
    let ones = tensor(&[1.0; 4], [4]);
    let given = Adjacency::new(star, ones).unwrap();
    let learner = GnnGuardConfig::default().init(Key::new(1), &device()).unwrap();
    let learned = learn(&learner, &x.clone().into(), &given).adjacency;
    let row = [1.0 / 3.0, 2.0 / 3.0 / 1.6, 2.0 / 3.0 * 0.6 / 1.6];
    assert_eq!(learned.topology().row(0), [0, 1, 2]);
    assert_close(&values(learned.weights())[..3], &row, 1e-12);
    // Nodes without neighbours keep themselves.
    assert_close(&values(learned.weights())[3..], &[1.0; 4], 1e-12);
    // With full memory all layers have the graph of the first.
    let config = GnnGuardConfig { memory: 1.0, ..GnnGuardConfig::default() };
    let learner = config.init(Key::new(1), &device()).unwrap();
    let (x, given, batch) = (features(), undirected(4), Batch::single(NODES));
    let input = GraphInput::new(&x, Some(&given), &batch);
    for entry in BACKBONES.iter().filter(|entry| !["gcnii", "mlp"].contains(&entry.name)) {
        let network = backbone(entry.name, 8);
        let outcome = learner.drive(&input, &network, Pass::train(1, 1), 2).unwrap();
        let graph = learn(&learner, &x, &given).adjacency;
        for (at, draw) in outcome.draws.iter().enumerate() {
            let pass = Pass::train(1, 1).child(2).child(at as u64);
            let expected = network.run(&x, &graph, pass).unwrap();
            assert_eq!(values(&draw.logits), values(&expected), "{}", entry.name);
            assert_eq!(draw.share, 0.5);
        }
    }
}

/// Sparse features and the same ones dense give the same graph.
#[test]
fn gnnguard_takes_sparse_features() {
    let sparse: Features = SparseFeatures::new(words(), &[1.0; 10], &device()).unwrap().into();
    let edges = Csr::undirected(5, [(0, 1), (0, 2), (1, 2), (3, 4)], SelfLoops::Drop).unwrap();
    let learner = GnnGuardConfig::default().init(Key::new(1), &device()).unwrap();
    let of = |x: &Features| learn(&learner, x, &unweighted(edges.clone())).adjacency;
    let (a, b) = (of(&sparse), of(&sparse.to_dense().unwrap().into()));
    assert_eq!(a.topology(), b.topology());
    assert_close(&values(a.weights()), &values(b.weights()), 1e-6);
}

const NAMES: [&str; 4] = ["self-weight", "jaccard", "svd", "gnnguard"];

#[test]
fn their_bits_do_not_depend_on_threads() {
    let nodes = 600;
    let edges = graph(3, nodes, nodes, 6);
    let given = unweighted(Csr::undirected(nodes, edges.iter(), SelfLoops::Drop).unwrap());
    let x = Features::from(tensor32(&normals(1, nodes * WIDTH), [nodes, WIDTH]));
    let batch = Batch::single(nodes);
    let network = backbone("gcn", 16);
    for name in NAMES {
        same_bits_on_any_threads(|| {
            let input = GraphInput::new(&x, Some(&given), &batch);
            let learner = LearnerConfig::named(name).unwrap();
            let learner = learner.init(&input, &Shape::default(), Key::new(1), &device()).unwrap();
            let prepared = learner.prepare(&input).unwrap();
            let input = input.with_prepared(&prepared);
            let outcome = learner.drive(&input, &network, Pass::train(1, 2), 1).unwrap();
            let logits = &outcome.draws[0].logits;
            let grads = model::gradients(&network, &logits.clone().square().mean().backward());
            values(logits).into_iter().chain(grads.concat()).collect()
        });
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (key, device, batch) = (Key::new(1), device(), Batch::single(NODES));
    let name = |error: Error| match error {
        Error::Setting { name, .. } => name,
        other => panic!("{other}"),
    };
    for (weight, learn) in [(-1.0, false), (f64::NAN, false), (0.0, true)] {
        let config = SelfWeightConfig { weight, learn };
        assert_eq!(name(config.init(key, &device).unwrap_err()), "weight");
    }
    assert!(SelfWeightConfig { weight: 0.0, learn: false }.init(key, &device).is_ok());
    for threshold in [1.5, f64::NAN] {
        let error = JaccardConfig { threshold }.init(key, &device).unwrap_err();
        assert_eq!(name(error), "threshold");
    }
    assert_eq!(name(SvdConfig { rank: 0 }.init(key, &device).unwrap_err()), "rank");
    let guard = |threshold, memory| GnnGuardConfig { threshold, memory }.init(key, &device);
    assert_eq!(name(guard(0.0, 0.5).unwrap_err()), "threshold");
    assert_eq!(name(guard(0.1, 1.5).unwrap_err()), "memory");
    let x = features();
    let input = GraphInput::new(&x, None, &batch);
    for name in NAMES {
        let config = LearnerConfig::named(name).unwrap();
        let learner = config.init(&input, &Shape::default(), key, &device).unwrap();
        for refused in [
            learner.learn(&input, Pass::evaluate()).map(|_| Prepared::default()),
            learner.prepare(&input),
        ] {
            // What works layer by layer has nothing to prepare.
            match refused {
                Err(error) => assert!(matches!(error, Error::NoInputGraph(_)), "{name}: {error}"),
                Ok(prepared) => assert!(name == "gnnguard" && prepared.graph.is_none()),
            }
        }
        assert!(learner.learn(&input, Pass::evaluate()).is_err(), "{name}");
    }
}
