//! Several datasets in one command, and graphs with wrong edges.

mod common;

use common::{fail, graph, json, json_file, succeed};
use serde_json::Value;
use std::{fs, path::Path};

const SHORT: [&str; 5] = ["--seeds", "2", "--set", "train.epochs=6", "--quiet"];

/// Trains on the ring as it is and with half as many wrong edges.
fn trained(folder: &Path, out: &str, more: &[&str]) -> String {
    let ring = graph(folder, 0);
    let data = ["train", "--dataset", ring.to_str().unwrap(), "--wrong-edges", "0,0.5"];
    let rest = ["--learner", "none,dgg", "--out", out];
    succeed(folder, &[&data[..], &rest, &SHORT, more].concat())
}

#[test]
fn every_dataset_has_a_folder_and_one_page_shows_all() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let json = json(&trained(place, "both", &["--json"]));
    let runs = json["runs"].as_array().unwrap();
    let of = |key: &str| runs.iter().map(|run| run[key].as_str().unwrap()).collect::<Vec<_>>();
    let wrong = "ring0+wrong:0.5:0";
    assert_eq!(of("dataset"), ["ring0", "ring0", wrong, wrong]);
    let outs = ["both/ring0/none", "both/ring0/dgg", "both/ring0_wrong_0.5_0/none"];
    assert_eq!(of("out")[..3], outs);
    assert_ne!(runs[0]["fingerprint"], runs[2]["fingerprint"]);
    // Each is compared with the plain one on its own data.
    let differences = json["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 2);
    for (at, difference) in differences.iter().enumerate() {
        assert_eq!(difference["dataset"], runs[2 * at]["dataset"]);
        let mean = |run: &Value| run["test"]["accuracy"]["mean"].as_f64().unwrap();
        let expected = mean(&runs[2 * at + 1]) - mean(&runs[2 * at]);
        assert!((difference["difference"]["mean"].as_f64().unwrap() - expected).abs() < 1e-12);
    }
    for page in ["both", "both/ring0", "both/ring0_wrong_0.5_0", "both/ring0/dgg"] {
        assert!(place.join(page).join("report.html").is_file(), "{page}");
    }
    let page = fs::read_to_string(place.join("both/report.html")).unwrap();
    assert!(page.contains("ring0 with wrong edges 0.5") && page.contains("What validation chose"));
    assert_eq!(page.matches("<table class=\"cards compare\"").count(), 2);

    // The damage is found again; other data is taken as it is.
    let damaged = "both/ring0_wrong_0.5_0/dgg";
    let again = self::json(&succeed(place, &["evaluate", damaged, "--json"]));
    assert_eq!(again["runs"][0]["test"], runs[3]["seeds"][0]["test"]);
    assert_eq!(again["dataset"], wrong);
    let other = graph(place, 1);
    let other = ["evaluate", damaged, "--json", "--dataset", other.to_str().unwrap()];
    assert_eq!(self::json(&succeed(place, &other))["dataset"], "ring1");
    assert_eq!(succeed(place, &["predict", damaged]).lines().count(), 61);
    assert!(succeed(place, &["graph", damaged, "--format", "csv"]).lines().count() > 1);
    succeed(place, &["report", "both", "--out", "again.html"]);
    assert!(fs::read_to_string(place.join("again.html")).unwrap().contains("wrong edges 0.5"));
    let refused = fail(place, &["evaluate", "both"], 1);
    assert!(refused.contains("both/ring0/none") && refused.contains(damaged), "{refused}");

    // What is there is replaced when asked, and nothing else.
    let ring = graph(place, 0);
    let words =
        ["train", "--dataset", ring.to_str().unwrap(), "--learner", "none", "--out", "both"];
    let words = [&words[..], &SHORT].concat();
    fs::write(place.join("both/ring0/notes.txt"), "mine").unwrap();
    let refused = fail(place, &[&words[..], &["--overwrite"]].concat(), 1);
    assert!(refused.contains("notes.txt"), "{refused}");
    fs::remove_file(place.join("both/ring0/notes.txt")).unwrap();
    succeed(place, &[&words[..], &["--overwrite"]].concat());
    assert!(!place.join("both/ring0").exists() && place.join("both/record.json").is_file());
}

