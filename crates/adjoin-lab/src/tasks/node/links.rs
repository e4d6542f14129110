//! The learned graph against the input graph: what became of every link, and how much of it the page
//! carries for its neighbourhood explorer.

use crate::{
    graph::{GraphRecord, row, row_homophily},
    histogram::{DegreeHistogram, degree_histogram},
    report::{dumbbell, escape, maybe_percent, number, percent},
    stats::mean,
};
use serde::Serialize;
use std::fmt::Write;

/// Above this many nodes (all graphs of the page together) the explorer shows a part of each graph.
pub const ALL_NODES: usize = 20_000;
/// The size of that part.
pub const SOME_NODES: usize = 5_000;
/// Links of one node that the explorer shows, and how many of these are held for dropped ones.
const LINKS: usize = 60;
const DROPPED_LINKS: usize = 20;
/// Links weaker than this share of the node's strongest one count as absent.
const NEGLIGIBLE: f32 = 0.01;
const BINS: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Kept,
    New,
    Dropped,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    pub to: u32,
    pub weight: f32,
    pub fate: Fate,
}

/// Links of node `i`: kept, then new, each by falling weight, then dropped. Self-loops left out.
pub fn links(g: &GraphRecord, i: usize) -> Vec<Link> {
    let input = live(&g.input_pointers, &g.input_indices, g.input_weights(), i);
    let learned = live(&g.learned_pointers, &g.learned_indices, Some(&g.learned_weights), i);
    let has = |links: &[(u32, f32)], j: &u32| links.binary_search_by_key(j, |l| l.0).is_ok();
    let (was, is) = (|j: &u32| has(&input, j), |j: &u32| has(&learned, j));
    let fate = |j: &u32| if was(j) { Fate::Kept } else { Fate::New };
    let mut out: Vec<Link> =
        learned.iter().map(|&(to, weight)| Link { to, weight, fate: fate(&to) }).collect();
    out.sort_by(|a, b| (a.fate as u8).cmp(&(b.fate as u8)).then(b.weight.total_cmp(&a.weight)));
    let dropped = input.iter().filter(|l| !is(&l.0));
    out.extend(dropped.map(|&(to, _)| Link { to, weight: 0.0, fate: Fate::Dropped }));
    out
}

/// Other nodes that node `i` has a link to, with weights that are not negligible, by number.
fn live(pointers: &[u32], indices: &[u32], weights: Option<&[f32]>, i: usize) -> Vec<(u32, f32)> {
    let weight = |e: usize| weights.map_or(1.0, |weights| weights[e]);
    let mut links: Vec<(u32, f32)> =
        row(pointers, i).map(|e| (indices[e], weight(e))).filter(|l| l.0 as usize != i).collect();
    links.sort_unstable_by_key(|l| l.0);
    links.dedup_by(|again, first| {
        let same = again.0 == first.0;
        first.1 += if same { again.1 } else { 0.0 };
        same
    });
    let strongest = links.iter().map(|l| l.1).fold(0.0, f32::max);
    links.retain(|l| l.1 > 0.0 && l.1 >= NEGLIGIBLE * strongest);
    links
}

/// Number of kept, new and dropped links.
pub fn tally(links: &[Link]) -> [usize; 3] {
    [Fate::Kept, Fate::New, Fate::Dropped].map(|f| links.iter().filter(|l| l.fate == f).count())
}

/// At most [`LINKS`] of a node's links, the heaviest first, with room for some dropped ones.
fn trimmed(all: Vec<Link>) -> Vec<Link> {
    if all.len() <= LINKS {
        return all;
    }
    let (mut live, mut dropped): (Vec<Link>, Vec<Link>) =
        all.into_iter().partition(|l| l.fate != Fate::Dropped);
    let held = dropped.len().min(DROPPED_LINKS.max(LINKS.saturating_sub(live.len())));
    dropped.truncate(held);
    live.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    live.truncate(LINKS - held);
    live.sort_by_key(|l| l.fate as u8);
    live.extend(dropped);
    live
}

/// Everything the explorer of one graph needs, small enough for a page.
#[derive(Serialize)]
pub struct Explorer<'a> {
    classes: &'a [String],
    /// Nodes that can be visited come first, then those met only as neighbours.
    ids: Vec<&'a str>,
    /// True class, -1 where unknown.
    labels: Vec<i64>,
    predicted: Vec<u32>,
    part: Vec<u8>,
    /// Learned k, or empty.
    k: Vec<f32>,
    pointers: Vec<u32>,
    neighbours: Vec<u32>,
    weights: Vec<f32>,
    /// One digit a link: 0 kept, 1 new, 2 dropped.
    fates: String,
    /// One digit a link: 1 for an injected one; empty when nothing was injected.
    injected: String,
    /// Kept, new and dropped links of each visitable node, before trimming.
    totals: Vec<[usize; 3]>,
}

