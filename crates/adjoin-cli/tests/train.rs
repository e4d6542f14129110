//! Training on nodes from the command line: results and refusals.

mod common;

use common::{fail, graph, json, keys, run, stderr, succeed, train};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};

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
    let json = train(folder.path(), &dataset, "dgg", "one");
    assert_eq!(keys(&json), ["created", "differences", "runs", "task", "version", "warnings"]);
    assert_eq!((&json["task"], &json["differences"]), (&"node".into(), &Value::Array(vec![])));
    let run = &json["runs"][0];
    let expected = [
        "backbone",
        "command",
        "config_toml",
        "created",
        "dataset",
        "fingerprint",
        "learner",
        "metric",
        "ms_per_step",
        "origins",
        "out",
        "peak_rss_bytes",
        "preparation",
        "references",
        "seeds",
        "split",
        "split_hash",
        "task",
        "test",
        "valid",
        "version",
    ];
    assert_eq!(keys(run), expected);
    let seed = &run["seeds"][1];
    // Six epochs are fewer than the patience.
    let of_seed = [
        "best_epoch",
        "choice",
        "cut_short",
        "epochs",
        "seconds",
        "seed",
        "steps",
        "test",
        "valid",
    ];
    assert_eq!(keys(seed), of_seed);
    // The learned graph, the given one and none.
    assert_eq!(seed["steps"], 18);
    assert_eq!(keys(&seed["choice"]), ["alternatives", "chosen"]);
    let graphs = seed["choice"]["alternatives"].as_array().unwrap().iter();
    assert!(graphs.map(|graph| &graph["graph"]).eq(["learned", "given", "none"]));
    for part in ["test", "valid"] {
        assert_eq!(keys(&seed[part]), ["accuracy", "loss"]);
        assert_eq!(keys(&run[part]), ["accuracy", "loss"]);
        assert_eq!(keys(&run[part]["accuracy"]), ["mean", "n", "std"]);
        let seeds = [0, 1].map(|at| run["seeds"][at][part]["accuracy"].as_f64().unwrap());
        let mean = run[part]["accuracy"]["mean"].as_f64().unwrap();
        assert!((mean - (seeds[0] + seeds[1]) / 2.0).abs() < 1e-12, "{part}");
    }
    let words = ["task", "dataset", "backbone", "learner", "metric", "out"].map(|key| &run[key]);
    assert_eq!(words, ["node", "ring0", "gcn", "dgg", "accuracy", "one"]);
    assert_eq!((&run["test"]["accuracy"]["n"], &seed["seed"]), (&2.into(), &1.into()));
    assert_eq!(run["origins"]["train.epochs"], "--set");

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
    assert!(line["loss"].is_f64() && line["degrees"][0]["mean"].is_f64(), "{line}");
    assert!(!metrics.contains("test"), "{metrics}");
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
    for part in ["none", "dropedge", "±", "minus none", "runs/ring0-sage-none_dropedge/report.html"]
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
    assert!(succeed(folder.path(), &words).contains("minus none with the same seed"));
    // The next run of the same kind gets its own folder.
    let again = succeed(folder.path(), &arguments);
    assert!(again.contains("runs/ring0-sage-none_dropedge-2/report.html"), "{again}");
    let json = succeed(folder.path(), &[&arguments[..], &["--json", "-q"][..]].concat());
    let json = self::json(&json);
    assert_eq!(json["runs"].as_array().unwrap().len(), 2);
    let [difference] = &json["differences"].as_array().unwrap()[..] else { panic!("{json}") };
    let named = ["learner", "minus", "metric"].map(|key| &difference[key]);
    assert_eq!(named, ["dropedge", "none", "accuracy"]);
    let mean = |at: usize| json["runs"][at]["test"]["accuracy"]["mean"].as_f64().unwrap();
    let found = difference["difference"]["mean"].as_f64().unwrap();
    assert!((found - (mean(1) - mean(0))).abs() < 1e-12, "{difference}");
    assert_eq!(difference["difference"]["n"], 3);
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
        let lines = fs::read_to_string(folder.path().join(out).join("metrics.jsonl")).unwrap();
        (lines, json["runs"][0]["test"]["accuracy"]["mean"].as_f64().unwrap())
    };
    let (right, wrong) = (metrics(0), metrics(1));
    assert_eq!(right.0, wrong.0);
    assert_ne!(right.1, wrong.1, "the test number does see them");
}

