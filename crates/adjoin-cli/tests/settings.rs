//! What can be named and set from the command line, and how that is shown.

mod common;

use adjoin_lab::{
    run::recipe_layers,
    settings::{RECIPES, keys},
    task::{Settings, Task},
    tasks::{Node, Points, TASKS, Trajectory},
    with_task,
};
use common::{adjoin, fail, graph, json, run, succeed, words_between};
use std::{
    fs,
    path::Path,
    process::{Output, Stdio},
};

/// The settings of a file without what is said behind them.
fn values(text: &str) -> Vec<&str> {
    let value = |line| str::trim_end(str::split(line, " # ").next().unwrap_or(line));
    text.lines().map(value).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// The line that sets a key, in a text with a single table of that key.
fn line<'a>(text: &'a str, key: &str) -> &'a str {
    let found = text.lines().find(|line| line.starts_with(&format!("{key} = ")));
    found.unwrap_or_else(|| panic!("{key} in {text}"))
}

#[test]
fn config_shows_every_value_and_where_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    fs::write(place.join("mine.toml"), "[train]\nclip = 3.0\nema = 0.5\n").unwrap();
    let layers = ["--config", "mine.toml", "--set", "train.ema=0.9"];
    let words = [&["config", "--backbone", "gat", "--learner", "dgg+consistency"], &layers[..]];
    let text = succeed(place, &words.concat());
    for (key, expected) in [
        ("warmup_steps", "warmup_steps = 0 # built in"),
        ("patience", "patience = 100 # defaults/node.toml: base"),
        ("heads", "heads = 8 # defaults/node.toml: backbones.gat"),
        ("edge_dropout", "edge_dropout = 0.3 # defaults/node.toml: learners.dgg"),
        ("consistency", "consistency = 1.0 # defaults/node.toml: options.consistency"),
        ("clip", "clip = 3.0 # mine.toml"),
        ("ema", "ema = 0.9 # --set"),
    ] {
        let words: Vec<&str> = line(&text, key).split_whitespace().collect();
        assert_eq!(words.join(" "), expected);
    }
    let sage = succeed(place, &["config", "--backbone", "sage", "--learner", "dgg-teacher"]);
    let distil = line(&sage, "distil");
    assert!(distil.ends_with("# defaults/node.toml: learners.dgg-teacher.with.sage"), "{distil}");
    let recipe = succeed(place, &["config", "--recipe", "pubmed-gcnii-dgg"]);
    assert!(!values(&recipe).is_empty());
    for line in recipe.lines().filter(|line| line.contains(" = ")) {
        assert!(line.ends_with("# recipe pubmed-gcnii-dgg"), "{line}");
    }
    // A file has one learner.
    assert_eq!(succeed(place, &["config"]), succeed(place, &["config", "--learner", "dgg"]));
    for words in [["--learner", "none,dgg"], ["--recipe", "citeseer-gcn,citeseer-gcn-dgg"]] {
        let error = fail(place, &["config", words[0], words[1]], 2);
        assert!(error.contains("one learner"), "{error}");
    }
}

#[test]
fn none_removes_what_is_optional_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let teacher = ["config", "--learner", "dgg-teacher"];
    let plain = succeed(place, &teacher);
    let set = |setting: &str| succeed(place, &[&teacher[..], &["--set", setting]].concat());
    assert!(plain.contains("[learner.dgg.augment.pagerank]"), "{plain}");
    let without = set("learner.dgg.augment=none");
    assert!(!without.contains("augment"), "{without}");
    fs::write(place.join("mine.toml"), &without).unwrap();
    let back = succeed(place, &["config", "--config", "mine.toml"]);
    assert_eq!(values(&back), values(&without));
    // Where it is a value it is one.
    let plain = succeed(place, &["list", "keys", "--learner", "none"]);
    assert!(rows(&plain).contains(&("learner", "\"none\"")), "{plain}");
    succeed(place, &["config", "--learner", "none", "--set", "learner=none"]);
    for (setting, said) in [
        ("train.epochs=none", "invalid type"),
        ("learner.dgg.encoder=none", "invalid type"),
        ("learner.dgg.augmnt=none", "did you mean `augment`?"),
        ("learner.dgm.k=none", "invalid type"),
    ] {
        let error = fail(place, &["config", "--set", setting], 2);
        assert!(error.contains(said), "{setting}: {error}");
    }
}

