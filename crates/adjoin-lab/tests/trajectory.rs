//! Trajectory prediction as a whole, and its parts against plain arithmetic.

mod common;

use adjoin::{
    Adjacency, Csr, Key, Pass,
    nets::{Propagation, propagate},
};
use adjoin_data::trajectory::{Scene, TrajectoryDataset};
use adjoin_lab::{
    Error,
    run::{Observer, SeedRecord, Unobserved},
    settings::Layers,
    task::Task,
    tasks::{
        Trajectory,
        trajectory::{
            Baseline, Forecaster, NetworkConfig, SceneBatch, SocialModel, TrajectoryConfig,
            kernel_graph, negative_log_likelihood, position_negative_log_likelihood,
        },
    },
    train::EpochRecord,
};
use burn::tensor::{DType, Device, Tensor, TensorData};
use common::{LENGTHS, Stopping, circles, named, run, run_in, scene, with_another_future};
use std::sync::Arc;

fn dataset() -> Arc<TrajectoryDataset> {
    circles([120, 30, 30])
}

/// Social-STGCNN with a learner.
fn social(config: &TrajectoryConfig, lengths: [usize; 2]) -> adjoin_lab::Result<SocialModel> {
    let NetworkConfig::SocialStgcnn(network) = &config.network else { panic!("{config:?}") };
    SocialModel::new(config, network, lengths, 3, &Device::flex())
}

fn model(learner: &str, settings: &[&str]) -> SocialModel {
    social(&named::<Trajectory>("social-stgcnn", learner, settings).config, LENGTHS).unwrap()
}

fn train(learner: &str, epochs: usize, threads: usize) -> Vec<SeedRecord<Trajectory>> {
    let settings = [&format!("train.epochs={epochs}"), "train.batch=16"];
    let layers = named::<Trajectory>("social-stgcnn", learner, &settings);
    run(&dataset(), &layers, &[1, 2], threads).record.seeds
}

