//! Training of models of nodes: averaged weights, teachers, decay.

use super::world::World;
use adjoin::conv::{BACKBONES, Backbone};
use adjoin_data::GeneratorConfig;
use adjoin_lab::{
    settings::Layers,
    task::Task,
    tasks::{
        Node,
        node::{NodeConfig, NodeModel},
    },
};
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Device, Tensor},
};

/// Sums of squares of all matrices of a network, in the order it holds them.
#[derive(Default)]
struct Norms(Vec<f64>);

impl ModuleVisitor for Norms {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if D == 2 {
            self.0.push(param.val().square().sum().into_scalar::<f64>());
        }
    }
}

fn weights(network: &Backbone) -> Vec<f64> {
    let mut norms = Norms::default();
    network.visit(&mut norms);
    norms.0
}

fn world(nodes: usize) -> World {
    World::new(&GeneratorConfig { nodes, ..Default::default() })
}

fn named(backbone: &str, learner: &str, settings: &[&str]) -> NodeConfig {
    let set = |layers: Layers<NodeConfig>, setting: &&str| layers.set(setting).unwrap();
    settings.iter().fold(Node::named(backbone, learner).unwrap(), set).config
}

#[test]
fn averaged_weights_are_evaluated_and_not_trained() {
    let world = world(60);
    let [plain, mean] = ["train.ema=0", "train.ema=0.9"].map(|setting| {
        let config = named("gcn", "none", &[setting]);
        let mut trainer = world.trainer(&config, 1);
        let losses = [0; 3].map(|_| trainer.epoch_step().unwrap().loss);
        let [trained, evaluated] = [trainer.model(), &trainer.evaluated().unwrap()]
            .map(|model: &NodeModel| weights(&model.backbone));
        (losses, trained, evaluated)
    });
    assert_eq!((&plain.0, &plain.1, &plain.1), (&mean.0, &mean.1, &plain.2));
    assert_ne!(mean.1, mean.2);
}

#[test]
fn training_resumes_from_the_teacher_if_that_is_enabled() {
    let world = world(60);
    for (learner, resume) in
        [("none", true), ("none", false), ("dgg-teacher", true), ("dgg-teacher", false)]
    {
        let mut config = named("gcn", learner, &["teacher.rate=0"]);
        config.teacher.resume = resume;
        let device = Device::flex().autodiff();
        let teacher = NodeModel::new(&config, &world.context, 9, &device).unwrap();
        let mut trainer = world.trainer(&config, 1);
        trainer.take_teacher(&teacher, &|_, _| ()).unwrap();
        let before = weights(&trainer.model().backbone);
        assert_eq!(before == weights(&teacher.backbone), resume, "{learner}");
        let prepared = trainer.model().prepared.as_ref().unwrap();
        assert_eq!(prepared.probabilities.is_some(), learner == "dgg-teacher");
        // Its rate then is another one: here 0, with which it stays where it is.
        trainer.epoch_step().unwrap();
        assert_eq!(before == weights(&trainer.model().backbone), resume, "{learner}");
    }
}

#[test]
fn the_learner_sees_probabilities_as_confident_as_asked_for() {
    let world = world(60);
    for confidence in [0.0, 0.9] {
        let mut config = named("gcn", "dgg-teacher", &[]);
        config.teacher.confidence = confidence;
        let trainer = world.trainer(&config, 1);
        let prepared = trainer.model().prepared.as_ref().unwrap();
        let probabilities = prepared.probabilities.clone().unwrap();
        let largest = probabilities.max_dim(1).mean().into_scalar::<f64>();
        assert_eq!((largest - 0.9).abs() < 1e-3, confidence > 0.0, "{largest}");
    }
}

/// Decay that silently reaches no layer would only show as a worse result.
#[test]
fn decay_reaches_the_layers_it_is_for_and_no_others() {
    let world = world(300);
    for backbone in BACKBONES.iter().map(|entry| entry.name) {
        let [first, rest] = [["1.0", "0.0"], ["0.0", "1.0"]].map(|[first, rest]| {
            let decays = [format!("train.first_decay={first}"), format!("train.decay={rest}")];
            let more = ["backbone.layers=2", "backbone.dropout=0"];
            let config = named(backbone, "none", &[&decays[0], &decays[1], more[0], more[1]]);
            let mut trainer = world.trainer(&config, 1);
            (0..30).for_each(|_| drop(trainer.epoch_step().unwrap()));
            weights(&trainer.model().backbone)
        });
        // GCNII decays the maps in and out as "first", the convolutions between as the rest.
        let is_first = |at: usize| match backbone {
            "gcnii" => at == 0 || at + 1 == first.len(),
            _ => at == 0,
        };
        for at in [0, first.len() - 1].into_iter().chain((backbone == "gcnii").then_some(1)) {
            let (decayed, kept) = if is_first(at) { (&first, &rest) } else { (&rest, &first) };
            assert!(decayed[at] < 0.5 * kept[at], "{backbone} {at}: {decayed:?} {kept:?}");
        }
    }
}
