//! Which pairs of nodes may become edges.

mod hops;
mod pagerank;

pub use pagerank::{PAGERANK_EPSILON, approximate_pagerank, pagerank_neighbours};

use super::{Batch, Csr, SelfLoops, fits};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The ordered pairs (i, j) that may become edges; never a node with itself.
///
/// Self-loops are left to whoever uses the candidates, because they are not ranked against others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Every ordered pair of distinct nodes of the same graph. Never written out.
    Complete(Batch),
    /// The pairs listed: row i holds the candidates of node i.
    Pairs(Csr),
}

impl Candidates {
    /// The edges of an input graph, without its self-loops.
    ///
    /// # Errors
    /// If the graph is not square.
    pub fn input_edges(graph: &Csr) -> Result<Self> {
        square("input edges", graph)?;
        Ok(Self::Pairs(graph.with_self_loops(SelfLoops::Drop)))
    }

    /// All other nodes that are reached in at most `r` steps along rows of the graph.
    ///
    /// # Errors
    /// If the graph is not square, `r` is 0, or there are too many pairs for 32-bit indices.
    pub fn hops(graph: &Csr, r: usize) -> Result<Self> {
        hops::pairs(graph, r).map(Self::Pairs)
    }

    /// For every node, the `k` other nodes of highest approximate personalised PageRank:
    /// `pi_i = alpha e_i + (1 - alpha) pi_i P`, `P = D^-1 A`, see [`approximate_pagerank`]. Fewer
    /// where the approximation reaches fewer. Ties go to the lower index.
    ///
    /// # Errors
    /// If the graph is not square, `alpha` or `epsilon` is outside (0, 1), or `k` is 0.
    pub fn pagerank(graph: &Csr, alpha: f64, k: usize, epsilon: f64) -> Result<Self> {
        pagerank_neighbours(graph, alpha, k, epsilon, false).map(|(pairs, _)| Self::Pairs(pairs))
    }

    /// The pairs of either. Whatever is joined to [`Complete`](Self::Complete) is complete, if its
    /// pairs lie within the graphs of the batch.
    ///
    /// # Errors
    /// If the two are over different nodes, or over batches that differ.
    pub fn union(&self, other: &Self) -> Result<Self> {
        match (self, other) {
            (Self::Pairs(a), Self::Pairs(b)) => a.union(b).map(Self::Pairs),
            (Self::Complete(a), Self::Complete(b)) if a == b => Ok(self.clone()),
            (Self::Complete(a), Self::Complete(b)) => {
                Err(Error::shape("union of complete candidates", a.offsets(), b.offsets()))
            }
            (Self::Complete(batch), Self::Pairs(pairs))
            | (Self::Pairs(pairs), Self::Complete(batch)) => {
                within(pairs, batch)?;
                Ok(Self::Complete(batch.clone()))
            }
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        match self {
            Self::Complete(batch) => batch.nodes(),
            Self::Pairs(pairs) => pairs.rows(),
        }
    }

    /// Number of candidates of every node.
    pub fn counts(&self) -> Vec<u32> {
        match self {
            Self::Complete(batch) => batch
                .ranges()
                .flat_map(|range| {
                    std::iter::repeat_n(range.len().saturating_sub(1) as u32, range.len())
                })
                .collect(),
            Self::Pairs(pairs) => {
                pairs.pointers().windows(2).map(|pair| pair[1] - pair[0]).collect()
            }
        }
    }

    /// Number of all pairs.
    pub fn total(&self) -> u64 {
        match self {
            Self::Complete(batch) => batch
                .ranges()
                .map(|range| range.len() as u64 * range.len().saturating_sub(1) as u64)
                .sum(),
            Self::Pairs(pairs) => pairs.edges() as u64,
        }
    }

    /// The pairs written out.
    ///
    /// # Errors
    /// If there are more than `limit`, or more than 32-bit indices hold.
    pub fn to_pairs(&self, limit: usize) -> Result<Csr> {
        let pairs = self.total();
        if pairs > limit as u64 {
            return Err(Error::TooManyPairs { pairs, limit });
        }
        fits("number of candidate pairs", pairs as usize)?;
        match self {
            Self::Pairs(pairs) => Ok(pairs.clone()),
            Self::Complete(batch) => {
                let mut pointers = Vec::with_capacity(batch.nodes() + 1);
                pointers.push(0);
                let mut indices = Vec::with_capacity(pairs as usize);
                for range in batch.ranges() {
                    let nodes = range.start as u32..range.end as u32;
                    for i in nodes.clone() {
                        indices.extend(nodes.clone().filter(|&j| j != i));
                        pointers.push(indices.len() as u32);
                    }
                }
                Ok(Csr::trusted(batch.nodes(), pointers, indices))
            }
        }
    }
}

/// What "near" means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// `|x_i - x_j|`.
    #[default]
    Euclidean,
    /// `1 - <x_i, x_j> / (|x_i| |x_j|)`; a zero vector is at distance 1 from everything.
    Cosine,
    /// `-<x_i, x_j>`: a larger product is nearer.
    Dot,
}