/// The data of the explorer over `limit` nodes at most.
pub fn explorer(g: &GraphRecord, limit: usize) -> Explorer<'_> {
    let mut order = chosen(g, limit);
    let rows = order.len();
    let mut place = vec![u32::MAX; g.node_ids.len()];
    for (at, &i) in order.iter().enumerate() {
        place[i] = at as u32;
    }
    let (mut pointers, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
    let (mut fates, mut injected) = (String::new(), String::new());
    let mut totals = Vec::with_capacity(rows);
    for at in 0..rows {
        let all = links(g, order[at]);
        totals.push(tally(&all));
        for link in trimmed(all) {
            let to = link.to as usize;
            if place[to] == u32::MAX {
                place[to] = order.len() as u32;
                order.push(to);
            }
            neighbours.push(place[to]);
            weights.push(three_digits(link.weight));
            fates.push(char::from(b'0' + link.fate as u8));
            if !g.injected.is_empty() {
                injected.push(if g.is_injected(order[at], link.to) { '1' } else { '0' });
            }
        }
        pointers.push(neighbours.len() as u32);
    }
    Explorer {
        classes: &g.class_names,
        ids: order.iter().map(|&i| g.node_ids[i].as_str()).collect(),
        labels: order.iter().map(|&i| g.labels[i].map_or(-1, i64::from)).collect(),
        predicted: order.iter().map(|&i| g.predicted[i]).collect(),
        part: order.iter().map(|&i| g.part[i]).collect(),
        k: order.iter().filter_map(|&i| g.degrees.get(i)).map(|&k| three_digits(k)).collect(),
        pointers,
        neighbours,
        weights,
        fates,
        injected,
        totals,
    }
}

/// All nodes when they are few enough; else half of the limit from the best connected, a tenth evenly
/// from the others, and the neighbours of these, so that one can walk on from them.
fn chosen(g: &GraphRecord, limit: usize) -> Vec<usize> {
    let n = g.node_ids.len();
    if n <= limit {
        return (0..n).collect();
    }
    let size = |i: usize| row(&g.input_pointers, i).len() + row(&g.learned_pointers, i).len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(size(i)), i));
    let mut rest = order.split_off(limit / 2);
    rest.sort_unstable();
    let sample = limit / 10;
    let mut at = order.len();
    order.extend((0..sample).map(|s| rest[s * rest.len() / sample]));

    let mut taken = vec![false; n];
    order.iter().for_each(|&i| taken[i] = true);
    while order.len() < limit && at < order.len() {
        for link in links(g, order[at]) {
            let to = link.to as usize;
            if order.len() < limit && !std::mem::replace(&mut taken[to], true) {
                order.push(to);
            }
        }
        at += 1;
    }
    let missing = limit - order.len();
    order.extend(rest.into_iter().filter(|&i| !taken[i]).take(missing));
    order
}

fn three_digits(value: f32) -> f32 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Histogram of both graphs' degrees.
pub fn histogram(g: &GraphRecord) -> DegreeHistogram {
    degree_histogram(&g.input_degrees(), &g.learned_degrees(), BINS)
}

