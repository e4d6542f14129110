//! Made-up graphs have the properties that were asked for.

use adjoin_data::{
    GeneratorConfig, NodeDataset, add_wrong_edges, citation_like, cora, mark_injected,
};
use proptest::prelude::*;

#[test]
fn settings_do_what_they_say() {
    let make = |homophily, feature_noise| {
        let config = GeneratorConfig { homophily, feature_noise, ..GeneratorConfig::default() };
        citation_like(&config).unwrap()
    };
    let graph = make(0.8, 0.5);
    assert_eq!((graph.nodes(), graph.classes(), graph.features.columns()), (2000, 7, 700));
    let degree = 2.0 * graph.edges.len() as f64 / 2000.0;
    assert!((degree - 4.0).abs() < 0.2, "{degree}");
    assert!((graph.homophily().unwrap() - 0.8).abs() < 0.03);
    assert!((make(0.2, 0.5).homophily().unwrap() - 0.2).abs() < 0.03);
    assert!(graph.degrees().iter().max().unwrap() > &20, "some papers are famous");
    // Fraction of words of the own topic: 1 - noise + noise / classes.
    let own = |noise| {
        let graph = make(0.8, noise);
        let rows = (0..2000)
            .flat_map(|node| graph.features.row(node).into_iter().map(move |w| (node, w.0)));
        let all: Vec<bool> = rows.map(|(node, word)| word % 7 == graph.labels[node]).collect();
        all.iter().filter(|own| **own).count() as f64 / all.len() as f64
    };
    assert_eq!(own(0.0), 1.0);
    assert!((own(0.7) - 0.4).abs() < 0.03);
    assert_eq!(graph, make(0.8, 0.5));
    assert_ne!(
        graph.edges,
        citation_like(&GeneratorConfig { seed: 1, ..Default::default() }).unwrap().edges
    );
    assert_eq!(graph.splits[0].name, "random:0");
}

#[test]
fn wrong_edges_are_new_and_wrong() {
    let cora = cora().unwrap();
    let (noisy, added) = add_wrong_edges(&cora, 0.5, 7).unwrap();
    assert_eq!(added.len(), 2639);
    assert_eq!(noisy.edges.len(), cora.edges.len() + added.len());
    noisy.validate().unwrap();
    for (u, v) in &added {
        assert_ne!(cora.label(*u), cora.label(*v));
        assert!(cora.edges.binary_search(&(*u, *v)).is_err());
        assert!(noisy.edges.binary_search(&(*u, *v)).is_ok());
    }
    let marks = noisy.marks.injected.as_ref().unwrap();
    let injected = noisy.edges.iter().zip(marks).filter(|(_, marked)| **marked);
    assert_eq!(injected.map(|(edge, _)| *edge).collect::<Vec<_>>(), added);
    let unmarked = NodeDataset { marks: Default::default(), ..noisy.clone() };
    assert_eq!(mark_injected(&unmarked, &cora).unwrap(), noisy);
    assert_eq!(mark_injected(&cora, &noisy).unwrap().marks.injected, Some(vec![false; 5278]));
    let other = citation_like(&GeneratorConfig::default()).unwrap();
    assert!(mark_injected(&noisy, &other).unwrap_err().to_string().contains("differ"));
    assert_eq!(noisy.name, "cora+wrong:0.5:7");
    assert_eq!(add_wrong_edges(&cora, 0.0, 7).unwrap().0.edges, cora.edges);
    assert!(add_wrong_edges(&cora, f64::NAN, 7).is_err());

    let mut weighted = cora.clone();
    weighted.weights = Some(vec![2.0; cora.edges.len()]);
    let noisy = add_wrong_edges(&weighted, 0.1, 7).unwrap().0;
    assert!(noisy.weights.unwrap().iter().all(|weight| *weight == 2.0));

    let one = citation_like(&GeneratorConfig { classes: 1, ..Default::default() }).unwrap();
    let error = add_wrong_edges(&one, 0.1, 0).unwrap_err().to_string();
    assert!(error.contains("found room"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_settings_work_or_fail_politely(
        nodes in 0usize..300, classes in 0usize..9, features in 0usize..50,
        degree in -1.0f64..30.0, homophily in -0.1f64..1.1, feature_noise in 0.0f64..1.0,
        wrong_edges in 0.0f64..1.0, seed: u64,
    ) {
        let config = GeneratorConfig { nodes, classes, features, degree, homophily, feature_noise, wrong_edges, seed };
        if let Ok(graph) = citation_like(&config) {
            prop_assert_eq!(graph.nodes(), nodes);
            prop_assert!(graph.validate().is_ok());
        }
    }
}
