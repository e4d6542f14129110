//! A small graph, and the command run on it.
#![allow(dead_code)]

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The built command, without the data and the caches of whoever runs the tests.
pub fn adjoin(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adjoin"));
    command.current_dir(folder).env_remove("ADJOIN_DATA");
    command.env("XDG_CACHE_HOME", folder.join("cache")).env("HOME", folder);
    command
}

/// Runs the command with arguments.
pub fn run(folder: &Path, arguments: &[&str]) -> Output {
    adjoin(folder).args(arguments).output().unwrap()
}

/// Runs the command and expects it to end well; gives its standard output.
pub fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the command and expects it to end with this code; gives its standard error.
pub fn fail(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = run(folder, arguments);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert!(text.contains("error:"), "{text}");
    text
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Sixty nodes of three classes, ring-like, with features that tell the classes apart a little.
/// `turn` moves the labels of the test nodes by that many places.
pub fn graph(folder: &Path, turn: usize) -> PathBuf {
    const NODES: usize = 60;
    let part = |node: usize| ["train", "valid", "test"][node / 3 % 3];
    let tests: Vec<usize> = (0..NODES).filter(|&node| part(node) == "test").collect();
    let class = |node: usize| {
        let at = tests.iter().position(|&test| test == node);
        at.map_or(node, |at| tests[(at + turn) % tests.len()]) % 3
    };
    let mut nodes = String::from("id,label,split,a,b,c,d\n");
    for node in 0..NODES {
        let noise = (node * 7919 % 31) as f64 / 31.0;
        let feature = |at: usize| if node % 3 == at { 1.0 } else { noise };
        let [a, b, c] = [0, 1, 2].map(feature);
        let label = ["red", "green", "blue"][class(node)];
        writeln!(nodes, "n{node},{label},{},{a:.3},{b:.3},{c:.3},1", part(node)).unwrap();
    }
    let mut edges = String::from("source,target\n");
    for node in 0..NODES {
        for step in [3, 6, 7] {
            writeln!(edges, "n{node},n{}", (node + step) % NODES).unwrap();
        }
    }
    let path = folder.join(format!("ring{turn}"));
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("nodes.csv"), nodes).unwrap();
    fs::write(path.join("edges.csv"), edges).unwrap();
    path
}

/// Trains two seeds for a few epochs on a graph of [`graph`].
pub fn train(folder: &Path, dataset: &Path, learner: &str, out: &str) -> String {
    let dataset = dataset.to_str().unwrap();
    succeed(
        folder,
        &[
            "train",
            "--dataset",
            dataset,
            "--learner",
            learner,
            "--seeds",
            "2",
            "--set",
            "train.epochs=6",
            "--out",
            out,
            "--quiet",
            "--json",
        ],
    )
}
