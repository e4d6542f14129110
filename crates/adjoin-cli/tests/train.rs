//! Training from the command line: results, refusals, and stopping.

mod common;

use common::{adjoin, fail, graph, run, stderr, succeed, train};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// All files below a folder with their bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            for (below, bytes) in contents(&entry.path()) {
                all.insert(format!("{name}/{below}"), bytes);
            }
        } else {
            all.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    all
}

#[test]
fn json_has_the_promised_shape_and_the_folder_the_promised_files() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = graph(folder.path(), 0);
    let json: Value = serde_json::from_str(&train(folder.path(), &dataset, "dgg", "one")).unwrap();
    let expected = [
        "task",
        "dataset",
        "split",
        "backbone",
        "learner",
        "metric",
        "runs",
        "test",
        "ms_per_step",
        "peak_rss_bytes",
        "out",
    ];
    let sorted = |mut names: Vec<&str>| {
        names.sort_unstable();
        names.join(" ")
    };
    assert_eq!(sorted(keys(&json)), sorted(expected.to_vec()));
    let run_keys = ["seed", "valid", "test", "best_epoch", "epochs", "seconds"];
    assert_eq!(sorted(keys(&json["runs"][0])), sorted(run_keys.to_vec()));
    assert_eq!(sorted(keys(&json["test"])), sorted(vec!["mean", "std", "n"]));
    assert_eq!((&json["task"], &json["learner"]), (&"node".into(), &"dgg".into()));
    assert_eq!((json["test"]["n"].as_u64(), &json["out"]), (Some(2), &"one".into()));
    assert_eq!(json["runs"][1]["seed"], 1);

    let files = contents(&folder.path().join("one"));
    let named = |name: &str| files.contains_key(name);
    for name in ["run.json", "config.toml", "record.json", "metrics.jsonl", "report.html"] {
        assert!(named(name), "{name} in {:?}", files.keys());
    }
    assert!(named("seed-0.safetensors") && named("seed-1.safetensors"));
    assert!(files.keys().any(|name| name.starts_with("events.out.tfevents.")));
    let metrics = String::from_utf8(files["metrics.jsonl"].clone()).unwrap();
    assert_eq!(metrics.lines().count(), 12);
    let line: Value = serde_json::from_str(metrics.lines().next_back().unwrap()).unwrap();
    assert_eq!((&line["seed"], &line["epoch"]), (&1.into(), &6.into()));
    assert!(line["loss"].is_f64() && line["mean_degree"].is_f64(), "{line}");
    let config = String::from_utf8(files["config.toml"].clone()).unwrap();
    assert!(config.contains("epochs = 6") && config.contains("[learner.dgg"), "{config}");
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(!left.iter().any(|n| n.to_string_lossy().contains("partial")), "{left:?}");
}

#[test]
fn several_learners_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = graph(folder.path(), 0);
    let arguments = [
        "train",
        "--dataset",
        dataset.to_str().unwrap(),
        "--learner",
        "none,dropedge",
        "--seeds",
        "3",
        "--first-seed",
        "5",
        "--set",
        "train.epochs=4",
        "--backbone",
        "sage",
        "--threads",
        "2",
    ];
    let output = run(folder.path(), &arguments);
    let (text, log) = (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output));
    assert!(output.status.success(), "{log}");
    for part in ["none", "dropedge", "±", "difference", "runs/ring0-sage-none_dropedge/report.html"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(log.contains("dropedge seed 7"), "{log}");
    assert!(!text.contains('\x1b') && !log.contains('\x1b'), "colour is for terminals");
    let page = fs::read_to_string(folder.path().join("runs/ring0-sage-none_dropedge/report.html"));
    assert!(page.unwrap().contains("dropedge"));
    // Whatever the order, others are compared with the graph as it is.
    let words: Vec<&str> = arguments
        .iter()
        .map(|word| if *word == "none,dropedge" { "dropedge,none" } else { word })
        .chain(["--out", "turned", "--quiet"])
        .collect();
    assert!(succeed(folder.path(), &words).contains("minus that of none"));
    // The next run of the same kind gets its own folder.
    let again = succeed(folder.path(), &arguments);
    assert!(again.contains("runs/ring0-sage-none_dropedge-2/report.html"), "{again}");
    let json = succeed(folder.path(), &[&arguments[..], &["--json", "-q"][..]].concat());
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap().as_array().unwrap().len(), 2);
}