/// The page's section on one graph, without its charts; `known` is what it says of marked edges.
pub fn panel(g: &GraphRecord, at: usize, name: &str, limit: usize, known: &str) -> String {
    let mut fates = [0; 3];
    for i in 0..g.node_ids.len() {
        for (sum, n) in fates.iter_mut().zip(tally(&links(g, i))) {
            *sum += n;
        }
    }
    let [kept, new, dropped] = fates;
    let average = |d: Vec<f32>| {
        mean(&d.into_iter().filter(|d| d.is_finite()).map(f64::from).collect::<Vec<_>>())
            .unwrap_or(0.0)
    };
    let (before, after) = (g.input_homophily(), g.learned_homophily());
    let mut out = format!(
        r#"<section class="graph" data-graph="{at}" aria-labelledby="graph-{at}"><h3 id="graph-{at}" class="of-run">{}</h3>
<dl class="tiles"><div><dt>Links kept</dt><dd class="num">{}</dd><dd class="small">of {} in the input</dd></div><div><dt>Links added</dt><dd class="num">{}</dd><dd class="small">not in the input</dd></div><div><dt>Links dropped</dt><dd class="num">{}</dd><dd class="small">{} % of the input</dd></div><div><dt>Mean degree</dt><dd class="num">{:.2}</dd><dd class="small">{:.2} in the input</dd></div></dl>
<div class="pair"><figure class="panel needs-script"><h4>How many neighbours</h4><p class="legend"><span><i class="box input"></i>input graph</span><span><i class="box learned"></i>{}</span></p><div class="chart" data-chart="degrees" data-graph="{at}"></div><p class="readout" data-readout="degrees-{at}">&nbsp;</p></figure>
"#,
        escape(name),
        number(kept),
        number(kept + dropped),
        number(new),
        number(dropped),
        percent(dropped as f64 / (kept + dropped).max(1) as f64),
        average(g.learned_degrees()),
        average(g.input_degrees()),
        if g.degrees.is_empty() { "learned graph" } else { "learned k" },
    );
    let _ = writeln!(
        out,
        r#"<figure class="panel"><h4>Links between nodes of one class</h4><p class="legend"><span><i class="dot before"></i>input {} %</span><span><i class="dot after"></i>learned {} %</span></p>{}</figure></div>"#,
        maybe_percent(before),
        maybe_percent(after),
        homophily_table(g, before, after)
    );
    out.push_str(known);
    let nodes = g.node_ids.len();
    if nodes > limit {
        let _ = write!(
            out,
            r#"<p class="note">The explorer below carries {} of this graph's {} nodes: the best connected ones, an even sample of the others, and neighbours of these. All numbers above are of the whole graph.</p>"#,
            number(limit),
            number(nodes)
        );
    }
    out + "</section>\n"
}

