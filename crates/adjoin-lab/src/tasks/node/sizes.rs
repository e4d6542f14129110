//! How many neighbours: the size k, the links present and the soft degree, each under its own name.

use super::links::{given_links, learned_links};
use crate::{
    graph::GraphRecord,
    histogram::{DegreeHistogram, degree_histogram},
    report::{Scatter, number, scatter},
    stats::{Summary, summary},
};
use serde::Serialize;
use std::fmt::Write;

/// Bars of a histogram.
const BINS: usize = 24;
/// A size that moved by less has not changed.
const MOVED: f32 = 0.5;

/// Links that are present at every node, and the sums of their weights: given and learned.
struct Present {
    links: [Vec<f32>; 2],
    soft: [Vec<f32>; 2],
}

fn present(g: &GraphRecord) -> Present {
    let mut found = Present { links: Default::default(), soft: Default::default() };
    for i in 0..g.node_ids.len() {
        for (at, links) in [given_links(g, i), learned_links(g, i)].into_iter().enumerate() {
            found.links[at].push(links.len() as f32);
            found.soft[at].push(links.iter().map(|link| link.weight).sum());
        }
    }
    found
}

/// A histogram of two samples, as the page draws it.
#[derive(Serialize)]
pub struct SizeChart {
    degrees: DegreeHistogram,
    /// What is counted by, and what has so much of it.
    measure: &'static str,
    noun: &'static str,
    /// The words for the two samples.
    input: &'static str,
    learned: &'static str,
}

/// Links present in both graphs; and, of learners that have sizes, k at the start and at the end.
pub fn charts(g: &GraphRecord) -> Vec<SizeChart> {
    let [given, learned] = present(g).links;
    let links = SizeChart {
        degrees: degree_histogram(&given, &learned, BINS),
        measure: "links present",
        noun: "node",
        input: "in the given graph",
        learned: "in the learned graph",
    };
    let sizes = (!g.start_degrees.is_empty()).then(|| SizeChart {
        degrees: degree_histogram(&g.start_degrees, &g.degrees, BINS),
        measure: "size k",
        noun: "node",
        input: "at the start",
        learned: "at the end",
    });
    [Some(links), sizes].into_iter().flatten().collect()
}

/// The measures of size side by side.
pub fn table(g: &GraphRecord) -> String {
    let Present { links: [links_given, links_learned], soft: [soft_given, soft_learned] } =
        present(g);
    let mut out = String::from(
        r#"<table class="plain sizes"><caption>Per node, mean ± standard deviation. Links present: those with at least 1 % of the weight of the node's strongest. Soft degree: the sum of their weights. Size k: how many neighbours the learner asks for.</caption><thead><tr><th scope="col"></th><th scope="col" class="r">Given</th><th scope="col" class="r">Learned</th></tr></thead><tbody>"#,
    );
    let mut line = |name: &str, given: Option<&[f32]>, learned: &[f32]| {
        let _ = write!(
            out,
            r#"<tr><th scope="row">{name}</th><td class="r num">{}</td><td class="r num">{}</td></tr>"#,
            given.map_or_else(|| "–".into(), spread),
            spread(learned)
        );
    };
    line("Links present", Some(&links_given), &links_learned);
    line("Soft degree", Some(&soft_given), &soft_learned);
    if !g.start_degrees.is_empty() {
        line("Size k before the first step", None, &g.start_degrees);
    }
    if !g.degrees.is_empty() {
        line("Size k at the end", None, &g.degrees);
    }
    out + "</tbody></table>\n"
}

