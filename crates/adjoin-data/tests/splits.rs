//! Splits by name.

use adjoin_data::{GeneratorConfig, NodeDataset, Split, SplitSpec, citation_like, cora};
use proptest::prelude::*;

fn split(dataset: &NodeDataset, spec: &str) -> Split {
    dataset.split(&spec.parse().unwrap()).unwrap()
}

fn sizes(split: &Split) -> (usize, usize, usize) {
    (split.train.len(), split.valid.len(), split.test.len())
}

#[test]
fn every_kind_on_cora() {
    let cora = cora().unwrap();
    assert_eq!(sizes(&split(&cora, "public")), (140, 500, 1000));
    assert_eq!(sizes(&split(&cora, "train+half-val")), (390, 250, 1000));
    assert_eq!(sizes(&split(&cora, "random:3")), (140, 210, 2708 - 350));
    assert_eq!(sizes(&split(&cora, "planetoid:3")), (140, 500, 1000));
    let ratio = split(&cora, "ratio:0.6/0.2/0.2");
    assert_eq!(sizes(&ratio), (1625, 542, 541));
    assert_eq!(ratio.name, "ratio:0.6/0.2/0.2:0");
    assert_eq!(cora.default_split().unwrap().name, "public");
    let half = split(&cora, "train+half-val:random:3");
    assert_eq!(sizes(&half), (245, 105, 2358));
    assert_eq!(half.name, "train+half-val:random:3");
    for class in 0..7 {
        let of_class = |node: &&u32| cora.label(**node) == Some(class);
        assert_eq!(split(&cora, "random:3").train.iter().filter(of_class).count(), 20);
    }
}

/// Every class has its share of every part, and even the smallest is trained with.
#[test]
fn fractions_hold_for_every_class() {
    let mut cora = cora().unwrap();
    cora.splits.clear();
    for (class, count) in [(5, 1), (6, 2)] {
        let of_class = (0..cora.nodes()).filter(|&node| cora.labels[node] == class);
        let rest: Vec<usize> = of_class.skip(count).collect();
        rest.into_iter().for_each(|node| cora.labels[node] = adjoin_data::UNKNOWN_LABEL);
    }
    let split = cora.default_split().unwrap();
    assert_eq!(split.name, "stratified:0.6/0.2/0.2:0");
    for class in 0..7 {
        let count = |nodes: &[u32]| {
            nodes.iter().filter(|node| cora.label(**node) == Some(class)).count() as f64
        };
        let parts = [&split.train, &split.valid, &split.test].map(|nodes| count(nodes));
        let all: f64 = parts.iter().sum();
        assert!(parts[0] >= 1.0, "class {class}: {parts:?}");
        for (part, share) in parts.into_iter().zip([0.6, 0.2, 0.2]) {
            assert!((part - share * all).abs() <= 1.01, "class {class}: {parts:?}");
        }
    }
}

/// Settings are sought on nodes that no published test accuracy is of.
#[test]
fn development_spares_the_test_nodes() {
    let cora = cora().unwrap();
    let public = split(&cora, "public");
    let develop = split(&cora, "develop:3");
    assert_eq!(sizes(&develop), (140, 400, 2708 - 1000 - 540));
    let all = || develop.train.iter().chain(&develop.valid).chain(&develop.test);
    assert!(all().all(|node| public.test.binary_search(node).is_err()));
    assert_ne!(develop.train, split(&cora, "develop:4").train);
    let spec: SplitSpec = "develop:3".parse().unwrap();
    let without = NodeDataset { splits: Vec::new(), ..cora.clone() };
    let error = without.split(&spec).unwrap_err().to_string();
    assert!(error.contains("came without a split"), "{error}");
    let mut most = cora;
    most.splits[0].test = (0..2200).collect();
    let error = most.split(&spec).unwrap_err().to_string();
    assert!(error.contains("only 368 nodes are left"), "{error}");
}

/// Published results name these hashes: they must never change.
#[test]
fn hashes_are_frozen() {
    let cora = cora().unwrap();
    let frozen = [
        ("public", "6a78b096ce5ffd17"),
        ("random:0", "6d08eba8a5f2f8df"),
        ("random:1", "bcec620c8ce1f1a5"),
        ("planetoid:0", "aeda80da07df6e37"),
        ("ratio:0.6/0.2/0.2", "5b769c061590451c"),
        ("stratified:0.6/0.2/0.2", "ef945bcd1ce8186c"),
        ("train+half-val", "99b4e08489992218"),
    ];
    let found: Vec<(&str, String)> =
        frozen.iter().map(|(spec, _)| (*spec, split(&cora, spec).hash())).collect();
    let expected: Vec<(&str, String)> = frozen.iter().map(|(s, h)| (*s, h.to_string())).collect();
    assert_eq!(found, expected);
    assert_eq!(cora.fingerprint(), "776e3313d8a8c1b7");
}

#[test]
fn wrong_words_are_explained() {
    for (text, part) in [
        ("", "not a split"),
        ("develop", "needs something after a colon"),
        ("random", "needs something after a colon"),
        ("random:x", "`x` is not a whole number"),
        ("randm:0", "not a split"),
        ("ratio:0.6/0.4", "not three numbers"),
        ("ratio:0.6/0.4/0.4", "at most 1"),
        ("ratio:1/0/0", "above 0"),
        ("ratio:NaN/0.1/0.1", "above 0"),
        ("fixed:-1", "`-1` is not a whole number"),
        ("train+half-val:train+half-val", "only once"),
    ] {
        let error = text.parse::<SplitSpec>().unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("ratio:"), "{error}");
    }
    let cora = cora().unwrap();
    let error = cora.split(&"fixed:3".parse().unwrap()).unwrap_err().to_string();
    assert!(error.contains("it has: public"), "{error}");
    let tiny = citation_like(&GeneratorConfig {
        nodes: 20,
        classes: 2,
        features: 4,
        degree: 2.0,
        ..GeneratorConfig::default()
    })
    .unwrap();
    let error = tiny.split(&"random:0".parse().unwrap()).unwrap_err().to_string();
    assert!(error.contains("has 10 labelled nodes"), "{error}");
    assert_eq!(tiny.splits[0].name, "stratified:0.6/0.2/0.2:0");
}

proptest! {
    #[test]
    fn any_text_parses_or_fails_politely(text: String, near in "(random|ratio|fixed|develop|train\\+half-val|public)?:?[0-9./:]{0,12}") {
        for text in [text, near] {
            if let Ok(spec) = text.parse::<SplitSpec>() {
                // What is printed means the same.
                prop_assert_eq!(spec.to_string().parse::<SplitSpec>().unwrap(), spec);
            }
        }
    }
}