#[test]
fn what_config_prints_can_be_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let again = |task: &str, words: &[&str]| {
        let words = [&["config", "--task", task, "--set", "train.epochs=7"], words].concat();
        let text = succeed(place, &words);
        fs::write(place.join("mine.toml"), &text).unwrap();
        let back = succeed(place, &["config", "--task", task, "--config", "mine.toml"]);
        assert_eq!(values(&back), values(&text), "{words:?}");
        let set = back.lines().filter(|line| line.contains(" = "));
        assert!(set.clone().count() > 20);
        set.for_each(|line| assert!(line.ends_with("# mine.toml"), "{line}"));
    };
    for task in TASKS {
        again(task, &[]);
        let names = |all: Vec<adjoin_lab::task::Named>| -> Vec<String> {
            all.into_iter().map(|one| one.name).collect()
        };
        let all = with_task!(task, T => Ok::<_, adjoin_lab::Error>(
            [names(T::backbones()), names(T::learners())]
        ));
        let [backbones, learners] = all.unwrap();
        for backbone in &backbones {
            // It takes no graph.
            let learner = if backbone == "mlp" { "none" } else { "dgg" };
            again(task, &["--backbone", backbone, "--learner", learner]);
        }
        for learner in &learners {
            again(task, &["--learner", learner]);
        }
    }
    for recipe in ["citeseer-gcn", "pubmed-gcnii-dgg"] {
        again("node", &["--recipe", recipe]);
    }
    again("trajectory", &["--recipe", "basketball-dagnet-dgg"]);
    again("points", &["--recipe", "reduced-resgcn-dgm"]);
}

#[test]
fn a_run_is_trained_with_what_config_prints() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let ring = graph(place, 0);
    let wanted = ["--backbone", "sage", "--learner", "dgg-star", "--set", "train.epochs=2"];
    fs::write(place.join("mine.toml"), succeed(place, &[&["config"], &wanted[..]].concat()))
        .unwrap();
    let train = |words: &[&str], out: &str| {
        let data = ["train", "--dataset", ring.to_str().unwrap(), "--seeds", "1"];
        succeed(place, &[&data[..], words, &["--quiet", "--out", out]].concat());
        let read = |name: &str| fs::read_to_string(place.join(out).join(name)).unwrap();
        (read("config.toml"), read("metrics.jsonl"))
    };
    assert_eq!(train(&wanted, "named"), train(&["--config", "mine.toml"], "given"));
    let json = json(&fs::read_to_string(place.join("given/record.json")).unwrap());
    assert_eq!(json["origins"]["train.epochs"], "mine.toml");
}

/// The rows of a table below its heading, as a name and the rest.
fn rows(text: &str) -> Vec<(&str, &str)> {
    let cells = |line| str::split_once(line, char::is_whitespace).unwrap_or((line, ""));
    text.lines().skip(1).map(cells).map(|(name, rest)| (name, rest.trim())).collect()
}

