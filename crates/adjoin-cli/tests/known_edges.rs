//! Graphs of which something is known: planted neighbourhoods, injected edges, poisoned graphs.

mod common;

use common::{json, json_file, run, stderr, succeed};
use std::{fs, path::Path};

/// Trains on a dataset for a few epochs and gives the words of the summary.
fn trained(folder: &Path, dataset: &str, out: &str) -> String {
    let words = ["train", "--dataset", dataset, "--learner", "none,dgg", "--seeds", "2"];
    let short = ["--set", "train.epochs=6", "--quiet", "--out", out];
    succeed(folder, &[&words[..], &short].concat())
}

#[test]
fn a_plant_is_compared_with_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let make = ["data", "generate", "p.npz", "--format", "npz", "--planted", "--nodes", "300"];
    succeed(path, &[&make[..], &["--max-good", "10", "--max-bad", "10"]].concat());
    let summary = trained(path, "p.npz", "run");
    for word in ["AUC planted", "rank corr. k", "soft degree", "input degree", "none found"] {
        assert!(summary.contains(word), "{word}: {summary}");
    }
    // The given graph has one weight for all edges, and no k.
    let record = json_file(&path.join("run/none/record.json"));
    let plain = &record["seeds"][0]["test"]["edges"]["planted"];
    assert_eq!((plain["auc"].as_f64(), plain["k_correlation"].as_f64()), (Some(0.5), None));
    let record = json_file(&path.join("run/dgg/record.json"));
    assert!(record["seeds"][0]["valid"]["edges"].is_null(), "validation does not see the plant");
    let found = &record["seeds"][0]["test"]["edges"]["planted"];
    for key in ["auc", "k_correlation", "soft_correlation", "input_correlation"] {
        assert!(found[key].as_f64().is_some_and(|value| value.abs() <= 1.0), "{key}: {found}");
    }
    let again = succeed(path, &["evaluate", "run/dgg"]);
    assert!(again.contains("AUC planted"), "{again}");
    let again = json(&succeed(path, &["evaluate", "run/dgg", "--json"]));
    assert_eq!(&again["runs"][0]["test"]["edges"]["planted"], found);
    let page = fs::read_to_string(path.join("run/report.html")).unwrap();
    assert!(page.contains("size k against planted neighbours"));
    assert!(page.contains("class=\"dots\""));
}

#[test]
fn injected_edges_are_told_from_given_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let made = ["data", "generate", "made.npz", "--format", "npz", "--nodes", "300"];
    succeed(path, &[&made[..], &["--classes", "3", "--features", "60"]].concat());
    let wrong = ["data", "convert", "./made.npz", "wrong", "--format", "csv"];
    succeed(path, &[&wrong[..], &["--wrong-edges", "0.5"]].concat());
    let summary = trained(path, "./wrong", "run");
    assert!(summary.contains("AUC injected") && !summary.contains("AUC planted"), "{summary}");
    let page = fs::read_to_string(path.join("run/report.html")).unwrap();
    assert!(page.contains("Injected links dropped"));
    let clean = trained(path, "./made.npz", "clean");
    assert!(!clean.contains("AUC"), "{clean}");
}

#[test]
#[ignore = "needs ADJOIN_DATA"]
fn poisoned_graphs_train_on_their_own_split() {
    let data = std::env::var("ADJOIN_DATA").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let heading = "cora_metattack_0.25: 2485 nodes, 6246 edges, 1433 features, 7 classes; split public \
                   (247 / 249 / 1988)";
    let path = format!("{data}/poisoned/cora_metattack_0.25.npz");
    // By name below the data folder, and by path.
    for (at, name) in ["cora_metattack_0.25", &path].into_iter().enumerate() {
        let out = format!("run{at}");
        let words = ["train", "--dataset", name, "--data-dir", &data, "--learner", "none"];
        let short = ["--seeds", "1", "--set", "train.epochs=2", "--out", &out];
        let output = run(folder.path(), &[&words[..], &short].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains(heading), "{}", stderr(&output));
    }
}
