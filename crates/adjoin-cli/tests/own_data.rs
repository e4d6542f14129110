//! A table of one's own: scaled, split and completed by default, and the same for new data.

mod common;

use common::{fail, json, json_file, run, stderr, succeed};
use std::{fmt::Write, fs, path::Path};

/// Forty nodes of two classes; the size tells them apart, in millimetres. No edges.
fn table(folder: &Path, name: &str, change: impl Fn(usize, String) -> String) {
    let mut nodes = String::from("id,label,size,colour,on\n");
    for node in 0..40 {
        let label = ["small", "large"][node % 2];
        let size = 5000 + 100 * (node % 2) + node * 7 % 11;
        let colour = ["red", "blue", ""][node % 3];
        let row = format!("n{node},{label},{size},{colour},{}", node % 4 / 2);
        writeln!(nodes, "{}", change(node, row)).unwrap();
    }
    fs::create_dir_all(folder.join(name)).unwrap();
    fs::write(folder.join(name).join("nodes.csv"), nodes).unwrap();
}

const TRAIN: [&str; 9] = [
    "train",
    "--no-graph",
    "--learner",
    "none",
    "--seeds",
    "1",
    "--set",
    "train.epochs=150",
    "--dataset",
];

#[test]
fn a_table_needs_no_edges_no_split_and_no_settings() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    table(place, "mine", |_, row| row);
    let output = run(place, &[&TRAIN[..], &["./mine", "--out", "out"]].concat());
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    for part in [
        "split stratified:0.6/0.2/0.2:0 (24 / 8 / 8; made here, the data has none)",
        "features: 1 of 4 standardised (training nodes)",
    ] {
        assert!(said.contains(part), "`{part}` is not in {said}");
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("steps") && text.contains("(majority class)"), "{text}");
    let record = json_file(&place.join("out/record.json"));
    assert_eq!(record["seeds"][0]["test"]["accuracy"], 1.0);
    assert!(record["seeds"][0]["steps"].as_u64().unwrap() >= 100);
    // Without edges.csv the edges must be given up in so many words.
    assert!(fail(place, &["train", "--dataset", "./mine"], 1).contains("edges.csv"));

    // New nodes are scaled with the numbers of the run: a table of large ones alone stays large.
    table(place, "new", |node, _| format!("m{node},,{},green,1", 5105 + node % 3));
    let new = succeed(place, &["predict", "out", "--dataset", "./new"]);
    assert!(new.lines().skip(1).all(|line| line.split(',').nth(1) == Some("large")), "{new}");
}

#[test]
fn missing_values_are_refused_with_their_place_or_imputed() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let holes = |node: usize, row: String| match node {
        3 => "n3,large,,red,1".into(),
        _ => row,
    };
    table(place, "holes", holes);
    let error = fail(place, &[&TRAIN[..], &["./holes", "--out", "out"]].concat(), 2);
    assert!(error.contains("nodes.csv, line 5, field `size`"), "{error}");
    assert!(error.contains("features.missing=impute"), "{error}");
    assert!(!place.join("out").exists() && !place.join("out.partial").exists());
    let impute = ["./holes", "--set", "features.missing=impute", "--out", "out", "--json"];
    let found = json(&succeed(place, &[&TRAIN[..], &impute].concat()));
    let done = found["runs"][0]["preparation"].as_str().unwrap().to_string();
    assert!(done.contains("missing values in 1"), "{done}");
    assert_eq!(found["warnings"].as_array().unwrap().len(), 0);
    succeed(place, &["predict", "out", "--dataset", "./holes"]);
}

/// A best epoch that could have been beaten by the next ones is spoken of.
#[test]
fn training_that_was_cut_short_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    table(place, "mine", |_, row| row);
    let short = ["./mine", "--set", "train.epochs=5", "--out", "out", "--quiet", "--json"];
    let found = json(&succeed(place, &[&TRAIN[..6], &["--dataset"], &short[..]].concat()));
    let warning = found["warnings"][0].as_str().unwrap();
    assert!(warning.contains("cut short in 1 of 1"), "{warning}");
}
