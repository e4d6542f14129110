//! The protocol between learners, networks and trainers, and the table of learners.

mod common;

use adjoin::{
    Adjacency, Batch, CandidateRule, Csr, DggConfig, Error, Features, GraphInput, GraphLearner,
    Key, LearnedGraph, Pass, Prepared, SelfLoops,
    conv::{BACKBONES, Backbone, BackboneConfig, Conv},
    dgg::{Augment, Score, ScorerConfig},
    learner::{AnyLearner, KnnConfig, LEARNERS, LearnerConfig, Shape},
    loss::TrainingPairs,
    nn::{Draw, Network, Outcome, Progress, Reading, Stage},
};
use burn::tensor::{Tensor, activation::softmax};
use common::*;

const NODES: usize = 24;
const WIDTH: usize = 6;
const CLASSES: usize = 3;

struct World {
    features: Features,
    graph: Adjacency,
    batch: Batch,
    prepared: Prepared,
}

impl World {
    fn new() -> Self {
        let key = Key::new(4);
        let edges =
            (0..90).map(|e| (key.below(2 * e, NODES) as u32, key.below(2 * e + 1, NODES) as u32));
        let graph = Csr::undirected(NODES, edges, SelfLoops::Drop).unwrap();
        let probabilities = softmax(tensor32(&normals(3, NODES * CLASSES), [NODES, CLASSES]), 1);
        Self {
            features: tensor32(&normals(1, NODES * WIDTH), [NODES, WIDTH]).into(),
            graph: Adjacency::unweighted(graph, &device()),
            batch: Batch::single(NODES),
            prepared: Prepared { probabilities: Some(probabilities), ..Prepared::default() },
        }
    }

    fn input(&self) -> GraphInput<'_> {
        let input = GraphInput::new(&self.features, Some(&self.graph), &self.batch);
        input.with_prepared(&self.prepared)
    }

    fn learner(&self, config: &LearnerConfig) -> AnyLearner {
        self.learner_for(config, vec![WIDTH, 8])
    }

    /// The learner for a network whose layers get features of these widths.
    fn learner_for(&self, config: &LearnerConfig, widths: Vec<usize>) -> AnyLearner {
        let shape =
            Shape { features: WIDTH, classes: CLASSES, widths, training: 5, ..Shape::default() };
        config.init(&self.input(), &shape, Key::new(2), &device()).unwrap()
    }
}

fn network(name: &str) -> Backbone {
    network_on(name, WIDTH)
}

fn network_on(name: &str, inputs: usize) -> Backbone {
    let config = BackboneConfig { layers: 2, hidden: 8, ..BackboneConfig::named(name).unwrap() };
    config.with_widths(inputs, CLASSES).init(Key::new(3), &device()).unwrap()
}

#[test]
fn every_learner_drives_every_backbone() {
    for entry in LEARNERS {
        let config = (entry.config)();
        for backbone in BACKBONES {
            // Latent features are as wide as their learner made them.
            let inputs = config.network_inputs().unwrap_or(WIDTH);
            let network = network_on(backbone.name, inputs);
            let learner = World::new().learner_for(&config, network.widths());
            for (pass, draws) in [(Pass::train(1, 2), 2), (Pass::evaluate(), 1)] {
                let world = World::new();
                let input = world.input().with_progress(Progress { epoch: 0, epochs: 3 });
                let outcome = learner.drive(&input, &network, pass, draws);
                if ["svd", "slaps-fp"].contains(&entry.name)
                    && ["gat", "gcnii"].contains(&backbone.name)
                {
                    assert!(matches!(outcome, Err(Error::NoEdges(_))), "{}", backbone.name);
                    continue;
                }
                let outcome = outcome.unwrap();
                assert_eq!(outcome.draws.len(), draws, "{}", entry.name);
                let log_p = values(&outcome.prediction().unwrap());
                for row in log_p.chunks(CLASSES) {
                    let total: f64 = row.iter().map(|l| l.exp()).sum();
                    assert!((total - 1.0).abs() < 1e-5, "{} {}", entry.name, backbone.name);
                }
            }
        }
    }
}

