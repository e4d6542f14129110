//! Whole experiments on small generated graphs.

use adjoin_data::{GeneratorConfig, NodeDataset, SplitSpec, citation_like};
use adjoin_lab::{
    Config,
    node::{Experiment, Unobserved},
    presets,
    record::RunRecord,
    report,
};

fn small(seed: u64) -> NodeDataset {
    let config = GeneratorConfig { nodes: 200, classes: 3, seed, ..GeneratorConfig::default() };
    citation_like(&config).unwrap()
}

fn run(dataset: &NodeDataset, learner: &str, threads: usize) -> RunRecord {
    let split: SplitSpec = "ratio:0.3/0.3/0.4".parse().unwrap();
    let split = dataset.split(&split).unwrap();
    let config: Config = presets::config("cora", "gcn", learner)
        .unwrap()
        .with_settings(["train.epochs=12", "train.patience=0"])
        .unwrap();
    let (config, seeds) = (&config, &[3, 4]);
    let experiment = Experiment { dataset, split: &split, config, learner, seeds, threads };
    experiment.run(&Unobserved).unwrap().record
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
        };
        let record = experiment.run(&Unobserved).unwrap().record;
        assert_eq!(record.graph.unwrap().learned_indices.len(), 5 * 200);
        let last = |seed: &adjoin_lab::record::SeedRecord| seed.curve[59].train;
        record.seeds.iter().map(last).sum::<f64>() / 2.0
    });
    assert!(with > 0.6 && with > without + 0.1, "{with} with rewards, {without} without");
}