/// The figures on sizes; `at` is the number of the graph on the page.
pub fn figures(g: &GraphRecord, at: usize) -> String {
    let chart = |number: usize, title: &str, names: [&str; 2]| {
        format!(
            r#"<figure class="panel needs-script"><h4>{title}</h4><p class="legend"><span><i class="box input"></i>{}</span><span><i class="box learned"></i>{}</span></p><div class="chart" data-chart="degrees" data-number="{number}"></div><p class="readout" data-readout="degrees-{at}-{number}">&nbsp;</p></figure>"#,
            names[0], names[1]
        )
    };
    let mut out = chart(0, "Links present at a node", ["given graph", "learned graph"]);
    if !g.start_degrees.is_empty() {
        out.push_str(&chart(1, "Size k of a node", ["before the first step", "at the end"]));
        out.push_str(&moved(g));
    }
    out
}

/// Size k of every node at the end against its size at the start.
fn moved(g: &GraphRecord) -> String {
    let change = || g.start_degrees.iter().zip(&g.degrees).map(|(start, end)| end - start);
    let rose = number(change().filter(|change| *change > MOVED).count());
    let fell = number(change().filter(|change| *change < -MOVED).count());
    let points = g.start_degrees.iter().zip(&g.degrees);
    let points: Vec<[f64; 2]> =
        points.map(|(start, end)| [f64::from(*start), f64::from(*end)]).collect();
    let note = format!(
        "Each dot is a node; on the line its size did not change. It rose by more than {MOVED} at {rose} nodes and fell by more at {fell}."
    );
    scatter(&Scatter {
        title: "Size k: what training changed",
        label: "Size k of every node at the end against its size before the first step",
        names: ["size k before the first step", "size k at the end"],
        points: &points,
        diagonal: true,
        note: &note,
    })
}

/// Mean and standard deviation over the nodes.
fn spread(values: &[f32]) -> String {
    let values: Vec<f64> =
        values.iter().copied().filter(|value| value.is_finite()).map(f64::from).collect();
    match summary(&values) {
        Some(Summary { mean, std: Some(std), .. }) => format!("{mean:.2} ± {std:.2}"),
        Some(Summary { mean, .. }) => format!("{mean:.2}"),
        None => "–".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized() -> GraphRecord {
        GraphRecord {
            node_ids: ["a", "b", "c"].map(String::from).to_vec(),
            class_names: vec!["x".into()],
            labels: vec![None; 3],
            predicted: vec![0; 3],
            part: vec![0; 3],
            input_pointers: vec![0, 2, 3, 4],
            input_indices: vec![1, 2, 0, 0],
            learned_pointers: vec![0, 2, 2, 2],
            learned_indices: vec![1, 2],
            learned_weights: vec![0.5, 0.25],
            degrees: vec![3.0, 1.0, 0.0],
            start_degrees: vec![1.0, 1.0, 1.0],
            ..GraphRecord::default()
        }
    }

    #[test]
    fn three_measures_have_three_names() {
        let page = table(&sized()) + &figures(&sized(), 0);
        for (name, given, learned) in [
            ("Links present", "1.33 ± 0.58", "0.67 ± 1.15"),
            ("Soft degree", "1.33 ± 0.58", "0.25 ± 0.43"),
            ("Size k before the first step", "–", "1.00 ± 0.00"),
            ("Size k at the end", "–", "1.33 ± 1.53"),
        ] {
            let row = format!(
                r#"<th scope="row">{name}</th><td class="r num">{given}</td><td class="r num">{learned}</td>"#
            );
            assert!(page.contains(&row), "{name}: {page}");
        }
        assert!(page.contains("at 1 nodes and fell by more at 1"), "{page}");
        assert_eq!(page.matches("h0").count(), 3, "one dot a node");
        assert_eq!(charts(&sized()).len(), 2);
    }

    #[test]
    fn learners_without_sizes_have_links_alone() {
        let plain = GraphRecord { degrees: vec![], start_degrees: vec![], ..sized() };
        assert_eq!(charts(&plain).len(), 1);
        assert!(!table(&plain).contains("Size k at the end"));
        let damaged = GraphRecord { start_degrees: vec![1.0], ..sized() };
        assert!(damaged.check().unwrap_err().contains("start_degrees"));
    }
}
