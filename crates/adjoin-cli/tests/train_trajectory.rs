//! Training on trajectories from the command line: results, refusals, and stopping.

mod common;

use common::{adjoin, fail, run, stderr, succeed};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
};

/// A few epochs on the generated crowd.
fn short(folder: &Path, more: &[&str]) -> String {
    let mut words = vec!["train", "--task", "trajectory", "--quiet"];
    words.extend(["--set", "train.epochs=2", "--set", "train.samples=3"]);
    words.extend(more);
    succeed(folder, &words)
}

#[test]
fn json_has_the_promised_fields_and_the_folder_the_promised_files() {
    let folder = tempfile::tempdir().unwrap();
    let json =
        short(folder.path(), &["--seeds", "1", "--learner", "dgg", "--json", "--out", "one"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let expected = [
        "task",
        "dataset",
        "backbone",
        "learner",
        "metric",
        "samples",
        "runs",
        "test",
        "baselines",
        "seconds_per_epoch",
        "peak_rss_bytes",
        "out",
    ];
    let mut keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(keys, expected);
    let words = ["task", "dataset", "backbone", "learner", "metric", "out"].map(|key| &json[key]);
    assert_eq!(words, ["trajectory", "crowd", "social-stgcnn", "dgg", "ade/fde m", "one"]);
    let seed = &json["runs"][0];
    assert_eq!((&seed["seed"], &seed["epochs"]), (&0.into(), &2.into()));
    for key in ["valid", "best_epoch", "seconds"] {
        assert!(seed[key].as_f64().is_some_and(|number| number > 0.0), "{key}: {seed}");
    }
    for way in ["per_agent", "per_scene", "likely"] {
        for error in ["ade", "fde"] {
            let mean = &json["test"][way][error];
            assert_eq!(
                (&mean["mean"], &mean["n"]),
                (&seed[way][error], &1.into()),
                "{way} {error}"
            );
            assert!(json["baselines"]["constant_velocity"][way][error].as_f64().unwrap() > 0.0);
        }
    }
    let [best, together] = ["per_agent", "per_scene"].map(|way| seed[way]["ade"].as_f64().unwrap());
    assert!(best <= together, "{seed}");

    let file = |name: &str| fs::read(folder.path().join("one").join(name)).unwrap();
    let text = |name: &str| String::from_utf8(file(name)).unwrap();
    assert!(text("config.toml").contains("epochs = 2"));
    let plan: Value = serde_json::from_str(&text("run.json")).unwrap();
    assert_eq!((&plan["task"], &plan["dataset"]), (&"trajectory".into(), &"crowd".into()));
    let record: Value = serde_json::from_str(&text("record.json")).unwrap();
    assert_eq!(record["seeds"][0]["per_agent"], seed["per_agent"]);
    assert_eq!(text("metrics.jsonl").lines().count(), 2);
    let weights = String::from_utf8_lossy(&file("seed-0.safetensors")).into_owned();
    for name in ["best.learner.", "best.network.spatial.weight", "running_variance"] {
        assert!(weights.contains(name), "{name}");
    }
    assert!(!folder.path().join("one.partial").exists());

    // The same words again are refused; the configuration of the run gives its numbers back.
    let error = fail(folder.path(), &["train", "--task", "trajectory", "--out", "one"], 1);
    assert!(error.contains("--overwrite"), "{error}");
    let again = ["train", "--task", "trajectory", "--config", "one/config.toml", "--seeds", "1"];
    let again = [&again[..], &["--threads", "1", "--out", "two", "--quiet", "--json"]].concat();
    let again: Value = serde_json::from_str(&succeed(folder.path(), &again)).unwrap();
    assert_eq!((&again["learner"], &again["test"]), (&json["learner"], &json["test"]));
}

#[test]
fn learners_are_compared_with_the_first_and_with_walking_straight_on() {
    let folder = tempfile::tempdir().unwrap();
    let text = short(folder.path(), &["--seeds", "2", "--first-seed", "4"]);
    for part in [
        "kernel",
        "dgg",
        "±",
        "per agent",
        "per scene",
        "most likely",
        "constant velocity",
        "turns",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.contains("minus that of kernel"), "{text}");
    let out = folder.path().join("runs/crowd-social-stgcnn-kernel_dgg");
    assert!(text.contains("runs/crowd-social-stgcnn-kernel_dgg"), "{text}");
    for learner in ["kernel", "dgg"] {
        assert!(out.join(learner).join("seed-5.safetensors").is_file());
    }
    assert!(out.join("report.html").is_file() && out.join("dgg/report.html").is_file());
    // What is made for nodes says so.
    let words = ["graph", "runs/crowd-social-stgcnn-kernel_dgg/dgg", "--format", "csv"];
    let error = fail(folder.path(), &words, 1);
    assert!(error.contains("--task trajectory"), "{error}");
}

#[test]
fn dagnet_reads_a_table_of_recordings() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = String::from("scene,frame,agent,x,y\n");
    for frame in 0..240 {
        for agent in 0..3 {
            let (t, a) = (f64::from(frame), f64::from(agent));
            let (x, y) = (0.3 * t + a, (0.2 * t + a).sin());
            rows.push_str(&format!("square,{frame},{agent},{x:.3},{y:.3}\n"));
        }
    }
    fs::write(folder.path().join("walks.csv"), rows).unwrap();
    let words = ["--dataset", "walks.csv", "--backbone", "dagnet", "--learner", "none", "--json"];
    let words = [&words[..], &["--seeds", "1", "--set", "train.epochs=1"]].concat();
    let json: Value = serde_json::from_str(&short(folder.path(), &words)).unwrap();
    let named = ["dataset", "backbone", "learner"].map(|key| &json[key]);
    assert_eq!(named, ["walks.csv", "dagnet", "none"]);
    // Other numbers of steps, which the run remembers; and never the settings of a known dataset.
    fs::rename(folder.path().join("walks.csv"), folder.path().join("nba-walks.csv")).unwrap();
    let words = ["--dataset", "nba-walks.csv", "--backbone", "dagnet", "--learner", "dgm"];
    let words = [&words[..], &["--split", "time:4/6", "--seeds", "1", "--out", "run"]].concat();
    short(folder.path(), &[&words[..], &["--set", "train.epochs=1"]].concat());
    let config = fs::read_to_string(folder.path().join("run/config.toml")).unwrap();
    assert!(config.contains("k = 2") && !config.contains("standing"), "{config}");
    succeed(folder.path(), &["evaluate", "run"]);
    let error = fail(
        folder.path(),
        &["train", "--task", "trajectory", "--dataset", "nowhere.csv", "--quiet"],
        1,
    );
    assert!(error.contains("nowhere.csv"), "{error}");
}

/// A model that is there predicts what goes on from steps that were just seen, wherever its own data is.
#[test]
fn new_recordings_need_the_observed_steps_only() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let walks = |name: &str, scenes: usize, frames: usize| {
        let mut rows = String::from("scene,frame,agent,x,y\n");
        for (scene, frame) in (0..scenes).flat_map(|s| (0..frames).map(move |f| (s, f))) {
            for agent in 0..3 {
                let (t, a) = (frame as f64 + scene as f64, f64::from(agent));
                let (x, y) = (0.3 * t + a, (0.2 * t + a).sin());
                rows.push_str(&format!("s{scene},{frame},{agent},{x:.3},{y:.3}\n"));
            }
        }
        fs::write(place.join(name), rows).unwrap();
    };
    walks("own.csv", 5, 12);
    walks("seen.csv", 2, 4);
    walks("whole.csv", 2, 10);
    for (backbone, run) in [("social-stgcnn", "social"), ("dagnet", "dag")] {
        let words = ["--dataset", "own.csv", "--split", "4/6", "--backbone", backbone];
        let short_run = ["--seeds", "1", "--set", "train.epochs=1", "--learner", "dgg"];
        short(place, &[&words[..], &short_run, &["--out", run]].concat());
        fs::rename(place.join("own.csv"), place.join("moved.csv")).unwrap();
        let words = ["predict", run, "--samples", "0", "--dataset"];
        let seen = succeed(place, &[&words[..], &["seen.csv"]].concat());
        assert_eq!(seen.lines().count(), 1 + 2 * 3 * 6, "{seen}");
        // What came after makes no difference to what is predicted from the same steps.
        let whole = succeed(place, &[&words[..], &["whole.csv"]].concat());
        assert!(seen.lines().all(|line| whole.lines().any(|other| other == line)), "{whole}");
        assert!(succeed(place, &["evaluate", run, "--dataset", "whole.csv"]).contains("whole.csv"));
        let error = fail(place, &["evaluate", run, "--dataset", "seen.csv"], 1);
        assert!(error.contains("nobody is seen in 10 steps"), "{error}");
        let error = fail(place, &["evaluate", run, "--dataset", "crowd"], 2);
        assert!(error.contains("the model sees 4 and predicts 6"), "{error}");
        fs::rename(place.join("moved.csv"), place.join("own.csv")).unwrap();
    }
}