#[test]
fn the_record_holds_sizes_before_and_after_and_scores() {
    let folder = tempfile::tempdir().unwrap();
    // The learned graph is kept whatever validation says, and learns in every epoch.
    let learned = ["learner.dgg.informed.choose=false", "learner.dgg.informed.every=1"];
    trained(folder.path(), "both", &["--set", learned[0], "--set", learned[1]]);
    let record = json_file(&folder.path().join("both/ring0_wrong_0.5_0/dgg/record.json"));
    let graph = &record["exhibit"];
    let array = |key: &str| graph[key].as_array().unwrap();
    assert_eq!((array("degrees").len(), array("start_degrees").len()), (60, 60));
    assert_ne!(graph["degrees"], graph["start_degrees"], "training moves sizes");
    assert_eq!(graph["scores"]["input"].as_array().unwrap().len(), array("input_indices").len());
    assert!(array("injected").contains(&true.into()));
    let page = fs::read_to_string(folder.path().join("both/report.html")).unwrap();
    for part in ["Size k: what training changed", "Scores of the candidates", "Confusion matrix"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("bar injected"), "injected edges have a colour of their own");
}

#[test]
fn without_data_named_cora_is_shown_clean_and_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["train", "--learner", "none", "--seeds", "1", "--set", "train.epochs=2"];
    let datasets = |more: &[&str]| -> Vec<String> {
        let json = json(&succeed(folder.path(), &[&words[..], &["--json", "-q"], more].concat()));
        let runs = json["runs"].as_array().unwrap().iter();
        runs.map(|run| run["dataset"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(datasets(&[]), ["cora", "cora+wrong:0.5:0"]);
    assert_eq!(datasets(&["--dataset", "cora"]), ["cora"]);
    assert_eq!(datasets(&["--wrong-edges", "0.25:3"]), ["cora+wrong:0.25:3"]);
    assert!(folder.path().join("runs/cora_and_1_more-gcn-none/report.html").is_file());
    let text = succeed(folder.path(), &[&words[..], &["-q"]].concat());
    assert_eq!(text.matches("test results in %").count(), 2, "{text}");
    assert_eq!(text.matches("report: ").count(), 1, "{text}");
}

#[test]
fn datasets_of_one_name_have_folders_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let ring = graph(folder.path(), 0);
    let names = [ring.to_str().unwrap(); 3].join(",");
    let words = ["train", "--dataset", &names, "--learner", "none", "--out", "three", "--json"];
    let json = json(&succeed(folder.path(), &[&words[..], &SHORT].concat()));
    let runs = json["runs"].as_array().unwrap();
    let outs: Vec<&str> = runs.iter().map(|run| run["out"].as_str().unwrap()).collect();
    assert_eq!(outs, ["three/ring0", "three/ring0-2", "three/ring0-3"]);
}

#[test]
fn wrong_edges_are_refused_where_they_make_no_sense() {
    let folder = tempfile::tempdir().unwrap();
    for task in ["trajectory", "points"] {
        let words = ["train", "--task", task, "--wrong-edges", "0.5"];
        let refused = fail(folder.path(), &words, 2);
        assert!(refused.contains("--wrong-edges"), "{refused}");
    }
    for wrong in ["-1", "half", "0.5:x", "nan"] {
        fail(folder.path(), &["train", "--wrong-edges", wrong], 2);
    }
    fail(folder.path(), &["train", "--wrong-edges", "0.5", "--no-graph"], 2);
    fail(folder.path(), &["train", "--dataset", ","], 2);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was left behind");
}

#[cfg(unix)]
#[test]
fn several_datasets_resume_as_if_nothing_had_happened() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let ring = graph(place, 0);
    let data = ["train", "--dataset", ring.to_str().unwrap(), "--wrong-edges", "0,0.5"];
    let long = ["--learner", "dgg", "--seeds", "1", "--set", "train.epochs=1500"];
    let words = [&data[..], &long, &["--set", "train.patience=0"]].concat();
    succeed(place, &[&words[..], &["--quiet", "--out", "whole"]].concat());
    let said = common::interrupt_under_way(place, &words, "parts");
    assert!(said.contains("adjoin train --resume parts.partial"), "{said}");
    succeed(place, &["train", "--resume", "parts.partial", "--quiet"]);
    for part in ["ring0", "ring0_wrong_0.5_0"] {
        let read = |run: &str| fs::read(place.join(run).join(part).join("metrics.jsonl")).unwrap();
        assert_eq!(read("whole"), read("parts"), "{part}");
        let graph = |run: &str| {
            json_file(&place.join(run).join(part).join("record.json"))["exhibit"].take()
        };
        assert_eq!(graph("whole"), graph("parts"), "{part}");
    }
    assert!(place.join("parts/report.html").is_file() && !place.join("parts.partial").exists());
}