/// What the provided driver promises is what trainers did by hand before.
#[test]
fn the_provided_driver_draws_graphs_and_runs_the_network_on_each() {
    let world = World::new();
    let learner = world.learner(&LearnerConfig::named("dgg").unwrap());
    let network = network("gat");
    let input = world.input();
    let outcome = learner.drive(&input, &network, Pass::train(3, 4), 3).unwrap();
    assert_eq!(outcome.reading, Reading::MeanOfLosses);
    assert!(outcome.terms.is_empty());
    let pass = Pass::train(3, 4);
    let graphs = learner.sample(&input, pass.child(1), 3).unwrap();
    let mut logits = Vec::new();
    for (at, (graph, draw)) in graphs.iter().zip(&outcome.draws).enumerate() {
        let pass = pass.child(2).child(at as u64);
        let expected = network.forward(&world.features, &graph.adjacency, pass).unwrap();
        assert_eq!(values(&draw.logits), values(&expected));
        assert_eq!(values(draw.graph.adjacency.weights()), values(graph.adjacency.weights()));
        assert_eq!(draw.share, 1.0 / 3.0);
        assert!(draw.log_weight.is_none());
        logits.push(expected);
    }
    let mean = (logits[0].clone() + logits[1].clone() + logits[2].clone()) * (1.0 / 3.0);
    let expected = burn::tensor::activation::log_softmax(mean, 1);
    assert_eq!(values(&outcome.prediction().unwrap()), values(&expected));
    // No draws means the one graph there is.
    assert_eq!(learner.drive(&input, &network, pass, 0).unwrap().draws.len(), 1);
}

#[test]
fn readings_are_their_formulas() {
    let world = World::new();
    let graph = LearnedGraph::plain(world.graph.clone());
    let logits = |seed| tensor(&normals(seed, 4 * CLASSES), [4, CLASSES]);
    let draw =
        |seed| Draw { graph: graph.clone(), logits: logits(seed), share: 0.5, log_weight: None };
    let outcome = |reading| Outcome { draws: vec![draw(1), draw(2)], reading, terms: Vec::new() };
    let probabilities = |logits: Tensor<2>| values(&softmax(logits, 1));
    let predicted = |reading| -> Vec<f64> {
        let log_p = outcome(reading).prediction().unwrap();
        values(&log_p).iter().map(|l| l.exp()).collect()
    };
    let of_mean = probabilities((logits(1) + logits(2)) * 0.5);
    assert_close(&predicted(Reading::MeanOfLosses), &of_mean, 1e-12);
    assert_close(&predicted(Reading::LossOfMean), &of_mean, 1e-12);
    assert_close(&predicted(Reading::Last), &probabilities(logits(2)), 1e-12);
    let (a, b) = (probabilities(logits(1)), probabilities(logits(2)));
    let mean: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a + b) / 2.0).collect();
    assert_close(&predicted(Reading::Bound), &mean, 1e-12);
    // Draws that are sure stay numbers.
    let sure = tensor(&[900.0, 0.0, 0.0], [1, 3]);
    let sure = Draw { logits: sure, ..draw(1) };
    let sure = Outcome { draws: vec![sure.clone(), sure], reading: Reading::Bound, terms: vec![] };
    assert_close(&values(&sure.prediction().unwrap()), &[0.0, -900.0, -900.0], 1e-9);
    let none = Outcome { draws: Vec::new(), reading: Reading::Last, terms: Vec::new() };
    assert!(matches!(none.prediction(), Err(Error::Shape { .. })));
}

#[test]
fn learners_say_what_they_are() {
    let world = World::new();
    let says = |name: &str| {
        let learner = world.learner(&LearnerConfig::named(name).unwrap());
        let rule = learner.candidate_rule().cloned();
        let at = Progress { epoch: 3, epochs: 10 };
        assert_eq!(learner.stage(at), Stage::ALL, "{name}");
        assert!(learner.outer().is_none(), "{name}");
        let flags = [learner.is_rewarded(), learner.keeps_given_edges(), learner.hands_on()];
        (flags, learner.evaluation_draws(), rule)
    };
    assert_eq!(says("none"), ([false, true, true], 0, None));
    assert_eq!(says("dropedge"), ([false, true, false], 0, None));
    assert_eq!(says("knn"), ([false; 3], 0, None));
    assert_eq!(says("pagerank"), ([false; 3], 0, None));
    assert_eq!(says("dgm"), ([true, false, false], 8, None));
    assert_eq!(says("dgg"), ([false; 3], 0, Some(CandidateRule::InputEdges)));
    assert_eq!(says("dgg-paper"), ([false; 3], 0, Some(CandidateRule::Complete)));
    for agreement in [false, true] {
        let config = LearnerConfig::Dgg(Box::new(DggConfig { agreement, ..DggConfig::default() }));
        assert_eq!(config.wants_probabilities(), agreement);
        assert_eq!(world.learner(&config).wants_probabilities(), agreement);
        assert!(!config.replaces_network());
    }
}

