//! Training on point clouds from the command line: results, refusals, and the files of a run.

mod common;

use common::{fail, json, json_file, run, stderr, succeed};
use serde_json::Value;
use std::{fs, path::Path};

/// A few epochs on a few generated shapes.
const SHORT: [&str; 11] = [
    "train",
    "--task",
    "points",
    "--subset",
    "4",
    "--set",
    "train.epochs=2",
    "--set",
    "points=64",
    "--set",
    "network.k=8",
];

fn short(folder: &Path, more: &[&str]) -> String {
    succeed(folder, &[&SHORT[..], &["--quiet"], more].concat())
}

#[test]
fn json_has_the_promised_fields_and_the_folder_the_promised_files() {
    let folder = tempfile::tempdir().unwrap();
    let json =
        short(folder.path(), &["--seeds", "2", "--learner", "dgg", "--json", "--out", "one"]);
    let json = &self::json(&json)["runs"][0];
    let words = ["task", "dataset", "backbone", "learner", "metric", "out"].map(|key| &json[key]);
    assert_eq!(words, ["points", "shapes", "dgcnn", "dgg", "accuracy", "one"]);
    assert!(json["split"].as_str().unwrap().contains("subset"), "{json}");
    assert!(json["ms_per_step"].as_f64().unwrap() > 0.0);
    assert!(json["peak_rss_bytes"].as_u64().unwrap() > 0);
    assert_eq!(json["test"]["accuracy"]["n"], 2);
    let seeds = json["seeds"].as_array().unwrap();
    assert_eq!(seeds.len(), 2);
    for seed in seeds {
        assert_eq!(seed["epochs"], 2);
        for key in ["accuracy", "mean_class"] {
            assert!((0.0..=1.0).contains(&seed["test"][key].as_f64().unwrap()), "{seed}");
        }
    }
    let file = |name: &str| fs::read(folder.path().join("one").join(name)).unwrap();
    let text = |name: &str| String::from_utf8(file(name)).unwrap();
    assert!(text("config.toml").contains("points = 64"));
    let record = self::json(&text("record.json"));
    let lines: Vec<Value> = text("metrics.jsonl").lines().map(self::json).collect();
    assert_eq!(lines.len(), 4);
    assert!(record["config_toml"].as_str().unwrap().contains("widths"));
    for line in &lines {
        let degrees = line["degrees"].as_array().unwrap();
        assert_eq!(degrees.len(), 3);
        assert!(degrees.iter().all(|layer| layer["mean"].as_f64().unwrap() > 1.0), "{line}");
    }
    assert_eq!(record["exhibit"]["layers"].as_array().unwrap().len(), 3);
    let clouds = record["exhibit"]["clouds"].as_array().unwrap();
    assert_eq!(clouds.len(), 8);
    for cloud in clouds {
        assert_eq!(cloud["points"].as_array().unwrap().len(), 64);
        assert_eq!(cloud["degrees"][2].as_array().unwrap().len(), 64);
    }
    let weights = String::from_utf8_lossy(&file("seed-0.safetensors")).into_owned();
    for name in ["best.learners.0.", "best.network.embedding.weight", "running_variance"] {
        assert!(weights.contains(name), "{name}");
    }
    assert!(!folder.path().join("one.partial").exists());
    let refused = fail(folder.path(), &["train", "--resume", "one"], 1);
    assert!(refused.contains("is complete"), "{refused}");
}

#[test]
fn learners_are_compared_and_their_neighbours_shown() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--seeds", "1", "--learner", "knn,dgm", "--backbone", "resgcn", "--out", "two"];
    let text = short(folder.path(), &more);
    for word in ["knn", "dgm", "resgcn", "neighbours", "layer 7", "8.0 ± 0.0", "20.0 ± 0.0"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    for learner in ["knn", "dgm"] {
        assert!(folder.path().join("two").join(learner).join("record.json").is_file());
    }
}

