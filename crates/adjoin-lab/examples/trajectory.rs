//! Trains Social-STGCNN on a set of trajectories and prints its errors.
//!
//! `cargo run --release --example trajectory -- --dataset zara1 --learner kernel --set train.epochs=20`

use adjoin_data::{Locations, trajectory};
use adjoin_lab::trajectory::{
    Baseline, Scores, SocialModel, TrajectoryConfig, TrajectoryEpoch, TrajectoryExperiment,
    TrajectoryObserver,
};
use burn::tensor::Device;
use std::{collections::HashMap, error::Error, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options: HashMap<String, String> = HashMap::new();
    let mut settings = Vec::new();
    let mut words = std::env::args().skip(1);
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        match name.as_str() {
            "--set" => settings.push(value),
            _ => drop(options.insert(name.trim_start_matches("--").into(), value)),
        }
    }
    let text = |name: &str, or: &str| options.get(name).cloned().unwrap_or_else(|| or.into());
    let number = |name: &str, or: usize| -> Result<usize, std::num::ParseIntError> {
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
    let config = TrajectoryConfig::named(&learner)?;
    let config = config.with_settings(settings.iter().map(String::as_str))?;
    let seeds: Vec<u64> = (1..=number("seeds", 1)? as u64).collect();
    let (threads, every) = (number("threads", 1)?, number("every", 10)?);
    let experiment =
        TrajectoryExperiment { dataset: &dataset, train: &config.train, seeds: &seeds, threads };
    let started = Instant::now();
    let model = |seed: u64, device: &Device| SocialModel::new(&config, lengths, seed, device);
    let outcome = experiment.run(model, &Printer { every })?;
    for seed in &outcome {
        println!(
            "{} {learner} seed {}: best epoch {} valid loss {:.4} {}; test {}; {:.2} epochs/s",
            dataset.name,
            seed.seed,
            seed.best.epoch.epoch,
            seed.best.epoch.valid_loss,
            seed.best.epoch.valid.as_ref().map(row).unwrap_or_default(),
            row(&seed.test),
            1.0 / seed.epoch_seconds
        );
    }
    println!("{:.1} s in all", started.elapsed().as_secs_f64());
    Ok(())
}

struct Printer {
    every: usize,
}

impl TrajectoryObserver for Printer {
    fn epoch(&self, seed: u64, epoch: &TrajectoryEpoch) {
        if epoch.epoch.is_multiple_of(self.every) {
            println!(
                "seed {seed} epoch {:4} loss {:8.4} valid {:8.4} {} {:.3} s",
                epoch.epoch,
                epoch.loss,
                epoch.valid_loss,
                epoch.valid.as_ref().map(row).unwrap_or_default(),
                epoch.seconds
            );
        }
    }
}

fn row(scores: &Scores) -> String {
    let Scores { per_agent, per_scene, likely } = scores;
    format!(
        "per agent {:.3}/{:.3} per scene {:.3}/{:.3} likely {:.3}/{:.3}",
        per_agent.ade, per_agent.fde, per_scene.ade, per_scene.fde, likely.ade, likely.fde
    )
}
