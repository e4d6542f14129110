//! What DAG-Net promises: gradients reach the learners, the future stays unseen, training helps.

mod common;

use adjoin::{Batch, Key, Pass, nets::dagnet::Blend};
use adjoin_data::trajectory::{CrowdConfig, Scene, TrajectoryDataset, crowd};
use adjoin_lab::{
    settings::Layers,
    task::Task,
    tasks::{
        Trajectory,
        trajectory::{
            Forecaster, NetworkConfig, SceneBatch, TrajectoryConfig,
            dagnet::{DagConfig, DagModel, Fitted, HandOn, Tracks},
        },
    },
};
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Device, Gradients, Tensor},
};
use common::{LENGTHS, named, run, with_another_future};
use std::sync::Arc;

/// A small network with a learner, and changes to it.
fn small(learner: &str, change: impl FnOnce(&mut DagConfig)) -> Layers<TrajectoryConfig> {
    let settings = ["train.batch=8", "train.rate=3e-3", "train.learner_rate=3e-3"];
    let layers = named::<Trajectory>("dagnet", learner, &settings);
    let mut config = layers.config.clone();
    let network = dagnet(&mut config);
    network.net.width = 16;
    network.net.latent = 4;
    network.hand_on = HandOn::Always;
    network.goals.cells = [6, 5];
    change(network);
    layers.changed("small", config)
}

fn dagnet(config: &mut TrajectoryConfig) -> &mut DagConfig {
    match &mut config.network {
        NetworkConfig::Dagnet(network) => network,
        other => panic!("{other:?}"),
    }
}

fn scenes() -> Arc<TrajectoryDataset> {
    let mut dataset = crowd(&CrowdConfig::default()).unwrap();
    dataset.train.truncate(40);
    dataset.valid.truncate(10);
    Arc::new(dataset)
}

fn try_model(
    mut config: TrajectoryConfig,
    dataset: &TrajectoryDataset,
    device: &Device,
) -> adjoin_lab::Result<DagModel> {
    let network = dagnet(&mut config).clone();
    DagModel::new(&config, &network, &Fitted::to(&network, dataset)?, 3, device)
}

fn model(
    layers: &Layers<TrajectoryConfig>,
    dataset: &TrajectoryDataset,
    device: &Device,
) -> DagModel {
    try_model(layers.config.clone(), dataset, device).unwrap()
}

fn learners() -> Vec<String> {
    Trajectory::learners().into_iter().map(|learner| learner.name).collect()
}

fn batch(scenes: &[Scene]) -> SceneBatch {
    SceneBatch::new(&scenes.iter().collect::<Vec<_>>(), LENGTHS, &Device::flex()).unwrap()
}

struct Sizes<'a> {
    grads: &'a Gradients,
    sizes: Vec<f64>,
}

impl ModuleVisitor for Sizes<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let grad = param.val().grad(self.grads);
        let size = |grad: Tensor<D>| grad.abs().sum().into_scalar::<f64>();
        self.sizes.push(grad.map_or(0.0, size));
    }
}

#[test]
fn every_weight_of_network_and_learner_gets_a_gradient() {
    let dataset = scenes();
    let device = Device::flex().autodiff();
    let scenes = batch(&dataset.train[..6]);
    for learner in learners() {
        for blend in [Blend::Dense, Blend::Residual] {
            let layers = small(&learner, |network| network.net.blend = blend);
            let model = model(&layers, &dataset, &device);
            let grads = model.loss(&scenes, Pass::train(1, 1)).unwrap().backward();
            let sizes = |module: &dyn Fn(&mut Sizes)| {
                let mut sizes = Sizes { grads: &grads, sizes: Vec::new() };
                module(&mut sizes);
                sizes.sizes
            };
            let network = sizes(&|sizes| model.network.visit(sizes));
            let reached = network.iter().filter(|&&size| size > 0.0).count();
            match learner.as_str() {
                // Alone, nobody is attended to, so attention has nothing to weigh.
                "isolated" => assert!(reached < network.len(), "{blend:?} {network:?}"),
                _ => assert_eq!(reached, network.len(), "{learner} {blend:?} {network:?}"),
            }
            let own = sizes(&|sizes| model.learner.visit(sizes));
            match learner.as_str() {
                "dgg" | "dgm" => assert!(own.iter().all(|&s| s > 0.0), "{learner} {own:?}"),
                _ => assert!(own.is_empty()),
            }
            let encoder = sizes(&|sizes| model.encoder.visit(sizes));
            assert_eq!(encoder.is_empty(), learner == "dgg");
            assert!(encoder.iter().all(|&size| size > 0.0), "{learner} {encoder:?}");
        }
    }
}

