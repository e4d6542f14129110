//! Predictions for test nodes: by class, and by how many neighbours a node has.

use super::links::{given_links, learned_links};
use crate::{
    graph::GraphRecord,
    report::{dumbbell, escape, maybe_percent, number},
};
use std::fmt::Write;

/// The part of test nodes in a [`GraphRecord`].
const TEST: u8 = 3;
/// More classes than these make no readable matrix.
const MOST: usize = 12;
/// Nodes are put together by size up to these; the last group is open above.
const UP_TO: [f32; 6] = [0.5, 1.5, 3.5, 7.5, 15.5, 31.5];
const GROUPS: [&str; 7] = ["0", "1", "2 to 3", "4 to 7", "8 to 15", "16 to 31", "32 or more"];

/// How many test nodes of each class (rows) were given each class (columns).
fn confusion(g: &GraphRecord) -> Vec<Vec<usize>> {
    let classes = g.class_names.len();
    let mut counts = vec![vec![0; classes]; classes];
    for (node, truth) in tested(g) {
        counts[truth as usize][g.predicted[node] as usize] += 1;
    }
    counts
}

/// Test nodes with their classes.
fn tested(g: &GraphRecord) -> impl Iterator<Item = (usize, u32)> {
    let nodes = (0..g.node_ids.len()).filter(|&node| g.part[node] == TEST);
    nodes.filter_map(|node| Some((node, g.labels[node]?)))
}

/// Precision, recall and F1 of a class, where there is anything to divide by.
fn rates(counts: &[Vec<usize>], class: usize) -> [Option<f64>; 3] {
    let share = |part: usize, all: usize| (all > 0).then(|| part as f64 / all as f64);
    let right = counts[class][class];
    let given: usize = counts.iter().map(|row| row[class]).sum();
    let there: usize = counts[class].iter().sum();
    [share(right, given), share(right, there), share(2 * right, given + there)]
}

/// Right answers and nodes in each of [`GROUPS`].
fn by_size(g: &GraphRecord, sizes: &[f32]) -> [[usize; 2]; 7] {
    let mut counts = [[0; 2]; 7];
    for (node, truth) in tested(g).filter(|(node, _)| sizes[*node].is_finite()) {
        let group = UP_TO.iter().position(|&end| sizes[node] <= end).unwrap_or(UP_TO.len());
        counts[group][0] += usize::from(g.predicted[node] == truth);
        counts[group][1] += 1;
    }
    counts
}

/// The figures on predictions for test nodes; empty where there are none.
pub fn panel(g: &GraphRecord) -> String {
    if tested(g).next().is_none() {
        return String::new();
    }
    let counts = confusion(g);
    let mut out = String::from(
        r#"<h4 class="part">Predictions for test nodes, first seed</h4><div class="pair">"#,
    );
    out.push_str(&class_table(g, &counts));
    if counts.len() <= MOST {
        out.push_str(&matrix(g, &counts));
    }
    let links = |of: fn(&GraphRecord, usize) -> usize| -> Vec<f32> {
        (0..g.node_ids.len()).map(|node| of(g, node) as f32).collect()
    };
    let given = links(|g, node| given_links(g, node).len());
    let learned = links(|g, node| learned_links(g, node).len());
    out.push_str(&size_table(g, "links in the given graph", &given));
    if given != learned {
        out.push_str(&size_table(g, "links in the learned graph", &learned));
    }
    if !g.degrees.is_empty() {
        out.push_str(&size_table(g, "size k", &g.degrees));
    }
    out + "</div>\n"
}

