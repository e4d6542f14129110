//! Every learner with every network: trained, stopped after an epoch, resumed, evaluated. What makes no sense is
//! refused with a reason.

mod common;

use adjoin::{
    Key,
    conv::BackboneConfig,
    learner::{LEARNERS, LearnerConfig, LearnerEntry},
    nn::Network,
};
use adjoin_data::{Existing, GeneratorConfig, citation_like, write_csv_folder};
use adjoin_lab::{
    Error,
    report::{self, Reportable},
    run::{Part, Plan, RunFolder, RunRecord, Trained, Unobserved},
    settings::Layers,
    task::{Predictions, Source, Task},
    tasks::{Node, Points, Trajectory},
};
use burn::tensor::Device;
use common::{Stopping, TINY_POINTS, circles, named, run_in, solids};
use safetensors::SafeTensors;
use std::{collections::BTreeMap, fmt::Write, fs, path::Path, slice};

const SEED: u64 = 3;

/// All tensors of a checkpoint but the optimiser's pack, which holds ids that differ from model to model.
fn weights(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap().tensors();
    let weights = tensors.into_iter().filter(|(name, _)| !name.starts_with("optimiser"));
    weights.map(|(name, tensor)| (name, tensor.data().to_vec())).collect()
}

fn page<T: Reportable>(records: &[RunRecord<T>]) -> adjoin_lab::Result<String> {
    Ok(report::render(records)?)
}

/// Two epochs at once, and two with a stop between them: the same numbers and weights; then the folder of the run
/// alone gives these numbers again.
fn trains_resumes_and_is_evaluated<T: Reportable>(
    source: &Source,
    data: &T::Data,
    (backbone, learner): (&str, &str),
    settings: &[&str],
) {
    let what = format!("{backbone} with {learner}");
    let layers = named::<T>(backbone, learner, &[&["train.epochs=2"], settings].concat());
    let folder = tempfile::tempdir().unwrap();
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let create = |target: &Path| {
        let configs = [(learner.to_string(), layers.clone())];
        let plan = Plan::new::<T>(source, data, &configs, vec![SEED], "test".into());
        let part = Part::new("data", plan, vec![layers.clone()]);
        RunFolder::<T>::create(target, false, vec![part]).unwrap()
    };
    let made = create(&whole);
    let expected =
        made.execute(slice::from_ref(data), 1, |_, _| Unobserved, page).expect(&what).remove(0);
    made.publish().unwrap();

    let made = create(&parts);
    let stopped =
        made.execute(slice::from_ref(data), 1, |_, _| Stopping::after(1), page).unwrap_err();
    assert!(matches!(stopped, Error::Interrupted { epoch: 1, seed: SEED }), "{what}: {stopped}");
    drop(made);
    let made = RunFolder::<T>::reopen(&parts, false).unwrap();
    assert_eq!(made.parts()[0].configs, [layers.clone()], "{what}");
    let found =
        made.execute(slice::from_ref(data), 1, |_, _| Unobserved, page).expect(&what).remove(0);
    made.publish().unwrap();

    let ([a], [b]) = (&expected.seeds[..], &found.seeds[..]) else { panic!("{what}") };
    assert_eq!((a.epochs, a.curve.len()), (2, 2), "{what}");
    assert_eq!(a.curve, b.curve, "{what}");
    assert_eq!((&a.valid, &a.test, a.best_epoch), (&b.valid, &b.test, b.best_epoch), "{what}");
    assert_eq!(expected.exhibit, found.exhibit, "{what}");
    let [kept, again] = [&whole, &parts].map(|run| weights(&run.join("seed-3.safetensors")));
    assert!(kept.keys().any(|name| name.starts_with("best.")), "{what}: {:?}", kept.keys());
    assert_eq!(kept, again, "{what}");

    let trained = Trained::<T>::open(&parts, None, None).unwrap();
    let scores = trained.scores(trained.best_seed().unwrap()).unwrap();
    assert_eq!(scores, (Some(b.valid.clone()), b.test.clone()), "{what}");
    let predictions = trained.predictions(SEED, &Predictions::default()).unwrap();
    assert!(predictions.lines().count() > 1, "{what}");
}

