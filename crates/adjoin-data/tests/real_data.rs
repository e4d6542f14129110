//! The public datasets as published; `ADJOIN_DATA` says where they are.

mod common;

use adjoin_data::{NodeDataset, SplitSpec, UNKNOWN_LABEL, cora, list, load, read};
use common::{data, folder};

/// Equal in everything but names.
fn assert_same(a: &NodeDataset, b: &NodeDataset) {
    assert_eq!(a.edges, b.edges);
    assert_eq!(a.features, b.features);
    assert_eq!(a.labels, b.labels);
    assert_eq!(a.splits, b.splits);
    assert_eq!(a.fingerprint(), b.fingerprint());
}

#[test]
#[ignore = "needs ADJOIN_DATA"]
fn every_known_dataset_loads_with_the_known_counts() {
    let locations = data();
    for entry in list() {
        let dataset = load(entry.name, &locations).unwrap();
        assert_eq!(dataset.name, entry.name);
        assert_eq!(dataset.nodes(), entry.nodes, "{}", entry.name);
        assert_eq!(dataset.edges.len(), entry.edges, "{}", entry.name);
        assert_eq!(dataset.features.columns(), entry.features, "{}", entry.name);
        assert_eq!(dataset.classes(), entry.classes, "{}", entry.name);
        let spec: SplitSpec = match entry.splits.split(' ').next() {
            Some("random:SEED") => "random:0".parse().unwrap(),
            Some(name) => name.parse().unwrap(),
            None => unreachable!(),
        };
        let split = dataset.split(&spec).unwrap();
        assert!(!split.train.is_empty() && !split.valid.is_empty() && !split.test.is_empty());
    }
}

#[test]
#[ignore = "needs ADJOIN_DATA"]
fn poisoned_graphs_load_with_their_own_split() {
    let locations = data();
    for (name, nodes, edges, homophily, parts) in [
        ("cora_metattack_0", 2485, 5069, 0.804, [247, 249, 1988]),
        ("cora_metattack_0.25", 2485, 6246, 0.661, [247, 249, 1988]),
        ("citeseer_metattack_0.15", 2110, 4196, 0.655, [210, 211, 1688]),
    ] {
        let dataset = load(name, &locations).unwrap();
        assert_eq!(dataset.name, name);
        assert_eq!((dataset.nodes(), dataset.edges.len()), (nodes, edges), "{name}");
        assert!((dataset.homophily().unwrap() - homophily).abs() < 6e-4, "{name}");
        let split = dataset.default_split().unwrap();
        assert_eq!(split.name, "public");
        assert_eq!([&split.train, &split.valid, &split.test].map(Vec::len), parts, "{name}");
    }
}

#[test]
#[ignore = "needs ADJOIN_DATA"]
fn the_embedded_cora_is_the_public_one() {
    let folder = folder();
    let embedded = cora().unwrap();
    assert_same(&embedded, &read::npz(&folder.join("planetoid_plain/cora.npz")).unwrap());
    assert_same(&embedded, &read::planetoid(&folder.join("cora"), "cora").unwrap());
}

#[test]
#[ignore = "needs ADJOIN_DATA"]
fn pickles_agree_with_the_plain_arrays() {
    let folder = folder();
    for (name, missing) in [("cora", 0), ("citeseer", 15), ("pubmed", 0)] {
        let pickled = read::planetoid(&folder.join(name), name).unwrap();
        let mut plain = read::npz(&folder.join(format!("planetoid_plain/{name}.npz"))).unwrap();
        // The plain arrays call nodes that no file describes class 0; here their class is unknown.
        let mut unknown = 0;
        for (label, ours) in plain.labels.iter_mut().zip(&pickled.labels) {
            if *ours == UNKNOWN_LABEL {
                assert_eq!(*label, 0);
                *label = UNKNOWN_LABEL;
                unknown += 1;
            }
        }
        assert_eq!(unknown, missing, "{name}");
        assert_same(&pickled, &plain);
        let split = &pickled.splits[0];
        assert_eq!((split.valid.len(), split.test.len()), (500, 1000));
        assert_eq!(split.train.len(), 20 * pickled.classes());
    }
}

#[test]
#[ignore = "needs ADJOIN_DATA"]
fn heterophilous_graphs_have_ten_splits() {
    let folder = folder();
    let actor = read::npz(&folder.join("heterophilous/actor.npz")).unwrap();
    assert!(actor.features.is_sparse());
    assert_eq!(actor.splits.len(), 10);
    let split = actor.split(&"fixed:9".parse().unwrap()).unwrap();
    assert_eq!((split.train.len(), split.valid.len(), split.test.len()), (3648, 2432, 1520));
    let half = actor.split(&"train+half-val:fixed:9".parse().unwrap()).unwrap();
    assert_eq!((half.train.len(), half.valid.len(), half.test.len()), (4864, 1216, 1520));
    // Column-major masks in the file.
    let mines = read::npz(&folder.join("heterophilous/minesweeper.npz")).unwrap();
    assert!(!mines.features.is_sparse());
    assert_eq!(mines.splits[3].train.len(), 5000);
}

#[test]
#[ignore = "needs ADJOIN_DATA"]
fn nell_is_read_without_ally() {
    let folder = folder();
    let nell = read::planetoid(&folder.join("nell"), "nell.0.001").unwrap();
    let split = &nell.splits[0];
    assert_eq!(split.name, "carved");
    assert_eq!((split.train.len(), split.valid.len() + split.test.len()), (105, 969));
}
