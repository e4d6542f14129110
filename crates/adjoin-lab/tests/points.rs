//! Training on point clouds: it learns, it is honest, it goes on after a stop.

use adjoin_data::points::{PointDataset, ShapesConfig, shapes};
use adjoin_lab::{
    Error,
    node::{Observer, Unobserved},
    points::{PointsConfig, PointsExperiment, inspect, points_config},
    record::{EpochRecord, SeedRecord},
};
use std::sync::atomic::{AtomicUsize, Ordering};

fn dataset() -> PointDataset {
    let config = ShapesConfig { per_class: 10, points: 96, noise: 0.0, ..ShapesConfig::default() };
    let mut dataset = shapes(&config).unwrap();
    // Four classes are enough.
    let clouds = dataset.clouds.clone();
    let few = |part: &mut Vec<u32>| part.retain(|&at| clouds[at as usize].class < 4);
    few(&mut dataset.split.train);
    few(&mut dataset.split.valid);
    few(&mut dataset.split.test);
    dataset
}

fn config(backbone: &str, learner: &str, more: &[&str]) -> PointsConfig {
    use adjoin_lab::plan::Layered;
    let settings = [
        "points=48",
        "network.widths=[8, 8]",
        "network.k=6",
        "network.embedding=16",
        "network.hidden=[8]",
        "train.epochs=3",
        "train.batch=8",
    ];
    let config = points_config("shapes", backbone, learner).unwrap();
    let apply = |config: PointsConfig, setting: &&str| config.with_setting(setting).unwrap();
    settings.iter().chain(more).fold(config, apply)
}

fn run(dataset: &PointDataset, config: &PointsConfig, threads: usize) -> SeedRecord {
    let experiment = PointsExperiment { dataset, config, learner: "x", seeds: &[3], threads };
    let mut record = experiment.run(&Unobserved).unwrap().record;
    record.seeds.remove(0)
}

#[test]
fn every_learner_trains_on_both_networks() {
    let dataset = dataset();
    for backbone in ["dgcnn", "resgcn"] {
        for learner in ["knn", "dgm", "dgg"] {
            let config = config(backbone, learner, &[]);
            let seed = run(&dataset, &config, 1);
            assert_eq!((seed.epochs, seed.curve.len()), (3, 3), "{backbone} {learner}");
            let best = &seed.curve[seed.best_epoch - 1];
            assert_eq!(best.valid, seed.valid);
            assert_eq!(best.degrees.len(), 2);
            for degree in &best.degrees {
                let k = if learner == "dgm" { 20.0 } else { 6.0 };
                match learner {
                    "dgg" => assert!(degree.mean > 2.0 && degree.deviation > 0.0, "{degree:?}"),
                    _ => assert_eq!((degree.mean, degree.deviation), (k, 0.0)),
                }
            }
        }
    }
}

#[test]
fn the_training_loss_falls_and_shapes_are_told_apart() {
    let dataset = dataset();
    let more = ["train.epochs=25", "train.rotate=false", "train.scale=false", "network.dropout=0"];
    let seed = run(&dataset, &config("dgcnn", "dgg", &more), 2);
    let (first, last) = (seed.curve[0].loss, seed.curve[24].loss);
    assert!(last < 0.85 * first, "{first} {last}");
    // Chance is one in four of the classes that are there.
    assert!(seed.curve[24].train > 0.5, "{:?}", seed.curve[24]);
}

#[test]
fn threads_change_nothing_and_test_classes_reach_no_training() {
    let dataset = dataset();
    let config = config("dgcnn", "dgg", &[]);
    let one = run(&dataset, &config, 1);
    let two = run(&dataset, &config, 2);
    assert_eq!((&one.curve, one.test), (&two.curve, two.test));
    let mut shuffled = dataset.clone();
    for &at in &shuffled.split.test {
        let cloud = &mut shuffled.clouds[at as usize];
        cloud.class = (cloud.class + 1) % 12;
        cloud.points.reverse();
    }
    assert_eq!(run(&shuffled, &config, 1).curve, one.curve);
}

/// Stops after some epochs.
struct Stopping {
    after: usize,
    epochs: AtomicUsize,
}

impl Observer for Stopping {
    fn epoch(&self, _: u64, _: &EpochRecord, _: usize) {
        self.epochs.fetch_add(1, Ordering::SeqCst);
    }

    fn seed(&self, _: &SeedRecord) {}

    fn stop(&self) -> bool {
        self.epochs.load(Ordering::SeqCst) >= self.after
    }
}

#[test]
fn until_the_generator_joins_training_is_that_on_nearest_neighbours() {
    let dataset = dataset();
    let [nearest, learned] = ["knn", "dgg"].map(|learner| {
        let settings = ["train.epochs=4", "train.warm_up=0.5"];
        run(&dataset, &config("dgcnn", learner, &settings), 1)
    });
    assert_eq!(nearest.curve[..2], learned.curve[..2]);
    assert_ne!(nearest.curve[2].loss, learned.curve[2].loss);
}

