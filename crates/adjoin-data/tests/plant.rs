//! A planted graph has the neighbourhoods that were asked for.

use adjoin_data::{
    Existing, NodeDataset, PlantedConfig, add_wrong_edges, planted, read, write_csv_folder,
};
use proptest::prelude::*;
use std::fs;

fn default() -> NodeDataset {
    planted(&PlantedConfig::default()).unwrap()
}

/// Pearson's correlation.
fn correlation(a: &[u32], b: &[u32]) -> f64 {
    let mean = |v: &[u32]| v.iter().map(|x| f64::from(*x)).sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let product = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(x, y)| f(f64::from(*x) - ma, f64::from(*y) - mb)).sum()
    };
    product(&|x, y| x * y) / (product(&|x, _| x * x) * product(&|_, y| y * y)).sqrt()
}

#[test]
fn good_neighbours_are_of_the_own_class_and_bad_ones_are_not() {
    let graph = default();
    let good = graph.marks.planted.as_ref().unwrap();
    assert_eq!(good.len(), graph.edges.len());
    for ((u, v), good) in graph.edges.iter().zip(good) {
        assert_eq!(graph.label(*u) == graph.label(*v), *good, "{u} {v}");
    }
    assert_eq!(graph.splits[0].name, "ratio:0.2/0.2/0.6:0");
    assert_eq!(graph.splits[0].train.len(), 300);
}

#[test]
fn numbers_vary_from_none_to_many() {
    let graph = default();
    let good = graph.planted_degrees().unwrap();
    let none = good.iter().filter(|n| **n == 0).count() as f64 / 1500.0;
    assert!((none - 0.08).abs() < 0.025, "{none} of the nodes have no good neighbour");
    assert_eq!(good.iter().max(), Some(&30));
    let mut sorted = good.clone();
    sorted.sort_unstable();
    let mean = f64::from(good.iter().sum::<u32>()) / 1500.0;
    assert!(f64::from(sorted[750]) < mean, "skewed: few nodes have many good neighbours");
    let degrees = graph.degrees();
    let bad: Vec<u32> = degrees.iter().zip(&good).map(|(all, good)| all - good).collect();
    assert_eq!(bad.iter().max(), Some(&30));
    assert!(correlation(&good, &bad).abs() < 0.08, "{}", correlation(&good, &bad));

    let even = PlantedConfig { even_degrees: true, ..Default::default() };
    let even = planted(&even).unwrap();
    let r = correlation(&even.planted_degrees().unwrap(), &even.degrees());
    assert!(r.abs() < 0.2, "degrees tell the plant: {r}");
    assert!(correlation(&good, &degrees) > 0.5);
}

#[test]
fn features_are_prototypes_and_noise() {
    let exact = planted(&PlantedConfig { noise: 0.0, ..Default::default() }).unwrap();
    let noisy = default();
    assert_eq!(exact.edges, noisy.edges, "noise changes features only");
    let (a, b) = (exact.features.to_dense(), noisy.features.to_dense());
    let row = |node: usize| &a[32 * node..32 * (node + 1)];
    let first = (1..1500).find(|node| exact.labels[*node] == exact.labels[0]).unwrap();
    assert_eq!(row(0), row(first));
    let square: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(b - a).powi(2)).sum();
    let noise = (square / a.len() as f64).sqrt();
    let wanted = PlantedConfig::default().noise;
    assert!((noise / wanted - 1.0).abs() < 0.02, "{noise}");
}

#[test]
fn seeds_tell_graphs_apart() {
    assert_eq!(default(), default());
    let other = planted(&PlantedConfig { seed: 1, ..Default::default() }).unwrap();
    assert_ne!(default().edges, other.edges);
}

#[test]
fn wrong_edges_leave_the_plant_as_it_is() {
    let graph = default();
    let (damaged, added) = add_wrong_edges(&graph, 0.25, 3).unwrap();
    assert_eq!(damaged.planted_degrees(), graph.planted_degrees());
    let injected = damaged.marks.injected.as_ref().unwrap();
    assert_eq!(injected.iter().filter(|marked| **marked).count(), added.len());
    let again = add_wrong_edges(&damaged, 0.1, 4).unwrap();
    let injected = again.0.marks.injected.unwrap();
    assert_eq!(injected.iter().filter(|m| **m).count(), added.len() + again.1.len());
    assert_eq!(damaged.without_edges().marks, Default::default());
}

#[test]
fn a_mark_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("planted");
    write_csv_folder(&default(), &path, Existing::Refuse).unwrap();
    let edges = fs::read_to_string(path.join("edges.csv")).unwrap();
    assert!(edges.starts_with("source,target,planted\n"), "{}", &edges[..40]);
    let mut lines: Vec<&str> = edges.lines().collect();
    let twice = match lines[1].rsplit_once(',').unwrap() {
        (ends, "1") => format!("{ends},0"),
        (ends, _) => format!("{ends},1"),
    };
    lines.push(&twice);
    fs::write(path.join("edges.csv"), lines.join("\n")).unwrap();
    let error = read::csv_folder(&path).unwrap_err().to_string();
    assert!(error.contains("another mark"), "{error}");
    fs::write(path.join("edges.csv"), "source,target,planted\n0,1,yes\n").unwrap();
    let error = read::csv_folder(&path).unwrap_err().to_string();
    assert!(error.contains("`yes` is not a mark") && error.contains("line 2"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_settings_work_or_fail_politely(
        nodes in 0usize..300, classes in 0usize..6, features in 0usize..9, noise in -1.0f64..9.0,
        max_good in 0usize..40, max_bad in 0usize..40, even_degrees: bool, seed: u64,
    ) {
        let config = PlantedConfig {
            nodes, classes, features, noise, max_good, max_bad, even_degrees, seed,
        };
        if let Ok(graph) = planted(&config) {
            prop_assert_eq!(graph.nodes(), nodes);
            let good = graph.planted_degrees().unwrap();
            prop_assert!(good.iter().all(|n| *n as usize <= max_good));
            let bad = graph.degrees().into_iter().zip(good).map(|(all, good)| all - good);
            prop_assert!(bad.max().unwrap_or(0) as usize <= max_bad);
        }
    }
}