#[test]
fn scores_of_any_pairs_come_from_those_that_have_them() {
    let world = World::new();
    let pairs = Csr::from_edges(NODES, NODES, [(0, 1), (4, 9), (9, 4)], SelfLoops::Drop).unwrap();
    for entry in LEARNERS {
        let config = (entry.config)();
        let learner = world.learner(&config);
        let learned = learner.learn(&world.input(), Pass::train(1, 1)).unwrap();
        let scores = learner.pair_scores(&learned, &pairs, &world.input()).unwrap();
        assert_eq!(scores.is_some(), config.kind() == "dgg", "{}", entry.name);
        if let (Some(scores), AnyLearner::Dgg(dgg)) = (scores, &learner) {
            if dgg.scorer.has_messages() {
                // All pairs are candidates: any of them has the score that it was ranked by.
                let ranked = learned.scores.as_ref().unwrap().of(&pairs).unwrap();
                assert_close(&values(&scores), &values(&ranked), 1e-6);
                assert!(learner.scored_pairs(&learned).is_none());
                continue;
            }
            let latent = learned.latent.as_ref().unwrap();
            let expected = dgg.log_scores(latent, &pairs, Some(&world.graph)).unwrap();
            assert_eq!(values(&scores), values(&expected));
        }
    }
}

/// With messages between edges, scores are those of the learned graph, not of pairs by themselves.
#[test]
fn scores_with_messages_are_those_of_the_learned_graph() {
    let world = World::new();
    for edge_features in [false, true] {
        let mut config = DggConfig::default();
        config.scorer =
            ScorerConfig { kind: Score::Mlp, messages: true, edge_features, ..config.scorer };
        let learner = world.learner(&LearnerConfig::Dgg(Box::new(config)));
        let learned = learner.learn(&world.input(), Pass::train(1, 1)).unwrap();
        let scores = learned.scores.as_ref().unwrap();
        let candidates = learner.scored_pairs(&learned).unwrap();
        assert_eq!(candidates, &scores.pairs);
        let training: Vec<u32> = (0..NODES as u32).step_by(2).collect();
        let labels: Vec<u32> = training.iter().map(|i| i % 3).collect();
        let pairs = TrainingPairs::new(NODES, &training, &labels, Some(candidates)).unwrap();
        assert!(pairs.pairs().edges() > 0 && pairs.pairs().edges() < candidates.edges());
        let found = learner.pair_scores(&learned, pairs.pairs(), &world.input()).unwrap().unwrap();
        let all = values(&scores.log_scores);
        let expected: Vec<f64> = pairs
            .pairs()
            .iter()
            .map(|(i, j)| all[scores.pairs.find(i as usize, j).unwrap()])
            .collect();
        assert_eq!(values(&found), expected);
        // Gradients reach the scorer.
        let loss = pairs.loss(&found).unwrap();
        let AnyLearner::Dgg(dgg) = &learner else { panic!("the generator") };
        let refine = dgg.scorer.refine.as_ref().unwrap().weight.val();
        let grad = values(&refine.grad(&loss.backward()).unwrap());
        assert!(grad.iter().any(|g| *g != 0.0));
        // A pair that is no candidate has no score.
        let loop_free = TrainingPairs::new(NODES, &training, &labels, None).unwrap();
        let refused = learner.pair_scores(&learned, loop_free.pairs(), &world.input());
        assert!(matches!(refused, Err(Error::NotCandidate { .. })));
    }
    let plain = world.learner(&LearnerConfig::named("dgg").unwrap());
    let learned = plain.learn(&world.input(), Pass::evaluate()).unwrap();
    assert!(plain.scored_pairs(&learned).is_none());
}

