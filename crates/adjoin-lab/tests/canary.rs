//! A canary for every task: training with other test labels is the same, bit for bit; only the test number sees
//! them.

mod common;

use adjoin_data::{PlantedConfig, planted};
use adjoin_lab::{
    task::Task,
    tasks::{
        Node, Points, Trajectory,
        node::{NodeMetrics, SplitGraph},
    },
};
use common::{TINY_POINTS, circles, citations, named, run, solids, with_another_future};
use std::sync::Arc;

/// All learners on the usual network, and all networks with the generator.
fn sings<T: Task>(honest: &T::Data, altered: &T::Data, settings: &[&str]) {
    let learners = T::learners().into_iter().map(|learner| (T::BACKBONE.to_string(), learner.name));
    // A perceptron takes no graph, so no generator of one either.
    let with = |network: &str| if network == "mlp" { T::PLAIN } else { "dgg" }.to_string();
    let networks =
        T::backbones().into_iter().map(|network| (network.name.clone(), with(&network.name)));
    for (backbone, learner) in learners.chain(networks) {
        let layers = named::<T>(&backbone, &learner, settings);
        let of = |data: &T::Data| run::<T>(data, &layers, &[3, 4], 2).record;
        let [honest, altered] = [honest, altered].map(of);
        assert_ne!(honest.fingerprint, altered.fingerprint);
        for (a, b) in honest.seeds.iter().zip(&altered.seeds) {
            assert_eq!(a.curve, b.curve, "{backbone} {learner}");
            assert_eq!(a.valid, b.valid, "{backbone} {learner}");
            assert_eq!(a.best_epoch, b.best_epoch, "{backbone} {learner}");
            assert_ne!(a.test, b.test, "{backbone} {learner}: the test number does see them");
        }
    }
}

#[test]
fn training_on_nodes_sees_no_test_label() {
    let honest = citations(3);
    let mut altered = honest.clone();
    let classes = honest.dataset.classes() as u32;
    for &node in &honest.split.test {
        let label = &mut altered.dataset.labels[node as usize];
        *label = (*label + 1) % classes;
    }
    sings::<Node>(&honest, &altered, &["train.epochs=5", "train.patience=0", "backbone.layers=2"]);
}

#[test]
fn training_on_nodes_sees_no_mark_of_an_edge() {
    let config = PlantedConfig { nodes: 300, max_good: 10, max_bad: 10, ..Default::default() };
    let dataset = planted(&config).unwrap();
    let split = dataset.default_split().unwrap();
    let honest = SplitGraph { dataset, split };
    let mut altered = honest.clone();
    let marks = altered.dataset.marks.planted.as_mut().unwrap();
    marks.iter_mut().for_each(|mark| *mark = !*mark);
    for learner in Node::learners() {
        let layers = named::<Node>("gcn", &learner.name, &["train.epochs=5", "train.patience=0"]);
        let of = |data: &SplitGraph| run::<Node>(data, &layers, &[3], 1).record;
        let [honest, altered] = [&honest, &altered].map(of);
        let (a, b) = (&honest.seeds[0], &altered.seeds[0]);
        assert_eq!((&a.curve, a.valid, a.best_epoch), (&b.curve, b.valid, b.best_epoch));
        assert_eq!(a.valid.edges, None, "validation does not look at marks");
        assert_eq!(a.test.accuracy, b.test.accuracy);
        let auc = |test: &NodeMetrics| test.edges.unwrap().planted.unwrap().auc.unwrap();
        assert!((auc(&a.test) + auc(&b.test) - 1.0).abs() < 1e-12, "{}", learner.name);
    }
}

#[test]
fn training_on_point_clouds_sees_no_test_class_and_no_test_cloud() {
    let honest = solids();
    let mut altered = Arc::unwrap_or_clone(honest.clone());
    for &at in &honest.split.test {
        let cloud = &mut altered.clouds[at as usize];
        cloud.class = (cloud.class + 1) % 4;
        cloud.points.reverse();
    }
    let settings = [&TINY_POINTS[..], &["train.epochs=3"]].concat();
    sings::<Points>(&honest, &Arc::new(altered), &settings);
}

#[test]
fn training_on_trajectories_sees_no_future_of_a_test_scene() {
    let honest = circles([40, 10, 10]);
    let mut altered = Arc::unwrap_or_clone(honest.clone());
    altered.test = altered.test.into_iter().map(with_another_future).collect();
    let settings = ["samples=3", "train.epochs=3", "train.batch=16"];
    sings::<Trajectory>(&honest, &Arc::new(altered), &settings);
}
