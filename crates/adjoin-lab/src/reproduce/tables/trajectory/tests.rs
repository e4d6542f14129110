use super::*;
use crate::{
    run::SeedRecord,
    settings::Origins,
    task::Settings,
    tasks::trajectory::{Displacement, SceneExhibit, Scores, TrajectoryFitted},
};

fn measured(learner: &'static str, errors: &[f64]) -> Measured {
    let way = |error: f64| Displacement { ade: error, fde: 2.0 * error };
    let seed = |(seed, &error): (usize, &f64)| {
        let [per_agent, per_scene, likely] = [error, 3.0 * error, error].map(way);
        let scores = Scores { per_agent, per_scene, likely };
        SeedRecord {
            seed: seed as u64,
            valid: TrajectoryMetrics { scores: Scores::default(), loss: 0.0 },
            test: TrajectoryMetrics { scores, loss: 0.0 },
            best_epoch: 1,
            epochs: 1,
            steps: 1,
            cut_short: false,
            seconds: 1.0,
            choice: None,
            curve: Vec::new(),
        }
    };
    let text = String::new;
    let record = RunRecord {
        version: text(),
        task: text(),
        dataset: text(),
        fingerprint: text(),
        split: text(),
        split_hash: text(),
        backbone: text(),
        learner: text(),
        metric: text(),
        created: text(),
        command: text(),
        config_toml: text(),
        origins: Origins::default(),
        preparation: None,
        seeds: errors.iter().enumerate().map(seed).collect(),
        references: Vec::new(),
        ms_per_step: 1.0,
        peak_rss_bytes: 0,
        fitted: TrajectoryFitted { steps: [8, 12], goals: None },
        exhibit: SceneExhibit::default(),
    };
    Measured { learner, record }
}

fn cell<'a>(row: &'a Row, title: &str) -> &'a str {
    let found = row.iter().find(|(name, _)| *name == title);
    &found.unwrap_or_else(|| panic!("no {title} in {row:?}")).1
}

#[test]
fn gains_are_paired_by_seed_and_means_are_means_of_gains() {
    let one = [measured("kernel", &[1.0, 2.0]), measured("dgg", &[0.9, 1.8])];
    let two = [measured("kernel", &[2.0, 2.0]), measured("dgg", &[1.0, 1.0])];
    let published = ([0.64, 1.11], [[2.4, 6.4], [7.8, 21.4]]);
    let found = row(["eth", STGCNN.0, "dgg"], &[&one], Some(published)).unwrap();
    assert_eq!(cell(&found, "gain per agent, %"), "+10.0 ± 0.0 / +10.0 ± 0.0");
    assert_eq!(cell(&found, "published gain, %"), "+7.8 / +21.4");
    assert_eq!((cell(&found, "published ADE / FDE, m"), cell(&found, "seeds")), ("-", "2"));
    let per_scene = cell(&found, "per scene ADE / FDE, m");
    assert!(per_scene.starts_with("4.050 ± ") && per_scene.contains(" / 8.100 ± "), "{per_scene}");

    let both = row(["mean", STGCNN.0, "dgg"], &[&one, &two], None).unwrap();
    // 10 % and 50 % in every seed; of the errors 1.9 of 3.0 would be something else.
    assert!(cell(&both, "gain per agent, %").starts_with("+30.0 ± 0.0"), "{both:?}");
    let per_agent = cell(&both, "per agent ADE / FDE, m");
    // (0.95 + 1.4) / 2.
    assert!(per_agent.starts_with("1.175 ± "), "{per_agent}");

    let original = row(["eth", STGCNN.0, "kernel"], &[&one], Some(published)).unwrap();
    assert_eq!(cell(&original, "published ADE / FDE, m"), "0.64 / 1.11");
    assert_eq!(cell(&original, "gain per agent, %"), "");
}

#[test]
fn printed_means_are_those_of_the_printed_gains() {
    for group in GROUPS {
        let Some((errors, gains)) = group.mean else { continue };
        let count = group.cases.len() as f64;
        for at in 0..2 {
            let sum: f64 = group.cases.iter().map(|case| case.published[at]).sum();
            assert!((sum / count - errors[at]).abs() < 0.011, "{} {at}", group.name);
            for (learner, printed) in gains.iter().enumerate() {
                let sum: f64 = group.cases.iter().map(|case| case.gains[learner][at]).sum();
                let mean = sum / count;
                assert!((mean - printed[at]).abs() < 1.1, "{} {mean}", group.name);
            }
        }
    }
}

#[test]
fn every_cell_has_a_recipe_of_its_network_and_learner() {
    for case in GROUPS.iter().flat_map(|group| group.cases) {
        for learner in LEARNERS {
            let (layers, note) = layers(case, learner, None).unwrap();
            let config = &layers.config;
            assert_eq!(
                (config.backbone(), config.learner()),
                (case.backbone.into(), learner.into())
            );
            assert!(note.contains("as in its recipe"), "{note}");
            let (shorter, note) = super::layers(case, learner, Some(2)).unwrap();
            assert_eq!(shorter.config.train.epochs, 2);
            assert!(note.starts_with("**reduced**"), "{note}");
        }
    }
}
