//! How far the neighbours of a node have its class, in the given graph and in the learned one.
//!
//! Test labels are in here: it is worked out for the page alone, after training.

use super::links::{Live, given_links, learned_links};
use crate::{
    graph::GraphRecord,
    report::{dumbbell, escape, maybe_percent},
};
use std::fmt::Write;

/// Classes with a row of their own.
const SHOWN: usize = 10;
/// The part of test nodes in a [`GraphRecord`].
const TEST: u8 = 3;

/// Neighbours of the same class and of any known class: by links and by weight, given and learned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    links: [[f64; 2]; 2],
    weight: [[f64; 2]; 2],
}

impl Sums {
    fn of(g: &GraphRecord, i: usize) -> Self {
        let mut sums = Self::default();
        let Some(class) = g.labels[i] else { return sums };
        for (at, links) in [given_links(g, i), learned_links(g, i)].into_iter().enumerate() {
            for Live { to, weight, .. } in links {
                let Some(other) = g.labels[to as usize] else { continue };
                let same = f64::from(u8::from(other == class));
                let weight = f64::from(weight);
                sums.links[at] = [sums.links[at][0] + same, sums.links[at][1] + 1.0];
                sums.weight[at] = [sums.weight[at][0] + same * weight, sums.weight[at][1] + weight];
            }
        }
        sums
    }

    fn add(&mut self, other: &Self) {
        let both = [(&mut self.links, &other.links), (&mut self.weight, &other.weight)];
        for (own, other) in both {
            for (own, other) in own.iter_mut().flatten().zip(other.iter().flatten()) {
                *own += other;
            }
        }
    }

    /// Shares in the given graph and in the learned one.
    fn shares(sums: &[[f64; 2]; 2]) -> [Option<f64>; 2] {
        sums.map(|[same, all]| (all > 0.0).then(|| same / all))
    }
}

/// A row of the table: its name and its shares.
type Row = (String, [Option<f64>; 2]);

/// Shares of all nodes and of test nodes, by links and by weight; then test nodes of the largest classes, by
/// links. Where there are no test nodes, all nodes stand for them.
fn rows(g: &GraphRecord) -> [Vec<Row>; 2] {
    let classes = g.class_names.len();
    let (mut all, mut test) = (Sums::default(), Sums::default());
    let mut by_class = vec![(Sums::default(), 0_usize); classes];
    let has_test = g.part.contains(&TEST);
    for i in 0..g.node_ids.len() {
        let Some(class) = g.labels[i] else { continue };
        let found = Sums::of(g, i);
        all.add(&found);
        if g.part[i] == TEST || !has_test {
            test.add(&found);
            by_class[class as usize].0.add(&found);
            by_class[class as usize].1 += 1;
        }
    }
    let both = |who: &str, sums: &Sums| {
        [
            (format!("{who}, by links"), Sums::shares(&sums.links)),
            (format!("{who}, by weight"), Sums::shares(&sums.weight)),
        ]
    };
    let mut summary = Vec::new();
    if has_test {
        summary.extend(both("Test nodes", &test));
    }
    summary.extend(both("All nodes", &all));
    let mut order: Vec<usize> = (0..classes).filter(|&c| by_class[c].1 > 0).collect();
    order.sort_by_key(|&c| std::cmp::Reverse(by_class[c].1));
    order.truncate(SHOWN);
    order.sort_unstable();
    let of = |c: usize| (g.class_names[c].clone(), Sums::shares(&by_class[c].0.links));
    [summary, order.into_iter().map(of).collect()]
}

/// The figure on the classes of neighbours.
pub fn panel(g: &GraphRecord) -> String {
    let [summary, by_class] = rows(g);
    let shares = summary.iter().chain(&by_class).flat_map(|(_, shares)| shares).flatten();
    let low = (shares.fold(0.9, |low: f64, share| low.min(*share)) * 10.0).floor() / 10.0;
    let who = if g.part.contains(&TEST) { "Test nodes" } else { "All nodes" };
    let mut out = format!(
        r#"<figure class="panel"><h4>Neighbours of the same class</h4><p class="hint">Share of a node's neighbours that have its class, worked out after training. Training saw the labels of training nodes alone.</p><p class="legend"><span><i class="dot before"></i>given graph</span><span><i class="dot after"></i>learned graph</span></p><table class="plain homophily"><caption class="hidden">Share of neighbours of the same class, in percent</caption><thead><tr><th scope="col">Nodes</th><th scope="col" class="r">Given, %</th><th scope="col" class="r">Learned, %</th><th scope="col" class="wide"><span class="ends" aria-hidden="true"><span>{:.0}&nbsp;%</span><span>100&nbsp;%</span></span></th></tr></thead><tbody>"#,
        100.0 * low
    );
    summary.iter().for_each(|row| out.push_str(&line(low, r#" class="all""#, row)));
    let _ = write!(
        out,
        r#"</tbody><tbody><tr><th scope="rowgroup" colspan="4" class="group">{who} by class, by links</th></tr>"#
    );
    by_class.iter().for_each(|row| out.push_str(&line(low, "", row)));
    out.push_str("</tbody></table>");
    if by_class.len() < g.class_names.len() {
        let _ = write!(out, r#"<p class="note">The {} largest classes.</p>"#, by_class.len());
    }
    out + "</figure>"
}

fn line(low: f64, class: &str, (name, [before, after]): &Row) -> String {
    format!(
        r#"<tr{class}><th scope="row">{}</th><td class="r num">{}</td><td class="r num">{}</td><td class="wide">{}</td></tr>"#,
        escape(name).replace('_', "_<wbr>"),
        maybe_percent(*before),
        maybe_percent(*after),
        dumbbell(low, *before, *after)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Node 0 (x) had 1 (x) and 3 (y), and has 1 with weight 3 and 2 (y) with weight 1. Node 1 is no test node.
    fn small() -> GraphRecord {
        GraphRecord {
            node_ids: ["a", "b", "c", "d"].map(String::from).to_vec(),
            class_names: vec!["x".into(), "y".into()],
            labels: vec![Some(0), Some(0), Some(1), Some(1)],
            predicted: vec![0, 0, 1, 1],
            part: vec![3, 1, 0, 0],
            input_pointers: vec![0, 2, 3, 3, 3],
            input_indices: vec![1, 3, 0],
            learned_pointers: vec![0, 3, 3, 3, 3],
            learned_indices: vec![0, 1, 2],
            learned_weights: vec![9.0, 3.0, 1.0],
            ..GraphRecord::default()
        }
    }

    #[test]
    fn links_and_weight_are_counted_apart_and_test_nodes_alone() {
        let [summary, by_class] = rows(&small());
        let of = |name: &str| summary.iter().find(|row| row.0 == name).unwrap().1;
        assert_eq!(of("Test nodes, by links"), [Some(0.5), Some(0.5)]);
        assert_eq!(of("Test nodes, by weight"), [Some(0.5), Some(0.75)]);
        assert_eq!(of("All nodes, by links"), [Some(2.0 / 3.0), Some(0.5)]);
        assert_eq!(by_class, [("x".to_string(), [Some(0.5), Some(0.5)])]);
    }

    #[test]
    fn without_test_nodes_all_stand_for_them() {
        let [summary, by_class] = rows(&GraphRecord { part: vec![0; 4], ..small() });
        assert_eq!(summary.len(), 2);
        assert_eq!(by_class.len(), 2, "also y, whose nodes have no links");
        assert_eq!(by_class[1].1, [None, None]);
    }
}
