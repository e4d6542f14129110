//! NumPy archives: written here and read back, broken, and hostile.

use std::io::{Cursor, Write};
use std::path::Path;

use adjoin_data::{Error, NodeDataset, Result, read};
use proptest::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data]
        .concat()
}

fn numbers(shape: &str, values: &[i32]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<i4", shape, &bytes)
}

fn archive(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in entries {
        zip.start_file(format!("{name}.npy"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn parse(bytes: &[u8]) -> Result<NodeDataset> {
    read::npz_bytes("g", Path::new("g.npz"), bytes)
}

/// Three nodes in a row, in the sparse form.
fn good() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("edges", numbers("(3, 2)", &[0, 1, 1, 0, 2, 1])),
        ("feat_indptr", numbers("(4,)", &[0, 1, 1, 3])),
        ("feat_indices", numbers("(3,)", &[4, 3, 0])),
        ("feat_shape", numbers("(2,)", &[3, 5])),
        ("labels", numbers("(3,)", &[1, 0, -1])),
        ("train_idx", numbers("(1,)", &[1])),
        ("val_idx", numbers("(1,)", &[0])),
        ("test_idx", numbers("(0,)", &[])),
    ]
}

fn with(name: &'static str, bytes: Vec<u8>) -> Vec<u8> {
    let mut entries = good();
    entries.retain(|(key, _)| *key != name);
    entries.push((name, bytes));
    archive(&entries)
}

#[test]
fn the_sparse_form() {
    let graph = parse(&archive(&good())).unwrap();
    assert_eq!(graph.edges, [(0, 1), (1, 2)]);
    assert_eq!(graph.features.row(2), [(0, 1.0), (3, 1.0)]);
    assert_eq!((graph.classes(), graph.label(2)), (2, None));
    assert_eq!((&graph.splits[0].train, &graph.splits[0].valid), (&vec![1], &vec![0]));
}

#[test]
fn the_heterophilous_form() {
    let entries = vec![
        ("node_features", npy("<f4", "(2, 1)", &[0, 0, 128, 63, 0, 0, 0, 0])),
        ("node_labels", numbers("(2,)", &[0, 1])),
        ("edges", numbers("(1, 2)", &[1, 0])),
        ("train_masks", npy("|b1", "(2, 2)", &[1, 0, 0, 1])),
        ("val_masks", npy("|b1", "(2, 2)", &[0, 1, 0, 0])),
        ("test_masks", npy("|b1", "(2, 2)", &[0, 0, 1, 0])),
    ];
    let graph = parse(&archive(&entries)).unwrap();
    assert_eq!(graph.features.to_dense(), [1.0, 0.0]);
    let split = graph.split(&"fixed:1".parse().unwrap()).unwrap();
    assert_eq!((split.train, split.test), (vec![1], vec![0]));
}

#[test]
fn the_benchmark_form() {
    let entries = vec![
        ("adj_indptr", numbers("(3,)", &[0, 1, 2])),
        ("adj_indices", numbers("(2,)", &[1, 1])),
        ("attr_indptr", numbers("(3,)", &[0, 1, 2])),
        ("attr_indices", numbers("(2,)", &[0, 1])),
        ("attr_data", npy("<f4", "(2,)", &[0, 0, 128, 63, 0, 0, 0, 64])),
        ("attr_shape", numbers("(2,)", &[2, 2])),
        ("labels", numbers("(2,)", &[0, 0])),
        // Present in the published files, and never opened.
        ("idx_to_class", npy("|O", "()", b"cos\nsystem\n.")),
    ];
    let graph = parse(&archive(&entries)).unwrap();
    assert_eq!(graph.edges, [(0, 1)]);
    assert_eq!(graph.features.to_dense(), [1.0, 0.0, 0.0, 2.0]);
}

#[test]
fn a_sparse_matrix_must_fit_and_has_no_weights() {
    let graph = |name, array| {
        let mut entries = vec![
            ("node_features", npy("<f4", "(2, 1)", &[0; 8])),
            ("node_labels", numbers("(2,)", &[0, 1])),
            ("adj_indptr", numbers("(3,)", &[0, 1, 2])),
            ("adj_indices", numbers("(2,)", &[1, 0])),
        ];
        entries.retain(|(other, _)| *other != name);
        entries.push((name, array));
        parse(&archive(&entries))
    };
    let ones = [0, 0, 128, 63, 0, 0, 128, 63];
    assert_eq!(graph("adj_data", npy("<f4", "(2,)", &ones)).unwrap().edges, [(0, 1)]);
    for (name, array, part) in [
        ("adj_data", npy("<f4", "(2,)", &[0; 8]), "field `adj_data`: weights"),
        ("edge_weights", npy("<f4", "(2,)", &ones), "field `edge_weights`"),
        ("adj_indptr", numbers("(3,)", &[0, 1, 1]), "from 0 to the 2 stored"),
        ("adj_indptr", numbers("(2,)", &[0, 2]), "field `adj_indptr`"),
        ("adj_indices", numbers("(2,)", &[1, 2]), "row 1 names node 2 of only 2"),
    ] {
        let error = graph(name, array).unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[test]
fn stored_splits_can_be_asked_for_by_name() {
    let mut entries = vec![
        ("node_features", npy("<f4", "(3, 1)", &[0; 12])),
        ("node_labels", numbers("(3,)", &[0, 1, 0])),
        ("edges", numbers("(1, 2)", &[1, 0])),
        ("train_masks", npy("|b1", "(1, 3)", &[0, 0, 1])),
        ("val_masks", npy("|b1", "(1, 3)", &[1, 0, 0])),
        ("test_masks", npy("|b1", "(1, 3)", &[0, 1, 0])),
    ];
    entries.push(("split_names", npy("<U8", "(1,)", &text("random:0"))));
    let graph = parse(&archive(&entries)).unwrap();
    let split = graph.split(&"random:0".parse().unwrap()).unwrap();
    assert_eq!((split.train, split.test), (vec![2], vec![1]));
    for name in ["my split", "random:a"] {
        entries.pop();
        entries.push(("split_names", npy("<U8", "(1,)", &text(name))));
        let error = parse(&archive(&entries)).unwrap_err().to_string();
        assert!(error.contains(&format!("`{name}` is not a name for a split")), "{error}");
    }
}

/// Eight characters as NumPy stores them.
fn text(text: &str) -> Vec<u8> {
    let padded = text.chars().chain(std::iter::repeat('\0')).take(8);
    padded.flat_map(|c| (c as u32).to_le_bytes()).collect()
}

#[test]
fn wrong_arrays_are_named() {
    let cases = [
        (with("edges", numbers("(1, 2)", &[0, 3])), "field `edges`: row 0 names node 3 of only 3"),
        (with("edges", numbers("(2,)", &[0, 1])), "2 axes are expected"),
        (with("edges", numbers("(1, 3)", &[0, 1, 2])), "(E, 2)"),
        (with("labels", numbers("(2,)", &[0, 1])), "labels for 2"),
        (with("labels", numbers("(3,)", &[0, 1, 99])), "class 99 among only 3 nodes"),
        (with("feat_indices", numbers("(3,)", &[4, 9, 0])), "uses column 9 of only 5"),
        (with("feat_indptr", numbers("(4,)", &[0, 3, 1, 9])), "field `feat_indptr`"),
        (with("feat_data", npy("<f4", "(3,)", &[0, 0, 128, 127, 0, 0, 0, 0, 0, 0, 0, 0])), "inf"),
        (with("train_idx", numbers("(1,)", &[0])), "node 0 is in `train` and again in `valid`"),
        (with("train_idx", numbers("(1,)", &[2])), "has no label"),
        (with("train_idx", numbers("(1,)", &[7])), "only 3 nodes"),
        (with("labels", npy("|O", "(3,)", b"cos\nsystem\n(U\x02ls\x85R.")), "never opened"),
        (archive(&good()[..4]), "field `labels`: the array is missing"),
        (with("edge_weights", npy("<f4", "(3,)", &[0; 12])), "sorted"),
        (with("feat_shape", numbers("(2,)", &[4, 5])), "field `feat_shape`"),
        (with("feat_data", npy("<f4", "(4,)", &[0; 16])), "4 values for 3 stored entries"),
        (archive(&good()[..7]), "field `test_idx`: the array is missing"),
    ];
    for (bytes, part) in cases {
        let error = parse(&bytes).unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[test]
fn a_bomb_is_defused() {
    // 64 MiB of zeros in 64 KiB: a thousandfold.
    let zeros = npy("|u1", "(67108864,)", &vec![0; 64 << 20]);
    let bomb = with("labels", zeros);
    assert!(bomb.len() < 100_000);
    match parse(&bomb) {
        Err(Error::TooLarge { at, what }) => {
            assert_eq!(at.field.as_deref(), Some("labels.npy"));
            assert!(what.contains("expands to more than"), "{what}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_cut_is_an_error() {
    let whole = archive(&good());
    for end in 0..whole.len() {
        assert!(parse(&whole[..end]).is_err());
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes: Vec<u8>, place: prop::sample::Index, byte: u8) {
        let _ = parse(&bytes);
        let mut changed = archive(&good());
        let at = place.index(changed.len());
        changed[at] = byte;
        let _ = parse(&changed);
    }

    #[test]
    fn random_arrays_never_panic(key in 0usize..8, values in prop::collection::vec(-2i32..12, 0..8), wide: bool) {
        let mut entries = good();
        let shape = if wide { format!("({}, 1)", values.len()) } else { format!("({},)", values.len()) };
        entries[key].1 = numbers(&shape, &values);
        let _ = parse(&archive(&entries));
    }
}
