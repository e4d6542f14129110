//! Trains DAG-Net with one learner after the other and prints errors on the test scenes.
//!
//! ```text
//! cargo run --release --example dagnet -- crowd kernel,none,dgm,dgg 5
//! ```
//! Arguments: dataset, learners, epochs, and, if given, the most training scenes to use; then words:
//! `faithful`, `dense` or `residual` goals, `batch=N`, `rate=X`, `goals=X` (their weight), `cells=N` (along
//! each axis).

use adjoin::Key;
use adjoin_data::{Locations, trajectory};
use adjoin_lab::{
    Error, Result,
    trajectory::{
        Baseline, Displacement, TrajectoryTrainer,
        dagnet::{Blend, DagConfig, DagModel},
        evaluate,
    },
};
use burn::{module::Module, tensor::Device};

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, default: &str| words.get(at).cloned().unwrap_or(default.into());
    let number = |at: usize, default: &str| {
        let text = word(at, default);
        let wrong = |_| Error::Config { place: text.clone(), what: "must be a number".into() };
        text.parse::<usize>().map_err(wrong)
    };
    let name = word(0, "crowd");
    let mut dataset = trajectory::load(&name, &Locations::from_environment(None))?;
    let (epochs, most) = (number(2, "5")?, number(3, "1000000")?);
    dataset.train = every(dataset.train, most);
    dataset.valid = every(dataset.valid, most / 8 + 1);
    dataset.test = every(dataset.test, most / 4 + 1);
    let agents: usize = dataset.train.iter().map(|scene| scene.agents.len()).sum();
    println!(
        "{name}: {} scenes to train, {} to validate, {} to test; {:.1} agents a scene",
        dataset.train.len(),
        dataset.valid.len(),
        dataset.test.len(),
        agents as f64 / dataset.train.len() as f64,
    );
    let lengths = [dataset.observed, dataset.predicted];
    let text = |Displacement { ade, fde }| format!("{ade:.3} / {fde:.3}");
    for (name, kind) in [
        ("constant velocity", Baseline::ConstantVelocity),
        ("constant velocity with noise", Baseline::ConstantVelocityWithNoise),
    ] {
        let scores = kind.scores(&dataset.test, lengths, 20, Key::new(7));
        let (agent, scene) = (text(scores.per_agent), text(scores.per_scene));
        println!("{name} ADE / FDE: per agent {agent}, per scene {scene}");
    }
    for learner in word(1, "kernel,none,dgm,dgg").split(',') {
        let mut config = DagConfig::named(&name, learner)?;
        config.network.faithful = words.iter().any(|word| word == "faithful");
        for word in &words {
            match word.split_once('=') {
                Some(("batch", value)) => config.train.batch = value.parse().unwrap_or(16),
                Some(("rate", value)) => {
                    config.train.rate = value.parse().unwrap_or(1e-3);
                    config.train.learner_rate = config.train.rate;
                }
                Some(("goals", value)) => {
                    config.network.goal_weight = value.parse().unwrap_or(1.0);
                }
                Some(("cells", value)) => {
                    config.network.goals.cells = [value.parse().unwrap_or(10); 2];
                }
                _ if word == "residual" => config.network.blend = Blend::Residual,
                _ if word == "dense" => config.network.blend = Blend::Dense,
                _ => {}
            }
        }
        config.train.epochs = epochs;
        let device = Device::flex();
        let model = DagModel::new(&config, &dataset, 1, &device.clone().autodiff())?;
        let mut trainer = TrajectoryTrainer::new(&config.train, &dataset, model, 1, &device)?;
        while !trainer.is_finished() {
            let epoch = trainer.step()?;
            println!(
                "{learner} epoch {}: loss {:.3}, validation {:.3}, {:.1} s",
                epoch.epoch, epoch.loss, epoch.valid_loss, epoch.seconds
            );
        }
        let Some(best) = trainer.best() else { continue };
        let started = std::time::Instant::now();
        let scores = evaluate(
            &best.model.valid(),
            &dataset.test,
            lengths,
            config.train.samples,
            Key::new(7),
        )?;
        println!(
            "{learner} epoch {} ADE / FDE: per agent {}, per scene {}, likely {} ({:.1} s)",
            best.epoch.epoch,
            text(scores.per_agent),
            text(scores.per_scene),
            text(scores.likely),
            started.elapsed().as_secs_f64(),
        );
    }
    Ok(())
}

/// At most so many, evenly spread.
fn every<T>(items: Vec<T>, most: usize) -> Vec<T> {
    let step = items.len().div_ceil(most.max(1)).max(1);
    items.into_iter().step_by(step).collect()
}