#[test]
fn wrong_words_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |more: &[&str]| {
        let words = [&["train", "--task", "trajectory"], more].concat();
        fail(folder.path(), &words, 2)
    };
    let error = refused(&["--backbone", "gcn"]);
    assert!(error.contains("social-stgcnn") && error.contains("dagnet"), "{error}");
    let error = refused(&["--learner", "magic"]);
    assert!(error.contains("magic") && error.contains("kernel"), "{error}");
    let error = refused(&["--split", "public"]);
    assert!(error.contains("--split") && error.contains("with a name"), "{error}");
    let error = fail(folder.path(), &["train", "--resume", "runs/x"], 1);
    assert!(error.contains("no folder of a run"), "{error}");
    let error = refused(&["--set", "train.epoch=3"]);
    assert!(error.contains("did you mean `epochs`"), "{error}");
    let error = refused(&["--set", "train.epochs=0"]);
    assert!(error.contains("at least 1"), "{error}");
    let error = fail(folder.path(), &["train", "--backbone", "dagnet"], 2);
    assert!(error.contains("gcnii"), "{error}");
    let left = fs::read_dir(folder.path().join("runs")).unwrap().count();
    assert_eq!(left, 0, "nothing is left behind");
}

#[test]
fn a_run_can_be_evaluated_predicted_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let json = short(place, &["--seeds", "2", "--learner", "dgg", "--json", "--out", "run"]);
    let trained: Value = serde_json::from_str(&json).unwrap();
    let text = succeed(place, &["evaluate", "run", "--json"]);
    let again: Value = serde_json::from_str(&text).unwrap();
    for at in 0..2 {
        let (then, now) = (&trained["runs"][at], &again["runs"][at]);
        for way in ["per_agent", "per_scene", "likely"] {
            assert_eq!(now["test"][way], then[way], "{way}");
        }
        assert_eq!(now["valid"]["per_agent"]["ade"], then["valid"]);
    }
    assert!(succeed(place, &["evaluate", "run"]).contains("most likely"));
    let error = fail(place, &["evaluate", "run", "--dataset", "nowhere.csv"], 1);
    assert!(error.contains("nowhere.csv"), "{error}");
    fail(place, &["evaluate"], 2);
    fail(place, &["evaluate", "--weights", "w.safetensors"], 2);
    fs::write(place.join("w.safetensors"), b"no").unwrap();
    let error = fail(place, &["evaluate", "--weights", "w.safetensors", "--dataset", "crowd"], 1);
    assert!(error.contains("w.safetensors") && error.contains("safetensors file"), "{error}");

    let csv = succeed(place, &["predict", "run"]);
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("scene,frame,agent,sample,x,y"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 6 && row[4].parse::<f64>().is_ok()));
    let likely = rows.iter().filter(|row| row[3] == "likely").count();
    assert_eq!(rows.len(), 4 * likely, "three samples and the most likely path");
    let mut frames: Vec<usize> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    frames.sort_unstable();
    frames.dedup();
    assert_eq!(frames, (8..20).collect::<Vec<_>>());
    let alone = succeed(place, &["predict", "run", "--seed", "1", "--samples", "0"]);
    assert_eq!(alone.lines().count(), likely + 1);
    fail(place, &["predict", "run", "--seed", "9"], 2);

    let events = fs::read_dir(place.join("run")).unwrap().flatten();
    let events = events.filter(|e| e.file_name().to_string_lossy().contains("tfevents")).count();
    assert_eq!(events, 1);
    succeed(place, &["report", "run", "--out", "page.html"]);
    let page = fs::read_to_string(place.join("page.html")).unwrap();
    assert!(page.contains("Social-STGCNN with DGG reaches ADE"), "{}", &page[..2000]);
    assert!(!page.contains("{{"), "a slot was left empty");
}

