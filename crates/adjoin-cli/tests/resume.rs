//! Runs that are stopped, and resumed.
#![cfg(unix)]

mod common;

use common::{fail, graph, interrupt, interrupt_under_way, json, json_file, succeed};
use serde_json::Value;
use std::{fs, path::Path, time::Duration};

/// Stopped by Ctrl-C and resumed, a run gives the weights and numbers of one that was not.
fn resumes_bit_for_bit(folder: &Path, words: &[&str]) {
    let words = [&["train"], words].concat();
    succeed(folder, &[&words[..], &["--quiet", "--out", "whole"]].concat());
    let said = interrupt_under_way(folder, &words, "parts");
    assert!(said.contains("adjoin train --resume parts.partial"), "{said}");
    let error = fail(folder, &["report", "parts"], 1);
    assert!(error.contains("--resume"), "{error}");
    succeed(folder, &["train", "--resume", "parts.partial", "--quiet"]);
    assert!(!folder.join("parts.partial").exists());

    let read = |run: &str, name: &str| fs::read(folder.join(run).join(name)).unwrap();
    assert_eq!(read("whole", "metrics.jsonl"), read("parts", "metrics.jsonl"));
    assert_eq!(read("whole", "config.toml"), read("parts", "config.toml"));
    let record = |run: &str| -> Value {
        let mut record = json_file(&folder.join(run).join("record.json"));
        for key in ["ms_per_step", "peak_rss_bytes", "created", "command"] {
            assert!(!record[key].take().is_null(), "{key}");
        }
        for seed in record["seeds"].as_array_mut().unwrap() {
            assert!(!seed["seconds"].take().is_null());
        }
        record
    };
    assert_eq!(record("whole"), record("parts"));
    let [whole, parts] =
        ["whole", "parts"].map(|run| succeed(folder, &["predict", run, "--seed", "0"]));
    assert_eq!(whole, parts);
}

#[test]
fn an_interrupted_run_on_nodes_resumes_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let ring = graph(folder.path(), 0);
    let data = ["--dataset", ring.to_str().unwrap(), "--learner", "dgg", "--seeds", "2"];
    let long = ["--set", "train.epochs=2500", "--set", "train.patience=0"];
    // The learner joins late, and looks at an MLP that was distilled from a teacher.
    let late = ["--set", "train.learner_start=0.25", "--set", "teacher.distil=true"];
    resumes_bit_for_bit(folder.path(), &[&data[..], &long, &late].concat());
}

#[test]
fn an_interrupted_run_on_trajectories_resumes_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let task = ["--task", "trajectory", "--learner", "dgg", "--seeds", "1"];
    let long = ["--set", "train.epochs=60", "--set", "samples=3"];
    resumes_bit_for_bit(folder.path(), &[&task[..], &long].concat());
}

#[test]
fn an_interrupted_run_on_point_clouds_resumes_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let task = ["--task", "points", "--subset", "4", "--learner", "dgg", "--seeds", "1"];
    let long = ["--set", "train.epochs=60", "--set", "points=64", "--set", "network.k=8"];
    resumes_bit_for_bit(folder.path(), &[&task[..], &long].concat());
}

#[test]
fn a_run_that_is_interrupted_can_be_resumed() {
    let settings = ["learner.dgg.agreement=false", "teacher.resume=false"];
    interrupted("dgg-teacher", settings, "seed-0.safetensors");
}

#[test]
fn a_run_that_is_interrupted_while_graphs_are_compared_can_be_resumed() {
    let settings = ["learner.dgg.informed.choose=true", "learner.dgg.encoder.width=8"];
    interrupted("dgg", settings, "graph-learned/seed-0.safetensors");
}

#[test]
fn a_run_that_is_interrupted_while_its_teacher_is_trained_can_be_resumed() {
    let settings = ["learner.dgg.agreement=true", "teacher.resume=true"];
    interrupted("dgg-teacher", settings, "teacher/seed-0.safetensors");
}

fn interrupted(learner: &str, settings: [&str; 2], checkpoint: &str) {
    let folder = tempfile::tempdir().unwrap();
    let dataset = graph(folder.path(), 0);
    let data = ["train", "--dataset", dataset.to_str().unwrap()];
    let endless = ["--set", "train.epochs=10000000", "--set", "train.patience=0"];
    let more = ["--learner", learner, "--seeds", "2", "--set", settings[0], "--set", settings[1]];
    let said = interrupt_under_way(folder.path(), &[&data[..], &endless, &more].concat(), "long");
    assert!(said.contains("adjoin train --resume long.partial"), "{said}");
    let work = folder.path().join("long.partial");
    assert!(work.join(checkpoint).exists());
    assert!(!work.join("record.json").exists());

    // The same name again is refused, and what is there stays.
    let error = fail(folder.path(), &[&data[..], &["--out", "long"]].concat(), 1);
    assert!(error.contains("unfinished") && error.contains("--resume"), "{error}");
    // Another configuration cannot resume from these checkpoints.
    let config = fs::read_to_string(work.join("config.toml")).unwrap();
    let write = |text: String| fs::write(work.join("config.toml"), text).unwrap();
    let changed = config.replace("\nrate = 0.01", "\nrate = 0.02");
    assert_ne!(changed, config);
    write(changed);
    let error = fail(folder.path(), &["train", "--resume", "long"], 1);
    assert!(error.contains("another configuration"), "{error}");
    // A process that was killed while saving leaves this; it must not end up among the results.
    fs::write(work.join("seed-0.safetensors.tmp-1"), "half").unwrap();
    // Fewer epochs than are done: nothing is left to do but to write the results.
    let ended = config.replace("epochs = 10000000", "epochs = 1");
    assert_ne!(ended, config);
    write(ended);
    let resumed = succeed(folder.path(), &["train", "--resume", "long", "--json", "--quiet"]);
    let run = &json(&resumed)["runs"][0];
    assert_eq!(run["out"], "long");
    assert!(run["seeds"][0]["epochs"].as_u64().unwrap() >= 1, "{run}");
    assert!(folder.path().join("long/record.json").exists());
    assert!(!folder.path().join("long/seed-0.safetensors.tmp-1").exists());
    assert!(!work.exists());
}

/// Ctrl-C ends a long run soon, with an error and without leftovers when nothing was learned.
#[test]
fn an_interrupt_stops_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let task = ["train", "--task", "trajectory", "--learner", "kernel", "--seeds", "1"];
    let endless = ["--out", "long", "--set", "train.epochs=1000000"];
    let words = [&task[..], &endless].concat();
    let (code, said) = interrupt(folder.path(), &words, Duration::ZERO);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("stopped at epoch"), "{said}");
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left == 1, said.contains("--resume"), "{said}");
}

#[test]
fn a_run_that_was_killed_is_recognised_and_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let task = ["train", "--task", "points", "--subset", "4", "--learner", "dgg", "--seeds", "1"];
    let short = ["--set", "train.epochs=2", "--set", "points=64", "--out", "whole", "--quiet"];
    succeed(path, &[&task[..], &short].concat());
    // As if it had been killed before the end: all is there but the record.
    fs::rename(path.join("whole"), path.join("again.partial")).unwrap();
    fs::remove_file(path.join("again.partial/record.json")).unwrap();
    let refused = fail(path, &["evaluate", "again"], 1);
    assert!(refused.contains("--resume"), "{refused}");
    succeed(path, &["train", "--resume", "again", "--quiet"]);
    assert!(path.join("again/record.json").is_file());
    let refused = fail(path, &["train", "--resume", "again"], 1);
    assert!(refused.contains("is complete"), "{refused}");
}