/// All learners with all networks of a task; `reason` gives a word of the reason why two are refused together.
fn every_combination<T: Reportable>(
    source: &Source,
    settings: &[&str],
    reason: impl Fn(&str, &str) -> Option<&'static str>,
) {
    let data = T::load(source).unwrap();
    for backbone in T::backbones() {
        for learner in T::learners() {
            let names = (backbone.name.as_str(), learner.name.as_str());
            let Some(word) = reason(names.0, names.1) else {
                trains_resumes_and_is_evaluated::<T>(source, &data, names, settings);
                continue;
            };
            let layers = named::<T>(names.0, names.1, settings);
            let error = by_hand::<T>(&data, &layers, |_| ()).unwrap_err();
            assert!(error.contains(word), "{names:?}: {error}");
        }
    }
}

/// Why nodes are not classified by both together.
fn reason_for_nodes(backbone: &str, learner: &str) -> Option<&'static str> {
    let config = BackboneConfig::named(backbone).unwrap().with_widths(4, 3);
    let network = config.init(Key::new(1), &Device::flex()).unwrap();
    if network.depth() == 0 && learner != "none" {
        return Some("takes no graph");
    }
    if learner == "nodeformer" && backbone != "gcn" {
        return Some("layers of its own");
    }
    // Attention is over edges, and GCNII scales them: neither takes a map without a list of them.
    let without_edges = ["svd", "slaps-fp"].contains(&learner);
    (without_edges && ["gat", "gcnii"].contains(&backbone)).then_some("needs edges")
}

/// A small graph on disk.
fn graph(folder: &Path) -> Source {
    let generator = GeneratorConfig { nodes: 90, features: 40, classes: 3, ..Default::default() };
    let path = folder.join("papers");
    write_csv_folder(&citation_like(&generator).unwrap(), &path, Existing::Refuse).unwrap();
    let split = Some("ratio:0.3/0.3/0.4".into());
    Source { name: path.display().to_string(), split, ..Source::default() }
}

/// A few walks on disk.
fn walks(folder: &Path) -> Source {
    let mut rows = String::from("scene,frame,agent,x,y\n");
    for (scene, frame) in (0..12).flat_map(|scene| (0..12).map(move |frame| (scene, frame))) {
        for agent in 0..3 {
            let (t, a) = (f64::from(frame + scene), f64::from(agent));
            let (x, y) = (0.3 * t + a, (0.2 * t + a).sin());
            writeln!(rows, "s{scene},{frame},{agent},{x:.3},{y:.3}").unwrap();
        }
    }
    let path = folder.join("walks.csv");
    fs::write(&path, rows).unwrap();
    let split = Some("scene:4/6".into());
    Source { name: path.display().to_string(), split, ..Source::default() }
}

#[test]
fn every_learner_of_nodes_with_every_backbone() {
    let folder = tempfile::tempdir().unwrap();
    every_combination::<Node>(&graph(folder.path()), &["backbone.layers=2"], reason_for_nodes);
}

#[test]
fn consistency_with_every_learner_of_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let source = graph(folder.path());
    let data = Node::load(&source).unwrap();
    for learner in LEARNERS {
        let name = format!("{}+consistency", learner.name);
        trains_resumes_and_is_evaluated::<Node>(&source, &data, ("gcn", &name), &[]);
    }
}

#[test]
fn every_learner_of_trajectories_with_every_network() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["samples=2", "train.batch=4"];
    every_combination::<Trajectory>(&walks(folder.path()), &settings, |_, _| None);
}

#[test]
fn every_learner_of_point_clouds_with_every_network() {
    let source = Source { name: "shapes".into(), subset: Some(2), ..Source::default() };
    every_combination::<Points>(&source, &TINY_POINTS, |_, _| None);
}

/// Learners that a task has no defaults for.
fn strangers<T: Task>() -> Vec<&'static str> {
    let known: Vec<String> = T::learners().into_iter().map(|learner| learner.name).collect();
    let names = LEARNERS.iter().map(|entry| entry.name);
    names.filter(|name| !known.iter().any(|known| known == name)).collect()
}

#[test]
fn a_learner_of_another_task_is_refused_by_name() {
    fn refused<T: Task>(expected: &[&str]) {
        let strangers = strangers::<T>();
        assert!(expected.iter().all(|name| strangers.contains(name)), "{strangers:?}");
        for name in strangers {
            let error = T::named(T::BACKBONE, name).unwrap_err().to_string();
            let says = |word: &str| error.contains(word);
            assert!(says(name) && says(T::PLAIN) && says("dgg") && says("--learner"), "{error}");
        }
    }
    let both = ["pagerank", "dropedge", "dgg-star", "dgg-paper", "dgg-ref"];
    refused::<Points>(&[&["none"], &both[..]].concat());
    refused::<Trajectory>(&[&["none", "knn"], &both[..]].concat());
    assert!(strangers::<Node>().is_empty());
    assert!(Node::named("gcn", "kernel").unwrap_err().to_string().contains("pagerank"));
}

