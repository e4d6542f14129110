//! Whole experiments on small generated graphs.

mod common;

use adjoin_lab::{
    report,
    run::{
        Experiment, Observer, RunRecord, SeedDone, SeedRecord, Stage, Teachers, Tick, Unobserved,
    },
    settings::Layers,
    tasks::{
        Node,
        node::{NodeConfig, SplitGraph},
    },
};
use common::{citations, named};
use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

const SEEDS: [u64; 2] = [3, 4];

fn layers(learner: &str, more: &[&str]) -> Layers<NodeConfig> {
    named::<Node>("gcn", learner, &[&["train.epochs=12", "train.patience=0"], more].concat())
}

fn run(data: &SplitGraph, learner: &str, threads: usize) -> RunRecord<Node> {
    common::run(data, &layers(learner, &[]), &SEEDS, threads).record
}

/// Counts the epochs of teachers.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Observer for Counting {
    fn tick(&self, tick: &Tick) {
        if tick.stage == Stage::Teacher {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_teacher_that_is_at_hand_is_not_trained_again_and_changes_no_bit() {
    let (data, other) = (citations(5), citations(6));
    let taught = |data: &SplitGraph,
                  (learner, drop): (&str, &str),
                  teachers: &mut Teachers<Node>,
                  observer: &dyn Observer| {
        let layers = layers(learner, &[&format!("teacher.drop={drop}")]);
        let (layers, seeds, threads, command) = (&layers, &SEEDS[..], 2, "test");
        let experiment = Experiment { data, layers, learner, seeds, threads, teachers, command };
        let outcome = experiment.run(observer).unwrap();
        teachers.keep(&layers.config, &outcome);
        outcome.record
    };
    let mut curves = Vec::new();
    for learner in [("dgg-teacher", "0"), ("dgg-teacher", "0.3")] {
        let counted = |data, teachers: &mut Teachers<Node>| {
            let counting = Counting::default();
            let record = taught(data, learner, teachers, &counting);
            (record, counting.0.into_inner())
        };
        let (alone, epochs) = counted(&data, &mut Teachers::default());
        assert_eq!(epochs, 24);
        let mut teachers = Teachers::default();
        for learner in ["none", "dropedge"] {
            taught(&data, (learner, "0"), &mut teachers, &Unobserved);
        }
        let (shared, epochs) = counted(&data, &mut teachers);
        assert_eq!(epochs, 0);
        for (a, b) in alone.seeds.iter().zip(&shared.seeds) {
            assert_eq!((&a.curve, a.test), (&b.curve, b.test), "{learner:?}");
        }
        assert_eq!(alone.exhibit, shared.exhibit, "{learner:?}");
        assert_eq!(counted(&other, &mut teachers).1, 24, "a teacher of other data");
        curves.push(alone.seeds[0].curve.clone());
    }
    assert_ne!(curves[0], curves[1], "a teacher trained on parts of the graph is another one");
}

/// Everything that an observer is told.
#[derive(Default)]
struct Listening(Mutex<Vec<String>>);

impl Observer for Listening {
    fn tick(&self, tick: &Tick) {
        self.0.lock().unwrap().push(format!("{tick:?}"));
    }

    fn seed(&self, done: &SeedDone) {
        self.0.lock().unwrap().push(format!("{done:?}"));
    }
}

#[test]
fn observers_hear_of_every_stage_and_of_no_test_number() {
    let data = citations(7);
    let layers = layers("dgg-teacher", &["teacher.distil=true"]);
    let listening = Listening::default();
    let outcome = common::run_in::<Node>(&data, &layers, &[3], 1, &listening, None).unwrap();
    let seed = &outcome.record.seeds[0];
    let heard = listening.0.into_inner().unwrap();
    for stage in ["Teacher", "Distillation", "Training"] {
        assert!(heard.iter().any(|line| line.contains(&format!("stage: {stage}"))), "{stage}");
    }
    let done = heard.last().unwrap();
    let valid = format!("valid: \"{:.1} %\"", 100.0 * seed.valid.accuracy);
    assert!(done.contains(&valid) && done.contains("best_epoch"), "{done}");
    let test = format!("{:.1} %", 100.0 * seed.test.accuracy);
    let valid: Vec<String> =
        seed.curve.iter().map(|e| format!("{:.1} %", 100.0 * e.valid.accuracy)).collect();
    assert!(!valid.contains(&test), "the number must be one that validation does not have: {test}");
    let trained = |line: &&String| !line.contains("stage: Teacher");
    let found = heard.iter().filter(trained).find(|line| line.contains(&test));
    assert!(found.is_none(), "{test} in {found:?}");
}

#[test]
fn a_graph_without_node_names_can_be_reported() {
    let mut data = citations(1);
    data.dataset.node_ids.clear();
    let runs = ["none", "dgg"].map(|learner| run(&data, learner, 2));
    assert_eq!(runs[0].exhibit.as_ref().unwrap().node_ids[7], "7");
    assert!(report::render(&runs).unwrap().contains("</html>"));
}

#[test]
fn seeds_side_by_side_give_the_same_as_one_after_the_other() {
    let data = citations(2);
    for learner in ["none", "dropedge", "dgm", "dgg", "dgg-star", "dgg+consistency"] {
        let [one, two] = [1, 2].map(|threads| run(&data, learner, threads));
        for (a, b) in one.seeds.iter().zip(&two.seeds) {
            assert_eq!(a.curve, b.curve, "{learner}");
            assert_eq!((a.seed, a.valid, a.test), (b.seed, b.valid, b.test), "{learner}");
        }
        assert_eq!(one.exhibit, two.exhibit, "{learner}");
    }
}

#[test]
fn a_hard_graph_is_trained_with_rewards() {
    let data = citations(4);
    // Without the REINFORCE loss the learner gets no gradient and stays as it was.
    let [with, without] = ["train.reinforce=1", "train.reinforce=0"].map(|reinforce| {
        let layers = layers("dgm", &["train.epochs=60", reinforce]);
        let record = common::run::<Node>(&data, &layers, &SEEDS, 2).record;
        assert_eq!(record.exhibit.unwrap().learned_indices.len(), 5 * 200);
        let last = |seed: &SeedRecord<Node>| seed.curve[59].train.unwrap();
        record.seeds.iter().map(last).sum::<f64>() / 2.0
    });
    assert!(with > 0.6 && with > without + 0.1, "{with} with rewards, {without} without");
}
