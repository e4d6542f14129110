//! Evidence for neighbours, from held-out training labels.

use adjoin::{
    Adjacency, Batch, Csr, Dgg, DggConfig, Error, Features, GraphInput, GraphLearner, Key, Labels,
    Pass, SelfLoops,
    dgg::{DegreeConfig, DegreeRule, InformedConfig},
    evidence::{EvidenceConfig, EvidenceModel},
    graph::Evidence,
};
use burn::tensor::{Device, Tensor, TensorData};

const NODES: usize = 300;
const CLASSES: usize = 3;
const WIDTH: usize = 12;

/// Nodes of three classes with noisy features; every node has 4 neighbours of its class, 4 of others.
struct World {
    features: Features,
    graph: Adjacency,
    classes: Vec<u32>,
    training: Vec<u32>,
    batch: Batch,
}

fn world() -> World {
    let (key, device) = (Key::new(5), Device::flex());
    let classes: Vec<u32> = (0..NODES as u32).map(|node| node % CLASSES as u32).collect();
    let value = |at: usize| {
        let signal = f64::from(at % WIDTH % CLASSES == classes[at / WIDTH] as usize);
        1.8 * signal + key.normal(at as u64)
    };
    let values: Vec<f64> = (0..NODES * WIDTH).map(value).collect();
    let data = TensorData::new(values, [NODES, WIDTH]).convert_dtype(burn::tensor::DType::F32);
    let features = Features::from(Tensor::<2>::from_data(data, &device));
    let draw = key.child(1);
    let mut edges = Vec::new();
    for node in 0..NODES {
        for n in 0..2u64 {
            let other = CLASSES * draw.below(9 * node as u64 + n, NODES / CLASSES);
            edges.push((node as u32, ((node % CLASSES + other) % NODES) as u32));
            let shift = 1 + draw.below(9 * node as u64 + n + 4, CLASSES - 1);
            edges.push((node as u32, ((node % CLASSES + other + shift) % NODES) as u32));
        }
    }
    let topology = Csr::undirected(NODES, edges, SelfLoops::Drop).unwrap();
    let graph = Adjacency::unweighted(topology, &device);
    let training =
        (0..NODES as u32).filter(|node| (node / CLASSES as u32).is_multiple_of(3)).collect();
    World { features, graph, classes, training, batch: Batch::single(NODES) }
}

impl World {
    fn input(&self) -> GraphInput<'_> {
        GraphInput::new(&self.features, Some(&self.graph), &self.batch)
    }

    fn fit(&self, classes: &[u32]) -> EvidenceModel {
        let blank = EvidenceConfig { rank: 8, ..EvidenceConfig::default() };
        let blank = blank.init(WIDTH, CLASSES, Key::new(0), &Device::flex()).unwrap();
        let labels: Vec<u32> = self.training.iter().map(|&node| classes[node as usize]).collect();
        let labels = Labels { nodes: &self.training, classes: &labels, count: CLASSES };
        blank.fit(&self.input(), &labels, Key::new(7)).unwrap()
    }

    /// How often a given edge within a class has higher odds than one between classes, and by how much its
    /// probability is higher on average.
    fn separation(&self, evidence: &Evidence) -> [f64; 2] {
        let odds: Vec<f32> = evidence.log_odds.to_data().try_to_vec().unwrap();
        let given = self.graph.topology();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for ((i, j), &odds) in evidence.pairs.iter().zip(&odds) {
            let same = self.classes[i as usize] == self.classes[j as usize];
            if given.find(i as usize, j).is_some() {
                if same {
                    good.push(odds)
                } else {
                    bad.push(odds)
                };
            }
        }
        let above = |a: &f32| -> f64 {
            bad.iter().map(|b| if a > b { 1.0 } else { 0.5 * f64::from(a == b) }).sum()
        };
        let auc = good.iter().map(above).sum::<f64>() / (good.len() * bad.len()) as f64;
        let mean = |odds: &[f32]| {
            let p = odds.iter().map(|&z| 1.0 / (1.0 + f64::from(-z).exp()));
            p.sum::<f64>() / odds.len() as f64
        };
        [auc, mean(&good) - mean(&bad)]
    }
}

#[test]
fn true_labels_tell_good_edges_and_shuffled_ones_do_not() {
    let world = world();
    let separation =
        |labels: &[u32]| world.separation(&world.fit(labels).apply(&world.input()).unwrap());
    let order = Key::new(3).permutation(NODES);
    let shuffled: Vec<u32> = order.iter().map(|&at| world.classes[at as usize]).collect();
    let [auc, gap] = separation(&world.classes);
    assert!(auc > 0.9 && gap > 0.3, "{auc} {gap}");
    let [auc, gap] = separation(&shuffled);
    assert!((auc - 0.5).abs() < 0.1 && gap.abs() < 0.05, "{auc} {gap}");
}

