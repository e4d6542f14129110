//! A user's own graph: good ones, and what is said about bad ones.

use std::path::Path;

use adjoin_data::{NodeDataset, Result, UNKNOWN_LABEL, read};
use proptest::prelude::*;

const EDGES: &str = "source,target\na,b\nb,a\nb,c\nc,c\n";

fn parse(nodes: &str, edges: &str) -> Result<NodeDataset> {
    read::csv_bytes(Path::new("mine"), nodes.as_bytes(), edges.as_bytes(), None)
}

fn error(nodes: &str, edges: &str) -> String {
    parse(nodes, edges).unwrap_err().to_string()
}

#[test]
fn numbers_ids_labels_and_a_split() {
    let nodes = "id,label,split,height,width\na,cat,train,1,2\nb,dog,val,3,4.5\nc,,,0,-1e2\n";
    let graph = parse(nodes, EDGES).unwrap();
    assert_eq!(graph.name, "mine");
    assert_eq!(graph.edges, [(0, 1), (1, 2)]);
    assert_eq!(graph.class_names, ["cat", "dog"]);
    assert_eq!(graph.labels, [0, 1, UNKNOWN_LABEL]);
    assert_eq!(graph.node_ids, ["a", "b", "c"]);
    assert_eq!(graph.features.to_dense(), [1.0, 2.0, 3.0, 4.5, 0.0, -100.0]);
    let split = graph.split(&"given".parse().unwrap()).unwrap();
    assert_eq!((split.train, split.valid, split.test), (vec![0], vec![1], vec![]));
}

#[test]
fn words_weights_marks_and_numeric_classes() {
    let nodes = "\u{feff}id,words,label\nc,\"graph, net graph\",10\na,,9\nb,net,10\n";
    let graph = parse(nodes, "weight,source,target\n2,a,b\n2,b,a\n0.5,c,b\n").unwrap();
    // Classes in the order of their numbers, words in the order of the alphabet.
    assert_eq!(graph.class_names, ["9", "10"]);
    assert_eq!(graph.features.columns(), 3);
    assert_eq!(graph.features.row(0), [(0, 1.0), (1, 1.0), (2, 1.0)]);
    assert_eq!(graph.edges, [(0, 2), (1, 2)]);
    assert_eq!(graph.weights, Some(vec![0.5, 2.0]));
}

