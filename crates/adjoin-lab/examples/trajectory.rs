//! Trains Social-STGCNN on a set of trajectories and prints its errors.
//!
//! `cargo run --release --example trajectory -- --dataset zara1 --learner kernel --epochs 20`

use adjoin_data::{Locations, trajectory};
use adjoin_lab::trajectory::{
    Baseline, ChooseEpoch, NormOver, OptimiserKind, Propagation, Scores, TrajectoryConfig,
    TrajectoryExperiment,
};
use std::{collections::HashMap, error::Error, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options: HashMap<String, String> = HashMap::new();
    let mut words = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        options.insert(name.trim_start_matches("--").into(), value);
    }
    let text = |name: &str, or: &str| options.get(name).cloned().unwrap_or_else(|| or.into());
    let number = |name: &str, or: f64| -> Result<f64, std::num::ParseFloatError> {
        options.get(name).map_or(Ok(or), |value| value.parse())
    };
    let dataset = trajectory::load(&text("dataset", "crowd"), &Locations::from_environment(None))?;
    let lengths = [dataset.observed, dataset.predicted];
    let count = |scenes: &[trajectory::Scene]| {
        (scenes.len(), scenes.iter().map(|scene| scene.agents.len()).sum::<usize>())
    };
    println!(
        "{}: (scenes, agents) train {:?}, valid {:?}, test {:?}",
        dataset.name,
        count(&dataset.train),
        count(&dataset.valid),
        count(&dataset.test)
    );
    let learner = text("learner", "kernel");
    if learner == "baseline" {
        for kind in [Baseline::ConstantVelocity, Baseline::ConstantVelocityWithNoise] {
            let scores = kind.scores(&dataset.test, lengths, 20, adjoin::Key::new(1));
            println!("{kind:?}: {}", row(&scores));
        }
        return Ok(());
    }
    let mut config = TrajectoryConfig::named(&learner)?;
    let train = &mut config.train;
    train.epochs = number("epochs", train.epochs as f64)? as usize;
    train.batch = number("batch", train.batch as f64)? as usize;
    train.rate = number("rate", train.rate)?;
    train.learner_rate = number("learner-rate", train.rate)?;
    train.lower_at = number("lower-at", (train.epochs * 3 / 5) as f64)? as usize;
    train.clip = number("clip", train.clip)?;
    if text("optimiser", "sgd") == "adam" {
        train.optimiser = OptimiserKind::Adam;
    }
    if text("choose", "loss") == "displacement" {
        train.choose_by = ChooseEpoch::Displacement;
    }
    if text("norm", "scene") == "batch" {
        config.network.norm_over = NormOver::Batch;
    }
    config.network.propagation = match text("propagation", "laplacian").as_str() {
        "symmetric" => Propagation::Symmetric,
        "row" => Propagation::Row,
        _ => Propagation::Laplacian,
    };
    let seeds: Vec<u64> = (1..=number("seeds", 1.0)? as u64).collect();
    let threads = number("threads", 1.0)? as usize;
    let every = number("every", 10.0)? as usize;
    let experiment =
        TrajectoryExperiment { dataset: &dataset, config: &config, seeds: &seeds, threads };
    let started = Instant::now();
    let outcome = experiment.run(&|seed, epoch| {
        if epoch.epoch % every == 0 {
            println!(
                "seed {seed} epoch {:4} loss {:8.4} valid {:8.4} {} {:.3} s",
                epoch.epoch,
                epoch.loss,
                epoch.valid_loss,
                epoch.valid.as_ref().map(row).unwrap_or_default(),
                epoch.seconds
            );
        }
        true
    })?;
    for seed in &outcome.seeds {
        println!(
            "{} {learner} seed {}: best epoch {} valid loss {:.4}; test {}; {:.2} epochs/s",
            dataset.name,
            seed.seed,
            seed.best.epoch.epoch,
            seed.best.epoch.valid_loss,
            row(&seed.test),
            1.0 / seed.epoch_seconds
        );
    }
    println!("{:.1} s in all", started.elapsed().as_secs_f64());
    Ok(())
}

fn row(scores: &Scores) -> String {
    let Scores { per_agent, per_scene, likely } = scores;
    format!(
        "per agent {:.3}/{:.3} per scene {:.3}/{:.3} likely {:.3}/{:.3}",
        per_agent.ade, per_agent.fde, per_scene.ade, per_scene.fde, likely.ade, likely.fde
    )
}
