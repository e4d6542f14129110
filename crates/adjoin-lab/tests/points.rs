//! Training on point clouds: it learns, and resumes after a stop.

mod common;

use adjoin_data::points::PointDataset;
use adjoin_lab::{
    Error,
    run::{Observer, RunRecord, SeedRecord, Unobserved},
    settings::Layers,
    tasks::{
        Points,
        points::{PointsConfig, follows_density, inspect},
    },
};
use common::{Stopping, TINY_POINTS, named, run_in, solids};
use std::sync::Arc;

fn layers(backbone: &str, learner: &str, more: &[&str]) -> Layers<PointsConfig> {
    let settings = [&TINY_POINTS[..], &["train.epochs=3"], more].concat();
    named::<Points>(backbone, learner, &settings)
}

fn run(
    data: &Arc<PointDataset>,
    layers: &Layers<PointsConfig>,
    threads: usize,
) -> SeedRecord<Points> {
    let mut record: RunRecord<Points> = common::run(data, layers, &[3], threads).record;
    record.seeds.remove(0)
}

#[test]
fn every_learner_has_neighbours_in_every_layer_of_both_networks() {
    let data = solids();
    for backbone in ["dgcnn", "resgcn"] {
        for learner in ["knn", "radius", "outlier-removal", "dgm", "dgg"] {
            let seed = run(&data, &layers(backbone, learner, &[]), 1);
            assert_eq!((seed.epochs, seed.curve.len()), (3, 3), "{backbone} {learner}");
            let best = &seed.curve[seed.best_epoch - 1];
            assert_eq!(best.valid, seed.valid);
            assert_eq!(best.degrees.len(), 2);
            for degree in &best.degrees {
                let k = if learner == "dgm" { 20.0 } else { 6.0 };
                match learner {
                    // Within a radius there are more in some places, and of outliers none is left.
                    "radius" | "outlier-removal" => assert!(degree.std > 0.0, "{degree:?}"),
                    "dgg" => assert!(degree.mean > 2.0 && degree.std > 0.0, "{degree:?}"),
                    _ => assert_eq!((degree.mean, degree.std), (k, 0.0)),
                }
            }
        }
    }
}