/// Text becomes one column a category, in alphabetical order, after the numbers; an empty cell is no category.
#[test]
fn categories_are_one_hot() {
    let nodes = "id,colour,height,label,words\na,red,1,x,net\nb,,2,y,\nc,blue,3,x,graph\n";
    let graph = parse(nodes, EDGES).unwrap();
    let names = ["height", "colour=blue", "colour=red", "words:graph", "words:net"];
    assert_eq!(graph.feature_names, names);
    assert_eq!(graph.features.row(0), [(0, 1.0), (2, 1.0), (4, 1.0)]);
    assert_eq!(graph.features.row(1), [(0, 2.0)]);
    assert_eq!(graph.features.row(2), [(0, 3.0), (1, 1.0), (3, 1.0)]);
    assert_eq!(graph.missing, None);
    let dense = parse("id,label,colour\na,x,red\nb,y,blue\nc,x,red\n", EDGES).unwrap();
    assert_eq!(dense.features.to_dense(), [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    let names = (0..60).map(|n| format!("n{n},x,name {n}\n")).collect::<String>();
    let error = error(&format!("id,label,title\n{names}"), "source,target\n");
    assert!(error.contains("line 1, field `title`: 60 different texts"), "{error}");
}

#[test]
fn missing_numbers_are_kept_with_their_place() {
    let nodes = "id,label,f,g\na,x,1,2\nb,y,?,NaN\nc,x,,3\n";
    let graph = parse(nodes, EDGES).unwrap();
    assert_eq!(graph.missing.as_ref().unwrap().to_string(), "mine/nodes.csv, line 3, field `f`");
    let values = graph.features.to_dense();
    let missing: Vec<bool> = values.iter().map(|value| value.is_nan()).collect();
    assert_eq!(missing, [false, false, true, true, true, false]);
}

#[test]
fn a_class_file_fixes_the_order() {
    let read = |classes: &[u8]| {
        let nodes = b"id,label,f\na,x,1\nb,y,2\n";
        read::csv_bytes(Path::new("m"), nodes, b"source,target\n", Some(classes))
    };
    assert_eq!(read(b"y\nx\n\nz\n").unwrap().labels, [1, 0]);
    let error = read(b"x\n").unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("class `y` is not in"), "{error}");
    assert!(read(b"x\nx\n").unwrap_err().to_string().contains("line 2"));
}

#[test]
fn errors_name_file_line_and_field() {
    let good = "id,label,f\na,x,1\nb,y,2\nc,x,3\n";
    let cases = [
        ("", EDGES, vec!["nodes.csv", "empty"]),
        ("label,f\nx,1\n", EDGES, vec!["nodes.csv, line 1", "no column `id`"]),
        ("id,f\nx,1\n", EDGES, vec!["no column `label`"]),
        ("id,label\na,x\n", EDGES, vec!["columns of numbers"]),
        ("id,label,f,f\na,x,1,1\n", EDGES, vec!["field `f`", "occurs twice"]),
        ("id,label,f\n", EDGES, vec!["no nodes"]),
        (
            "id,label,f\na,x,1\na,x,1\n",
            EDGES,
            vec!["nodes.csv, line 3", "field `id`", "`a` occurs again"],
        ),
        ("id,label,f\n,x,1\n", EDGES, vec!["line 2", "id is empty"]),
        ("id,label,f\na,x,inf\n", EDGES, vec!["line 2", "field `f`", "not a finite number"]),
        (
            "id,label,f\na,x,1\nb,x,tall\n",
            EDGES,
            vec!["line 3", "field `f`", "`tall` is not a number", "holds numbers"],
        ),
        (
            "id,label,f\na,x,tall\nb,x,1\n",
            EDGES,
            vec!["line 3", "field `f`", "`1` is a number", "holds categories"],
        ),
        ("id,label,f\na,x\n", EDGES, vec!["line 2", "2 cells, but the header has 3"]),
        ("id,label,split,f\na,x,trian,1\n", EDGES, vec!["line 2", "field `split`", "trian"]),
        ("id,label,split,f\na,,test,1\n", EDGES, vec!["line 2", "in a split but has no label"]),
        ("id,label,sparse:3\na,x,0:1 3:1\n", EDGES, vec!["line 2", "`3:1`", "below 3"]),
        ("id,label,sparse:many\na,x,0:1\n", EDGES, vec!["width"]),
        (good, "", vec!["edges.csv", "empty"]),
        (good, "from,to\na,b\n", vec!["edges.csv, line 1", "field `from`", "unknown column"]),
        (good, "source\na\n", vec!["`source` and `target` are needed"]),
        (
            good,
            "source,target\na,b\nb,zebra\n",
            vec!["edges.csv, line 3", "field `target`", "`zebra`"],
        ),
        (good, "source,target,weight\na,b,inf\n", vec!["line 2", "field `weight`"]),
        (good, "source,target,weight\na,b,-1\n", vec!["negative"]),
        (
            good,
            "source,target,weight\na,b,1\nb,a,2\n",
            vec!["edges.csv, line 3", "line 2", "another weight"],
        ),
        (good, "source,target\na,b\nb", vec!["edges.csv, line 3", "1 cells"]),
    ];
    for (nodes, edges, parts) in cases {
        let error = error(nodes, edges);
        for part in parts {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    }
    let latin = read::csv_bytes(Path::new("m"), b"id,label,f\n\xff,x,1\n", EDGES.as_bytes(), None);
    assert!(latin.unwrap_err().to_string().contains("UTF-8"));
    assert!(read::csv_folder(Path::new("no such folder")).is_err());
}

proptest! {
    #[test]
    fn random_bytes_never_panic(nodes: Vec<u8>, edges: Vec<u8>, classes: Vec<u8>) {
        let folder = Path::new("m");
        let _ = read::csv_bytes(folder, &nodes, &edges, Some(&classes));
        let headed = [b"id,label,split,words,f\na,1,train,w,1\n".to_vec(), nodes].concat();
        let _ = read::csv_bytes(folder, &headed, &edges, None);
        let edges = [b"source,target,weight\na,a,1\n".to_vec(), edges].concat();
        let _ = read::csv_bytes(folder, &headed, &edges, None);
    }

    #[test]
    fn random_tables_never_panic(nodes in "(id|label|split|f|words|sparse:3|[a-c0-2:, ]|\n|\"){0,60}", edges in "(source|target|weight|[a-c0-2,]|\n){0,40}") {
        let _ = parse(&nodes, &edges);
    }
}