#[test]
fn no_epoch_before_the_generator_joins_is_the_best_one() {
    let dataset = dataset();
    let config = config("dgcnn", "dgg", &["train.epochs=8", "train.warm_up=0.875"]);
    let seeds = [0, 1, 2, 3, 4, 5];
    let experiment = PointsExperiment {
        dataset: &dataset,
        config: &config,
        learner: "dgg",
        seeds: &seeds,
        threads: 2,
    };
    let record = experiment.run(&Unobserved).unwrap().record;
    assert!(record.seeds.iter().all(|seed| seed.best_epoch == 8));
    // For some seed an earlier epoch was ahead on validation, and would have been taken.
    let tempting =
        |seed: &SeedRecord| seed.curve[..7].iter().any(|epoch| epoch.valid > seed.curve[7].valid);
    assert!(record.seeds.iter().any(tempting));
}

#[test]
fn a_stopped_run_goes_on_as_if_nothing_had_happened() {
    let dataset = dataset();
    for learner in ["knn", "dgm", "dgg"] {
        let config = config("dgcnn", learner, &["train.epochs=4"]);
        let whole = run(&dataset, &config, 1);
        let folder = tempfile::tempdir().unwrap();
        let experiment = PointsExperiment {
            dataset: &dataset,
            config: &config,
            learner,
            seeds: &[3],
            threads: 1,
        };
        let stopping = Stopping { after: 2, epochs: AtomicUsize::new(0) };
        let stopped = experiment.run_in(&stopping, Some(folder.path())).unwrap_err();
        assert!(matches!(stopped, Error::Interrupted { epoch: 2, seed: 3 }), "{stopped}");
        let outcome = experiment.run_in(&Unobserved, Some(folder.path())).unwrap();
        let resumed = &outcome.record.seeds[0];
        assert_eq!(resumed.curve, whole.curve, "{learner}");
        assert_eq!((resumed.test, resumed.best_epoch), (whole.test, whole.best_epoch));
        // Another configuration does not take it for its own.
        let other = PointsConfig { points: 40, ..config.clone() };
        let experiment = PointsExperiment { config: &other, ..experiment };
        let refused = experiment.run_in(&Unobserved, Some(folder.path())).unwrap_err().to_string();
        assert!(refused.contains("points = 48"), "{refused}");
    }
}

#[test]
fn clouds_can_be_inspected() {
    let dataset = dataset();
    let config = config("dgcnn", "dgg", &["train.epochs=1"]);
    let experiment = PointsExperiment {
        dataset: &dataset,
        config: &config,
        learner: "dgg",
        seeds: &[3],
        threads: 1,
    };
    let best = experiment.run(&Unobserved).unwrap().best.remove(0);
    let clouds = &dataset.split.test[..3];
    let seen = inspect(&best.model, &dataset, clouds, config.points).unwrap();
    assert_eq!(seen.len(), 3);
    for (cloud, &at) in seen.iter().zip(clouds) {
        let original = &dataset.clouds[at as usize];
        assert_eq!(cloud.class, dataset.class_names[original.class as usize]);
        assert!(dataset.class_names.contains(&cloud.predicted));
        assert_eq!((cloud.points.len(), cloud.degrees.len()), (48, 2));
        assert!(cloud.degrees.iter().all(|layer| layer.len() == 48));
        assert!(cloud.degrees.iter().flatten().all(|&degree| degree >= 2.0));
    }
}

#[test]
fn small_odd_and_wrong_clouds() {
    // Fewer points than neighbours, and a cloud of one place only.
    let mut odd = dataset();
    odd.clouds[0].points.truncate(3);
    let place = odd.clouds[1].points[0];
    odd.clouds[1].points.fill(place);
    for learner in ["knn", "dgm", "dgg"] {
        assert!(run(&odd, &config("resgcn", learner, &[]), 1).test.is_finite());
    }
    let wrong = |config: PointsConfig| {
        let dataset = dataset();
        let experiment = PointsExperiment {
            dataset: &dataset,
            config: &config,
            learner: "x",
            seeds: &[0],
            threads: 1,
        };
        experiment.run(&Unobserved).unwrap_err().to_string()
    };
    let uneven = config("resgcn", "knn", &["network.widths=[8, 9]"]);
    assert!(wrong(uneven).contains("network.widths"));
    assert!(wrong(config("dgcnn", "knn", &["train.epochs=0"])).contains("train.epochs"));
    assert!(wrong(config("dgcnn", "knn", &["network.k=0"])).contains("at least 1"));
    let mut dataset = dataset();
    dataset.clouds[0].points[0][1] = f32::NAN;
    assert!(dataset.validate().is_err());
}