#[test]
fn a_run_is_evaluated_predicted_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    short(path, &["--seeds", "2", "--learner", "knn,dgg", "--out", "run"]);
    let record = json_file(&path.join("run/dgg/record.json"));
    let json = json(&succeed(path, &["evaluate", "run/dgg", "--json"]));
    assert_eq!((&json["task"], &json["learner"]), (&"points".into(), &"dgg".into()));
    for (at, run) in json["runs"].as_array().unwrap().iter().enumerate() {
        for part in ["valid", "test"] {
            assert_eq!(run[part], record["seeds"][at][part], "the same weights and clouds");
        }
    }
    assert!(succeed(path, &["evaluate", "run/knn"]).contains("mean over classes"));
    // All test clouds of the shapes, not those of the subset alone.
    let all = succeed(path, &["predict", "run/dgg", "--dataset", "shapes"]);
    let few = succeed(path, &["predict", "run/dgg", "--seed", "1"]);
    assert!(all.lines().count() > few.lines().count());
    let mut lines = few.lines();
    assert_eq!(lines.next(), Some("cloud,class,predicted,probability"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 12);
    let right = rows.iter().filter(|row| row[1] == row[2]).count();
    let test = record["seeds"][1]["test"]["accuracy"].as_f64().unwrap();
    assert!((right as f64 / 12.0 - test).abs() < 1e-9, "{right} {test}");
    assert!(rows.iter().all(|row| (0.08..=1.0).contains(&row[3].parse::<f64>().unwrap())));
    succeed(path, &["report", "run", "--out", "page.html"]);
    let page = fs::read_to_string(path.join("page.html")).unwrap();
    for word in ["DGCNN with DGG", "DGCNN with kNN", "by-layer", "Mean over classes"] {
        assert!(page.contains(word), "{word}");
    }
    assert!(fail(path, &["evaluate", "run"], 1).contains("several runs"));
    assert!(fail(path, &["predict", "run/dgg", "--samples", "3"], 2).contains("trajectories"));
    assert!(fail(path, &["predict", "run/dgg", "--probabilities"], 2).contains("for nodes"));
    assert!(fail(path, &["graph", "run/dgg", "--format", "csv"], 1).contains("--task points"));
    // Damaged test clouds of the same subset: as many clouds as were tested with, and more points.
    let damage = ["data", "corrupt", "shapes", "bad", "--kind", "add-global", "--level", "5"];
    succeed(path, &[&damage[..], &["--subset", "3", "--points", "64"]].concat());
    let info = succeed(path, &["data", "info", "./bad"]);
    assert!(info.contains("add-global:5:0") && info.contains("114"), "{info}");
    let bad = ["evaluate", "run/dgg", "--dataset", "./bad", "--json"];
    let bad = self::json(&succeed(path, &bad));
    assert_eq!(bad["dataset"], "bad");
    assert!(bad["runs"][0]["test"]["accuracy"].as_f64().is_some());
    let none = fail(path, &["train", "--task", "points", "--dataset", "./bad"], 2);
    assert!(none.contains("clouds to train with"), "{none}");
    assert!(fail(path, &damage, 1).contains("exists"));
    fail(path, &[&damage[..7], &["9"]].concat(), 2);
    let tables = path.join("other").join("table");
    fs::create_dir_all(&tables).unwrap();
    for name in 0..10 {
        let text = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n";
        fs::write(tables.join(format!("{name}.xyz")), text).unwrap();
    }
    let other = fail(path, &["evaluate", "run/dgg", "--dataset", "./other"], 2);
    assert!(other.contains("table") && other.contains("trained for"), "{other}");
}

#[test]
fn progress_tells_validation_alone() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--seeds", "2", "--learner", "dgg", "--threads", "1", "--out", "run"];
    let output = run(folder.path(), &[&SHORT[..], &words].concat());
    let log = stderr(&output);
    assert!(output.status.success(), "{log}");
    // What is trained, where it goes, and a line for every seed.
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 4, "{log}");
    let record = json_file(&folder.path().join("run/record.json"));
    for (line, seed) in lines[2..].iter().zip(record["seeds"].as_array().unwrap()) {
        let valid = 100.0 * seed["valid"]["accuracy"].as_f64().unwrap();
        let (number, best) = (&seed["seed"], &seed["best_epoch"]);
        let expected =
            format!("dgg seed {number}: validation {valid:.1} %, best epoch {best} of 2, ");
        let time = line.strip_prefix(&expected).and_then(|rest| rest.strip_suffix(" s"));
        assert!(time.is_some_and(|time| time.parse::<f64>().is_ok()), "{line}: {expected}");
    }
}

#[test]
fn wrong_words_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused_with = |code: i32, words: &[&str]| {
        let mut all = vec!["train", "--task", "points"];
        all.extend(words);
        fail(folder.path(), &all, code)
    };
    let refused = |words: &[&str]| refused_with(2, words);
    assert!(refused_with(1, &["--dataset", "shape"]).contains("shapes"));
    assert!(refused(&["--learner", "none"]).contains("knn"));
    assert!(refused(&["--backbone", "gcn"]).contains("dgcnn"));
    assert!(refused(&["--split", "public"]).contains("--split"));
    assert!(refused_with(1, &["--subset", "0"]).contains("train"));
    assert!(refused(&["--set", "train.epoch=1"]).contains("did you mean"));
    let other = fail(folder.path(), &["train", "--subset", "3"], 2);
    assert!(other.contains("--task points"), "{other}");
}