/// Stopped by Ctrl-C and resumed, a run gives the weights and numbers of one that was not.
#[test]
#[cfg(unix)]
fn an_interrupted_run_goes_on_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let common = ["train", "--task", "trajectory", "--learner", "dgg", "--seeds", "1"];
    let settings = ["--set", "train.epochs=12", "--set", "train.samples=3"];
    succeed(place, &[&common[..], &settings, &["--quiet", "--out", "whole"]].concat());
    interrupt(place, &[&common[..], &settings, &["--out", "parts"]].concat());
    if place.join("parts.partial").exists() {
        let error = fail(place, &["report", "parts"], 1);
        assert!(error.contains("--resume"), "{error}");
        succeed(place, &["train", "--resume", "parts.partial", "--quiet"]);
    }
    let read = |run: &str, name: &str| fs::read(place.join(run).join(name)).unwrap();
    assert_eq!(read("whole", "metrics.jsonl"), read("parts", "metrics.jsonl"));
    let record = |run: &str| -> Value {
        let mut record: Value = serde_json::from_slice(&read(run, "record.json")).unwrap();
        for key in ["seconds_per_epoch", "peak_rss_bytes", "created", "command"] {
            record[key] = Value::Null;
        }
        let seed = &mut record["seeds"][0];
        seed["seconds"] = Value::Null;
        for epoch in seed["curve"].as_array_mut().unwrap() {
            epoch["seconds"] = Value::Null;
        }
        record
    };
    assert_eq!(record("whole"), record("parts"));
}

