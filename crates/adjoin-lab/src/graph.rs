//! A given graph and a learned one over the same nodes, as records hold them.

use serde::{Deserialize, Serialize};

/// The input graph and the learned one, both as compressed sparse rows over the same nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphRecord {
    /// Names of the nodes; may be empty.
    pub node_ids: Vec<String>,
    /// Names of the classes.
    pub class_names: Vec<String>,
    /// True classes, where known.
    pub labels: Vec<Option<u32>>,
    /// Predicted class of every node.
    pub predicted: Vec<u32>,
    /// 0 other, 1 train, 2 validation, 3 test.
    pub part: Vec<u8>,
    /// Row pointers of the input graph.
    pub input_pointers: Vec<u32>,
    /// Columns of the input graph.
    pub input_indices: Vec<u32>,
    /// Weights of the input graph; empty when each is 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_weights: Vec<f32>,
    /// Row pointers of the learned graph.
    pub learned_pointers: Vec<u32>,
    /// Columns of the learned graph.
    pub learned_indices: Vec<u32>,
    /// Weights of the learned graph.
    pub learned_weights: Vec<f32>,
    /// Learned k of each node; empty when the learner has no such thing.
    pub degrees: Vec<f32>,
    /// The same before the first step of training; empty when the learner has no such thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start_degrees: Vec<f32>,
    /// Scores of the candidates, of learners that have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<ScoreRecord>,
    /// Number of planted good neighbours of each node; empty when the graph has no plant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planted: Vec<u32>,
    /// Whether each entry of the input graph was injected; empty when none was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub injected: Vec<bool>,
}

/// Scores `p` of candidates, between 0 and 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreRecord {
    /// Of each entry of the input graph; none of one that was no candidate.
    pub input: Vec<Option<f32>>,
    /// Of each entry of the learned graph; none of one that was no candidate.
    pub learned: Vec<Option<f32>>,
    /// How many candidates that are in neither graph have a score in each of equal parts of 0 to 1.
    pub passed_over: Vec<u32>,
}

impl ScoreRecord {
    fn check(&self, input: &[u32], learned: &[u32]) -> Result<(), String> {
        for (name, scores, indices) in
            [("input", &self.input, input), ("learned", &self.learned, learned)]
        {
            if scores.len() != indices.len() {
                return Err(format!("scores.{name} and {name}_indices differ in length"));
            }
            if scores.iter().flatten().any(|score| !(0.0..=1.0).contains(score)) {
                return Err(format!("scores.{name} holds a score outside 0 to 1"));
            }
        }
        Ok(())
    }
}

impl GraphRecord {
    /// Whether the arrays fit together; everything else here relies on that.
    ///
    /// # Errors
    /// Names the array that does not.
    pub fn check(&self) -> Result<(), String> {
        let n = self.node_ids.len();
        let lengths = [
            ("labels", self.labels.len()),
            ("predicted", self.predicted.len()),
            ("part", self.part.len()),
            ("degrees", if self.degrees.is_empty() { n } else { self.degrees.len() }),
            (
                "start_degrees",
                if self.start_degrees.is_empty() { n } else { self.start_degrees.len() },
            ),
            ("planted", if self.planted.is_empty() { n } else { self.planted.len() }),
        ];
        if let Some((name, length)) = lengths.into_iter().find(|l| l.1 != n) {
            return Err(format!("{name} has {length} entries for {n} nodes"));
        }
        let classes = self.class_names.len();
        let mut used = self.labels.iter().flatten().chain(&self.predicted);
        if let Some(class) = used.find(|&&c| c as usize >= classes) {
            return Err(format!("class {class} is used but only {classes} have names"));
        }
        check_weights("learned", &self.learned_weights, &self.learned_indices)?;
        if !self.input_weights.is_empty() {
            check_weights("input", &self.input_weights, &self.input_indices)?;
        }
        if !self.injected.is_empty() && self.injected.len() != self.input_indices.len() {
            return Err("injected and input_indices differ in length".into());
        }
        if let Some(scores) = &self.scores {
            scores.check(&self.input_indices, &self.learned_indices)?;
        }
        check_rows("input", &self.input_pointers, &self.input_indices, n)?;
        check_rows("learned", &self.learned_pointers, &self.learned_indices, n)
    }