#[test]
fn learners_and_backbones_are_listed_with_a_line_of_help() {
    fn listed<T: Task>(place: &Path) {
        for (what, all) in [("learners", T::learners()), ("backbones", T::backbones())] {
            let text = succeed(place, &["list", what, "--task", T::NAME]);
            let expected: Vec<(&str, &str)> =
                all.iter().map(|one| (one.name.as_str(), one.about.as_str())).collect();
            assert_eq!(rows(&text), expected);
            assert!(expected.iter().all(|(_, about)| about.len() > 10), "{text}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    listed::<Node>(folder.path());
    listed::<Trajectory>(folder.path());
    listed::<Points>(folder.path());
    let [named, unnamed] = [&["list", "learners", "--task", "node"][..], &["list", "learners"]]
        .map(|words| succeed(folder.path(), words));
    assert_eq!(named, unnamed);
}

#[test]
fn datasets_and_recipes_of_all_tasks_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let datasets = succeed(folder.path(), &["list", "datasets"]);
    for name in ["cora", "minesweeper", "crowd", "nba-def-40", "shapes", "modelnet40"] {
        assert!(datasets.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
    }
    assert_eq!(datasets, succeed(folder.path(), &["data", "list"]));
    let recipes = succeed(folder.path(), &["list", "recipes"]);
    let found: Vec<Vec<&str>> =
        recipes.lines().skip(1).map(|line| line.split_whitespace().take(2).collect()).collect();
    let expected: Vec<Vec<&str>> = RECIPES.iter().map(|one| vec![one.task, one.name]).collect();
    assert_eq!(found, expected);
    assert!(recipes.contains("GAT as published for Pubmed."), "{recipes}");
}

/// The list of keys is for `--set`: every line of it can be given there.
#[test]
fn keys_are_listed_as_they_are_set() {
    let folder = tempfile::tempdir().unwrap();
    for (task, learner) in [("node", "dgg"), ("trajectory", "dgm"), ("points", "dgg")] {
        let text = succeed(folder.path(), &["list", "keys", "--task", task, "--learner", learner]);
        let expected =
            with_task!(task, T => T::named(T::BACKBONE, learner).map(|l| keys(&l.config)));
        let expected: Vec<(String, String)> = expected.unwrap();
        let found: Vec<(String, String)> =
            rows(&text).into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        assert_eq!(found, expected);
        let plain = ["config", "--task", task, "--learner", learner];
        let set =
            expected.iter().flat_map(|(key, value)| ["--set".into(), format!("{key}={value}")]);
        let set: Vec<String> = set.collect();
        let words: Vec<&str> = plain.into_iter().chain(set.iter().map(String::as_str)).collect();
        let [before, after] = [&plain[..], &words].map(|words| succeed(folder.path(), words));
        assert_eq!(values(&before), values(&after));
    }
    let keys = succeed(folder.path(), &["list", "keys", "--backbone", "gat"]);
    assert!(rows(&keys).contains(&("backbone.kind", "\"gat\"")), "{keys}");
    assert!(!keys.contains("learner.dgg"), "{keys}");
}

#[test]
fn recipes_are_trained_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let ring = graph(place, 0);
    let data = ["train", "--dataset", ring.to_str().unwrap(), "--seeds", "2", "--quiet", "--json"];
    let recipes = ["--recipe", "citeseer-gcn,citeseer-gcn-dgg", "--set", "train.epochs=3"];
    let json = json(&succeed(place, &[&data[..], &recipes, &["--out", "run"]].concat()));
    let runs = json["runs"].as_array().unwrap();
    let named: Vec<_> = runs.iter().map(|run| run["learner"].as_str().unwrap()).collect();
    assert_eq!(named, ["citeseer-gcn", "citeseer-gcn-dgg"]);
    for name in named {
        let text = fs::read_to_string(place.join("run").join(name).join("config.toml")).unwrap();
        let mut expected = recipe_layers::<Node>(name).unwrap().config;
        expected.train.epochs = 3;
        assert_eq!(<Node as Task>::Config::read("config.toml", &text).unwrap(), expected);
    }
    // Without a plain learner among them, others are compared with the first.
    assert_eq!(json["differences"][0]["minus"], "citeseer-gcn");
    succeed(place, &["evaluate", "run/citeseer-gcn-dgg"]);
    let page = fs::read_to_string(place.join("run/report.html")).unwrap();
    assert!(page.contains("citeseer-gcn-dgg"));
}

#[test]
fn wrong_names_are_refused_with_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    for command in ["train", "config"] {
        for (words, said) in [
            (&["--recipe", "pubmed-gcni"][..], "did you mean `pubmed-gcnii`?"),
            (&["--recipe", "published-dgcnn-knn"], "`adjoin list recipes` names all"),
            (&["--learner", "dgg-str"], "did you mean \"dgg-star\"?"),
            (&["--learner", "pagerenk"], "did you mean \"pagerank\"?"),
            (&["--learner", "dgg+consistensy"], "consistency"),
            (&["--backbone", "gcni"], "did you mean"),
            (&["--task", "points", "--learner", "knm"], "did you mean `knn`?"),
            (&["--task", "trajectory", "--backbone", "dagnt"], "did you mean `dagnet`?"),
            (&["--set", "train.epoch=3"], "did you mean `epochs`?"),
            (&["--set", "backbone.kind=gat"], "--backbone"),
            (&["--recipe", "pubmed-gat", "--learner", "dgg"], "cannot be used with"),
            (&["--recipe", "pubmed-gat,pubmed-gat"], "named twice"),
        ] {
            let error = fail(place, &[&[command], words].concat(), 2);
            assert!(error.contains(said), "{words:?}: {error}");
        }
    }
    fail(place, &["list", "learnrs"], 2);
    let error = fail(place, &["list", "keys", "--learner", "dropege"], 2);
    assert!(error.contains("did you mean \"dropedge\"?"), "{error}");
    assert_eq!(fs::read_dir(place).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn help_names_every_learner_and_backbone() {
    fn named<T: Task>(help: &str) {
        let learners = words_between(help, "--learner <", "--recipe <");
        let backbones = words_between(help, "--backbone <", "--learner <");
        for (all, found) in [(T::learners(), learners), (T::backbones(), backbones)] {
            for one in all {
                assert!(found.contains(&one.name), "{} in {found:?}", one.name);
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let defaults = [
        ("train", &["[default: none,dgg]", "[default: kernel,dgg]", "[default: knn,dgg]"][..]),
        ("config", &["[default: dgg]"]),
    ];
    for (command, defaults) in defaults {
        let help = succeed(folder.path(), &[command, "--help"]);
        named::<Node>(&help);
        named::<Trajectory>(&help);
        named::<Points>(&help);
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for default in defaults {
            assert!(words.contains(default), "{default}: {words}");
        }
    }
    let help = succeed(folder.path(), &["train", "--help"]);
    assert!(help.contains("--task trajectory") && help.contains("--task points"), "{help}");
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let code = |output: Output| output.status.code();
    for words in [&["--help"][..], &["--version"], &["config"], &["list", "learners"], &[]] {
        assert_eq!(code(run(place, words)), Some(0), "{words:?}");
    }
    // What could not be done.
    fail(place, &["train", "--dataset", "./nowhere"], 1);
    fail(place, &["config", "--config", "nowhere.toml"], 1);
    fail(place, &["report", "nowhere"], 1);
    // What was not understood.
    fs::write(place.join("wrong.toml"), "[train]\nepoch = 3\n").unwrap();
    let error = fail(place, &["config", "--config", "wrong.toml"], 2);
    assert!(error.contains("wrong.toml, line 2"), "{error}");
    fail(place, &["config", "--task", "poems"], 2);
    fail(place, &["list"], 2);
    // A reader that goes away, as `head` does, is no error.
    let mut child = adjoin(place)
        .args(["list", "datasets"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