/// Starts training, and stops it with Ctrl-C after an epoch.
#[cfg(unix)]
fn interrupt(folder: &Path, words: &[&str]) {
    let mut child = adjoin(folder).args(words).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut heading = String::new();
    while !heading.contains(".partial") {
        assert!(log.read_line(&mut heading).unwrap() > 0, "{heading}");
    }
    std::thread::sleep(std::time::Duration::from_millis(400));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    let code = child.wait().unwrap().code();
    assert!(code == Some(0) || rest.contains("stopped at epoch"), "{rest}");
}

/// Ctrl-C ends a long run soon, with an error and without leftovers when nothing was learned.
#[test]
#[cfg(unix)]
fn an_interrupt_stops_cleanly() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--seeds", "1", "--out", "long", "--set", "train.epochs=1000000"];
    let mut child = adjoin(folder.path())
        .args(["train", "--task", "trajectory", "--learner", "kernel"])
        .args(words)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut heading = String::new();
    while !heading.contains("into long.partial") {
        assert!(log.read_line(&mut heading).unwrap() > 0, "{heading}");
    }
    let stopped = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{rest}");
    assert!(rest.contains("stopped at epoch"), "{rest}");
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left == 1, rest.contains("--resume"), "{rest}");
}

/// Real data, when it is there: the network with the weights of its authors gives their errors.
#[test]
fn published_weights_give_published_errors() {
    let Some(data) = std::env::var_os("ADJOIN_DATA").map(std::path::PathBuf::from) else {
        eprintln!("skipped: published_weights_give_published_errors (ADJOIN_DATA is not set)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (dataset, ade, fde) in [("eth", 0.73, 1.22), ("zara1", 0.33, 0.52)] {
        let weights =
            data.join(format!("eth_ucy/published_weights/social-stgcnn-{dataset}.safetensors"));
        if !weights.is_file() {
            eprintln!("skipped: {} is not there", weights.display());
            continue;
        }
        let words = ["evaluate", "--weights", weights.to_str().unwrap(), "--dataset", dataset];
        let words = [&words[..], &["--data-dir", data.to_str().unwrap(), "--json"]].concat();
        let json: Value = serde_json::from_str(&succeed(folder.path(), &words)).unwrap();
        let found = &json["runs"][0]["test"]["per_agent"];
        let close = |key: &str, wanted: f64| (found[key].as_f64().unwrap() - wanted).abs() < 0.03;
        assert!(close("ade", ade) && close("fde", fde), "{dataset}: {found}");
    }
}

#[test]
fn help_teaches_it() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["train", "--help"]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for part in ["--task trajectory", "social-stgcnn or dagnet", "kernel (the published graph)"] {
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{part}");
    }
}
