//! The page on some runs.

use adjoin_lab::{
    graph::GraphRecord,
    report::{ReportError, render},
    run::{Alternative, Choice, RunRecord, SeedRecord},
    settings::Origins,
    task::Degree,
    tasks::{
        Node,
        node::{NodeMetrics, Schema},
    },
    train::EpochRecord,
};
use serde_json::{Value, json};

const EVIL: &str = "</script><script>alert(1)</script>{{data}}<!--\u{2028}\"'&";

fn metrics(accuracy: f64) -> NodeMetrics {
    NodeMetrics { accuracy, loss: 1.0 - accuracy, edges: None }
}

/// A seed with the same number on validation and test data, whose curve has these losses and accuracies.
fn seed(seed: u64, accuracy: f64, curve: &[(f64, f64)]) -> SeedRecord<Node> {
    let epoch = |(epoch, &(loss, valid)): (usize, &(f64, f64))| EpochRecord {
        epoch,
        loss,
        train: Some(0.9),
        valid: metrics(valid),
        degrees: Vec::new(),
    };
    SeedRecord {
        seed,
        valid: metrics(accuracy - 0.01),
        test: metrics(accuracy),
        best_epoch: 1,
        epochs: curve.len(),
        steps: curve.len() as u64,
        cut_short: false,
        seconds: 1.5,
        choice: None,
        curve: curve.iter().enumerate().map(epoch).collect(),
    }
}

fn run(learner: &str, tests: &[f64]) -> RunRecord<Node> {
    let of = |(at, &test): (usize, &f64)| {
        let curve = [1.0, 0.5, 0.3].map(|loss| (loss, test - 0.02));
        seed(at as u64, test, &curve)
    };
    RunRecord {
        version: "0.0.0".into(),
        task: "node".into(),
        dataset: "cora".into(),
        fingerprint: "fedcba9876543210".into(),
        split: "public".into(),
        split_hash: "0123456789abcdef".into(),
        backbone: "gcn".into(),
        learner: learner.into(),
        metric: "accuracy".into(),
        created: "2026-01-02T03:04:05Z".into(),
        command: "adjoin train --learner ".to_owned() + learner,
        config_toml: "hidden = 32\n".into(),
        origins: Origins::default(),
        preparation: None,
        seeds: tests.iter().enumerate().map(of).collect(),
        references: Vec::new(),
        ms_per_step: 3.2,
        peak_rss_bytes: 123_000_000,
        fitted: Schema {
            classes: Vec::new(),
            columns: 0,
            names: Vec::new(),
            scaling: Default::default(),
        },
        exhibit: None,
    }
}

fn graph(name: &str) -> GraphRecord {
    GraphRecord {
        node_ids: vec![name.into(), "b".into(), "c".into()],
        class_names: vec![name.into(), "y".into()],
        labels: vec![Some(0), Some(0), None],
        predicted: vec![0, 1, 1],
        part: vec![1, 2, 3],
        input_pointers: vec![0, 1, 2, 2],
        input_indices: vec![1, 0],
        input_weights: vec![],
        learned_pointers: vec![0, 2, 3, 3],
        learned_indices: vec![1, 2, 2],
        learned_weights: vec![0.5, 0.25, 1.0],
        degrees: vec![1.5, 1.0, 0.0],
        ..GraphRecord::default()
    }
}

fn title(page: &str) -> String {
    page.split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap().replace('\u{a0}', " ")
}

