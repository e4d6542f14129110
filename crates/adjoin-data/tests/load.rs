//! Names, folders and files: what is found where, and what is said when nothing is.

use std::fs;
use std::path::PathBuf;

use adjoin_data::{
    Error, Existing, GeneratorConfig, Locations, citation_like, cora, load, write_npz,
};

#[test]
fn folders_are_searched_in_order() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let place = |dir: &tempfile::TempDir| Some(dir.path().to_path_buf());
    let small = |nodes| citation_like(&GeneratorConfig { nodes, ..Default::default() }).unwrap();
    write_npz(&small(100), &first.path().join("heterophilous/actor.npz"), Existing::Refuse)
        .unwrap();
    write_npz(&small(200), &second.path().join("actor.npz"), Existing::Refuse).unwrap();
    write_npz(&small(300), &second.path().join("mine.npz"), Existing::Refuse).unwrap();
    let both = Locations { data_dir: place(&first), cache: place(&second), ..Default::default() };
    assert_eq!(load("actor", &both).unwrap().nodes(), 100);
    let turned =
        Locations { environment: place(&second), local: place(&first), ..Default::default() };
    assert_eq!(load("Actor", &turned).unwrap().nodes(), 200);
    assert_eq!(load("mine", &both).unwrap().name, "mine");
    let path = second.path().join("mine.npz");
    assert_eq!(load(path.to_str().unwrap(), &Locations::default()).unwrap().nodes(), 300);
}

#[test]
fn cora_is_always_there() {
    assert_eq!(load("cora", &Locations::default()).unwrap(), cora().unwrap());
}

#[test]
fn a_missing_dataset_says_where_and_how() {
    let nowhere = Locations { cache: Some(PathBuf::from("/none/cache")), ..Default::default() };
    let error = load("pubmed", &nowhere).unwrap_err();
    assert!(matches!(&error, Error::Missing { looked, .. } if looked.len() > 3));
    let text = error.to_string();
    for part in
        ["ind.pubmed.graph", "planetoid_plain", "adjoin data fetch pubmed", "8.7 MB", "/none/cache"]
    {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    let text = load("coauthor-cs", &nowhere).unwrap_err().to_string();
    assert!(text.contains("gnn-benchmark") && text.contains("coauthor_cs.npz"), "{text}");
    let text = load("citeseers", &nowhere).unwrap_err().to_string();
    assert!(text.contains("did you mean `citeseer`"), "{text}");
}

#[test]
fn odd_paths_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.docx");
    fs::write(&file, "x").unwrap();
    let error = |path: &std::path::Path| {
        load(path.to_str().unwrap(), &Locations::default()).unwrap_err().to_string()
    };
    assert!(error(&file).contains("not a kind of file"));
    assert!(error(folder.path()).contains("holds no graph"));
    let broken = folder.path().join("g.npz");
    fs::write(&broken, "PK\x03\x04 nothing more").unwrap();
    assert!(error(&broken).contains("not a whole zip archive"));
    fs::write(folder.path().join("ind.x.graph"), "").unwrap();
    assert!(error(folder.path()).contains("ind.x.allx"));
}

#[test]
fn the_environment_names_folders() {
    let locations = Locations::from_environment(Some("mine".into()));
    assert_eq!(locations.folders()[0], PathBuf::from("mine"));
    assert_eq!(locations.local, Some(PathBuf::from("data")));
}