#[test]
fn every_learner_learns_circles() {
    let dataset = dataset();
    let straight = Baseline::ConstantVelocity.scores(&dataset.test, LENGTHS, 1, Key::new(1));
    for learner in Trajectory::learners() {
        let learner = learner.name.as_str();
        for seed in train(learner, 30, 2) {
            let (first, last) = (seed.curve[0].loss, seed.curve[29].loss);
            assert!(last < first - 1.0, "{learner}: {first} to {last}");
            let (ours, theirs) = (seed.test.scores.per_agent.fde, straight.likely.fde);
            assert!(ours < theirs, "{learner}: {ours}, in a straight line {theirs}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let [one, many] = [1, 4].map(|threads| train("dgg", 2, threads));
    for (one, many) in one.iter().zip(&many) {
        assert_eq!((&one.curve, one.test), (&many.curve, many.test));
    }
}

#[test]
fn a_batch_is_its_scenes() {
    let model = model("kernel", &[]);
    let scenes = [scene(1, 3), scene(2, 1), scene(3, 4)];
    let forward = |scenes: &[&Scene]| {
        let batch = SceneBatch::new(scenes, LENGTHS, &Device::flex()).unwrap();
        let out = model.forward(&batch, Pass::evaluate()).unwrap();
        out.into_data().iter::<f32>().collect::<Vec<f32>>()
    };
    let together = forward(&scenes.iter().collect::<Vec<_>>());
    let apart: Vec<f32> = scenes.iter().flat_map(|scene| forward(&[scene])).collect();
    assert_eq!(together.len(), apart.len());
    for (a, b) in together.iter().zip(&apart) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
}

#[test]
fn forecasts_do_not_look_at_the_future() {
    for learner in Trajectory::learners() {
        let model = model(&learner.name, &[]);
        let forecast = |scene: &Scene| {
            let batch = SceneBatch::new(&[scene], LENGTHS, &Device::flex()).unwrap();
            model.forecast(&batch, 5, Key::new(1)).unwrap()
        };
        let seen = scene(1, 4);
        assert_eq!(forecast(&seen), forecast(&with_another_future(seen.clone())));
    }
}

#[test]
fn a_loss_that_is_not_a_number_stops_training() {
    let layers = named::<Trajectory>("social-stgcnn", "kernel", &["train.rate=1e30"]);
    let stopped = run_in::<Trajectory>(&dataset(), &layers, &[5], 1, &Unobserved, None);
    let error = stopped.err().expect("an error").to_string();
    assert!(error.contains("loss became") && error.contains("seed 5"), "{error}");
}

#[test]
fn nothing_to_train_with_is_an_error() {
    let layers = named::<Trajectory>("social-stgcnn", "kernel", &[]);
    for (sizes, word) in [
        ([0, 5, 5], "scenes to train"),
        ([5, 0, 5], "no validation data"),
        ([5, 5, 0], "no test data"),
    ] {
        let refused = run_in::<Trajectory>(&circles(sizes), &layers, &[5], 1, &Unobserved, None);
        let error = refused.err().expect("an error").to_string();
        assert!(error.contains(word), "{error}");
    }
    let error = social(&TrajectoryConfig::default(), [8, 0]).expect_err("an error");
    assert!(error.to_string().contains("predicted step"));
}

fn doubles<const D: usize>(values: &[f64], shape: [usize; D]) -> Tensor<D> {
    let data = TensorData::new(values.to_vec(), shape);
    Tensor::from_data(data, (&Device::flex().autodiff(), DType::F64))
}

/// Positions are rounded when they are stored: two people who walk in step differ by less than any recording
/// tells, which must not make them the nearest of all.
#[test]
fn those_who_walk_in_step_have_no_edge() {
    let walk = |[x, y]: [f64; 2], speed: f64| {
        (0..20).map(move |t| [(x + speed * f64::from(t)) as f32, (y + 0.13 * f64::from(t)) as f32])
    };
    let starts = [([10.31, 5.97], 0.37), ([3.7, -8.2], 0.37), ([3.7, 1.1], 0.3701)];
    let positions = starts.into_iter().flat_map(|(start, speed)| walk(start, speed)).collect();
    let scene = Scene {
        name: "street".into(),
        agents: vec![1, 2, 3],
        steps: 20,
        positions,
        distractors: vec![],
    };
    let batch = SceneBatch::new(&[&scene], LENGTHS, &Device::flex()).unwrap();
    let graph = kernel_graph(&batch).unwrap();
    // From the second frame on, when there is a step: only the third differs, by a tenth of a millimetre.
    assert!((0..3).all(|node| graph.topology().degree(node) == 0));
    for first in (3..24).step_by(3) {
        let degrees = [0, 1, 2].map(|agent| graph.topology().degree(first + agent));
        assert_eq!(degrees, [1, 1, 2], "frame {}", first / 3);
    }
}

#[test]
fn propagation_is_the_dense_formula() {
    let batch = SceneBatch::new(&[&scene(1, 4)], LENGTHS, &Device::flex()).unwrap();
    let graph = kernel_graph(&batch).unwrap();
    let numbers = |x: Tensor<2>| x.to_data().convert::<f64>().iter::<f64>().collect::<Vec<f64>>();
    let nodes = batch.nodes();
    let (dense, x) = (numbers(graph.to_dense().unwrap()), numbers(batch.steps.clone()));
    let looped = |i: usize, j: usize| dense[i * nodes + j] + f64::from(u8::from(i == j));
    let degree = |i: usize| (0..nodes).map(|j| looped(i, j)).sum::<f64>();
    for rule in [Propagation::Laplacian, Propagation::Symmetric, Propagation::Row] {
        let found = numbers(propagate(&graph, &batch.steps, rule).unwrap());
        for i in 0..nodes {
            for c in 0..3 {
                let spread = |scale: &dyn Fn(usize) -> f64| -> f64 {
                    (0..nodes).map(|j| scale(j) * looped(i, j) * x[3 * j + c]).sum()
                };
                let symmetric = spread(&|j| 1.0 / degree(j).sqrt()) / degree(i).sqrt();
                let expected = match rule {
                    Propagation::Laplacian => x[3 * i + c] - symmetric,
                    Propagation::Symmetric => symmetric,
                    Propagation::Row => spread(&|_| 1.0) / degree(i),
                };
                let found = found[3 * i + c];
                assert!((found - expected).abs() < 1e-5, "{rule:?} {found} {expected}");
            }
        }
    }
}

#[test]
fn propagation_respects_loops_that_are_there() {
    let graph = Csr::from_edges(2, 2, [(0, 0), (0, 1)], adjoin::SelfLoops::Keep).unwrap();
    let graph = Adjacency::new(graph, doubles(&[3.0, 1.0], [2])).unwrap();
    let y = propagate(&graph, &doubles(&[1.0, 5.0], [2, 1]), Propagation::Row).unwrap();
    let y: Vec<f64> = y.to_data().iter::<f64>().collect();
    assert_eq!(y, [2.0, 5.0]);
}

/// Parameters of two agents and three steps, and what happened.
fn likelihood_case() -> (Vec<f64>, Vec<f64>) {
    let key = Key::new(11);
    let draw = |n: u64| 2.0 * key.uniform(n) - 1.0;
    ((0..30).map(draw).collect(), (100..112).map(draw).collect())
}

/// The density of a two-dimensional normal distribution, from its textbook form.
fn textbook(d: [f64; 2], vx: f64, vy: f64, cross: f64) -> f64 {
    let determinant = vx * vy - cross * cross;
    let quadratic = (d[0] * d[0] * vy + d[1] * d[1] * vx - 2.0 * d[0] * d[1] * cross) / determinant;
    -((-0.5 * quadratic).exp() / (std::f64::consts::TAU * determinant.sqrt())).ln()
}

#[test]
fn likelihoods_are_those_of_the_textbook() {
    let (parameters, targets) = likelihood_case();
    let steps = negative_log_likelihood(&doubles(&parameters, [2, 15]), &doubles(&targets, [2, 6]));
    let places = position_negative_log_likelihood(
        &doubles(&parameters, [2, 15]),
        &doubles(&targets, [2, 6]),
    );
    let [steps, places] = [steps, places].map(|t| t.to_data().iter::<f64>().collect::<Vec<f64>>());
    for agent in 0..2 {
        let p = |part: usize, t: usize| parameters[agent * 15 + part * 3 + t];
        let (mut by_step, mut by_place) = (0.0, 0.0);
        let (mut d, mut v) = ([0.0; 2], [0.0; 3]);
        for t in 0..3 {
            let error = [0, 1].map(|axis| targets[agent * 6 + axis * 3 + t] - p(axis, t));
            let [sx, sy] = [p(2, t).exp(), p(3, t).exp()];
            let own = [sx * sx, sy * sy, p(4, t).tanh() * sx * sy];
            by_step += textbook(error, own[0], own[1], own[2]);
            d = [0, 1].map(|axis| d[axis] + error[axis]);
            v = [0, 1, 2].map(|n| v[n] + own[n]);
            by_place += textbook(d, v[0], v[1], v[2]);
        }
        assert!((steps[agent] - by_step).abs() < 1e-9, "{} {by_step}", steps[agent]);
        assert!((places[agent] - by_place).abs() < 1e-9, "{} {by_place}", places[agent]);
    }
}

#[test]
fn gradients_of_the_likelihoods_are_finite_differences() {
    let (parameters, targets) = likelihood_case();
    let targets = doubles(&targets, [2, 6]);
    for loss in [negative_log_likelihood, position_negative_log_likelihood] {
        let value = |parameters: &[f64]| {
            loss(&doubles(parameters, [2, 15]), &targets).sum().into_scalar::<f64>()
        };
        let leaf = doubles(&parameters, [2, 15]).require_grad();
        let grads = loss(&leaf, &targets).sum().backward();
        let found: Vec<f64> = leaf.grad(&grads).unwrap().to_data().iter::<f64>().collect();
        for (at, &found) in found.iter().enumerate() {
            let moved = |by: f64| {
                let mut moved = parameters.clone();
                moved[at] += by;
                value(&moved)
            };
            let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            let error = (found - expected).abs() / expected.abs().max(1.0);
            assert!(error < 1e-7, "[{at}] {found} {expected}");
        }
    }
}

#[test]
fn what_a_constant_graph_makes_of_scenes_can_be_kept() {
    let scenes = [scene(1, 4), scene(2, 1), scene(3, 6)];
    let scenes: Vec<&Scene> = scenes.iter().collect();
    for learner in Trajectory::learners() {
        let (learner, constant) = (&learner.name, !["dgg", "dgm"].contains(&&*learner.name));
        let model = model(learner, &[]);
        let mut batch = SceneBatch::new(&scenes, LENGTHS, &Device::flex()).unwrap();
        let forward = |batch: &SceneBatch| {
            let out = model.forward(batch, Pass::evaluate()).unwrap();
            out.into_data().iter::<f32>().collect::<Vec<f32>>()
        };
        let fresh = forward(&batch);
        batch.constants = model.constants(&batch).unwrap();
        assert_eq!(batch.constants.is_some(), constant, "{learner}");
        assert_eq!(forward(&batch), fresh, "{learner}");
    }
}

#[test]
fn relative_predictions_start_from_the_last_step() {
    let seen = scene(1, 3);
    let batch = SceneBatch::new(&[&seen], LENGTHS, &Device::flex()).unwrap();
    let [own, relative] = ["false", "true"].map(|relative| {
        let setting = format!("network.social_stgcnn.relative={relative}");
        let out =
            model("kernel", &[&setting]).forward(&batch, Pass::evaluate()).unwrap().into_data();
        out.iter::<f32>().collect::<Vec<f32>>()
    });
    let steps = LENGTHS[1];
    for agent in 0..3 {
        let path = seen.path(agent);
        for part in 0..5 {
            for time in 0..steps {
                let at = (agent * 5 + part) * steps + time;
                let step = match part {
                    axis @ 0..2 => path[LENGTHS[0] - 1][axis] - path[LENGTHS[0] - 2][axis],
                    _ => 0.0,
                };
                assert!((relative[at] - own[at] - step).abs() < 1e-5, "{agent} {part} {time}");
            }
        }
    }
}

/// Two epochs of one step each.
fn two_steps(settings: [&str; 2]) -> [EpochRecord<Trajectory>; 2] {
    let settings = [&["train.epochs=2", "train.batch=200"], &settings[..]].concat();
    let layers = named::<Trajectory>("social-stgcnn", "kernel", &settings);
    let mut seeds = run::<Trajectory>(&dataset(), &layers, &[1], 1).record.seeds;
    seeds.remove(0).curve.try_into().unwrap()
}

#[test]
fn a_long_warm_up_hardly_begins() {
    let [first, second] = two_steps(["train.warmup_steps=1000000000", "train.rate=0.01"]);
    assert!((first.loss - second.loss).abs() < 1e-5, "{first:?} {second:?}");
    let [first, second] = two_steps(["train.warmup_steps=0", "train.rate=0.01"]);
    assert!((first.loss - second.loss).abs() > 1e-2, "{first:?} {second:?}");
}

#[test]
fn averaged_weights_are_evaluated_and_not_trained() {
    let [plain, mean] =
        ["0", "0.9"].map(|keep| two_steps(["train.rate=0.01", &format!("train.ema={keep}")]));
    for (plain, mean) in plain.into_iter().zip(mean) {
        assert_eq!(plain.loss, mean.loss);
        assert_ne!(plain.valid.loss, mean.valid.loss);
    }
}

#[test]
fn scenes_are_turned_in_training_only() {
    let curve = |turn: &str| two_steps(["train.rate=0", turn]);
    let [plain, again] = curve("turn=false");
    let [turned, other] = curve("turn=true");
    // Nothing is learned at rate 0: only what is trained on makes a difference.
    assert!((plain.loss - again.loss).abs() < 1e-5, "{plain:?} {again:?}");
    assert!((turned.loss - plain.loss).abs() > 1e-4 && (turned.loss - other.loss).abs() > 1e-4);
    assert_eq!(curve("turn=true"), [turned, other], "the same seed, the same turns");
}

/// Trains 4 epochs, and 2 with 2 more after a restart.
fn resumes_bit_for_bit(layers: &Layers<TrajectoryConfig>) {
    let data = dataset();
    let folder = tempfile::tempdir().unwrap();
    let run_in = |data: &Arc<TrajectoryDataset>, observer: &dyn Observer| {
        run_in::<Trajectory>(data, layers, &[5], 1, observer, Some(folder.path()))
    };
    let stopped = run_in(&data, &Stopping::after(2)).err().unwrap();
    assert!(matches!(stopped, Error::Interrupted { epoch: 2, seed: 5 }), "{stopped}");
    let other = run_in(&circles([120, 30, 29]), &Unobserved).err().unwrap().to_string();
    assert!(other.contains("another dataset"), "{other}");
    let resumed = run_in(&data, &Unobserved).unwrap();
    let whole = run::<Trajectory>(&data, layers, &[5], 1);

    let batch = SceneBatch::new(&[&data.test[3]], LENGTHS, &Device::flex()).unwrap();
    let [a, b] = [whole, resumed].map(|outcome| {
        let (seed, best) = (&outcome.record.seeds[0], &outcome.best[0]);
        let forecast = best.model.forecast(&batch, 3, Key::new(1)).unwrap();
        (seed.curve.clone(), seed.test, best.epoch, forecast)
    });
    assert_eq!(a, b);
}

#[test]
fn training_resumes_bit_for_bit() {
    for (backbone, learner, ema) in [
        ("social-stgcnn", "kernel", "0"),
        ("social-stgcnn", "dgm", "0.7"),
        ("dagnet", "dgg", "0.7"),
        ("dagnet", "kernel", "0"),
    ] {
        let settings = [&format!("train.ema={ema}"), "train.epochs=4", "train.batch=40"];
        resumes_bit_for_bit(&named::<Trajectory>(backbone, learner, &settings));
    }
}

/// What is handed on changes predictions, and gradients reach whoever made it.
#[test]
fn features_are_handed_on_where_that_is_asked_for() {
    let scenes: Vec<Scene> = (0..3).map(|seed| scene(seed, 4)).collect();
    let batch = SceneBatch::new(&scenes.iter().collect::<Vec<_>>(), LENGTHS, &Device::flex());
    let batch = batch.unwrap();
    let of = |learner: &str, setting: &str| {
        let model = model(learner, &[setting]);
        let out = model.forward(&batch, Pass::evaluate()).unwrap().into_data();
        (model.network.handed.is_some(), model.encoder.is_some(), out)
    };
    let hand_on = |how: &str| format!("network.social_stgcnn.hand_on={how}");
    let (handed, encoder, plain) = of("dgg", &hand_on("never"));
    assert!(!handed && !encoder);
    for setting in [&hand_on("generated"), &hand_on("always"), "learner.dgg.hand_on=true"] {
        let (handed, encoder, out) = of("dgg", setting);
        assert!(handed && !encoder, "{setting}");
        assert_ne!(out, plain, "{setting}");
    }
    let (handed, encoder, plain) = of("kernel", &hand_on("generated"));
    assert!(!handed && !encoder);
    let (handed, encoder, out) = of("kernel", &hand_on("always"));
    assert!(handed && encoder, "the control has an encoder of its own");
    assert_ne!(out, plain);
}

/// Those who interact with nobody are seen and not predicted: what they will do has no part in any loss.
#[test]
fn the_future_of_distractors_has_no_part_in_the_loss() {
    let mut scene = scene(1, 5);
    scene.distractors = vec![3, 4];
    let other = |agents: &[usize]| {
        let mut scene = scene.clone();
        for &agent in agents {
            for step in LENGTHS[0]..20 {
                scene.positions[agent * 20 + step] = [step as f32, -1.0];
            }
        }
        scene
    };
    for learner in ["kernel", "dgg", "isolated"] {
        let model = model(learner, &[]);
        let loss = |scene: &Scene| {
            let batch = SceneBatch::new(&[scene], LENGTHS, &Device::flex()).unwrap();
            model.loss(&batch, Pass::evaluate()).unwrap().into_scalar::<f64>()
        };
        assert_eq!(loss(&scene), loss(&other(&[3, 4])), "{learner}");
        assert_ne!(loss(&scene), loss(&other(&[2])), "{learner}");
    }
}

/// Far from everybody else, an agent has no neighbours.
#[test]
fn learned_sizes_of_agents_reach_zero() {
    let mut scene = scene(2, 4);
    for step in 0..20 {
        scene.positions[60 + step][0] += 400.0;
    }
    let model = model("dgg", &[]);
    let batch = SceneBatch::new(&[&scene], LENGTHS, &Device::flex()).unwrap();
    let learned = model.graphs(&batch).unwrap();
    let k: Vec<f64> = learned.degrees.unwrap().into_data().convert::<f64>().iter::<f64>().collect();
    let weights: Vec<f64> =
        learned.adjacency.weights().to_data().convert::<f64>().iter::<f64>().collect();
    let lone = |node: usize| node % 4 == 3;
    for frame in 1..8 {
        assert!(k[4 * frame + 3] < 1e-3, "{k:?}");
    }
    assert!((0..32).filter(|node| !lone(*node)).any(|node| k[node] > 0.1), "{k:?}");
    for ((i, j), weight) in learned.adjacency.topology().iter().zip(weights) {
        assert!(weight.is_finite());
        assert!(!(lone(i as usize) || lone(j as usize)) || weight < 1e-3, "{i} {j} {weight}");
    }
}
