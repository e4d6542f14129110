//! Planetoid's files made by hand: missing test nodes, a missing `ally`, and files that do not fit.

use std::path::Path;

use adjoin_data::read::{PlanetoidFiles, planetoid, planetoid_bytes};
use adjoin_data::{NodeDataset, Result, UNKNOWN_LABEL};
use proptest::prelude::*;

/// An array as Python 2 pickles it; sides and strings are short here.
fn array(shape: &[u8], kind: &[u8; 2], data: &[u8]) -> Vec<u8> {
    let mut out =
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01("
            .to_vec();
    shape.iter().for_each(|side| out.extend([b'K', *side]));
    out.extend(b"tcnumpy\ndtype\nU\x02");
    out.extend(kind);
    out.extend(b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T");
    out.extend((data.len() as u32).to_le_bytes());
    out.extend(data);
    out.extend(b"tb");
    out
}

fn little(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn classes(rows: &[i32]) -> Vec<u8> {
    let hot: Vec<i32> =
        rows.iter().flat_map(|class| [i32::from(*class == 0), i32::from(*class == 1)]).collect();
    [array(&[rows.len() as u8, 2], b"i4", &little(&hot)), b".".to_vec()].concat()
}

/// One word a row.
fn words(columns: &[i32]) -> Vec<u8> {
    let count = columns.len() as u8;
    let pointers: Vec<i32> = (0..=i32::from(count)).collect();
    let ones: Vec<u8> = columns.iter().flat_map(|_| 1.0f32.to_le_bytes()).collect();
    [
        b"cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK".to_vec(),
        vec![count, b'K', 9, 0x86],
        b"U\x06indptr".to_vec(),
        array(&[count + 1], b"i4", &little(&pointers)),
        b"U\x07indices".to_vec(),
        array(&[count], b"i4", &little(columns)),
        b"U\x04data".to_vec(),
        array(&[count], b"f4", &ones),
        b"ub.".to_vec(),
    ]
    .concat()
}

/// Nodes 0, 1, 2 in allx (0 trains), test nodes 5 and 3; node 4 is nowhere but in the graph.
fn good() -> PlanetoidFiles {
    PlanetoidFiles {
        allx: words(&[0, 1, 2]),
        tx: words(&[5, 3]),
        y: classes(&[1]),
        ty: classes(&[0, 1]),
        ally: Some(classes(&[1, 0, 1])),
        graph: b"}(K\x00](K\x01K\x01K\x00eK\x05](K\x00K\x03eK\x04](eu.".to_vec(),
        test_index: b"5\n3\n".to_vec(),
    }
}

fn parse(files: &PlanetoidFiles) -> Result<NodeDataset> {
    planetoid_bytes(Path::new("d"), "x", files)
}

#[test]
fn rows_go_where_the_test_index_says() {
    let graph = parse(&good()).unwrap();
    assert_eq!(graph.nodes(), 6);
    assert_eq!(graph.features.row(5), [(5, 1.0)]);
    assert_eq!(graph.features.row(3), [(3, 1.0)]);
    assert!(graph.features.row(4).is_empty());
    assert_eq!(graph.labels, [1, 0, 1, 1, UNKNOWN_LABEL, 0]);
    // Self-loops and both directions are gone.
    assert_eq!(graph.edges, [(0, 1), (0, 5), (3, 5)]);
    let split = &graph.splits[0];
    assert_eq!(split.name, "public");
    assert_eq!((&split.train, &split.valid, &split.test), (&vec![0], &vec![1, 2], &vec![3, 5]));
}

#[test]
fn without_ally_the_test_nodes_are_shared() {
    let graph = parse(&PlanetoidFiles { ally: None, ..good() }).unwrap();
    assert_eq!(graph.labels, [1, UNKNOWN_LABEL, UNKNOWN_LABEL, 1, UNKNOWN_LABEL, 0]);
    let split = &graph.splits[0];
    assert_eq!((split.name.as_str(), split.valid.len(), split.test.len()), ("carved", 1, 1));
}

#[test]
fn files_that_do_not_fit_are_named() {
    let cases = [
        (PlanetoidFiles { tx: words(&[5]), ..good() }, "ind.x.tx: 1 rows, expected 2"),
        (PlanetoidFiles { ty: classes(&[0]), ..good() }, "ind.x.ty: 1 rows, expected 2"),
        (PlanetoidFiles { ally: Some(classes(&[1])), ..good() }, "ind.x.ally: 1 rows, expected 3"),
        (PlanetoidFiles { y: classes(&[1, 1, 1, 1]), ..good() }, "4 training rows"),
        (PlanetoidFiles { y: words(&[1]), ..good() }, "ind.x.y: not an array"),
        (PlanetoidFiles { test_index: b"5\n2\n".to_vec(), ..good() }, "test node 2 is also"),
        (
            PlanetoidFiles { test_index: b"5\n5\n".to_vec(), ..good() },
            "line 2: node 5 occurs twice",
        ),
        (PlanetoidFiles { test_index: b"5\nfive\n".to_vec(), ..good() }, "line 2: `five` is not"),
        (PlanetoidFiles { test_index: b"5\n4000000000\n".to_vec(), ..good() }, "4000000000"),
        (PlanetoidFiles { test_index: Vec::new(), ..good() }, "test.index: the file is empty"),
        (PlanetoidFiles { graph: Vec::new(), ..good() }, "ind.x.graph, byte 0: the file is empty"),
        (
            PlanetoidFiles { graph: b"}(J\xff\xff\xff\x0f]u.".to_vec(), ..good() },
            "too short for so many",
        ),
        (PlanetoidFiles { allx: b"cos\nsystem\n(U\x02lstR.".to_vec(), ..good() }, "`os.system`"),
    ];
    for (files, part) in cases {
        let error = parse(&files).unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
    let error = planetoid(Path::new("/none"), "x").unwrap_err().to_string();
    assert!(error.contains("ind.x.allx"), "{error}");
}

proptest! {
    #[test]
    fn random_files_never_panic(which in 0usize..7, bytes: Vec<u8>, place: prop::sample::Index, byte: u8) {
        for damage in [true, false] {
            let mut files = good();
            let mut empty = Vec::new();
            let file = match which {
                0 => &mut files.allx,
                1 => &mut files.tx,
                2 => &mut files.y,
                3 => &mut files.ty,
                4 => files.ally.as_mut().unwrap_or(&mut empty),
                5 => &mut files.graph,
                _ => &mut files.test_index,
            };
            match damage {
                true => {
                    let at = place.index(file.len());
                    file[at] = byte;
                }
                false => *file = bytes.clone(),
            }
            let _ = parse(&files);
        }
    }
}