#[test]
fn candidates_are_given_edges_and_feature_neighbours() {
    let world = world();
    let evidence = world.fit(&world.classes).apply(&world.input()).unwrap();
    let given = world.graph.topology();
    assert_eq!(&evidence.given.pairs, given);
    assert!(evidence.added.pairs.iter().all(|(i, j)| given.find(i as usize, j).is_none()));
    let parts = [&evidence.given, &evidence.added];
    assert_eq!(parts.map(|part| part.pairs.edges()).iter().sum::<usize>(), evidence.pairs.edges());
    for kind in [&evidence.near, &evidence.walk] {
        let flags: Vec<f32> = kind.to_data().try_to_vec().unwrap();
        assert_eq!(flags.len(), evidence.added.pairs.edges());
        assert!(flags.contains(&1.0));
    }
    assert!(evidence.pairs.is_symmetric());
    let empty = Adjacency::unweighted(Csr::empty(NODES, NODES), &Device::flex());
    let alone = GraphInput::new(&world.features, Some(&empty), &world.batch);
    let labels: Vec<u32> = world.training.iter().map(|&n| world.classes[n as usize]).collect();
    let labels = Labels { nodes: &world.training, classes: &labels, count: CLASSES };
    let blank = EvidenceConfig::default();
    let blank = blank.init(WIDTH, CLASSES, Key::new(0), &Device::flex()).unwrap();
    let alone = blank.fit(&alone, &labels, Key::new(7)).unwrap().apply(&alone).unwrap();
    assert_eq!(alone.given.pairs.edges(), 0);
    assert_eq!(alone.added.pairs, alone.pairs);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let world = world();
    let odds = |threads: usize| -> Vec<f32> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let evidence = pool.install(|| world.fit(&world.classes).apply(&world.input()).unwrap());
        evidence.log_odds.to_data().try_to_vec().unwrap()
    };
    assert_eq!(odds(1), odds(3));
}

#[test]
fn too_few_labels_and_a_model_without_a_fit_are_refused() {
    let world = world();
    let blank = || {
        let config = EvidenceConfig::default();
        config.init(WIDTH, CLASSES, Key::new(0), &Device::flex()).unwrap()
    };
    assert!(matches!(blank().apply(&world.input()), Err(Error::NotFitted)));
    for (nodes, classes) in [(vec![0, 1, 2], vec![0, 1, 2]), (vec![0, 3, 6, 9], vec![0; 4])] {
        let labels = Labels { nodes: &nodes, classes: &classes, count: CLASSES };
        let found = blank().fit(&world.input(), &labels, Key::new(1));
        assert!(matches!(found, Err(Error::FewLabels { .. })), "{found:?}");
    }
    let unknown = [([0, 999], [0, 1], CLASSES), ([0, 1], [0, 7], 8)];
    for (nodes, classes, count) in unknown {
        let labels = Labels { nodes: &nodes, classes: &classes, count };
        let found = blank().fit(&world.input(), &labels, Key::new(1));
        assert!(matches!(found, Err(Error::Shape { .. })), "{found:?}");
    }
}

fn generator(world: &World) -> Dgg {
    let config = DggConfig {
        informed: Some(InformedConfig::default()),
        degree: DegreeConfig { rule: DegreeRule::Evidence, ..DegreeConfig::default() },
        ..DggConfig::default()
    };
    let config = config.with_inputs(WIDTH).with_classes(CLASSES);
    let labels: Vec<u32> = world.training.iter().map(|&n| world.classes[n as usize]).collect();
    let labels = Labels { nodes: &world.training, classes: &labels, count: CLASSES };
    let dgg = config.init(Key::new(2), &Device::flex()).unwrap();
    dgg.fit(&world.input(), &labels, Key::new(7)).unwrap()
}

#[test]
fn sizes_start_as_the_number_of_good_neighbours_to_expect() {
    let world = world();
    let dgg = generator(&world);
    let graph = dgg.learn(&world.input(), Pass::evaluate()).unwrap();
    let k: Vec<f32> = graph.degrees.unwrap().to_data().try_to_vec().unwrap();
    let model = &dgg.informed.as_ref().unwrap().model;
    let evidence = model.apply(&world.input()).unwrap();
    let odds: Vec<f32> = evidence.log_odds.to_data().try_to_vec().unwrap();
    let weight = |at: usize| 1.0 / (1.0 + f64::from(-odds[at]).exp());
    let kept: Vec<f32> = graph.kept.unwrap().to_data().try_to_vec().unwrap();
    let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-4 * b.max(1.0);
    for node in 0..NODES {
        let expected: f64 = evidence.pairs.range(node).map(weight).sum();
        assert!(near(k[node], expected), "{} {expected}", k[node]);
        let own = evidence.given.pairs.range(node);
        let expected: f64 = own.map(|at| weight(evidence.given.entries[at] as usize)).sum();
        assert!(near(kept[node], expected), "{} {expected}", kept[node]);
    }
}

#[test]
fn alternatives_are_the_given_graph_and_none() {
    let world = world();
    let dgg = generator(&world);
    assert_eq!(dgg.alternatives(), ["learned", "given", "none"]);
    let graph = |at: usize| {
        let chosen = dgg.clone().choose(at);
        chosen.learn(&world.input(), Pass::evaluate()).unwrap().adjacency
    };
    assert_eq!(graph(1).topology(), world.graph.topology());
    assert_eq!(graph(2).topology().edges(), 0);
    assert_ne!(graph(0).topology(), world.graph.topology());
}
