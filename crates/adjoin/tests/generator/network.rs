//! Learners and convolutions together: gradients arrive, and threads do not change a bit.

use crate::{World, common::*, small};
use adjoin::{
    Adjacency, CandidateRule, Dgg, DggConfig, Features, GraphInput, GraphLearner, Key,
    LearnedGraph, Pass,
    conv::{Backbone, BackboneConfig, BackboneKind, Conv, EdgeConvConfig},
    dgg::{Score, ScorerConfig, SelectorConfig},
    learner::{DropEdgeConfig, KnnConfig, PageRankConfig, Unchanged},
};
use burn::tensor::Tensor;

const KINDS: [BackboneKind; 4] =
    [BackboneKind::Gcn, BackboneKind::Sage, BackboneKind::Gat, BackboneKind::Gcnii];

fn backbone(kind: BackboneKind) -> Backbone {
    let config = BackboneConfig { layers: 2, hidden: 8, ..BackboneConfig::of_kind(kind) };
    config.with_widths(crate::INPUTS, 4).init(Key::new(5), &device()).unwrap()
}

fn single_precision(world: &World) -> (Features, Adjacency) {
    let x = tensor32(&world.x, [world.nodes(), crate::INPUTS]);
    let weights = tensor32(&world.weights, [world.weights.len()]);
    (x.into(), Adjacency::new(world.graph.clone(), weights).unwrap())
}

/// Gradients of both modules after one step, and the output.
fn step(
    world: &World,
    learner: &dyn GraphLearner,
    conv: &dyn Conv,
    pass: &Pass,
) -> (Tensor<2>, LearnedGraph, Tensor<1>) {
    let (features, graph) = single_precision(world);
    let input = GraphInput::new(&features, Some(&graph), &world.batch);
    let learned = learner.learn(&input, pass.child(1)).unwrap();
    let out = conv.forward(&features, &learned.adjacency, pass.child(2)).unwrap();
    let loss = out.clone().square().sum_dim(1).sum();
    (out, learned, loss)
}

#[test]
fn any_convolution_with_any_learner() {
    let world = World::new(1, &[30, 1, 12]);
    let learners: [(&str, Box<dyn GraphLearner>); 4] = [
        ("none", Box::new(Unchanged::default())),
        (
            "knn",
            Box::new(
                KnnConfig { k: 4, ..KnnConfig::default() }.init(Key::new(1), &device()).unwrap(),
            ),
        ),
        (
            "pagerank",
            Box::new(
                PageRankConfig { k: 4, ..PageRankConfig::default() }
                    .init(Key::new(1), &device())
                    .unwrap(),
            ),
        ),
        ("dropedge", Box::new(DropEdgeConfig::default().init(Key::new(1), &device()).unwrap())),
    ];
    let edge_conv = EdgeConvConfig::new(crate::INPUTS, 4).init(Key::new(2), &device()).unwrap();
    for pass in [Pass::train(1, 1), Pass::evaluate()] {
        for (name, learner) in &learners {
            for kind in KINDS {
                let network = backbone(kind);
                let (out, _, loss) = step(&world, learner.as_ref(), &network, &pass);
                assert_eq!(out.dims(), [43, 4]);
                assert!(values(&out).iter().all(|v| v.is_finite()), "{name} {kind:?}");
                let grads = crate::model::gradients(&network, &loss.backward());
                assert!(grads.concat().iter().all(|g| g.is_finite()), "{name} {kind:?}");
                assert!(grads.concat().iter().any(|g| *g != 0.0), "{name} {kind:?}");
            }
            let (out, _, loss) = step(&world, learner.as_ref(), &edge_conv, &pass);
            assert!(values(&out).iter().all(|v| v.is_finite()));
            let grads = crate::model::gradients(&edge_conv, &loss.backward());
            assert!(grads.concat().iter().all(|g| g.is_finite()));
        }
        let presets = [
            small(CandidateRule::InputEdges),
            small(CandidateRule::Complete),
            DggConfig::paper(),
            DggConfig::reference(),
        ];
        for config in presets {
            for kind in KINDS {
                let dgg =
                    config.clone().with_inputs(crate::INPUTS).init(Key::new(8), &device()).unwrap();
                let network = backbone(kind);
                let (out, learned, loss) = step(&world, &dgg, &network, &pass);
                assert!(values(&out).iter().all(|v| v.is_finite()));
                assert!(learned.degrees.is_some() && learned.latent.is_some());
                let grads = loss.backward();
                let all = crate::model::gradients(&network, &grads).concat();
                assert!(all.iter().all(|g| g.is_finite()));
                let own = crate::model::gradients(&dgg, &grads).concat();
                assert!(own.iter().all(|g| g.is_finite()), "{kind:?} {config:?}");
                let reached = own.iter().filter(|g| **g != 0.0).count();
                assert!(2 * reached > own.len(), "{kind:?}: {reached} of {}", own.len());
            }
            let dgg =
                config.clone().with_inputs(crate::INPUTS).init(Key::new(8), &device()).unwrap();
            let (out, ..) = step(&world, &dgg, &edge_conv, &pass);
            assert!(values(&out).iter().all(|v| v.is_finite()));
        }
    }
}