#[test]
fn results_are_left_alone_unless_overwriting_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = graph(folder.path(), 0);
    train(folder.path(), &dataset, "none", "out");
    let before = contents(&folder.path().join("out"));
    let arguments = [
        "train",
        "--dataset",
        dataset.to_str().unwrap(),
        "--learner",
        "none",
        "--seeds",
        "1",
        "--set",
        "train.epochs=2",
        "--out",
        "out",
    ];
    let error = fail(folder.path(), &arguments, 1);
    assert!(error.contains("holds results") && error.contains("--overwrite"), "{error}");
    assert_eq!(contents(&folder.path().join("out")), before);
    succeed(folder.path(), &[&arguments[..], &["--overwrite"][..]].concat());
    assert_ne!(contents(&folder.path().join("out")), before);
    // What somebody put beside the results stays.
    fs::write(folder.path().join("out/notes.txt"), "mine").unwrap();
    let error = fail(folder.path(), &[&arguments[..], &["--overwrite"][..]].concat(), 1);
    assert!(error.contains("notes.txt"), "{error}");
    assert!(folder.path().join("out/notes.txt").exists());
    // A folder with other things in it is never replaced.
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/thesis.txt"), "years").unwrap();
    let mut arguments = arguments;
    arguments[arguments.len() - 1] = "mine";
    let error = fail(folder.path(), &[&arguments[..], &["--overwrite"][..]].concat(), 1);
    assert!(error.contains("no run"), "{error}");
    assert!(folder.path().join("mine/thesis.txt").exists());
}

#[test]
fn test_labels_do_not_reach_training() {
    let folder = tempfile::tempdir().unwrap();
    let metrics = |turn: usize| {
        let out = format!("turn{turn}");
        let json = train(folder.path(), &graph(folder.path(), turn), "dgg", &out);
        let json: Value = serde_json::from_str(&json).unwrap();
        let lines = fs::read_to_string(folder.path().join(out).join("metrics.jsonl")).unwrap();
        (lines, json["test"]["mean"].as_f64().unwrap())
    };
    let (right, wrong) = (metrics(0), metrics(1));
    assert_eq!(right.0, wrong.0);
    assert_ne!(right.1, wrong.1, "the test number does see them");
}

#[test]
fn wrong_words_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let error = fail(place, &["train", "--set", "train.epoch=3"], 2);
    assert!(error.contains("did you mean `epochs`"), "{error}");
    let error = fail(place, &["train", "--learner", "magic"], 2);
    assert!(error.contains("magic") && error.contains("dgg"), "{error}");
    let error = fail(place, &["train", "--task", "poems"], 2);
    assert!(error.contains("poems") && error.contains("points"), "{error}");
    let error = fail(place, &["train", "--split", "ratio:0.9/0.9/0.9"], 2);
    assert!(error.contains("ratio"), "{error}");
    let error = fail(place, &["train", "--set", "train.epochs=0"], 2);
    assert!(error.contains("at least 1"), "{error}");
    fail(place, &["train", "--seeds", "0"], 2);
    fail(place, &["train", "--resume", "x", "--seeds", "3"], 2);
    let error = fail(place, &["train", "--config", "nowhere.toml"], 1);
    assert!(error.contains("nowhere.toml"), "{error}");
    let error = fail(place, &["train", "--resume", "nowhere"], 1);
    assert!(error.contains("no folder of a run"), "{error}");
    let left = fs::read_dir(place.join("runs")).unwrap().count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[test]
fn missing_and_malformed_data_say_where() {
    let folder = tempfile::tempdir().unwrap();
    let error = fail(folder.path(), &["train", "--dataset", "pubmed", "--data-dir", "there"], 1);
    assert!(
        error.contains("there/pubmed") && error.contains("adjoin data fetch pubmed"),
        "{error}"
    );
    let error = fail(folder.path(), &["train", "--dataset", "coro"], 1);
    assert!(error.contains("cora"), "{error}");
    let dataset = graph(folder.path(), 0);
    let nodes = fs::read_to_string(dataset.join("nodes.csv")).unwrap();
    fs::write(dataset.join("nodes.csv"), nodes.replacen("1.000", "one", 1)).unwrap();
    let error = fail(folder.path(), &["train", "--dataset", dataset.to_str().unwrap()], 1);
    assert!(error.contains("nodes.csv, line 2"), "{error}");
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn an_output_that_cannot_be_made_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = graph(folder.path(), 0);
    fs::write(folder.path().join("file"), "x").unwrap();
    for out in ["file", "file/below", "/proc/adjoin/run"] {
        let arguments = ["train", "--dataset", dataset.to_str().unwrap(), "--out", out];
        let error = fail(folder.path(), &arguments, 1);
        assert!(error.contains(out.split('/').next_back().unwrap()), "{error}");
    }
}

#[test]
#[cfg(unix)]
fn a_run_that_is_interrupted_can_be_resumed() {
    let settings = ["learner.dgg.agreement=false", "train.from_guide=false"];
    interrupted(settings, "seed-0.safetensors");
}

#[test]
fn a_run_that_is_interrupted_while_its_guide_is_trained_can_be_resumed() {
    let settings = ["learner.dgg.agreement=true", "train.from_guide=true"];
    interrupted(settings, "guide/seed-0.safetensors");
}

