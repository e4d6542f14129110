//! Records of graphs: homophily, histograms of degrees, files for other programs.

use adjoin_lab::{
    export::{graph_csv, graph_graphml, graph_npz},
    graph::{GraphRecord, homophily},
    histogram::degree_histogram,
};

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-10 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn homophily_leaves_out_loops_and_unknown_labels() {
    // 0 -> 0, 1, 2; 1 -> 2, 3; 3 is unlabelled
    let (pointers, indices) = ([0, 3, 5, 5, 5], [0, 1, 2, 2, 3]);
    let labels = [Some(7), Some(7), Some(8), None];
    close(homophily(&pointers, &indices, None, &labels).unwrap(), 1.0 / 3.0);
    let weights = [9.0, 0.5, 0.25, 0.25, 9.0];
    close(homophily(&pointers, &indices, Some(&weights), &labels).unwrap(), 0.5);
    assert_eq!(homophily(&[0, 1], &[0], None, &[Some(1)]), None);
    assert_eq!(homophily(&[], &[], None, &[]), None);
    let record = GraphRecord {
        input_pointers: pointers.to_vec(),
        input_indices: indices.to_vec(),
        ..GraphRecord::default()
    };
    assert_eq!(record.input_degrees(), [2.0, 2.0, 0.0, 0.0]);
}

#[test]
fn histograms_round_and_keep_everyone() {
    let h = degree_histogram(&[0.0, 1.0, 1.0, 3.0], &[0.4, 0.6, 2.5, 3.4], 30);
    assert_eq!((h.width, h.input, h.learned), (1, vec![1, 2, 0, 1, 0], vec![1, 1, 0, 2, 0]));

    let mut hubs = vec![2.0; 999];
    hubs.push(5000.0);
    let h = degree_histogram(&hubs, &[39.0, f32::NAN], 10);
    assert_eq!(h.width, 5, "reach 39 in ten bins");
    assert_eq!((h.input[0], h.input.last()), (999, Some(&1)));
    assert_eq!((h.learned[7], h.learned.iter().sum::<u32>()), (1, 1));
    assert_eq!(degree_histogram(&[], &[], 0).input, [0, 0]);
}

fn graph() -> GraphRecord {
    GraphRecord {
        node_ids: vec!["a,b".into(), "<c>".into()],
        class_names: vec!["x".into(), "y".into()],
        labels: vec![Some(1), None],
        predicted: vec![1, 0],
        part: vec![0, 0],
        input_pointers: vec![0, 0, 0],
        input_indices: vec![],
        input_weights: vec![],
        learned_pointers: vec![0, 1, 2],
        learned_indices: vec![1, 0],
        learned_weights: vec![0.5, 0.25],
        degrees: vec![1.5, 2.0],
        ..GraphRecord::default()
    }
}

#[test]
fn text_formats_escape_names() {
    let csv = graph_csv(&graph());
    assert_eq!(csv, "source,target,weight\n\"a,b\",<c>,0.5\n<c>,\"a,b\",0.25\n");
    let xml = graph_graphml(&graph());
    assert!(xml.contains("<node id=\"&lt;c&gt;\"><data key=\"predicted\">x</data>"), "{xml}");
    assert!(xml.contains("<data key=\"label\">y</data>"), "{xml}");
}

#[test]
fn the_archive_holds_the_arrays_that_scipy_wants() {
    let bytes = graph_npz(&graph()).unwrap();
    let names = ["format", "shape", "indptr", "indices", "data", "predicted", "degrees"];
    let text = String::from_utf8_lossy(&bytes);
    assert!(names.iter().all(|name| text.contains(&format!("{name}.npy"))));
}

#[test]
fn ids_of_any_characters_make_valid_xml() {
    let mut graph = graph();
    graph.node_ids[0] = "a<\"b\"\n&\u{1}".into();
    let xml = graph_graphml(&graph);
    assert!(xml.contains("<node id=\"a&lt;&quot;b&quot;&#10;&amp;\u{fffd}\">"), "{xml}");
}
