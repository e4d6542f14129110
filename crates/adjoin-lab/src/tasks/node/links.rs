//! The learned graph against the input graph: what became of every link, and how much of it the page
//! carries for its neighbourhood explorer.

use crate::{
    graph::{GraphRecord, row},
    report::{escape, number, percent},
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
    /// Its score, if it was a candidate of a learner that has scores.
    pub score: Option<f32>,
    pub fate: Fate,
}

/// Links of node `i`: kept, then new, each by falling weight, then dropped. Self-loops left out.
pub fn links(g: &GraphRecord, i: usize) -> Vec<Link> {
    let (input, learned) = (given_links(g, i), learned_links(g, i));
    let has = |links: &[Live], j: &u32| links.binary_search_by_key(j, |l| l.to).is_ok();
    let (was, is) = (|j: &u32| has(&input, j), |j: &u32| has(&learned, j));
    let fate = |j: &u32| if was(j) { Fate::Kept } else { Fate::New };
    let link = |&Live { to, weight, score }: &Live| Link { to, weight, score, fate: fate(&to) };
    let mut out: Vec<Link> = learned.iter().map(link).collect();
    out.sort_by(|a, b| (a.fate as u8).cmp(&(b.fate as u8)).then(b.weight.total_cmp(&a.weight)));
    let dropped = input.iter().filter(|l| !is(&l.to));
    let gone = |l: &Live| Link { to: l.to, weight: 0.0, score: l.score, fate: Fate::Dropped };
    out.extend(dropped.map(gone));
    out
}

/// A link that is present in one of the graphs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Live {
    pub to: u32,
    pub weight: f32,
    pub score: Option<f32>,
}

/// Links that are present at node `i` in the given graph, by number.
pub fn given_links(g: &GraphRecord, i: usize) -> Vec<Live> {
    let scores = g.scores.as_ref().map(|scores| &scores.input[..]);
    live(&g.input_pointers, &g.input_indices, g.input_weights(), scores, i)
}

/// Links that are present at node `i` in the learned graph, by number.
pub fn learned_links(g: &GraphRecord, i: usize) -> Vec<Live> {
    let scores = g.scores.as_ref().map(|scores| &scores.learned[..]);
    live(&g.learned_pointers, &g.learned_indices, Some(&g.learned_weights), scores, i)
}

/// Other nodes that node `i` has a link to, with weights that are not negligible, by number.
fn live(
    pointers: &[u32],
    indices: &[u32],
    weights: Option<&[f32]>,
    scores: Option<&[Option<f32>]>,
    i: usize,
) -> Vec<Live> {
    let weight = |e: usize| weights.map_or(1.0, |weights| weights[e]);
    let score = |e: usize| scores.and_then(|scores| scores[e]);
    let of = |e: usize| Live { to: indices[e], weight: weight(e), score: score(e) };
    let mut links: Vec<Live> = row(pointers, i).map(of).filter(|l| l.to as usize != i).collect();
    links.sort_unstable_by_key(|l| l.to);
    links.dedup_by(|again, first| {
        let same = again.to == first.to;
        first.weight += if same { again.weight } else { 0.0 };
        same
    });
    let strongest = links.iter().map(|l| l.weight).fold(0.0, f32::max);
    links.retain(|l| l.weight > 0.0 && l.weight >= NEGLIGIBLE * strongest);
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
    /// Size k, or empty.
    k: Vec<f64>,
    /// The same before the first step of training, or empty.
    start: Vec<f64>,
    pointers: Vec<u32>,
    neighbours: Vec<u32>,
    weights: Vec<f64>,
    /// Scores of the links, or empty.
    scores: Vec<Option<f64>>,
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
    let mut scores = Vec::new();
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
            weights.push(brief(link.weight));
            fates.push(char::from(b'0' + link.fate as u8));
            scores.extend(g.scores.is_some().then_some(link.score.map(brief)));
            if !g.injected.is_empty() {
                injected.push(if g.is_injected(order[at], link.to) { '1' } else { '0' });
            }
        }
        pointers.push(neighbours.len() as u32);
    }
    let sizes = |k: &[f32]| order.iter().filter_map(|&i| k.get(i)).map(|&k| brief(k)).collect();
    Explorer {
        classes: &g.class_names,
        ids: order.iter().map(|&i| g.node_ids[i].as_str()).collect(),
        labels: order.iter().map(|&i| g.labels[i].map_or(-1, i64::from)).collect(),
        predicted: order.iter().map(|&i| g.predicted[i]).collect(),
        part: order.iter().map(|&i| g.part[i]).collect(),
        k: sizes(&g.degrees),
        start: sizes(&g.start_degrees),
        pointers,
        neighbours,
        weights,
        scores,
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

/// A number for the page; as an `f32` it would be written with the digits of its nearest `f64`.
fn brief(value: f32) -> f64 {
    format!("{value:.2e}").parse().unwrap_or_default()
}

/// A number without the digits that nobody reads.
pub fn three_digits(value: f32) -> f32 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// The page's section on one graph, without its charts; `parts` is what follows the tiles.
pub fn panel(g: &GraphRecord, at: usize, name: &str, limit: usize, parts: &str) -> String {
    let mut fates = [0; 3];
    for i in 0..g.node_ids.len() {
        for (sum, n) in fates.iter_mut().zip(tally(&links(g, i))) {
            *sum += n;
        }
    }
    let [kept, new, dropped] = fates;
    let mut out = format!(
        r#"<section class="graph" data-graph="{at}" aria-labelledby="graph-{at}"><h3 id="graph-{at}" class="of-run">{}</h3>
<dl class="tiles"><div><dt>Links kept</dt><dd class="num">{}</dd><dd class="small">of {} in the given graph</dd></div><div><dt>Links added</dt><dd class="num">{}</dd><dd class="small">not in the given graph</dd></div><div><dt>Links dropped</dt><dd class="num">{}</dd><dd class="small">{} % of the given graph</dd></div></dl>
{parts}"#,
        escape(name),
        number(kept),
        number(kept + dropped),
        number(new),
        number(dropped),
        percent(dropped as f64 / (kept + dropped).max(1) as f64),
    );
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
        assert_eq!(
            found,
            expected.map(|(to, weight, fate)| Link { to, weight, score: None, fate })
        );
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
    }

    #[test]
    fn trimming_keeps_room_for_dropped_links() {
        let link = |to, fate| Link { to, weight: to as f32, score: None, fate };
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
        assert_eq!(serde_json::json!(brief(0.123_456)).to_string(), "0.123");
    }
}