/// Output, graph and all gradients of one training step.
fn everything(world: &World, dgg: &Dgg, network: &Backbone) -> Vec<f64> {
    let (out, learned, loss) = step(world, dgg, network, &Pass::train(3, 9));
    let mut all = values(&out);
    all.extend(values(learned.adjacency.weights()));
    all.extend(learned.adjacency.topology().indices().iter().map(|&j| f64::from(j)));
    all.extend(values(learned.degrees.as_ref().unwrap()));
    let grads = loss.backward();
    all.extend(crate::model::gradients(dgg, &grads).concat());
    all.extend(crate::model::gradients(network, &grads).concat());
    assert!(all.iter().all(|v| v.is_finite()));
    all
}

#[test]
fn threads_do_not_change_a_bit() {
    let sparse = World::new(2, &[1500, 1100]);
    let complete = World::new(3, &[400, 150]);
    let scorer = |kind| ScorerConfig { kind, ..ScorerConfig::default() };
    let mlp = ScorerConfig { messages: true, edge_features: true, ..scorer(Score::Mlp) };
    for kind in KINDS {
        let network = backbone(kind);
        let run = |world: &World, config: &DggConfig| {
            let dgg =
                config.clone().with_inputs(crate::INPUTS).init(Key::new(8), &device()).unwrap();
            same_bits_on_any_threads(|| everything(world, &dgg, &network));
        };
        run(&sparse, &DggConfig { symmetric: true, ..DggConfig::default() });
        run(&sparse, &DggConfig { scorer: mlp.clone(), ..DggConfig::default() });
        run(&complete, &DggConfig::paper());
        let default = DggConfig { candidates: CandidateRule::Complete, ..DggConfig::default() };
        run(&complete, &DggConfig { scorer: scorer(Score::Cosine), ..default });
    }
}

#[test]
fn batches_of_convolutions_equal_their_parts() {
    let world = World::new(4, &[14, 1, 9]);
    for kind in KINDS {
        let network = crate::model::widened(backbone(kind));
        let run = |world: &World| {
            let x = world.features().into();
            values(&network.forward(&x, &world.adjacency(), Pass::evaluate()).unwrap())
        };
        let parts: Vec<f64> = (0..3).flat_map(|graph| run(&world.part(graph))).collect();
        assert_close(&run(&world), &parts, 1e-9);
    }
}

/// What a hard selector left out must be able to come back, whichever convolution looks at the graph.
#[test]
fn edges_that_are_off_get_gradients() {
    let world = World::new(6, &[60]);
    let selector = SelectorConfig { hard: true, ..SelectorConfig::default() };
    let config = DggConfig { selector, ..small(CandidateRule::InputEdges) };
    let config = config.with_fixed_degree(1.5);
    let learned = world.learn(&crate::generator(&config), Pass::train(1, 2)).adjacency;
    let weights = values(learned.weights());
    let off = weights.iter().filter(|w| **w == 0.0).count();
    assert!(off > 50, "{off}");
    for kind in KINDS {
        // In single precision, as people train.
        let (network, (features, _)) = (backbone(kind), single_precision(&world));
        let leaf = tensor32(&weights, [weights.len()]).require_grad();
        let graph = Adjacency::new(learned.topology().clone(), leaf.clone()).unwrap();
        let out = network.forward(&features, &graph, Pass::evaluate()).unwrap();
        let grads = out.square().sum().backward();
        let grad = values(&leaf.grad(&grads).unwrap());
        let reached = grad.iter().zip(&weights).filter(|(g, w)| **w == 0.0 && **g != 0.0).count();
        assert_eq!(reached, off, "{kind:?}");
    }
}