fn homophily_table(g: &GraphRecord, before: Option<f64>, after: Option<f64>) -> String {
    let by_class = class_homophily(g);
    let shares = by_class.iter().flat_map(|c| [c.1, c.2]).chain([before, after]).flatten();
    let low = (shares.fold(0.9, f64::min) * 10.0).floor() / 10.0;
    let mut out = format!(
        r#"<table class="plain homophily"><caption class="hidden">Share of link weight that joins nodes of one class, in percent</caption><thead><tr><th scope="col">Class of the node</th><th scope="col" class="r">Input</th><th scope="col" class="r">Learned</th><th scope="col" class="wide"><span class="ends" aria-hidden="true"><span>{:.0}&nbsp;%</span><span>100&nbsp;%</span></span></th></tr></thead><tbody>"#,
        100.0 * low
    );
    let mut line = |class: &str, name: &str, before, after| {
        let _ = write!(
            out,
            r#"<tr{class}><th scope="row">{name}</th><td class="r num">{}</td><td class="r num">{}</td><td class="wide">{}</td></tr>"#,
            maybe_percent(before),
            maybe_percent(after),
            dumbbell(low, before, after)
        );
    };
    line(r#" class="all""#, "All classes", before, after);
    for (class, before, after) in &by_class {
        let name = escape(&g.class_names[*class]).replace('_', "_<wbr>");
        line("", &name, *before, *after);
    }
    out.push_str("</tbody></table>");
    if by_class.len() < g.class_names.len() {
        let _ = write!(out, r#"<p class="note">The {} largest classes.</p>"#, by_class.len());
    }
    out
}

/// Class, homophily of its nodes' links before and after, for the largest classes in their order.
fn class_homophily(g: &GraphRecord) -> Vec<(usize, Option<f64>, Option<f64>)> {
    const SHOWN: usize = 10;
    let n = g.class_names.len();
    let mut sums = vec![[0.0; 4]; n];
    let mut sizes = vec![0_usize; n];
    let weights = Some(g.learned_weights.as_slice());
    for i in 0..g.node_ids.len() {
        let Some(c) = g.labels[i].map(|c| c as usize) else { continue };
        let before = g.input_weights();
        let input = row_homophily(&g.input_pointers, &g.input_indices, before, &g.labels, i);
        let learned = row_homophily(&g.learned_pointers, &g.learned_indices, weights, &g.labels, i);
        for (sum, v) in sums[c].iter_mut().zip([input.0, input.1, learned.0, learned.1]) {
            *sum += v;
        }
        sizes[c] += 1;
    }
    let mut order: Vec<usize> = (0..n).filter(|&c| sizes[c] > 0).collect();
    order.sort_by_key(|&c| std::cmp::Reverse(sizes[c]));
    order.truncate(SHOWN);
    order.sort_unstable();
    let share = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    order
        .into_iter()
        .map(|c| (c, share(sums[c][0], sums[c][1]), share(sums[c][2], sums[c][3])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Node 0 keeps 1, gains 2 and loses 3; a self-loop and a negligible link are ignored.
    fn small() -> GraphRecord {
        GraphRecord {
            node_ids: ["a", "b", "c", "d", "e"].map(String::from).to_vec(),
            class_names: vec!["x".into(), "y".into()],
            labels: vec![Some(0), Some(0), Some(1), Some(1), None],
            predicted: vec![0, 0, 1, 1, 0],
            part: vec![1, 2, 3, 0, 0],
            input_pointers: vec![0, 3, 4, 4, 5, 5],
            input_indices: vec![0, 3, 1, 0, 0],
            input_weights: vec![],
            learned_pointers: vec![0, 5, 5, 5, 5, 5],
            learned_indices: vec![2, 0, 1, 4, 3],
            learned_weights: vec![0.25, 1.0, 0.75, 0.001, 0.0],
            degrees: vec![2.0, 0.0, 0.0, 0.0, 0.0],
            ..GraphRecord::default()
        }
    }

    #[test]
    fn fates_of_links() {
        let found = links(&small(), 0);
        let expected = [(1, 0.75, Fate::Kept), (2, 0.25, Fate::New), (3, 0.0, Fate::Dropped)];
        assert_eq!(found, expected.map(|(to, weight, fate)| Link { to, weight, fate }));
        assert_eq!(tally(&found), [1, 1, 1]);
        assert_eq!(tally(&links(&small(), 1)), [0, 0, 1]);
    }

    #[test]
    fn an_input_edge_without_weight_is_no_link() {
        let weighted = GraphRecord {
            labels: vec![Some(0), Some(0), Some(1)],
            input_pointers: vec![0, 2, 2, 2],
            input_indices: vec![1, 2],
            input_weights: vec![5.0, 0.0],
            learned_pointers: vec![0, 2, 2, 2],
            learned_indices: vec![1, 2],
            learned_weights: vec![5.0, 0.0],
            ..GraphRecord::default()
        };
        assert_eq!(tally(&links(&weighted, 0)), [1, 0, 0], "nothing was dropped");
        assert_eq!(weighted.input_homophily(), Some(1.0));
        assert_eq!(weighted.input_homophily(), weighted.learned_homophily());
    }

    #[test]
    fn homophily_of_classes() {
        // x: node 0 -> 3 (y), 1 (x); node 1 -> 0 (x). Learned: 0.75 of 1.0 plus the negligible.
        let found = class_homophily(&small());
        assert_eq!(found[0], (0, Some(2.0 / 3.0), Some(0.75)));
        assert_eq!(found[1], (1, Some(0.0), None));
    }

    #[test]
    fn trimming_keeps_room_for_dropped_links() {
        let link = |to, fate| Link { to, weight: to as f32, fate };
        let mut all: Vec<Link> = (0..90).map(|j| link(j, Fate::Kept)).collect();
        all.extend((90..130).map(|j| link(j, Fate::New)));
        all.extend((130..160).map(|j| link(j, Fate::Dropped)));
        let kept = trimmed(all);
        assert_eq!(tally(&kept), [0, 40, 20]);
        assert_eq!(kept.len(), LINKS);
    }

    #[test]
    fn a_part_of_a_large_graph_refers_only_to_itself() {
        let n = 300;
        let mut g = GraphRecord {
            node_ids: (0..n).map(|i| format!("n{i}")).collect(),
            class_names: vec!["x".into()],
            labels: vec![None; n],
            predicted: vec![0; n],
            part: vec![0; n],
            input_pointers: vec![0],
            learned_pointers: vec![0; n + 1],
            ..GraphRecord::default()
        };
        for i in 0..n {
            g.input_indices.extend([(i as u32 + 1) % n as u32, (i as u32 + 7) % n as u32]);
            g.input_pointers.push(g.input_indices.len() as u32);
        }
        g.check().unwrap();
        let e = explorer(&g, 40);
        assert_eq!((e.totals.len(), e.pointers.len()), (40, 41));
        let inside = e.neighbours.iter().filter(|&&j| j < 40).count();
        assert!(inside * 2 > e.neighbours.len(), "most links can be walked, not {inside}");
        assert_eq!(e.fates.len(), e.neighbours.len());
        assert!(e.ids.len() > 40 && e.neighbours.iter().all(|&j| (j as usize) < e.ids.len()));
        let mut ids = e.ids.clone();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), e.ids.len());
        assert_eq!(explorer(&g, n).ids.len(), n);
    }

    #[test]
    fn weights_lose_digits_that_nobody_reads() {
        assert_eq!(three_digits(0.123_456), 0.123);
        assert_eq!(three_digits(12_345.0), 12_300.0);
        assert_eq!(three_digits(0.0), 0.0);
    }
}
