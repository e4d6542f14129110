//! A small graph, and the command run on it.
#![allow(dead_code)] // every file of tests uses a part

use serde_json::Value;
use std::{
    fmt::Write,
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

/// The built command, without the data and the caches of whoever runs the tests.
pub fn adjoin(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adjoin"));
    command.current_dir(folder).env_remove("ADJOIN_DATA");
    command.env("XDG_CACHE_HOME", folder.join("cache")).env("HOME", folder);
    command
}

/// The folder that `ADJOIN_DATA` names.
pub fn public_data() -> PathBuf {
    let set = std::env::var_os("ADJOIN_DATA").filter(|value| !value.is_empty());
    let path = PathBuf::from(set.expect("set ADJOIN_DATA to the folder of the public datasets"));
    // Cargo runs tests in the crate's folder, but a relative path was meant from the workspace's.
    match path.is_relative() && !path.exists() {
        true => Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path),
        false => path.canonicalize().unwrap(),
    }
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
pub fn train(folder: &Path, dataset: &Path, learner: &str, out: &str) -> Value {
    let data = ["train", "--dataset", dataset.to_str().unwrap(), "--learner", learner];
    let short = ["--seeds", "2", "--set", "train.epochs=6", "--out", out, "--quiet", "--json"];
    json(&succeed(folder, &[&data[..], &short].concat()))
}

/// Output as JSON.
pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// A file as JSON.
pub fn json_file(path: &Path) -> Value {
    json(&fs::read_to_string(path).unwrap())
}

/// The keys of an object, in order.
pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Names that the plain text of an option's help holds, up to the next option.
pub fn words_between(text: &str, from: &str, to: &str) -> Vec<String> {
    let part = text.split(from).nth(1).unwrap().split(to).next().unwrap();
    let name = |c: char| c.is_alphanumeric() || "-_".contains(c);
    part.split(|c| !name(c)).map(String::from).collect()
}

/// Starts training and stops it with Ctrl-C after some time; gives the exit code and what it said.
#[cfg(unix)]
pub fn interrupt(folder: &Path, words: &[&str], after: Duration) -> (Option<i32>, String) {
    let mut child =
        adjoin(folder).args(words).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains(".partial") {
        assert!(log.read_line(&mut said).unwrap() > 0, "{said}");
    }
    std::thread::sleep(after);
    let stopped = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    log.read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

/// The same, some time after which there is something to resume; `out` is where the run was to go.
#[cfg(unix)]
pub fn interrupt_under_way(folder: &Path, words: &[&str], out: &str) -> String {
    let words = [words, &["--out", out]].concat();
    for milliseconds in [400, 800, 1600, 3200, 6400, 12800] {
        let (code, said) = interrupt(folder, &words, Duration::from_millis(milliseconds));
        if said.contains("adjoin train --resume") {
            assert_eq!(code, Some(1), "{said}");
            assert!(!folder.join(out).exists() && said.contains("stopped at epoch"), "{said}");
            return said;
        }
        // Nothing was saved yet, so nothing was left.
        assert!(!folder.join(out).exists(), "too short to be stopped: {said}");
        assert!(!folder.join(format!("{out}.partial")).exists(), "{said}");
    }
    panic!("nothing was trained in seconds");
}