#[test]
fn the_training_loss_falls_and_shapes_are_told_apart() {
    let still = ["augment.rotate=false", "augment.scale=false", "network.dropout=0"];
    let more = [&["train.epochs=25"], &still[..]].concat();
    let seed = run(&solids(), &layers("dgcnn", "dgg", &more), 2);
    let (first, last) = (seed.curve[0].loss, seed.curve[24].loss);
    assert!(last < 0.85 * first, "{first} {last}");
    // Chance is one in four of the classes that are there.
    assert!(seed.curve[24].train.unwrap() > 0.5, "{:?}", seed.curve[24]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (data, layers) = (solids(), layers("dgcnn", "dgg", &[]));
    let [one, two] = [1, 2].map(|threads| run(&data, &layers, threads));
    assert_eq!((&one.curve, one.test), (&two.curve, two.test));
}

#[test]
fn until_the_generator_joins_training_is_that_on_nearest_neighbours() {
    let data = solids();
    let [nearest, learned] = ["knn", "dgg"].map(|learner| {
        let settings = ["train.epochs=4", "train.learner_start=0.5"];
        run(&data, &layers("dgcnn", learner, &settings), 1)
    });
    assert_eq!(nearest.curve[..2], learned.curve[..2]);
    assert_ne!(nearest.curve[2].loss, learned.curve[2].loss);
}

#[test]
fn no_epoch_before_the_generator_joins_is_the_best_one() {
    let layers = layers("dgcnn", "dgg", &["train.epochs=8", "train.learner_start=0.875"]);
    let record = common::run::<Points>(&solids(), &layers, &[0, 1, 2, 3, 4, 5], 2).record;
    assert!(record.seeds.iter().all(|seed| seed.best_epoch == 8));
    // For some seed an earlier epoch was ahead on validation, and would have been taken.
    let tempting = |seed: &SeedRecord<Points>| {
        let last = seed.curve[7].valid.accuracy;
        seed.curve[..7].iter().any(|epoch| epoch.valid.accuracy > last)
    };
    assert!(record.seeds.iter().any(tempting));
}

#[test]
fn a_stopped_run_resumes_as_if_nothing_had_happened() {
    let data = solids();
    for learner in ["knn", "dgm", "dgg"] {
        let layers = layers("dgcnn", learner, &["train.epochs=4"]);
        let whole = run(&data, &layers, 1);
        let folder = tempfile::tempdir().unwrap();
        let run_in = |layers: &Layers<PointsConfig>, observer: &dyn Observer| {
            run_in::<Points>(&data, layers, &[3], 1, observer, Some(folder.path()))
        };
        let stopped = run_in(&layers, &Stopping::after(2)).err().unwrap();
        assert!(matches!(stopped, Error::Interrupted { epoch: 2, seed: 3 }), "{stopped}");
        let outcome = run_in(&layers, &Unobserved).unwrap();
        let resumed = &outcome.record.seeds[0];
        assert_eq!(resumed.curve, whole.curve, "{learner}");
        assert_eq!((resumed.test, resumed.best_epoch), (whole.test, whole.best_epoch));
        // Another configuration does not take it for its own.
        let other = layers.set("points=40").unwrap();
        let refused = run_in(&other, &Unobserved).err().unwrap().to_string();
        assert!(refused.contains("points = 48"), "{refused}");
    }
}

#[test]
fn clouds_can_be_inspected() {
    let data = solids();
    let layers = layers("dgcnn", "dgg", &["train.epochs=1"]);
    let best = common::run::<Points>(&data, &layers, &[3], 1).best.remove(0);
    let clouds = &data.split.test[..3];
    let seen = inspect(&best.model, &data, clouds, layers.config.points).unwrap();
    assert_eq!(seen.len(), 3);
    for (cloud, &at) in seen.iter().zip(clouds) {
        let original = &data.clouds[at as usize];
        assert_eq!(cloud.class, data.class_names[original.class as usize]);
        assert!(data.class_names.contains(&cloud.predicted));
        assert_eq!((cloud.points.len(), cloud.degrees.len()), (48, 2));
        assert!(cloud.degrees.iter().all(|layer| layer.len() == 48));
        assert!(cloud.degrees.iter().flatten().all(|&degree| degree >= 2.0));
    }
}

#[test]
fn small_odd_and_wrong_clouds() {
    // Fewer points than neighbours, and a cloud of one place only.
    let mut odd = Arc::unwrap_or_clone(solids());
    odd.clouds[0].points.truncate(3);
    let place = odd.clouds[1].points[0];
    odd.clouds[1].points.fill(place);
    let odd = Arc::new(odd);
    for learner in ["knn", "radius", "outlier-removal", "dgm", "dgg"] {
        let test = run(&odd, &layers("resgcn", learner, &[]), 1).test;
        assert!(test.accuracy.is_finite() && test.loss.is_finite(), "{learner} {test:?}");
    }
    let wrong = |backbone, setting| {
        let layers = layers(backbone, "knn", &[setting]);
        let outcome = run_in::<Points>(&solids(), &layers, &[0], 1, &Unobserved, None);
        outcome.err().unwrap().to_string()
    };
    assert!(wrong("resgcn", "network.widths=[8, 9]").contains("widths"));
    assert!(wrong("dgcnn", "train.epochs=0").contains("train.epochs"));
    assert!(wrong("dgcnn", "network.k=0").contains("at least 1"));
    let mut data = Arc::unwrap_or_clone(solids());
    data.clouds[0].points[0][1] = f32::NAN;
    assert!(data.validate().is_err());
}

/// A generator that sees density, steep enough to leave points alone.
const DENSE: [&str; 4] = [
    "learner.dgg.extras.weights=[-8.0]",
    "learner.dgg.extras.offset=4.0",
    "learner.dgg.degree.rule=expected",
    "learner.dgg.scorer.initial_scale=-6.0",
];

/// The cloud with a point far from all others at its end.
fn with_outlier(mut data: PointDataset) -> PointDataset {
    for cloud in &mut data.clouds {
        cloud.points.truncate(47);
        cloud.points.push([3.0, 3.0, 3.0]);
    }
    data
}

#[test]
fn outliers_have_no_neighbours_and_no_number_is_lost() {
    let data = Arc::new(with_outlier(Arc::unwrap_or_clone(solids())));
    let layers = layers("dgcnn", "dgg", &DENSE);
    let outcome = common::run::<Points>(&data, &layers, &[3], 1);
    let seed = &outcome.record.seeds[0];
    assert!(seed.curve.iter().all(|epoch| epoch.loss.is_finite() && epoch.valid.loss.is_finite()));
    let best = &outcome.best[0];
    let seen = inspect(&best.model, &data, &data.split.test[..3], 0).unwrap();
    for cloud in &seen {
        let (outlier, others) = cloud.degrees[0].split_last().unwrap();
        let mean = others.iter().sum::<f32>() / others.len() as f32;
        assert!(*outlier < 1.5 && mean > 3.0, "{outlier} {mean}");
    }
    let clouds: Vec<_> = data.split.test.iter().map(|&at| &data.clouds[at as usize]).collect();
    let ranks = follows_density(&best.model, &clouds, 48).unwrap();
    assert!(ranks[0].unwrap() > 0.5, "{ranks:?}");
    // Nearest neighbours are as many everywhere.
    let plain = common::run::<Points>(&data, &self::layers("dgcnn", "knn", &[]), &[3], 1);
    let ranks = follows_density(&plain.best[0].model, &clouds, 48).unwrap();
    assert_eq!(ranks, [None, None]);
}

#[test]
fn removed_outliers_have_no_neighbours_in_records() {
    let data = Arc::new(with_outlier(Arc::unwrap_or_clone(solids())));
    let layers = layers("dgcnn", "outlier-removal", &["train.epochs=1"]);
    let best = common::run::<Points>(&data, &layers, &[3], 1).best.remove(0);
    for cloud in inspect(&best.model, &data, &data.split.test[..3], 0).unwrap() {
        for degrees in &cloud.degrees {
            assert_eq!((degrees.len(), degrees[47]), (48, 0.0));
            assert!(degrees.iter().filter(|degree| **degree == 6.0).count() > 40);
        }
    }
}

/// What is handed on reaches the network: its first layer is wider and its result another.
#[test]
fn features_are_handed_on_where_that_is_asked_for() {
    let data = solids();
    let of = |learner: &str, setting: &str| {
        let layers = layers("dgcnn", learner, &["train.epochs=2", setting]);
        let outcome = common::run::<Points>(&data, &layers, &[3], 1);
        let model = &outcome.best[0].model;
        let width = model.network.convolutions[0].centre.weight.val().dims()[0];
        (width, model.encoders.len(), outcome.record.seeds[0].curve[1].loss)
    };
    let (width, encoders, plain) = of("dgg", "hand_on=never");
    assert_eq!((width, encoders), (3, 0));
    for setting in ["hand_on=generated", "hand_on=always", "learner.dgg.hand_on=true"] {
        let (width, encoders, loss) = of("dgg", setting);
        assert_eq!((width, encoders), (3 + 16, 0), "{setting}");
        assert_ne!(loss, plain, "{setting}");
    }
    let (.., alone) = of("knn", "hand_on=generated");
    let (width, encoders, loss) = of("knn", "hand_on=always");
    assert_eq!((width, encoders), (3 + 16, 2), "the control has encoders of its own");
    assert_ne!(loss, alone);
}

#[test]
fn a_radius_graph_is_not_learned_from() {
    let layers = layers("dgcnn", "dgg", &["graph.radius.radius=0.3"]);
    let refused = run_in::<Points>(&solids(), &layers, &[0], 1, &Unobserved, None);
    assert!(refused.err().unwrap().to_string().contains("graph.radius"));
}