fn class_table(g: &GraphRecord, counts: &[Vec<usize>]) -> String {
    let mut out = String::from(
        r#"<figure class="panel"><h4>By class</h4><table class="plain by-class"><thead><tr><th scope="col">Class</th><th scope="col" class="r">Nodes</th><th scope="col" class="r">Precision, %</th><th scope="col" class="r">Recall, %</th><th scope="col" class="r">F1, %</th></tr></thead><tbody>"#,
    );
    for (class, name) in g.class_names.iter().enumerate() {
        let nodes: usize = counts[class].iter().sum();
        let _ = write!(
            out,
            r#"<tr><th scope="row">{}</th><td class="r num">{}</td>"#,
            escape(name).replace('_', "_<wbr>"),
            number(nodes)
        );
        for rate in rates(counts, class) {
            let _ = write!(out, r#"<td class="r num">{}</td>"#, maybe_percent(rate));
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table></figure>"
}

fn matrix(g: &GraphRecord, counts: &[Vec<usize>]) -> String {
    let letter = |class: usize| char::from(b'A' + class as u8);
    let mut out = String::from(
        r#"<figure class="panel"><h4>Confusion matrix</h4><p class="hint">Rows: the class of the nodes. Columns: the class that the network says.</p><div class="scroll" tabindex="0" role="region" aria-label="Confusion matrix"><table class="plain confusion"><thead><tr><th scope="col">Class</th>"#,
    );
    for (class, name) in g.class_names.iter().enumerate() {
        let _ = write!(
            out,
            r#"<th scope="col" class="r"><abbr title="{}">{}</abbr></th>"#,
            escape(name),
            letter(class)
        );
    }
    out.push_str("</tr></thead><tbody>");
    for (class, row) in counts.iter().enumerate() {
        let name = escape(&g.class_names[class]).replace('_', "_<wbr>");
        let _ = write!(out, r#"<tr><th scope="row">{} {name}</th>"#, letter(class));
        let all: usize = row.iter().sum();
        for (at, &n) in row.iter().enumerate() {
            let share = 100.0 * n as f64 / all.max(1) as f64;
            let right = if at == class { " right" } else { "" };
            let _ = write!(
                out,
                r#"<td class="r num{right}" style="--share:{share:.0}%">{}</td>"#,
                number(n)
            );
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table></div></figure>"
}

fn size_table(g: &GraphRecord, measure: &str, sizes: &[f32]) -> String {
    let mut out = format!(
        r#"<figure class="panel"><h4>Accuracy by {measure}</h4><table class="plain by-size"><thead><tr><th scope="col">{}</th><th scope="col" class="r">Nodes</th><th scope="col" class="r">Accuracy, %</th><th scope="col" class="wide"><span class="ends" aria-hidden="true"><span>0&nbsp;%</span><span>100&nbsp;%</span></span></th></tr></thead><tbody>"#,
        measure[..1].to_uppercase() + &measure[1..]
    );
    for (name, [right, all]) in GROUPS.iter().zip(by_size(g, sizes)) {
        if all == 0 {
            continue;
        }
        let share = right as f64 / all as f64;
        let _ = write!(
            out,
            r#"<tr><th scope="row">{name}</th><td class="r num">{}</td><td class="r num">{}</td><td class="wide">{}</td></tr>"#,
            number(all),
            maybe_percent(Some(share)),
            dumbbell(0.0, None, Some(share))
        );
    }
    out + "</tbody></table></figure>"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test nodes 0 to 3 of classes x, x, y, y, said to be x, y, y, y; node 4 is for training.
    fn told() -> GraphRecord {
        GraphRecord {
            node_ids: ["a", "b", "c", "d", "e"].map(String::from).to_vec(),
            class_names: vec!["x".into(), "y".into()],
            labels: vec![Some(0), Some(0), Some(1), Some(1), Some(0)],
            predicted: vec![0, 1, 1, 1, 1],
            part: vec![3, 3, 3, 3, 1],
            input_pointers: vec![0, 1, 1, 1, 1, 1],
            input_indices: vec![1],
            learned_pointers: vec![0; 6],
            degrees: vec![0.2, 40.0, 2.0, 3.4, 9.0],
            ..GraphRecord::default()
        }
    }

    #[test]
    fn test_nodes_alone_are_counted() {
        let counts = confusion(&told());
        assert_eq!(counts, [[1, 1], [0, 2]]);
        assert_eq!(rates(&counts, 0), [Some(1.0), Some(0.5), Some(2.0 / 3.0)]);
        assert_eq!(rates(&counts, 1), [Some(2.0 / 3.0), Some(1.0), Some(0.8)]);
        let sizes = by_size(&told(), &told().degrees);
        assert_eq!((sizes[0], sizes[2], sizes[6]), ([1, 1], [2, 2], [0, 1]));
        assert_eq!(sizes.iter().map(|group| group[1]).sum::<usize>(), 4);
        let page = panel(&told());
        assert!(page.contains("Confusion matrix") && page.contains("Accuracy by size k"), "{page}");
    }

    #[test]
    fn classes_that_nobody_has_or_gets_have_no_rates() {
        let none =
            GraphRecord { class_names: ["x", "y", "z"].map(String::from).to_vec(), ..told() };
        assert_eq!(rates(&confusion(&none), 2), [None; 3]);
        assert_eq!(panel(&GraphRecord { part: vec![0; 5], ..told() }), "");
    }
}