#[test]
fn a_mask_passes_nothing_to_the_generator() {
    let dataset = scenes();
    let layers = small("dgg", |network| network.net.faithful = true);
    let model = model(&layers, &dataset, &Device::flex().autodiff());
    let loss = model.loss(&batch(&dataset.train[..4]), Pass::train(1, 1)).unwrap();
    let grads = loss.backward();
    let mut sizes = Sizes { grads: &grads, sizes: Vec::new() };
    model.learner.visit(&mut sizes);
    assert!(sizes.sizes.iter().all(|&size| size == 0.0), "{:?}", sizes.sizes);
}

#[test]
fn forecasts_do_not_see_the_future() {
    let dataset = scenes();
    let changed: Vec<Scene> = dataset.test[..3].iter().cloned().map(with_another_future).collect();
    for learner in learners() {
        for faithful in [false, true] {
            let layers = small(&learner, |network| network.net.faithful = faithful);
            let model = model(&layers, &dataset, &Device::flex());
            let [a, b] = [&dataset.test[..3], &changed]
                .map(|scenes| model.forecast(&batch(scenes), 3, Key::new(2)).unwrap());
            assert_eq!(a, b, "{learner}");
            assert_eq!((a.len(), a[0].samples(), a[0].steps()), (3, 3, 12));
            assert_ne!(a[0].path(0, 0), a[0].path(1, 0), "samples differ");
            assert!((0..3).all(|s| a[0].path(s, 0).iter().flatten().all(|v| v.is_finite())));
        }
    }
}

#[test]
fn a_batch_of_scenes_is_its_scenes() {
    let dataset = scenes();
    for learner in learners() {
        let model = model(&small(&learner, |_| ()), &dataset, &Device::flex());
        let likelihood = |scenes: &[Scene]| {
            let tracks = Tracks::whole(&batch(scenes));
            let (losses, _) = model.losses(&tracks, Pass::evaluate()).unwrap();
            let terms = [losses.likelihood, losses.divergence, losses.goals];
            terms.map(|term| term.into_scalar::<f64>() * tracks.agents() as f64)
        };
        let whole = likelihood(&dataset.train[..5]);
        for (term, whole) in whole.into_iter().enumerate() {
            let parts: f64 = dataset.train[..5]
                .iter()
                .map(|scene| likelihood(std::slice::from_ref(scene))[term])
                .sum();
            assert!(
                (whole - parts).abs() < 1e-4 * whole.abs().max(1.0),
                "{learner} {whole} {parts}"
            );
        }
    }
}

#[test]
fn tracks_are_the_places_of_the_scenes() {
    let dataset = scenes();
    let batch = batch(&dataset.train[..3]);
    let (tracks, seen) = (Tracks::whole(&batch), Tracks::observed(&batch));
    assert_eq!((tracks.moments(), seen.moments()), (20, 8));
    assert_eq!(tracks.scenes, Batch::of_sizes(dataset.train[..3].iter().map(|s| s.agents.len())));
    let mut agent = 0;
    for scene in &dataset.train[..3] {
        for own in 0..scene.agents.len() {
            for (moment, place) in scene.path(own).iter().enumerate() {
                let found = tracks.at(moment)[agent];
                assert!((0..2).all(|axis| (found[axis] - place[axis]).abs() < 1e-4));
                if moment < 8 {
                    assert_eq!(found, seen.at(moment)[agent]);
                }
            }
            agent += 1;
        }
    }
}

#[test]
fn training_helps_and_threads_do_not_matter() {
    let dataset = scenes();
    for learner in ["kernel", "dgm", "dgg"] {
        let layers = small(learner, |_| ()).set("train.epochs=3").unwrap();
        let [one, two] = [1, 2].map(|threads| {
            run::<Trajectory>(&dataset, &layers, &[3], threads).record.seeds[0].curve.clone()
        });
        assert_eq!(one, two, "{learner}");
        let falls = |first: f64, last: f64| last < first - 3.0;
        assert!(falls(one[0].loss, one[2].loss), "{learner} {one:?}");
        assert!(falls(one[0].valid.loss, one[2].valid.loss), "{learner} {one:?}");
    }
}

#[test]
fn settings_out_of_range_are_errors() {
    let dataset = scenes();
    let refused = |change: fn(&mut DagConfig)| {
        let config = small("kernel", change).config;
        try_model(config, &dataset, &Device::flex()).unwrap_err().to_string()
    };
    assert!(refused(|network| network.net.width = 0).contains("width"));
    assert!(refused(|network| network.goals.cells = [0, 3]).contains("cells"));
    assert!(refused(|network| network.sigma = 0.0).contains("above 0"));
    assert!(refused(|network| network.jitter = f64::NAN).contains("jitter"));
}

