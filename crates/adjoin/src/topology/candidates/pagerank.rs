//! Candidates: the most important nodes as seen from each node.

use super::{fraction, from_rows, positive, square};
use crate::Result;
use crate::topology::Csr;
use rayon::prelude::*;
use std::collections::VecDeque;

/// Precision of approximate PageRank where none is given: see [`approximate_pagerank`].
pub const PAGERANK_EPSILON: f64 = 1e-4;

/// Approximate personalised PageRank of one node, as (node, value) by increasing node.
///
/// Approximates `pi = alpha e_source + (1 - alpha) pi P`, with `P = D^-1 A` the step from a node to
/// a random one of its row (a node without edges stays where it is), by forward push: mass waits at
/// nodes until more than `epsilon max(degree, 1)` is there; then a share `alpha` settles and the
/// rest moves on. At most `1 / (alpha epsilon)` pushes whatever the size of the graph. No value is
/// above the true one, and the mass that still waits, below `epsilon` times the degrees of the nodes
/// where it does, bounds the sum of all errors.
///
/// # Errors
/// If the graph is not square, the source does not exist, or `alpha` or `epsilon` is outside (0, 1).
pub fn approximate_pagerank(
    graph: &Csr,
    source: u32,
    alpha: f64,
    epsilon: f64,
) -> Result<Vec<(u32, f64)>> {
    check(graph, alpha, epsilon)?;
    if source as usize >= graph.rows() {
        let expected = format!("a node below {}", graph.rows());
        return Err(crate::Error::shape("source of PageRank", expected, source));
    }
    let mut push = Push::new(graph, alpha, epsilon);
    push.run(source);
    let mut values: Vec<_> = push.settled().collect();
    values.sort_unstable_by_key(|&(node, _)| node);
    Ok(values)
}

/// For every node, the `k` other nodes of highest approximate PageRank, and those values row by row.
///
/// With `symmetric`, the values are `pi_ij sqrt(d_i / d_j)`, those of the walk with the symmetric step
/// `D^-1/2 A D^-1/2`: what a walk finds at popular nodes only because they are popular counts less.
///
/// # Errors
/// If the graph is not square, `alpha` or `epsilon` is outside (0, 1), or `k` is 0.
pub fn pagerank_neighbours(
    graph: &Csr,
    alpha: f64,
    k: usize,
    epsilon: f64,
    symmetric: bool,
) -> Result<(Csr, Vec<f64>)> {
    check(graph, alpha, epsilon)?;
    positive("k", k)?;
    let rows: Vec<(Vec<u32>, Vec<f64>)> = (0..graph.rows() as u32)
        .into_par_iter()
        .with_min_len(32)
        .map_init(
            || (Push::new(graph, alpha, epsilon), Vec::new()),
            |(push, ranked), node| {
                push.run(node);
                ranked.clear();
                ranked.extend(push.settled().filter(|&(other, _)| other != node));
                if symmetric {
                    let degree = |node: u32| graph.degree(node as usize).max(1) as f64;
                    let scale = |other| (degree(node) / degree(other)).sqrt();
                    ranked.iter_mut().for_each(|(other, value)| *value *= scale(*other));
                }
                keep_top(ranked, k);
                ranked.iter().copied().unzip()
            },
        )
        .collect();
    let (nodes, values): (Vec<Vec<u32>>, Vec<Vec<f64>>) = rows.into_iter().unzip();
    Ok((from_rows(&nodes)?, values.concat()))
}

fn check(graph: &Csr, alpha: f64, epsilon: f64) -> Result<()> {
    square("PageRank", graph)?;
    fraction("alpha", alpha)?;
    fraction("epsilon", epsilon)
}

/// Keeps the `k` largest values, in increasing order of node.
fn keep_top(ranked: &mut Vec<(u32, f64)>, k: usize) {
    if ranked.len() > k {
        ranked.select_nth_unstable_by(k - 1, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.truncate(k);
    }
    ranked.sort_unstable_by_key(|&(node, _)| node);
}

/// Forward push from one source after another; the arrays are cleared where they were touched.
struct Push<'a> {
    graph: &'a Csr,
    alpha: f64,
    epsilon: f64,
    settled: Vec<f64>,
    waiting: Vec<f64>,
    queued: Vec<bool>,
    touched: Vec<u32>,
    queue: VecDeque<u32>,
}

impl<'a> Push<'a> {
    fn new(graph: &'a Csr, alpha: f64, epsilon: f64) -> Self {
        let nodes = graph.rows();
        Self {
            graph,
            alpha,
            epsilon,
            settled: vec![0.0; nodes],
            waiting: vec![0.0; nodes],
            queued: vec![false; nodes],
            touched: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    fn run(&mut self, source: u32) {
        for node in self.touched.drain(..) {
            self.settled[node as usize] = 0.0;
            self.waiting[node as usize] = 0.0;
        }
        self.receive(source, 1.0);
        // The source is pushed even when its degree is so high that its mass would wait.
        if self.queue.is_empty() {
            self.queued[source as usize] = true;
            self.queue.push_back(source);
        }
        // First in, first out: the order of additions, and so every bit, is a function of the graph.
        while let Some(node) = self.queue.pop_front() {
            self.queued[node as usize] = false;
            let mass = std::mem::take(&mut self.waiting[node as usize]);
            let row = self.graph.row(node as usize);
            if row.is_empty() {
                self.settled[node as usize] += mass;
                continue;
            }
            self.settled[node as usize] += self.alpha * mass;
            let share = (1.0 - self.alpha) * mass / row.len() as f64;
            for &next in row {
                self.receive(next, share);
            }
        }
    }

    fn receive(&mut self, node: u32, mass: f64) {
        let at = node as usize;
        if self.waiting[at] == 0.0 && self.settled[at] == 0.0 {
            self.touched.push(node);
        }
        self.waiting[at] += mass;
        let enough = self.epsilon * self.graph.degree(at).max(1) as f64;
        if !self.queued[at] && self.waiting[at] > enough {
            self.queued[at] = true;
            self.queue.push_back(node);
        }
    }

    /// The nodes where mass has settled.
    fn settled(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let values = self.touched.iter().map(|&node| (node, self.settled[node as usize]));
        values.filter(|&(_, value)| value > 0.0)
    }
}
