//! The page on marked edges: what a learner made of planted neighbourhoods and of injected edges.

use super::links::{Fate, links};
use crate::{
    graph::GraphRecord,
    report::{Scatter, number, scatter},
    stats::Summary,
    task::Column,
};
use std::fmt::Write;

/// The part of a graph's section on marked edges; empty when it has none. `details` are further test results
/// of the run.
pub fn panel(g: &GraphRecord, details: &[(Column, Option<Summary>)]) -> String {
    if g.planted.is_empty() && g.injected.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        r#"<h4>Against what is known of the edges</h4><p class="note">Compared at the end, as test labels are: training saw none of this. Means over the seeds; AUC 0.5 is chance.</p><dl class="tiles">"#,
    );
    let mut tile = |title: &str, value: &str, note: &str| {
        let _ = write!(
            out,
            r#"<div><dt>{title}</dt><dd class="num">{value}</dd><dd class="small">{note}</dd></div>"#
        );
    };
    for (column, found) in details {
        let number = |value: f64| column.measure.number(value);
        let value = found.map_or("none".into(), |found| number(found.mean));
        let note = found.and_then(|found| found.std).map(|std| format!("± {}", number(std)));
        tile(meaning(column), &value, &note.unwrap_or_default());
    }
    if !g.injected.is_empty() {
        let [gone, all] = injected(g);
        let note = format!("of {} injected", number(all));
        tile("Injected links dropped", &number(gone), &note);
    }
    out.push_str("</dl>");
    if !g.planted.is_empty() {
        out.push_str(&plotted(g));
    }
    out
}

/// What a number says, in the words of the page.
fn meaning(column: &Column) -> &'static str {
    match column.key {
        "planted_auc" => "AUC, good against bad edges",
        "k_correlation" => "Rank correlation of size k with the plant",
        "soft_correlation" => "The same of the soft degree",
        "input_correlation" => "The same of the links given",
        "zero_found" => "No good neighbour and size k below 0.5, %",
        "injected_auc" => "AUC, given against injected edges",
        _ => column.title,
    }
}

/// Injected links that the learned graph lacks, and all of them; each direction counts.
fn injected(g: &GraphRecord) -> [usize; 2] {
    let mut dropped = 0;
    for node in 0..g.node_ids.len() {
        let gone = links(g, node).into_iter().filter(|link| link.fate == Fate::Dropped);
        dropped += gone.filter(|link| g.is_injected(node, link.to)).count();
    }
    [dropped, g.injected.iter().filter(|marked| **marked).count()]
}

/// Size of every node against its number of good neighbours.
fn plotted(g: &GraphRecord) -> String {
    let noun = if g.degrees.is_empty() { "links present" } else { "size k" };
    let sizes = g.learned_degrees();
    let points = g.planted.iter().zip(&sizes);
    let points: Vec<[f64; 2]> = points.map(|(n, k)| [f64::from(*n), f64::from(*k)]).collect();
    scatter(&Scatter {
        title: &format!("How many: {noun} against planted neighbours"),
        label: &format!("{noun} of every node against its number of planted good neighbours"),
        names: ["planted good neighbours", noun],
        points: &points,
        diagonal: false,
        note: "Each dot is a node.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Measure;

    /// Node 0 keeps its link to 1 and drops the injected one to 2, which node 2 keeps.
    fn marked() -> GraphRecord {
        GraphRecord {
            node_ids: ["a", "b", "c"].map(String::from).to_vec(),
            labels: vec![None; 3],
            predicted: vec![0; 3],
            part: vec![0; 3],
            class_names: vec!["x".into()],
            input_pointers: vec![0, 2, 3, 4],
            input_indices: vec![1, 2, 0, 0],
            learned_pointers: vec![0, 1, 2, 3],
            learned_indices: vec![1, 0, 0],
            learned_weights: vec![1.0; 3],
            planted: vec![1, 1, 0],
            injected: vec![false, true, false, true],
            ..GraphRecord::default()
        }
    }

    #[test]
    fn injected_links_are_counted_and_nodes_drawn() {
        let graph = marked();
        graph.check().unwrap();
        assert_eq!(injected(&graph), [1, 2]);
        let column = Column { key: "planted_auc", title: "AUC", measure: Measure::LOSS };
        let found = Summary { mean: 0.75, std: None, n: 1 };
        let page = panel(&graph, &[(column, Some(found))]);
        assert!(page.contains("0.750") && page.contains("of 2 injected"), "{page}");
        assert_eq!(page.matches("h0").count(), 3, "one dot a node");
        assert!(page.contains("links present against"), "without a k, links are counted");
    }

    #[test]
    fn graphs_without_marks_say_nothing() {
        let plain = GraphRecord { planted: vec![], injected: vec![], ..marked() };
        assert_eq!(panel(&plain, &[]), "");
        let damaged = GraphRecord { planted: vec![1], ..marked() };
        assert!(damaged.check().unwrap_err().contains("planted"));
        let damaged = GraphRecord { injected: vec![true], ..marked() };
        assert!(damaged.check().unwrap_err().contains("injected"));
    }
}