/// The network is to find its way back from steps that are a little off; what it is to predict stays exact.
#[test]
fn noise_on_steps_is_seen_in_training_and_never_to_be_predicted() {
    let dataset = scenes();
    let layers = small("kernel", |network| network.jitter = 0.5);
    let model = model(&layers, &dataset, &Device::flex());
    let tracks = Tracks::whole(&batch(&dataset.train[..4]));
    let of = |pass| model.moments(&tracks, pass).unwrap().0;
    let deviation = |pass| {
        let moments = of(pass);
        let noise = (moments.seen - moments.steps).square().mean();
        noise.into_scalar::<f64>().sqrt()
    };
    assert_eq!(deviation(Pass::evaluate()), 0.0);
    let found = deviation(Pass::train(1, 1));
    assert!((found - 0.5).abs() < 0.05, "{found}");
    let steps = [Pass::evaluate(), Pass::train(1, 1)].map(|pass| of(pass).steps.into_data());
    assert_eq!(steps[0], steps[1]);
}

/// Features that are handed on must not tell the network what the noise hides from it.
#[test]
fn features_that_are_handed_on_have_the_same_noise() {
    let dataset = scenes();
    let tracks = Tracks::whole(&batch(&dataset.train[..4]));
    for learner in ["dgg", "kernel"] {
        let encoded = |jitter: f64, pass| {
            let layers = small(learner, |network| network.jitter = jitter);
            let model = model(&layers, &dataset, &Device::flex());
            model.moments(&tracks, pass).unwrap().0.encoded.unwrap().into_data()
        };
        let (evaluated, trained) = (Pass::evaluate, || Pass::train(1, 1));
        assert_eq!(encoded(0.0, trained()), encoded(0.0, evaluated()));
        assert_eq!(encoded(0.5, evaluated()), encoded(0.0, evaluated()));
        assert_ne!(encoded(0.5, trained()), encoded(0.5, evaluated()));
    }
}

#[test]
fn features_are_handed_on_with_the_graphs_that_are_asked_for() {
    let dataset = scenes();
    let tracks = Tracks::whole(&batch(&dataset.train[..2]));
    let comes = |learner, hand_on, faithful| {
        let layers = small(learner, |network| {
            (network.hand_on, network.net.faithful) = (hand_on, faithful);
        });
        let model = model(&layers, &dataset, &Device::flex());
        let moments = model.moments(&tracks, Pass::evaluate()).unwrap().0;
        (moments.encoded.is_some(), model.encoder.is_some())
    };
    use HandOn::{Always, Generated, Never};
    for (learner, hand_on, expected) in [
        ("dgg", Never, (false, false)),
        ("dgg", Generated, (true, false)),
        ("dgg", Always, (true, false)),
        ("kernel", Never, (false, false)),
        ("kernel", Generated, (false, false)),
        ("kernel", Always, (true, true)),
        ("dgm", Generated, (false, false)),
        ("dgm", Always, (true, true)),
    ] {
        assert_eq!(comes(learner, hand_on, false), expected, "{learner} {hand_on:?}");
        assert_eq!(comes(learner, hand_on, true), (false, false), "{learner}, faithful");
    }
}

/// The paths of those who interact with nobody are no targets, and sizes and scores may see pairs here too.
#[test]
fn distractors_are_masked_and_pairs_can_be_seen() {
    let config = CrowdConfig { distractors: 3, ..CrowdConfig::default() };
    let mut dataset = crowd(&config).unwrap();
    dataset.train.truncate(6);
    let tracks = Tracks::whole(&batch(&dataset.train[..2]));
    let counted = tracks.counted.iter().filter(|counts| **counts).count();
    assert_eq!(counted, tracks.agents() - 6);
    let layers = small("dgg", |_| ());
    let layers = ["learner.dgg.extras.weights=[-3.0]", "learner.dgg.degree.rule=expected"]
        .into_iter()
        .fold(layers, |layers, setting| layers.set(setting).unwrap());
    let device = Device::flex().autodiff();
    let model = model(&layers, &dataset, &device);
    let (losses, _) = model.losses(&tracks, Pass::train(1, 1)).unwrap();
    let loss = losses.total(1.0, 1.0);
    assert!(loss.clone().into_scalar::<f64>().is_finite());
    let grads = loss.backward();
    let everybody = Tracks { counted: vec![true; tracks.agents()], ..tracks.clone() };
    let all = model.losses(&everybody, Pass::train(1, 1)).unwrap().0.likelihood;
    assert_ne!(all.into_scalar::<f64>(), losses.likelihood.into_scalar::<f64>());
    let adjoin::learner::AnyLearner::Dgg(dgg) = &model.learner else { panic!("dgg") };
    let weight = dgg.extras.as_ref().unwrap().linear.weight.val();
    let grad: Vec<f64> =
        weight.grad(&grads).unwrap().into_data().convert::<f64>().iter::<f64>().collect();
    assert!(grad.iter().any(|g| g.abs() > 1e-9), "{grad:?}");
    let forecasts = model.valid().forecast(&batch(&dataset.train[..1]), 2, Key::new(1)).unwrap();
    assert!(forecasts[0].path(0, 0).iter().flatten().all(|value| value.is_finite()));
}
