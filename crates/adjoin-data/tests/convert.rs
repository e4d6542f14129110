//! What is written is read back the same, and nothing is half-written or overwritten unasked.

use std::fs;

use adjoin_data::{
    EdgeMarks, Existing, Features, GeneratorConfig, NodeDataset, PlantedConfig, Split,
    UNKNOWN_LABEL, citation_like, cora, load, planted, read, write_csv_folder, write_npz,
};

fn small() -> NodeDataset {
    NodeDataset {
        name: "small".into(),
        features: Features::Dense {
            rows: 3,
            columns: 2,
            values: vec![0.1, -2.0, 1e-30, 4.0, 0.0, 6.5],
        },
        feature_names: vec!["height".into(), "depth, m".into()],
        edges: vec![(0, 2), (1, 2)],
        weights: Some(vec![0.25, 3.0]),
        marks: EdgeMarks { planted: Some(vec![true, false]), injected: Some(vec![false, true]) },
        labels: vec![1, UNKNOWN_LABEL, 0],
        class_names: vec!["zebra, striped".into(), "ape".into()],
        missing: None,
        node_ids: vec!["n \"1\"".into(), "ä".into(), "x,y".into()],
        splits: vec![
            Split::new("given", vec![0], vec![], vec![2]).unwrap(),
            Split::new("fixed:1", vec![2], vec![0], vec![]).unwrap(),
        ],
    }
}

#[test]
fn both_forms_come_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let made =
        citation_like(&GeneratorConfig { nodes: 200, features: 90, ..Default::default() }).unwrap();
    let config = PlantedConfig { nodes: 300, max_good: 9, max_bad: 9, ..Default::default() };
    for mut dataset in [small(), cora().unwrap(), made, planted(&config).unwrap()] {
        let npz = folder.path().join(format!("{}.npz", dataset.name));
        write_npz(&dataset, &npz, Existing::Refuse).unwrap();
        assert_eq!(read::npz(&npz).unwrap(), dataset);
        let csv = folder.path().join(&dataset.name);
        write_csv_folder(&dataset, &csv, Existing::Refuse).unwrap();
        if dataset.node_ids.is_empty() {
            dataset.node_ids = (0..dataset.nodes()).map(|node| node.to_string()).collect();
        }
        assert_eq!(read::csv_folder(&csv).unwrap(), dataset);
        assert_eq!(load(csv.to_str().unwrap(), &Default::default()).unwrap(), dataset);
    }
}

#[test]
fn nothing_is_overwritten_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let npz = folder.path().join("g.npz");
    let csv = folder.path().join("g");
    fs::write(&npz, "precious").unwrap();
    fs::create_dir(&csv).unwrap();
    fs::write(csv.join("nodes.csv"), "precious").unwrap();
    let dataset = small();
    assert!(
        write_npz(&dataset, &npz, Existing::Refuse).unwrap_err().to_string().contains("exists")
    );
    assert!(write_csv_folder(&dataset, &csv, Existing::Refuse).is_err());
    assert_eq!(fs::read(&npz).unwrap(), b"precious");
    assert_eq!(fs::read(csv.join("nodes.csv")).unwrap(), b"precious");

    write_npz(&dataset, &npz, Existing::Replace).unwrap();
    write_csv_folder(&dataset, &csv, Existing::Replace).unwrap();
    assert_eq!(read::npz(&npz).unwrap().edges, dataset.edges);
    assert_eq!(read::csv_folder(&csv).unwrap().edges, dataset.edges);

    // A folder with anything else in it is not ours to replace.
    fs::write(csv.join("thesis.tex"), "precious").unwrap();
    let error = write_csv_folder(&dataset, &csv, Existing::Replace).unwrap_err().to_string();
    assert!(error.contains("other files"), "{error}");
    assert!(csv.join("thesis.tex").exists());
    // And no temporary file was left anywhere.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn failures_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut bad = small();
    bad.labels[0] = 9;
    assert!(write_npz(&bad, &folder.path().join("g.npz"), Existing::Refuse).is_err());
    let mut odd = small();
    odd.class_names[0] = "two\nlines".into();
    assert!(write_csv_folder(&odd, &folder.path().join("g"), Existing::Refuse).is_err());
    // A file where a folder is needed.
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(write_npz(&small(), &folder.path().join("file/g.npz"), Existing::Refuse).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
