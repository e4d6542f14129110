//! Learned graphs and predictions in formats that other programs read.

use crate::{
    Error, Result,
    graph::{GraphRecord, row},
};
use adjoin_data::NpzWriter;
use std::fmt::Write as _;

/// Edges and weights of the learned graph: `source,target,weight`.
pub fn graph_csv(graph: &GraphRecord) -> String {
    let mut out = String::from("source,target,weight\n");
    for (i, j, weight) in edges(graph) {
        let (source, target) = (field(&name(graph, i)), field(&name(graph, j)));
        let _ = writeln!(out, "{source},{target},{weight}");
    }
    out
}

/// The learned graph with class, prediction and learned degree of every node, as GraphML.
pub fn graph_graphml(graph: &GraphRecord) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key id=\"label\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\n\
         <key id=\"predicted\" for=\"node\" attr.name=\"predicted\" attr.type=\"string\"/>\n\
         <key id=\"k\" for=\"node\" attr.name=\"k\" attr.type=\"float\"/>\n\
         <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"float\"/>\n\
         <graph edgedefault=\"directed\">\n",
    );
    let class = |class: u32| xml(graph.class_names.get(class as usize).map_or("", String::as_str));
    for node in 0..graph.predicted.len() {
        let _ = write!(out, "<node id=\"{}\">", xml(&name(graph, node)));
        if let Some(label) = graph.labels[node] {
            let _ = write!(out, "<data key=\"label\">{}</data>", class(label));
        }
        let _ = write!(out, "<data key=\"predicted\">{}</data>", class(graph.predicted[node]));
        if let Some(k) = graph.degrees.get(node) {
            let _ = write!(out, "<data key=\"k\">{k}</data>");
        }
        out.push_str("</node>\n");
    }
    for (i, j, weight) in edges(graph) {
        let (source, target) = (xml(&name(graph, i)), xml(&name(graph, j)));
        let _ = writeln!(
            out,
            "<edge source=\"{source}\" target=\"{target}\"><data key=\"weight\">{weight}</data></edge>"
        );
    }
    out.push_str("</graph>\n</graphml>\n");
    out
}

/// The learned graph as NumPy arrays that `scipy.sparse.load_npz` reads, with `predicted` and `degrees`
/// beside them.
pub fn graph_npz(graph: &GraphRecord) -> Result<Vec<u8>> {
    let nodes = graph.predicted.len();
    let edges = graph.learned_indices.len();
    let pack = || {
        let mut archive = NpzWriter::default();
        let shape: Vec<u8> = [nodes as u64; 2].iter().flat_map(|v| v.to_le_bytes()).collect();
        archive.array("format", "|S3", &[], b"csr")?;
        archive.array("shape", "<i8", &[2], &shape)?;
        archive.numbers("indptr", &[nodes + 1], graph.learned_pointers.iter().copied())?;
        archive.numbers("indices", &[edges], graph.learned_indices.iter().copied())?;
        archive.floats("data", &[edges], &graph.learned_weights)?;
        archive.numbers("predicted", &[nodes], graph.predicted.iter().copied())?;
        archive.floats("degrees", &[graph.degrees.len()], &graph.degrees)?;
        archive.finish()
    };
    pack().map_err(Error::file("the archive"))
}

/// One line per node: id, predicted class, and its probability; if asked for, the probabilities of all classes too.
pub fn predictions_csv(
    (node_ids, class_names): (&[String], &[String]),
    predicted: &[u32],
    log_probabilities: &[f64],
    all_probabilities: bool,
) -> String {
    let mut out = String::from("id,predicted,probability");
    if all_probabilities {
        class_names.iter().for_each(|class| {
            let _ = write!(out, ",{}", field(&format!("p_{class}")));
        });
    }
    out.push('\n');
    let rows = log_probabilities.chunks_exact(class_names.len().max(1));
    for (node, (&class, row)) in predicted.iter().zip(rows).enumerate() {
        let id = node_ids.get(node).cloned().unwrap_or_else(|| node.to_string());
        let name = class_names.get(class as usize).map_or("", String::as_str);
        let probability = row.get(class as usize).map_or(f64::NAN, |value| value.exp());
        let _ = write!(out, "{},{},{probability:.6}", field(&id), field(name));
        for value in row.iter().filter(|_| all_probabilities) {
            let _ = write!(out, ",{:.6}", value.exp());
        }
        out.push('\n');
    }
    out
}

fn edges(graph: &GraphRecord) -> impl Iterator<Item = (usize, usize, f32)> + '_ {
    let rows = 0..graph.learned_pointers.len().saturating_sub(1);
    rows.flat_map(move |i| {
        row(&graph.learned_pointers, i)
            .map(move |at| (i, graph.learned_indices[at] as usize, graph.learned_weights[at]))
    })
}

fn name(graph: &GraphRecord, node: usize) -> String {
    graph.node_ids.get(node).cloned().unwrap_or_else(|| node.to_string())
}

/// A CSV field, quoted when it must be.
pub(crate) fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

/// Text that XML can hold: white space as it is, and a mark for the characters that XML has no way to write.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}
