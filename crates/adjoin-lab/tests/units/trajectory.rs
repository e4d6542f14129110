//! Errors of predicted paths, predictions that need no training, and the weights of the authors.

use adjoin::Key;
use adjoin_data::{
    Locations,
    trajectory::{self, Scene},
};
use adjoin_lab::tasks::trajectory::{
    Baseline, Displacement, Forecast, Scores, SocialModel, SocialStgcnnConfig, Tally,
    TrajectoryConfig, TrajectoryMetrics, evaluate, load_published,
};
use burn::{module::Module, tensor::Device};
use std::path::{Path, PathBuf};

/// Two agents that stand at 0 and at 10; two samples, each right about one of them.
#[test]
fn best_of_samples_per_agent_and_per_scene() {
    let positions = [[0.0, 0.0], [10.0, 0.0]].map(|place| [place; 3]).concat();
    let scene =
        Scene { name: "s".into(), agents: vec![1, 2], steps: 3, positions, distractors: vec![] };
    let mut forecast = Forecast::new(2, 2, 2);
    forecast.path_mut(0, 0).copy_from_slice(&[[0.0, 0.0], [0.0, 3.0]]);
    forecast.path_mut(0, 1).copy_from_slice(&[[10.0, 8.0], [10.0, 8.0]]);
    forecast.path_mut(1, 0).copy_from_slice(&[[0.0, 5.0], [0.0, 1.0]]);
    forecast.path_mut(1, 1).copy_from_slice(&[[10.0, 0.0], [14.0, 3.0]]);
    forecast.likely_mut(0).copy_from_slice(&[[3.0, 4.0], [0.0, 0.0]]);
    forecast.likely_mut(1).copy_from_slice(&[[10.0, 0.0], [10.0, 2.0]]);
    let mut tally = Tally::default();
    tally.add(&scene, &forecast);
    let scores = tally.scores();
    // Agent 0: ADE 1.5 (first) and FDE 1 (second); agent 1: 2.5 and 5 (second).
    assert_eq!(scores.per_agent, Displacement { ade: 2.0, fde: 3.0 });
    // Sums of the samples: ADE 9.5 and 5.5, FDE 11 and 6.
    assert_eq!(scores.per_scene, Displacement { ade: 2.75, fde: 3.0 });
    assert_eq!(scores.likely, Displacement { ade: 1.75, fde: 1.0 });
    // The first agent alone: its best samples, and the first one for the scene.
    let mut alone = Tally::default();
    alone.add(&Scene { distractors: vec![2], ..scene }, &forecast);
    let scores = alone.scores();
    assert_eq!(scores.per_agent, Displacement { ade: 1.5, fde: 1.0 });
    assert_eq!(scores.per_scene, scores.per_agent);
    assert_eq!(scores.likely, Displacement { ade: 2.5, fde: 0.0 });
}

/// Predictions without training have errors but no loss.
#[test]
fn metrics_without_a_loss_can_be_read_back() {
    let scores = Scores::default();
    let text = serde_json::to_string(&TrajectoryMetrics { scores, loss: f64::NAN }).unwrap();
    let again: TrajectoryMetrics = serde_json::from_str(&text).unwrap();
    assert!(again.scores == scores && again.loss.is_nan(), "{text}");
    let text = text.replace("null", "0.5");
    assert_eq!(serde_json::from_str::<TrajectoryMetrics>(&text).unwrap().loss, 0.5);
    assert!(serde_json::from_str::<TrajectoryMetrics>(&text.replace("loss", "lost")).is_err());
}

#[test]
fn a_straight_walk_is_predicted_exactly() {
    let positions: Vec<[f32; 2]> = (0..6).map(|t| [0.5 * t as f32, 1.0 - t as f32]).collect();
    let scene =
        Scene { name: "s".into(), agents: vec![7], steps: 6, positions, distractors: vec![] };
    let baseline =
        |kind: Baseline| kind.scores(std::slice::from_ref(&scene), [2, 4], 20, Key::new(1));
    let straight = baseline(Baseline::ConstantVelocity);
    assert!(straight.per_agent.ade < 1e-6 && straight.likely.fde < 1e-6);
    let noisy = baseline(Baseline::ConstantVelocityWithNoise);
    assert!(noisy.per_agent.ade > 1e-4 && noisy.per_agent.ade < 0.5, "{noisy:?}");
    assert_eq!(noisy.likely, straight.likely);
}

/// ADE and FDE that the authors' code gives with these weights (best of 20 samples per agent).
#[test]
#[ignore = "needs ADJOIN_DATA"]
fn published_weights_give_the_published_errors() {
    let set = std::env::var_os("ADJOIN_DATA").filter(|value| !value.is_empty());
    let folder = PathBuf::from(set.expect("set ADJOIN_DATA to the folder of the public datasets"));
    // Cargo runs tests in the crate's folder, but a relative path was meant from the workspace's.
    let folder = match folder.is_relative() && !folder.exists() {
        true => Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder),
        false => folder,
    };
    let locations = Locations { data_dir: Some(folder.clone()), ..Locations::default() };
    for (name, ade, fde) in [("eth", 0.73, 1.22), ("zara1", 0.33, 0.52)] {
        let dataset = trajectory::load(name, &locations).unwrap();
        let lengths = [dataset.observed, dataset.predicted];
        let (config, network) = (TrajectoryConfig::default(), SocialStgcnnConfig::default());
        let mut model = SocialModel::new(&config, &network, lengths, 1, &Device::flex()).unwrap();
        let file = format!("eth_ucy/published_weights/social-stgcnn-{name}.safetensors");
        model.network = load_published(&model.network, &folder.join(file)).unwrap();
        let scores = evaluate(&model.valid(), &dataset.test, lengths, 20, Key::new(1)).unwrap();
        println!("{name}: {scores:?}");
        let found = scores.per_agent;
        assert!(
            (found.ade - ade).abs() < 0.02 && (found.fde - fde).abs() < 0.04,
            "{name} {found:?}"
        );
    }
}