fn interrupted(settings: [&str; 2], checkpoint: &str) {
    let folder = tempfile::tempdir().unwrap();
    let dataset = graph(folder.path(), 0);
    let mut child = adjoin(folder.path())
        .args(["train", "--dataset", dataset.to_str().unwrap(), "--learner", "dgg", "--seeds", "2"])
        .args(["--set", "train.epochs=10000000", "--set", "train.patience=0", "--out", "long"])
        .args(["--set", settings[0], "--set", settings[1]])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let started = log.by_ref().any(|line| line.unwrap().contains("into long.partial"));
    assert!(started);
    std::thread::sleep(Duration::from_secs(2));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let rest: Vec<String> = log.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest:?}");
    let rest = rest.join("\n");
    assert!(rest.contains("adjoin train --resume long.partial"), "{rest}");
    let work = folder.path().join("long.partial");
    assert!(!folder.path().join("long").exists());
    assert!(work.join(checkpoint).exists());
    assert!(!work.join("record.json").exists());

    // The same name again is refused, and what is there stays.
    let arguments = ["train", "--dataset", dataset.to_str().unwrap(), "--out", "long"];
    let error = fail(folder.path(), &arguments, 1);
    assert!(error.contains("unfinished"), "{error}");
    // Another configuration cannot go on from these checkpoints.
    let config = fs::read_to_string(work.join("config.toml")).unwrap();
    let write = |text: String| fs::write(work.join("config.toml"), text).unwrap();
    write(config.replace("\nrate = 0.01", "\nrate = 0.02"));
    let error = fail(folder.path(), &["train", "--resume", "long"], 1);
    assert!(error.contains("another configuration"), "{error}");
    // A process that was killed while saving leaves this; it must not end up among the results.
    fs::write(work.join("seed-0.safetensors.tmp-1"), "half").unwrap();
    // Fewer epochs than are done: nothing is left to do but to write the results.
    write(config.replace("epochs = 10000000", "epochs = 1"));
    let json = succeed(folder.path(), &["train", "--resume", "long", "--json", "--quiet"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["out"], "long");
    assert!(json["runs"][0]["epochs"].as_u64().unwrap() >= 1, "{json}");
    assert!(folder.path().join("long/record.json").exists());
    assert!(!folder.path().join("long/seed-0.safetensors.tmp-1").exists());
    assert!(!work.exists());
}

#[test]
fn other_data_is_matched_by_name_and_needs_no_labels() {
    let folder = tempfile::tempdir().unwrap();
    let ring = graph(folder.path(), 0);
    train(folder.path(), &ring, "dgg", "run");
    let own = succeed(folder.path(), &["predict", "run"]);
    // The same nodes, with columns in another order and no labels.
    let nodes = fs::read_to_string(ring.join("nodes.csv")).unwrap();
    let turned = nodes.lines().map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let label = if cells[1] == "label" { "label" } else { "" };
        [cells[0], label, cells[6], cells[5], cells[4], cells[3]].join(",") + "\n"
    });
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("nodes.csv"), turned.collect::<String>()).unwrap();
    fs::copy(ring.join("edges.csv"), other.join("edges.csv")).unwrap();
    let other = other.to_str().unwrap();
    assert_eq!(succeed(folder.path(), &["predict", "run", "--dataset", other]), own);
    let error = fail(folder.path(), &["evaluate", "run", "--dataset", other], 2);
    assert!(error.contains("no labelled nodes to test with"), "{error}");
    // With labels and without a split, all of them count.
    let cells = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
    let whole = nodes.lines().map(|line| {
        let mut cells = cells(line);
        cells.remove(2);
        cells.join(",") + "\n"
    });
    fs::write(Path::new(other).join("nodes.csv"), whole.collect::<String>()).unwrap();
    let words = ["evaluate", "run", "--dataset", other, "--json"];
    let json: Value = serde_json::from_str(&succeed(folder.path(), &words)).unwrap();
    assert_eq!((&json["split"], &json["runs"][0]["valid"]), (&"all".into(), &Value::Null));
    let first = succeed(folder.path(), &["predict", "run", "--seed", "0"]);
    let right = first.lines().skip(1).zip(nodes.lines().skip(1));
    let right = right.filter(|(found, node)| cells(found)[1] == cells(node)[1]).count();
    assert_eq!(json["runs"][0]["test"].as_f64().unwrap(), right as f64 / 60.0);
    let error = fail(folder.path(), &["predict", "run", "--dataset", "cora"], 2);
    assert!(error.contains("cora: has the class"), "{error}");
}

/// Nodes that were trained with are never tested with.
#[test]
fn a_split_that_has_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ring = graph(folder.path(), 0);
    train(folder.path(), &ring, "none", "run");
    let path = ring.join("nodes.csv");
    let swapped = fs::read_to_string(&path).unwrap().replace(",train,", ",new,");
    let swapped = swapped.replace(",test,", ",train,").replace(",new,", ",test,");
    fs::write(&path, swapped).unwrap();
    let error = fail(folder.path(), &["evaluate", "run"], 1);
    assert!(error.contains("the split has changed"), "{error}");
}

#[test]
fn edges_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let ring = graph(folder.path(), 0);
    let data = ["--no-graph", "--dataset", ring.to_str().unwrap(), "--learner", "none,knn,dgm,dgg"];
    let short = ["--seeds", "1", "--set", "train.epochs=3", "--out", "run", "--quiet"];
    let words = [&["train"], &data[..], &short].concat();
    assert!(succeed(folder.path(), &words).contains("ring0-no-graph"));
    // The run remembers that there are none.
    let again = succeed(folder.path(), &["evaluate", "run/dgg"]);
    assert!(again.contains("ring0-no-graph"), "{again}");
}