/// Edge features of a pair are those of the graph that was learned from, added edges included.
#[test]
fn scores_with_edge_features_see_added_edges() {
    let world = World::new();
    let mut config = DggConfig::reference();
    config.augment = Some(Augment::Nearest(KnnConfig { k: 4, ..KnnConfig::default() }));
    let learner = world.learner(&LearnerConfig::Dgg(Box::new(config)));
    let learned = learner.learn(&world.input(), Pass::evaluate()).unwrap();
    let scores = learned.scores.as_ref().unwrap();
    let found = learner.pair_scores(&learned, &scores.pairs, &world.input()).unwrap().unwrap();
    assert_eq!(values(&found), values(&scores.log_scores));
}

#[test]
fn the_table_names_kinds_and_writes_them_as_before() {
    let names: Vec<&str> = LEARNERS.iter().map(|entry| entry.name).collect();
    for known in ["none", "knn", "pagerank", "dropedge", "dgm", "dgg", "dgg-star", "dgg-ref"] {
        assert!(names.contains(&known), "{known}: {names:?}");
    }
    for entry in LEARNERS {
        let config = LearnerConfig::named(entry.name).unwrap();
        assert_eq!(config, (entry.config)());
        assert!(entry.name.starts_with(config.kind()) && !entry.about.is_empty());
        let written = serde_json::to_value(&config).unwrap();
        match config.kind() {
            "none" => assert_eq!(written, "none"),
            kind => assert!(written[kind].is_object(), "{written}"),
        }
        assert_eq!(serde_json::from_value::<LearnerConfig>(written).unwrap(), config);
    }
    assert_eq!(LearnerConfig::named("dgg").unwrap(), LearnerConfig::named("dgg-star").unwrap());
    let refused = LearnerConfig::named("dropegde").unwrap_err();
    assert!(matches!(&refused, Error::Unknown { near: Some("dropedge"), .. }), "{refused}");
    assert!(refused.to_string().contains("did you mean \"dropedge\"?"), "{refused}");
    let far = LearnerConfig::named("xyz").unwrap_err();
    assert!(matches!(far, Error::Unknown { near: None, .. }), "{far}");
}

/// A learner that drives the network by itself, layer by layer, as PTDNet does.
#[test]
fn a_learner_may_give_every_layer_a_graph_of_its_own() {
    struct Halves;
    impl GraphLearner for Halves {
        fn learn(&self, input: &GraphInput, _pass: Pass) -> adjoin::Result<LearnedGraph> {
            Ok(LearnedGraph::plain(input.graph.ok_or(Error::NoInputGraph("halves"))?.clone()))
        }

        fn drive(
            &self,
            input: &GraphInput,
            network: &dyn Network,
            pass: Pass,
            _draws: usize,
        ) -> adjoin::Result<Outcome> {
            let given = self.learn(input, pass.child(0))?;
            let mut state = network.begin(input.features, &pass)?;
            for at in 0..network.depth() {
                let width = state.features()?.width();
                assert_eq!(width, network.widths()[at]);
                let graph = given.adjacency.filter(|i, j| (i + j) as usize % 2 == at % 2)?;
                state = network.layer(at, state, &graph, &pass)?;
            }
            let logits = network.finish(state, &pass)?;
            let term = logits.clone().square().sum_dim(1).sum() * 0.1;
            let draws = vec![Draw { graph: given, logits, share: 1.0, log_weight: None }];
            Ok(Outcome { draws, reading: Reading::Last, terms: vec![("size", term)] })
        }
    }
    for backbone in BACKBONES {
        let (world, network) = (World::new(), network(backbone.name));
        let outcome = Halves.drive(&world.input(), &network, Pass::train(1, 1), 1).unwrap();
        assert_eq!(outcome.prediction().unwrap().dims(), [NODES, CLASSES]);
        assert!(values(&outcome.terms[0].1)[0] > 0.0);
    }
}

/// The name promises the paper: nothing of it may be missing and unsaid.
#[test]
fn the_paper_preset_has_messages_or_says_that_it_has_none() {
    let entry = LEARNERS.iter().find(|entry| entry.name == "dgg-paper").unwrap();
    let LearnerConfig::Dgg(config) = (entry.config)() else { panic!("the generator") };
    assert_eq!(entry.about.contains("but for message passing"), !config.scorer.messages);
}