/// One epoch with any learner of the library put into the configuration of a task by hand.
fn by_hand<T: Task>(
    data: &T::Data,
    layers: &Layers<T::Config>,
    change: impl FnOnce(&mut T::Config),
) -> Result<(), String> {
    let mut config = layers.config.clone();
    change(&mut config);
    let layers = layers.changed("by hand", config);
    let outcome = run_in::<T>(data, &layers, &[SEED], 1, &Unobserved, None);
    outcome.map(|_| ()).map_err(|error| error.to_string())
}

/// Learners of methods that only drive the network of the lab's nodes, or learn a number for each of their pairs.
const OF_NODES: [(&str, &str); 3] = [
    ("ptdnet", "layers of the network"),
    ("slaps", "a number for each pair"),
    ("nodeformer", "attends within one graph"),
];

/// Learners that are refused, and that all of them are for a reason with this word, or that of [`OF_NODES`].
fn refused(word: &str, run: impl Fn(LearnerConfig) -> Result<(), String>) -> Vec<&'static str> {
    let one = |entry: &LearnerEntry| {
        let config = (entry.config)();
        let kind = config.kind();
        let reason = run(config).err()?;
        let other = OF_NODES.iter().find(|of| of.0 == kind).map(|of| of.1);
        if !reason.contains(word) {
            assert!(other.is_some_and(|word| reason.contains(word)), "{}: {reason}", entry.name);
            return None;
        }
        Some(entry.name)
    };
    LEARNERS.iter().filter_map(one).collect()
}

#[test]
fn a_learner_that_needs_what_a_task_has_not_says_what() {
    let clouds = solids();
    let settings = [&TINY_POINTS[..], &["train.epochs=1"]].concat();
    let layers = named::<Points>("dgcnn", "knn", &settings);
    let of_clouds =
        |learner| by_hand::<Points>(&clouds, &layers, |config| config.learner = learner);
    let needy = refused("needs an input graph", of_clouds);
    for name in ["pagerank", "dropedge", "dgg", "dgg-star", "dgg-ref"] {
        assert!(needy.contains(&name), "{needy:?}");
    }
    for name in ["none", "knn", "dgm", "dgg-paper"] {
        assert!(!needy.contains(&name), "{needy:?}");
    }
    // Agreement with a teacher, where there is none.
    let mut agreeing = Points::named("dgcnn", "dgg").unwrap().config.learner;
    let LearnerConfig::Dgg(dgg) = &mut agreeing else { panic!() };
    dgg.agreement = true;
    assert!(of_clouds(agreeing.clone()).unwrap_err().contains("probabilities"));

    let scenes = circles([8, 4, 4]);
    for backbone in ["social-stgcnn", "dagnet"] {
        let settings = ["train.epochs=1", "samples=1"];
        let layers = named::<Trajectory>(backbone, "kernel", &settings);
        let of_scenes =
            |learner| by_hand::<Trajectory>(&scenes, &layers, |config| config.learner = learner);
        assert_eq!(refused("evaluation_draws", of_scenes), ["dgm"], "{backbone}");
        assert!(of_scenes(agreeing.clone()).unwrap_err().contains("probabilities"));
    }
}

#[test]
fn settings_that_a_task_has_no_use_for_are_refused() {
    let scenes = circles([8, 4, 4]);
    for (setting, word) in [
        ("train.learner_start=0.5", "train.learner_start"),
        ("learner.dgm.evaluation_draws=3", "evaluation_draws"),
        ("samples=0", "samples"),
    ] {
        let layers = named::<Trajectory>("social-stgcnn", "dgm", &[setting]);
        let error = by_hand::<Trajectory>(&scenes, &layers, |_| ()).unwrap_err();
        assert!(error.contains(word), "{error}");
    }
    let error = Points::named("dgcnn", "dgg+consistency").unwrap_err().to_string();
    assert!(error.contains("+consistency"), "{error}");
}