/// The data of the charts.
fn data(page: &str) -> Value {
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn headline_says_what_the_numbers_allow() {
    let base = run("none", &[0.80, 0.81, 0.82]);
    let better = run("dgg", &[0.82, 0.83, 0.841]);
    let page = render(&[base.clone(), better]).unwrap();
    assert_eq!(title(&page), "GCN with DGG beats GCN alone on Cora: 83.0 % against 81.0 %");
    assert!(
        page.contains("81.0\u{a0}±\u{a0}1.0\u{a0}%") && page.contains("paired over 3 shared seeds")
    );

    let alike = render(&[base.clone(), run("dgg", &[0.82, 0.80, 0.82])]).unwrap();
    assert!(title(&alike).contains("too close to tell apart"), "{}", title(&alike));
    let worse = render(&[run("dgg", &[0.70, 0.71, 0.722]), base.clone()]).unwrap();
    assert!(title(&worse).contains("GCN with DGG falls behind GCN alone"), "{}", title(&worse));
    let single = render(&[run("dgg", &[0.7])]).unwrap();
    assert_eq!(title(&single), "GCN with DGG reaches 70.0 % on Cora");
    let many = render(&[base.clone(), run("dgg", &[0.9; 3]), run("dropedge", &[0.8; 3])]).unwrap();
    assert_eq!(title(&many), "GCN with DGG scores highest of 3 runs on Cora: 90.0 %");
    assert!(many.contains("not corrected"));
}

#[test]
fn two_comparisons_make_one_headline() {
    let wrong = |learner: &str, tests: &[f64]| RunRecord {
        dataset: "cora+wrong:0.5:0".into(),
        fingerprint: "damaged".into(),
        ..run(learner, tests)
    };
    let page = render(&[
        run("none", &[0.80, 0.81, 0.82]),
        run("dgg", &[0.82, 0.80, 0.82]),
        wrong("none", &[0.60, 0.61, 0.62]),
        wrong("dgg", &[0.72, 0.73, 0.741]),
    ])
    .unwrap();
    let title = title(&page);
    assert!(title.starts_with("GCN with DGG and GCN alone are too close"), "{title}");
    let second = "GCN with DGG beats GCN alone on Cora with wrong edges 0.5: 73.0 % against 61.0 %";
    assert!(title.ends_with(second), "{title}");
}

/// What validation saw of the three graphs, and which it chose.
fn choice(chosen: &str, values: [f64; 3]) -> Option<Choice<Node>> {
    let one = |(graph, accuracy): (&str, f64)| Alternative {
        graph: graph.into(),
        valid: metrics(accuracy),
        best_epoch: 1,
        epochs: 100,
    };
    let alternatives = ["learned", "given", "none"].into_iter().zip(values).map(one).collect();
    Some(Choice { chosen: chosen.into(), alternatives })
}

#[test]
fn a_graph_that_was_not_learned_beats_nothing() {
    let mut chosen = run("dgg", &[0.82, 0.83, 0.841]);
    for seed in &mut chosen.seeds {
        seed.choice = choice("given", [0.7, 0.8, 0.5]);
    }
    let page = render(&[run("none", &[0.80, 0.81, 0.82]), chosen]).unwrap();
    let expected =
        "On Cora, validation keeps the given graph: GCN with DGG 83.0 %, GCN alone 81.0 %";
    assert_eq!(title(&page), expected);
    assert!(page.contains("what differs is the training, not a learned graph"));
}

#[test]
fn the_page_says_what_validation_chose_and_by_how_much() {
    let mut learned = run("dgg", &[0.8, 0.81]);
    assert!(!render(&[learned.clone()]).unwrap().contains("What validation chose"));
    learned.seeds[0].choice = choice("learned", [0.79, 0.75, 0.5]);
    learned.seeds[1].choice = choice("given", [0.70, 0.80, 0.5]);
    let page = render(&[run("none", &[0.8, 0.81]), learned]).unwrap();
    let panel = page.split("What validation chose").nth(1).unwrap();
    let text = panel.split("<section").next().unwrap();
    for part in [
        "<b>79.0</b>",
        "<b>80.0</b>",
        ">+4.0<",
        ">+10.0<",
        "learned 1 of 2 and given 1 of 2",
        "3 models",
        ">300<",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn runs_on_different_splits_are_never_paired() {
    let mut other = run("dgg", &[0.9, 0.9]);
    other.split_hash = "another".into();
    let page = render(&[run("none", &[0.8, 0.81]), other]).unwrap();
    assert!(!page.contains("paired over"));
    assert_eq!(page.matches("<table class=\"cards compare\"").count(), 2);
    assert_eq!(title(&page), "2 runs in 2 settings: Cora");
    assert!(page.contains(r#""name":"GCN with DGG, Cora public anothe""#));
}

#[test]
fn runs_on_other_data_of_the_same_name_are_never_paired() {
    let mut other = run("dgg", &[0.9, 0.9]);
    other.fingerprint = "edited".into();
    let page = render(&[run("none", &[0.8, 0.81]), other]).unwrap();
    assert!(!page.contains("paired over"));
    assert!(page.contains(r#""name":"GCN with DGG, Cora public edited""#));
}

#[test]
fn runs_of_the_same_name_are_numbered() {
    let page = render(&[run("dgg", &[0.8, 0.81]), run("dgg", &[0.8, 0.82])]).unwrap();
    assert!(page.contains("GCN with DGG (1)") && page.contains("GCN with DGG (2)"));
}

#[test]
fn names_cannot_break_out_of_their_place() {
    let mut bad = run("dgg", &[0.8, 0.81]);
    for field in [
        &mut bad.version,
        &mut bad.task,
        &mut bad.dataset,
        &mut bad.split,
        &mut bad.split_hash,
        &mut bad.backbone,
        &mut bad.learner,
        &mut bad.metric,
        &mut bad.created,
        &mut bad.command,
        &mut bad.config_toml,
    ] {
        *field = EVIL.into();
    }
    bad.exhibit = Some(graph(EVIL));
    let page = render(&[bad]).unwrap();
    assert_eq!(page.matches("<script").count(), 2, "the data and the program");
    assert_eq!(page.matches("</script").count(), 2);
    assert!(!page.contains("alert(1)</script>") && !page.contains("<!--"));
    assert_eq!(page.matches("id=\"data\"").count(), 1, "a slot's text was filled again");

    let data = data(&page);
    assert_eq!(data["graphs"][0]["explorer"]["ids"][0], EVIL);
    assert_eq!(data["graphs"][0]["explorer"]["fates"], "0112");
}

#[test]
fn the_page_stands_alone() {
    let mut learned = run("dgg", &[0.8, 0.81]);
    learned.exhibit = Some(graph("a"));
    let page = render(&[run("none", &[0.8, 0.81]), learned]).unwrap();
    for outside in ["src=", "http-equiv=\"refresh", "@import", "url(http", "fetch(", "href=\"http"]
    {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("{{") && !page.contains("}}\n"), "a slot was left empty");
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn errors_name_the_run() {
    assert!(matches!(render::<Node>(&[]), Err(ReportError::NoRuns)));
    let message = render(&[run("dgg", &[])]).unwrap_err().to_string();
    assert!(message.contains("GCN with DGG has no finished seed"), "{message}");
    let message = render(&[run("dgg", &[f64::NAN])]).unwrap_err().to_string();
    assert!(message.contains("not a number"), "{message}");

    type Damage = fn(&mut GraphRecord);
    let damages: [(&str, Damage); 6] = [
        ("labels has", |g| g.labels.truncate(2)),
        ("class 9", |g| g.predicted[0] = 9),
        ("input_indices names node 7", |g| g.input_indices[0] = 7),
        ("learned_pointers", |g| g.learned_pointers[1] = 9),
        ("learned_weights and", |g| g.learned_weights.truncate(2)),
        ("non-finite", |g| g.learned_weights[0] = f32::NAN),
    ];
    for (expected, damage) in damages {
        let mut bad = run("dgg", &[0.8]);
        let mut g = graph("a");
        damage(&mut g);
        bad.exhibit = Some(g);
        let message = render(&[bad]).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn large_graphs_are_shown_in_part_and_the_page_says_so() {
    let n = 20_001;
    let mut large = run("dgg", &[0.8, 0.81]);
    let pointers: Vec<u32> = (0..=n as u32).collect();
    let next: Vec<u32> = (0..n as u32).map(|i| (i + 1) % n as u32).collect();
    large.exhibit = Some(GraphRecord {
        node_ids: (0..n).map(|i| i.to_string()).collect(),
        class_names: vec!["x".into()],
        labels: vec![Some(0); n],
        predicted: vec![0; n],
        part: vec![0; n],
        input_pointers: pointers.clone(),
        input_indices: next.clone(),
        input_weights: vec![],
        learned_pointers: pointers,
        learned_indices: next,
        learned_weights: vec![1.0; n],
        degrees: vec![],
        ..GraphRecord::default()
    });
    let page = render(&[large]).unwrap();
    assert!(page.contains("carries 5000 of this graph's 20\u{202f}001 nodes"));
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

/// A seed whose second epoch has a loss that is no number.
fn with_gap(valid: &[f64]) -> SeedRecord<Node> {
    let loss = |epoch: usize| if epoch == 1 { f64::NAN } else { 1.0 };
    let curve = valid.iter().enumerate().map(|(epoch, &valid)| (loss(epoch), valid));
    seed(0, 0.5, &curve.collect::<Vec<_>>())
}

/// The curve that the page draws of some seeds.
fn curve(seeds: Vec<SeedRecord<Node>>) -> Value {
    let record = RunRecord { seeds, ..run("dgg", &[]) };
    data(&render(&[record]).unwrap())["runs"][0]["curve"].take()
}

#[test]
fn seeds_of_unequal_length_are_joined() {
    let c = curve(vec![with_gap(&[0.2, 0.4]), with_gap(&[0.4, 0.6, 0.7])]);
    assert_eq!(c["epoch"], json!([0, 1, 2]));
    assert_eq!(c["valid"], json!([0.3, 0.5, 0.7]));
    assert_eq!((&c["valid_low"][1], &c["valid_high"][1]), (&json!(0.4), &json!(0.6)));
    assert_eq!(c["loss"], json!([1.0, null, 1.0]));
    assert_eq!(c["degree"], json!([null, null, null]));
}

#[test]
fn long_curves_are_thinned_but_keep_their_end() {
    let c = curve(vec![with_gap(&[0.5; 1001])]);
    let epochs = c["epoch"].as_array().unwrap();
    assert!(epochs.len() <= 401, "{} points", epochs.len());
    assert_eq!(epochs.last(), Some(&json!(1000)));
}

#[test]
fn degrees_are_averaged_over_layers_and_missing_before_the_learner_joins() {
    let mut one = with_gap(&[0.2, 0.4]);
    let layer = |mean: f64, std: f64| Degree { mean, std };
    one.curve[1].degrees = vec![layer(2.0, 1.0), layer(5.0, 2.0)];
    let c = curve(vec![one]);
    assert_eq!(c["degree"], json!([null, 3.5]));
    assert_eq!(c["degree_deviation"], json!([null, 1.5]));
}