/// How to choose candidates: a description that can be stored in a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CandidateRule {
    /// Every pair of a graph: [`Candidates::Complete`].
    Complete,
    /// [`Candidates::input_edges`].
    #[default]
    InputEdges,
    /// The `k` nearest other nodes of the same graph among the features. Exact; all others where a graph
    /// has too few.
    Nearest {
        /// How many.
        k: usize,
        /// In which sense.
        metric: Metric,
    },
    /// [`Candidates::hops`].
    Hops {
        /// Most steps.
        r: usize,
    },
    /// [`Candidates::pagerank`] to the precision [`PAGERANK_EPSILON`].
    #[serde(rename = "pagerank")]
    PageRank {
        /// Chance to return to the start at each step, in (0, 1).
        alpha: f64,
        /// How many.
        k: usize,
    },
    /// The pairs of any of these; complete if one of them is.
    Union(Vec<CandidateRule>),
}

impl CandidateRule {
    /// Checks the settings, without any input.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Complete | Self::InputEdges => Ok(()),
            Self::Nearest { k, .. } => positive("k", *k),
            Self::Hops { r } => positive("r", *r),
            Self::PageRank { alpha, k } => {
                fraction("alpha", *alpha)?;
                positive("k", *k)
            }
            Self::Union(rules) if rules.is_empty() => {
                let expected = "at least one rule";
                Err(Error::Setting { name: "union", value: "[]".into(), expected })
            }
            Self::Union(rules) => rules.iter().try_for_each(Self::validate),
        }
    }

    /// Builds the candidates; `nearest(k, metric)` searches the features, if there are any.
    ///
    /// # Errors
    /// If a setting is out of range, the graph or the features are missing or do not fit the batch,
    /// or an edge joins two graphs of the batch.
    pub(crate) fn build(
        &self,
        graph: Option<&Csr>,
        nearest: Option<&dyn Fn(usize, Metric) -> Result<Csr>>,
        batch: &Batch,
    ) -> Result<Candidates> {
        self.validate()?;
        if let Some(graph) = graph {
            within(graph, batch)?;
        }
        self.build_checked(graph, nearest, batch)
    }

    fn build_checked(
        &self,
        graph: Option<&Csr>,
        nearest: Option<&dyn Fn(usize, Metric) -> Result<Csr>>,
        batch: &Batch,
    ) -> Result<Candidates> {
        let given = |what| graph.ok_or(Error::NoInputGraph(what));
        match self {
            _ if self.is_complete() => Ok(Candidates::Complete(batch.clone())),
            Self::Complete | Self::InputEdges => Candidates::input_edges(given("input edges")?),
            Self::Nearest { k, metric } => {
                let nearest = nearest.ok_or(Error::NoFeatures("nearest neighbours"))?;
                nearest(*k, *metric).map(Candidates::Pairs)
            }
            Self::Hops { r } => Candidates::hops(given("hops")?, *r),
            Self::PageRank { alpha, k } => {
                Candidates::pagerank(given("PageRank")?, *alpha, *k, PAGERANK_EPSILON)
            }
            Self::Union(rules) => rules
                .iter()
                .map(|rule| rule.build_checked(graph, nearest, batch))
                .reduce(|all, next| all?.union(&next?))
                .unwrap_or_else(|| Ok(Candidates::Pairs(Csr::empty(batch.nodes(), batch.nodes())))),
        }
    }

    /// Whether this stands for all pairs.
    pub fn is_complete(&self) -> bool {
        match self {
            Self::Complete => true,
            Self::Union(rules) => rules.iter().any(Self::is_complete),
            _ => false,
        }
    }

    /// Whether nodes are compared by features: such candidates change when the features do.
    pub fn uses_features(&self) -> bool {
        match self {
            Self::Nearest { .. } => true,
            Self::Union(rules) => rules.iter().any(Self::uses_features),
            _ => false,
        }
    }
}

fn positive(name: &'static str, value: usize) -> Result<()> {
    if value > 0 {
        return Ok(());
    }
    Err(Error::Setting { name, value: "0".into(), expected: "at least 1" })
}

fn fraction(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(Error::Setting { name, value: value.to_string(), expected: "strictly between 0 and 1" })
}

fn square(what: &'static str, graph: &Csr) -> Result<()> {
    if graph.rows() == graph.columns() {
        return Ok(());
    }
    Err(Error::shape(what, [graph.rows(); 2], [graph.rows(), graph.columns()]))
}

/// Whether the graph is over the nodes of the batch, and no edge joins two of its graphs.
fn within(graph: &Csr, batch: &Batch) -> Result<()> {
    let expected = [batch.nodes(); 2];
    if [graph.rows(), graph.columns()] != expected {
        return Err(Error::shape("graph of a batch", expected, [graph.rows(), graph.columns()]));
    }
    for range in batch.ranges() {
        for row in range.clone() {
            // Columns increase, so the first and the last tell about all.
            let columns = graph.row(row);
            let ends = [(0, columns.first()), (columns.len().wrapping_sub(1), columns.last())];
            for (at, &column) in ends.into_iter().filter_map(|(at, j)| Some((at, j?))) {
                if !range.contains(&(column as usize)) {
                    let entry = graph.range(row).start + at;
                    return Err(Error::BetweenGraphs { entry, row, column: column as usize });
                }
            }
        }
    }
    Ok(())
}

/// Rows found one by one, as a graph.
fn from_rows(rows: &[Vec<u32>]) -> Result<Csr> {
    fits("number of candidate pairs", rows.iter().map(Vec::len).sum())?;
    Ok(Csr::from_sorted_rows(rows.len(), rows))
}