/// Whoever tunes sees what is said while seeds are trained: it is the same whatever the test labels are.
#[test]
fn no_test_number_is_seen_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let said = |turn: usize| {
        let dataset = graph(folder.path(), turn);
        let data = ["train", "--dataset", dataset.to_str().unwrap(), "--learner", "none,dgg"];
        let short = ["--seeds", "3", "--set", "train.epochs=20", "--threads", "1"];
        let out = format!("out{turn}");
        let output = run(folder.path(), &[&data[..], &short, &["--out", &out]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        // Times differ from run to run.
        let log = stderr(&output).replace(&format!("ring{turn}"), "").replace(&out, "");
        let lines = log.lines().map(|line| match line.rsplit_once(", ") {
            Some((head, time)) if time.ends_with(" s") => head.to_string(),
            _ => line.to_string(),
        });
        let table = String::from_utf8(output.stdout).unwrap();
        let cells = |line: &str| line.split_whitespace().nth(4).map(String::from);
        let tests = table.lines().filter(|line| line.starts_with("dgg")).filter_map(cells);
        (lines.collect::<Vec<String>>(), tests.collect::<Vec<String>>())
    };
    let (right, wrong) = (said(0), said(1));
    assert_eq!(right.0.iter().filter(|line| line.contains("validation")).count(), 6, "{right:?}");
    assert_eq!(right.0, wrong.0);
    assert_ne!(right.1, wrong.1, "the table at the end does see them");
}

/// A folder that happens to have the name of a dataset is trained with the settings of any other.
#[test]
fn settings_do_not_depend_on_the_name_of_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let config = |name: &str, backbone: &str| {
        let path = folder.path().join(name);
        if !path.exists() {
            fs::rename(graph(folder.path(), 0), &path).unwrap();
        }
        let out = format!("{name}-{backbone}");
        let data = ["train", "--dataset", path.to_str().unwrap(), "--learner", "dgg"];
        let short = ["--seeds", "1", "--set", "train.epochs=1", "--set", "backbone.layers=2"];
        let rest = ["--backbone", backbone, "--out", &out, "--quiet", "--json"];
        let json = json(&succeed(folder.path(), &[&data[..], &short, &rest].concat()));
        assert_eq!(json["runs"][0]["dataset"], name);
        fs::read_to_string(folder.path().join(&out).join("config.toml")).unwrap()
    };
    for backbone in ["gcn", "sage", "gat", "gcnii"] {
        let mine = config("mine", backbone);
        for name in ["citeseer", "pubmed", "cora"] {
            assert_eq!(config(name, backbone), mine, "{name} {backbone}");
        }
    }
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
    assert!(!place.join("runs").exists(), "nothing is left behind");
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
    fs::write(
        dataset.join("nodes.csv"),
        nodes.replacen("1.000", "2.000", 1).replacen("1.000", "one", 1),
    )
    .unwrap();
    let error = fail(folder.path(), &["train", "--dataset", dataset.to_str().unwrap()], 1);
    assert!(error.contains("nodes.csv, line 3, field `b`: `one` is not a number"), "{error}");
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
    let json = json(&succeed(folder.path(), &words));
    assert_eq!((&json["split"], &json["runs"][0]["valid"]), (&"all".into(), &Value::Null));
    let first = succeed(folder.path(), &["predict", "run", "--seed", "0"]);
    let right = first.lines().skip(1).zip(nodes.lines().skip(1));
    let right = right.filter(|(found, node)| cells(found)[1] == cells(node)[1]).count();
    assert_eq!(json["runs"][0]["test"]["accuracy"].as_f64().unwrap(), right as f64 / 60.0);
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
