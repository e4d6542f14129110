//! Whole experiments on small generated graphs.

use adjoin_data::{GeneratorConfig, NodeDataset, SplitSpec, citation_like};
use adjoin_lab::{
    Config, TrainConfig,
    node::{Experiment, Guides, Observer, Unobserved},
    presets,
    record::{EpochRecord, RunRecord, SeedRecord},
    report,
};
use std::sync::atomic::{AtomicUsize, Ordering};

fn small(seed: u64) -> NodeDataset {
    let config = GeneratorConfig { nodes: 200, classes: 3, seed, ..GeneratorConfig::default() };
    citation_like(&config).unwrap()
}

fn run(dataset: &NodeDataset, learner: &str, threads: usize) -> RunRecord {
    guided(dataset, learner, 0.0, threads, &mut Guides::default(), &Unobserved)
}

fn guided(
    dataset: &NodeDataset,
    learner: &str,
    guide_drop: f64,
    threads: usize,
    guides: &mut Guides,
    observer: &dyn Observer,
) -> RunRecord {
    let split: SplitSpec = "ratio:0.3/0.3/0.4".parse().unwrap();
    let split = dataset.split(&split).unwrap();
    let config: Config = presets::config("cora", "gcn", learner)
        .unwrap()
        .with_settings(["train.epochs=12", "train.patience=0"])
        .unwrap();
    let train = TrainConfig { guide_drop, ..config.train.clone() };
    let config = Config { train, ..config };
    let (config, seeds) = (&config, &[3, 4]);
    let split = &split;
    let experiment = Experiment { dataset, split, config, learner, seeds, threads, guides };
    let outcome = experiment.run(observer).unwrap();
    guides.keep(config, &outcome);
    outcome.record
}

/// Counts the epochs of guides.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Observer for Counting {
    fn epoch(&self, _: u64, _: &EpochRecord, _: usize) {}

    fn guide(&self, _: u64, _: &EpochRecord, _: usize) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn seed(&self, _: &SeedRecord) {}
}

#[test]
fn a_guide_that_is_at_hand_is_not_trained_again_and_changes_no_bit() {
    let (dataset, other) = (small(5), small(6));
    let mut curves = Vec::new();
    for (learner, drop) in [("dgg", 0.0), ("dgg-star", 0.0), ("dgg", 0.3)] {
        let counted = |dataset, guides: &mut Guides| {
            let counting = Counting::default();
            let record = guided(dataset, learner, drop, 2, guides, &counting);
            (record, counting.0.into_inner())
        };
        let (alone, epochs) = counted(&dataset, &mut Guides::default());
        assert_eq!(epochs, 24);
        let mut guides = Guides::default();
        for learner in ["none", "dropedge"] {
            guided(&dataset, learner, 0.0, 2, &mut guides, &Unobserved);
        }
        let (shared, epochs) = counted(&dataset, &mut guides);
        assert_eq!(epochs, 0);
        for (a, b) in alone.seeds.iter().zip(&shared.seeds) {
            assert_eq!((&a.curve, a.test), (&b.curve, b.test), "{learner}");
        }
        assert_eq!(alone.graph, shared.graph, "{learner}");
        assert_eq!(counted(&other, &mut guides).1, 24, "a guide of other data");
        curves.push(alone.seeds[0].curve.clone());
    }
    assert_ne!(curves[0], curves[2], "a guide trained on parts of the graph is another one");
}

#[test]
fn a_graph_without_node_names_can_be_reported() {
    let mut dataset = small(1);
    dataset.node_ids.clear();
    let runs = ["none", "dgg"].map(|learner| run(&dataset, learner, 2));
    assert_eq!(runs[0].graph.as_ref().unwrap().node_ids[7], "7");
    assert!(report::render(&runs).unwrap().contains("</html>"));
}

#[test]
fn seeds_side_by_side_give_the_same_as_one_after_the_other() {
    let dataset = small(2);
    for learner in ["none", "dropedge", "dgm", "dgg", "dgg-star", "dgg+consistency"] {
        let [one, two] = [1, 2].map(|threads| run(&dataset, learner, threads));
        for (a, b) in one.seeds.iter().zip(&two.seeds) {
            assert_eq!(a.curve, b.curve, "{learner}");
            assert_eq!((a.seed, a.valid, a.test), (b.seed, b.valid, b.test), "{learner}");
        }
        assert_eq!(one.graph, two.graph, "{learner}");
    }
}

#[test]
fn training_sees_no_test_label() {
    let dataset = small(3);
    let mut shuffled = dataset.clone();
    let split: SplitSpec = "ratio:0.3/0.3/0.4".parse().unwrap();
    let classes = dataset.classes() as u32;
    for node in dataset.split(&split).unwrap().test {
        let label = &mut shuffled.labels[node as usize];
        *label = (*label + 1) % classes;
    }
    for learner in ["none", "dgm", "dgg-star"] {
        let [honest, canary] = [&dataset, &shuffled].map(|dataset| run(dataset, learner, 2));
        for (a, b) in honest.seeds.iter().zip(&canary.seeds) {
            assert_eq!(a.curve, b.curve, "{learner}");
            assert_ne!(a.test, b.test, "{learner}");
        }
    }
}

#[test]
fn a_hard_graph_is_trained_with_rewards() {
    let dataset = small(4);
    let split = dataset.split(&"ratio:0.3/0.3/0.4".parse().unwrap()).unwrap();
    let settings = ["train.epochs=60", "train.patience=0"];
    // Without the reinforced loss the learner gets no gradient and stays as it was.
    let [with, without] = ["1", "0"].map(|reinforced| {
        let config = presets::config("cora", "gcn", "dgm").unwrap();
        let reinforced = format!("train.reinforced={reinforced}");
        let settings = settings.into_iter().chain([reinforced.as_str()]);
        let config = config.with_settings(settings).unwrap();
        let (learner, seeds) = ("dgm", &[3, 4][..]);
        let experiment = Experiment {
            dataset: &dataset,
            split: &split,
            config: &config,
            learner,
            seeds,
            threads: 2,
            guides: &Guides::default(),
        };
        let record = experiment.run(&Unobserved).unwrap().record;
        assert_eq!(record.graph.unwrap().learned_indices.len(), 5 * 200);
        let last = |seed: &SeedRecord| seed.curve[59].train;
        record.seeds.iter().map(last).sum::<f64>() / 2.0
    });
    assert!(with > 0.6 && with > without + 0.1, "{with} with rewards, {without} without");
}
