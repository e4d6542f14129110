//! Pickles made by hand, good and evil.

use proptest::prelude::*;

use super::*;

fn parse(bytes: &[u8]) -> Result<Pickle<'_>> {
    Pickle::parse(Path::new("ind.x.graph"), bytes)
}

fn error(bytes: &[u8]) -> String {
    match parse(bytes) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    }
}

/// `defaultdict(list, {0: [1], 1: [0, 2]})` as Python 2 writes it.
const GRAPH: &[u8] =
    b"\x80\x02ccollections\ndefaultdict\nq\x01c__builtin__\nlist\nq\x02\x85Rq\x03(K\x00]q\x04K\x01aK\x01]q\x05(K\x00K\x02eu.";

/// A float32 array of shape `shape` (one byte a side) with these bytes.
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

fn one_hot(numbers: &[i32], rows: u8, columns: u8) -> Vec<u8> {
    [b"\x80\x02".to_vec(), array(&[rows, columns], b"i4", &little(numbers)), b".".to_vec()].concat()
}

fn matrix(pointers: &[i32], indices: &[i32], rows: u8, columns: u8) -> Vec<u8> {
    let ones: Vec<u8> = indices.iter().flat_map(|_| 1.0f32.to_le_bytes()).collect();
    [
        b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK".to_vec(),
        vec![rows, b'K', columns, 0x86],
        b"U\x06indptr".to_vec(),
        array(&[pointers.len() as u8], b"i4", &little(pointers)),
        b"U\x07indices".to_vec(),
        array(&[indices.len() as u8], b"i4", &little(indices)),
        b"U\x04data".to_vec(),
        array(&[indices.len() as u8], b"f4", &ones),
        b"ub.".to_vec(),
    ]
    .concat()
}

#[test]
fn graphs_classes_and_matrices_are_read() {
    let (pairs, nodes) = parse(GRAPH).unwrap().adjacency().unwrap();
    assert_eq!((pairs, nodes), (vec![(0, 1), (1, 0), (1, 2)], 2));
    let classes = one_hot(&[0, 1, 0, 0, 1, 0], 3, 2);
    let classes = parse(&classes).unwrap().one_hot().unwrap();
    assert_eq!((classes.columns, classes.rows), (2, vec![Some(1), None, Some(0)]));
    let sparse = matrix(&[0, 1, 3], &[2, 0, 1], 2, 3);
    let sparse = parse(&sparse).unwrap().sparse_rows().unwrap();
    assert_eq!(sparse.columns, 3);
    assert_eq!(sparse.rows, [vec![(2, 1.0)], vec![(0, 1.0), (1, 1.0)]]);
}

#[test]
fn nothing_can_be_called() {
    let system = error(b"cos\nsystem\n(U\x09rm -rf ~/tR.");
    assert!(system.contains("os.system") && system.contains("byte 0"), "{system}");
    assert!(error(b"\x80\x02c__builtin__\neval\nU\x011\x85R.").contains("__builtin__.eval"));
    assert!(error(b"\x80\x02csubprocess\nPopen\n)R.").contains("subprocess.Popen"));
    // The same through the old instructions for objects, extension codes and persistent ids.
    for evil in [&b"(ios\nsystem\n."[..], b"(cos\nsystem\no.", b"\x82\x01.", b"Pid\n.", b"\x93."] {
        assert!(error(evil).contains("nothing in them is executed"));
    }
    // A recognised name with arguments that it never has.
    assert!(error(b"ccollections\ndefaultdict\ncnumpy\ndtype\n\x85R.").contains("other arguments"));
    assert!(error(b"K\x01)R.").contains("not a name"));
}

#[test]
fn depth_and_size_are_limited() {
    assert!(error(&b"(".repeat(1000)).contains("deeper"));
    assert!(error(&b"]".repeat(200_000)).contains("deeper"));
    // A million nested tuples are a flat list of objects here: no stack is exhausted.
    let mut nested = b")".to_vec();
    nested.extend(b"\x85".repeat(1_000_000));
    nested.push(b'.');
    assert!(parse(&nested).unwrap().adjacency().is_err());
    // A claimed string of 4 GB and a claimed array of 2^64 elements are not allocated.
    assert!(error(b"T\xff\xff\xff\xffabc").contains("truncated"));
    let wide = [b"\x80\x02".to_vec(), array(&[255; 9], b"f8", b""), b".".to_vec()].concat();
    assert!(error(&wide).contains("does not fit"));
    // One list referred to again and again: a small file that means billions of neighbours.
    let mut laughs = b"}(".to_vec();
    laughs.extend(b"K\x00](");
    laughs.extend(b"K\x01".repeat(5000));
    laughs.extend(b"eq\x01");
    laughs.extend(b"K\x00h\x01".repeat(5000));
    laughs.extend(b"u.");
    let laughs = parse(&laughs).unwrap().adjacency().unwrap_err().to_string();
    assert!(laughs.contains("more neighbours than the file could hold"), "{laughs}");
}

#[test]
fn every_cut_and_wrong_shape_is_an_error() {
    for bytes in [GRAPH.to_vec(), matrix(&[0, 1], &[0], 1, 1), one_hot(&[1], 1, 1)] {
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end]).is_err());
        }
    }
    assert!(error(b"").contains("empty"));
    assert!(error(b"\x80\x04.").contains("protocol 4"));
    let backwards = matrix(&[0, 2, 1], &[0, 1], 2, 2);
    assert!(parse(&backwards).unwrap().sparse_rows().is_err());
    let outside = matrix(&[0, 9], &[0], 1, 1);
    assert!(parse(&outside).unwrap().sparse_rows().is_err());
    assert!(parse(GRAPH).unwrap().one_hot().is_err());
    assert!(parse(GRAPH).unwrap().sparse_rows().is_err());
    assert!(parse(b"}(K\x00K\x01u.").unwrap().adjacency().is_err());
    assert!(parse(b"}(J\xff\xff\xff\xff]u.").unwrap().adjacency().is_err());
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes: Vec<u8>, place: usize, byte: u8) {
        let mut changed = matrix(&[0, 1, 3], &[2, 0, 1], 2, 3);
        let length = changed.len();
        changed[place % length] = byte;
        let mut graph = GRAPH.to_vec();
        graph[place % GRAPH.len()] = byte;
        for bytes in [&bytes, &changed, &graph] {
            if let Ok(pickle) = parse(bytes) {
                let _ = (pickle.sparse_rows(), pickle.one_hot(), pickle.adjacency());
            }
        }
    }

    /// Bytes that are mostly instructions get further into the machine than plain noise.
    #[test]
    fn random_programs_never_panic(
        bytes in prop::collection::vec(prop::sample::select(&b"(N]})t\x85\x86\x87aesuqhKMRb\x81\x88\x00\x01."[..]), 0..200)
    ) {
        if let Ok(pickle) = parse(&bytes) {
            let _ = (pickle.sparse_rows(), pickle.one_hot(), pickle.adjacency());
        }
    }
}