    /// Weights of the input graph, if it has any.
    pub(crate) fn input_weights(&self) -> Option<&[f32]> {
        (!self.input_weights.is_empty()).then_some(&self.input_weights)
    }

    /// Whether the input edge from `i` to `j` was injected.
    pub(crate) fn is_injected(&self, i: usize, j: u32) -> bool {
        let marked = |at: usize| self.input_indices[at] == j && self.injected[at];
        !self.injected.is_empty() && row(&self.input_pointers, i).any(marked)
    }

    /// Neighbours of each node in the input graph, self-loops left out.
    pub fn input_degrees(&self) -> Vec<f32> {
        counts(&self.input_pointers, &self.input_indices)
    }

    /// Learned k of each node; where the learner has none, the number of stored neighbours.
    pub fn learned_degrees(&self) -> Vec<f32> {
        if self.degrees.is_empty() {
            counts(&self.learned_pointers, &self.learned_indices)
        } else {
            self.degrees.clone()
        }
    }
}

fn check_weights(name: &str, weights: &[f32], indices: &[u32]) -> Result<(), String> {
    if weights.len() != indices.len() {
        return Err(format!("{name}_weights and {name}_indices differ in length"));
    }
    match weights.iter().any(|w| !w.is_finite() || *w < 0.0) {
        true => Err(format!("{name}_weights holds a negative or non-finite weight")),
        false => Ok(()),
    }
}

fn check_rows(name: &str, pointers: &[u32], indices: &[u32], n: usize) -> Result<(), String> {
    let rising = pointers.windows(2).all(|w| w[0] <= w[1]);
    let ends = pointers.first() == Some(&0) && pointers.last() == Some(&(indices.len() as u32));
    if pointers.len() != n + 1 || !rising || !ends {
        return Err(format!("{name}_pointers do not describe {n} rows of {name}_indices"));
    }
    match indices.iter().find(|&&j| j as usize >= n) {
        Some(j) => Err(format!("{name}_indices names node {j} of {n}")),
        None => Ok(()),
    }
}

/// Neighbours of node `i` in compressed sparse rows, as positions into the index array.
pub(crate) fn row(pointers: &[u32], i: usize) -> std::ops::Range<usize> {
    pointers[i] as usize..pointers[i + 1] as usize
}

/// Share of the edge weight that joins nodes of equal class. Self-loops and edges with an unknown
/// label at either end are left out; without weights each edge counts 1. `None` when nothing is left.
pub fn homophily(
    pointers: &[u32],
    indices: &[u32],
    weights: Option<&[f32]>,
    labels: &[Option<u32>],
) -> Option<f64> {
    let (mut same, mut all) = (0.0, 0.0);
    for i in 0..pointers.len().saturating_sub(1) {
        let (s, a) = row_homophily(pointers, indices, weights, labels, i);
        same += s;
        all += a;
    }
    (all > 0.0).then(|| same / all)
}

/// Weight to equal classes and to known classes among the neighbours of node `i`.
pub(crate) fn row_homophily(
    pointers: &[u32],
    indices: &[u32],
    weights: Option<&[f32]>,
    labels: &[Option<u32>],
    i: usize,
) -> (f64, f64) {
    let (mut same, mut all) = (0.0, 0.0);
    for e in row(pointers, i) {
        let j = indices[e] as usize;
        if let (Some(a), Some(b), true) = (labels[i], labels[j], i != j) {
            let w = weights.map_or(1.0, |w| f64::from(w[e]));
            all += w;
            same += if a == b { w } else { 0.0 };
        }
    }
    (same, all)
}

/// Number of neighbours of each node, self-loops left out.
fn counts(pointers: &[u32], indices: &[u32]) -> Vec<f32> {
    (0..pointers.len().saturating_sub(1))
        .map(|i| row(pointers, i).filter(|&e| indices[e] as usize != i).count() as f32)
        .collect()
}
