//! The generator's view of complete candidates: log mass and best candidates, without N x N.

use super::{
    bridge::{Input, Op, Query, apply, ask},
    stream_scorer::{Kind, StreamScorer, Visitor},
};
use crate::{
    Error, Result,
    kernels::{
        Real,
        random::{NoiseRows, PairNoise},
        stream::{Mass, Pairs, Streamed, Wanted, log_mass_backward, stream},
    },
    topology::{Batch, Csr},
};
use burn::tensor::{Shape, Tensor};
use std::sync::{Arc, OnceLock};

/// All pairs of nodes of the graphs of a batch.
#[derive(Clone, Copy, Debug)]
pub struct AllPairs<'a> {
    /// The graphs.
    pub batch: &'a Batch,
    /// Whether a node is paired with itself too.
    pub itself: bool,
}

impl<'a> From<&'a Batch> for AllPairs<'a> {
    /// Pairs of different nodes.
    fn from(batch: &'a Batch) -> Self {
        Self { batch, itself: false }
    }
}

/// The log of the mass of every row of complete candidates,
/// `m_i = log sum_j exp(l_ij / tau)` with `l_ij = log p_ij + s g_ij`, j over the other nodes of i's
/// graph, and i itself if [`AllPairs`] says so.
///
/// A node without pairs gets the lowest finite number. Gradients flow to all tensors of
/// the scorer: `dL/dl_ij = dL/dm_i exp(l_ij / tau - m_i) / tau`, the pairs being scored again in the
/// backward pass. Time is O(N^2 d), memory O(N d), and the result has the same bits for any number
/// of threads.
///
/// # Shapes
/// Of the scorer as in [`StreamScorer`]; result `[N]`.
///
/// # Errors
/// If shapes do not fit the batch, values are not finite, or `tau` is not positive.
pub fn log_mass<'a>(
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    tau: f64,
    pairs: impl Into<AllPairs<'a>>,
) -> Result<Tensor<1>> {
    Ok(log_mass_and_top(scorer, noise, tau, 0, pairs)?.0)
}

/// [`log_mass`], and the `limit` best candidates of every row as [`top_candidates`] gives them, in
/// one pass over the pairs.
///
/// # Errors
/// As [`log_mass`].
pub fn log_mass_and_top<'a>(
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    tau: f64,
    limit: usize,
    pairs: impl Into<AllPairs<'a>>,
) -> Result<(Tensor<1>, Csr)> {
    let (mass, top) = row_mass_and_top(scorer, noise, tau, limit, pairs)?;
    Ok((mass.log, top))
}

/// The log of the mass of every row, with the digits that one number cannot hold.
pub(crate) struct RowMass {
    /// `[N]`, with gradients.
    pub(crate) log: Tensor<1>,
    /// The log of the share of the best candidates in the mass, `[N]`, as constants.
    pub(crate) shares: Vec<f64>,
    tau: f64,
    peaks: Vec<f64>,
    logs: Vec<f64>,
}

impl RowMass {
    fn parts<T: Real>(&self) -> Mass<T> {
        let narrow = |values: &[f64]| values.iter().map(|&value| T::from_f64(value)).collect();
        Mass { peaks: narrow(&self.peaks), logs: narrow(&self.logs) }
    }

    /// As [`extend_top`], with the shares of the larger selection; `scorer` and `noise` are those that the
    /// mass is of.
    pub(crate) fn extend_top(
        &mut self,
        first: &Csr,
        limit: usize,
        scorer: &StreamScorer,
        noise: Option<PairNoise>,
        limits: &[u32],
        pairs: AllPairs<'_>,
    ) -> Result<Csr> {
        let (top, more) = extend(first, limit, limits, pairs, |missing| {
            top_with_shares(scorer, noise, missing, Some(self), pairs)
        })?;
        for (row, share) in more {
            self.shares[row] = share;
        }
        Ok(top)
    }
}

/// [`log_mass_and_top`] with all digits of the mass.
pub(crate) fn row_mass_and_top<'a>(
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    tau: f64,
    limit: usize,
    pairs: impl Into<AllPairs<'a>>,
) -> Result<(RowMass, Csr)> {
    if !(tau > 0.0 && tau.is_finite()) {
        let value = tau.to_string();
        return Err(Error::Setting { name: "tau", value, expected: "must be positive" });
    }
    let AllPairs { batch, itself } = pairs.into();
    let edges = limit.min(batch.nodes()).saturating_mul(batch.nodes());
    check_edges(edges)?;
    let run = Run { noise, batch: batch.clone(), itself };
    scorer.visit(batch, noise, MassVisitor { run, tau, limit })
}

/// For each row i the `limits[i]` candidates with the largest `l_ij = log p_ij + s g_ij`, among all
/// other nodes of i's graph; ties go to the lower column. Rows hold fewer when the graph has no
/// more. Rows with limit 0 cost nothing. No gradient flows.
///
/// # Errors
/// If shapes do not fit the batch, values are not finite, or there is not one limit per node.
pub fn top_candidates<'a>(
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    limits: &[u32],
    pairs: impl Into<AllPairs<'a>>,
) -> Result<Csr> {
    Ok(top_with_shares(scorer, noise, limits, None, pairs.into())?.0)
}

/// [`top_candidates`], and the log of their share in a mass that is known.
fn top_with_shares(
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    limits: &[u32],
    mass: Option<&RowMass>,
    AllPairs { batch, itself }: AllPairs<'_>,
) -> Result<(Csr, Vec<f64>)> {
    if limits.len() != batch.nodes() {
        return Err(Error::shape("top_candidates: limits", [batch.nodes()], [limits.len()]));
    }
    check_edges(limits.iter().map(|&limit| (limit as usize).min(batch.nodes())).sum())?;
    let run = Run { noise, batch: batch.clone(), itself };
    scorer.visit(batch, noise, TopVisitor { run, limits, mass })
}

/// Makes a first selection of the `limit` best of every row serve larger limits: rows with
/// `limits[i] > limit` are streamed once more, alone, and replaced; the others stay as they are.
///
/// # Errors
/// As [`top_candidates`], or if `first` is not a graph on the nodes of the batch.
pub fn extend_top<'a>(
    first: &Csr,
    limit: usize,
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    limits: &[u32],
    pairs: impl Into<AllPairs<'a>>,
) -> Result<Csr> {
    let pairs = pairs.into();
    let stream = |missing: &[u32]| top_with_shares(scorer, noise, missing, None, pairs);
    Ok(extend(first, limit, limits, pairs, stream)?.0)
}

/// The larger selection, and the shares of the rows that were streamed again.
fn extend(
    first: &Csr,
    limit: usize,
    limits: &[u32],
    AllPairs { batch, itself }: AllPairs<'_>,
    stream: impl FnOnce(&[u32]) -> Result<(Csr, Vec<f64>)>,
) -> Result<(Csr, Vec<(usize, f64)>)> {
    first.same_shape("extend_top: first", &Csr::empty(batch.nodes(), batch.nodes()))?;
    let sizes = batch.graph_of_nodes().into_iter().map(|graph| batch.range(graph as usize).len());
    // A first selection that already holds the whole graph cannot grow.
    let larger = |(&wanted, size): (&u32, usize)| {
        if wanted as usize > limit && size > limit + usize::from(!itself) { wanted } else { 0 }
    };
    let missing: Vec<u32> = limits.iter().zip(sizes).map(larger).collect();
    if limits.len() == batch.nodes() && missing.iter().all(|&wanted| wanted == 0) {
        return Ok((first.clone(), Vec::new()));
    }
    // Too few or too many limits are refused here, under the caller's own count.
    let limits = if limits.len() == batch.nodes() { &missing } else { limits };
    let (more, shares) = stream(limits)?;
    let again = |row: &usize| missing[*row] > 0;
    let rows: Vec<&[u32]> = (0..batch.nodes())
        .map(|row| if again(&row) { more.row(row) } else { first.row(row) })
        .collect();
    check_edges(rows.iter().map(|row| row.len()).sum())?;
    let shares = (0..batch.nodes()).filter(again).map(|row| (row, shares[row])).collect();
    Ok((Csr::from_sorted_rows(batch.nodes(), &rows), shares))
}

fn check_edges(found: usize) -> Result<()> {
    let limit = u32::MAX as usize - 1;
    let what = "number of candidates";
    if found > limit { Err(Error::TooLarge { what, found, limit }) } else { Ok(()) }
}

/// What every pass over the pairs needs beside the scorer.
struct Run {
    noise: Option<PairNoise>,
    batch: Batch,
    itself: bool,
}

impl Run {
    fn noise_rows<T: Real>(&self) -> Option<NoiseRows<T>> {
        let noise = self.noise.filter(|noise| noise.scale != 0.0)?;
        Some(NoiseRows::new(noise, self.batch.nodes()))
    }

    fn pairs<'a, T, S>(
        &'a self,
        scorer: &'a S,
        noise: &'a Option<NoiseRows<T>>,
    ) -> Pairs<'a, T, S> {
        Pairs { scorer, noise: noise.as_ref(), batch: &self.batch, itself: self.itself }
    }
}

struct MassVisitor {
    run: Run,
    tau: f64,
    limit: usize,
}

impl Visitor for MassVisitor {
    type Answer = (RowMass, Csr);

    fn run<K: Kind<N>, const N: usize>(self, kind: K, inputs: [Input; N]) -> Result<Self::Answer> {
        let found = Arc::new(OnceLock::new());
        let (tau, nodes) = (self.tau, self.run.batch.nodes());
        let op = LogMass { kind, visitor: self, found: found.clone() };
        let log = apply("log_mass", op, inputs)?;
        let found = found.get().cloned().unwrap_or_else(|| Found::none(nodes));
        let Found { top, shares, peaks, logs } = found;
        Ok((RowMass { log, shares, tau, peaks, logs }, top))
    }
}

/// What a pass finds beside the tensor.
#[derive(Clone)]
struct Found {
    top: Csr,
    shares: Vec<f64>,
    peaks: Vec<f64>,
    logs: Vec<f64>,
}

impl Found {
    fn none(nodes: usize) -> Self {
        let [shares, peaks, logs] = [(); 3].map(|()| vec![0.0; nodes]);
        Self { top: Csr::empty(nodes, nodes), shares, peaks, logs }
    }
}

struct LogMass<K> {
    kind: K,
    visitor: MassVisitor,
    /// Results that are not the tensor leave this way.
    found: Arc<OnceLock<Found>>,
}

fn wide<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

/// `1 / tau` as the kernels use it.
fn inverse<T: Real>(tau: f64) -> T {
    T::from_f64(1.0 / tau)
}

impl<K: Kind<N>, const N: usize> Op<N> for LogMass<K> {
    /// The packed inputs, O(N d), which the backward pass needs again, and the mass.
    type Saved<T: Real> = (K::Scorer<T>, Option<NoiseRows<T>>, Mass<T>);

    fn forward<T: Real>(&self, inputs: [&[T]; N]) -> (Vec<T>, Shape, Self::Saved<T>) {
        let MassVisitor { run, tau, limit } = &self.visitor;
        let scorer = self.kind.scorer(inputs, &run.batch);
        let noise = run.noise_rows();
        let pairs = run.pairs(&scorer, &noise);
        let Streamed { mass, shares, pointers, indices } =
            stream(&pairs, Wanted::Mass(inverse(*tau)), |_| *limit);
        let top = Csr::trusted(run.batch.nodes(), pointers, indices);
        let [shares, peaks, logs] = [&shares, &mass.peaks, &mass.logs].map(|values| wide(values));
        // Set once: an operation runs forward once.
        let _ = self.found.set(Found { top, shares, peaks, logs });
        (mass.totals(), Shape::new([run.batch.nodes()]), (scorer, noise, mass))
    }

    fn backward<T: Real>(
        &self,
        _inputs: [&[T]; N],
        _output: &[T],
        (scorer, noise, mass): &Self::Saved<T>,
        grad: &[T],
        wanted: [bool; N],
    ) -> [Option<Vec<T>>; N] {
        let MassVisitor { run, tau, .. } = &self.visitor;
        let pairs = run.pairs(scorer, noise);
        let mut grads = log_mass_backward(&pairs, inverse(*tau), mass, grad).into_iter();
        wanted.map(|wanted| grads.next().filter(|_| wanted))
    }
}

struct TopVisitor<'a> {
    run: Run,
    limits: &'a [u32],
    mass: Option<&'a RowMass>,
}

impl Visitor for TopVisitor<'_> {
    type Answer = (Csr, Vec<f64>);

    fn run<K: Kind<N>, const N: usize>(self, kind: K, inputs: [Input; N]) -> Result<Self::Answer> {
        ask("top_candidates", TopQuery { kind, visitor: self }, inputs)
    }
}

struct TopQuery<'a, K> {
    kind: K,
    visitor: TopVisitor<'a>,
}

impl<K: Kind<N>, const N: usize> Query<N> for TopQuery<'_, K> {
    type Answer = (Csr, Vec<f64>);

    fn run<T: Real>(&self, inputs: [&[T]; N]) -> Self::Answer {
        let TopVisitor { run, limits, mass } = &self.visitor;
        let scorer = self.kind.scorer(inputs, &run.batch);
        let noise = run.noise_rows();
        let pairs = run.pairs(&scorer, &noise);
        let known = mass.map(|mass| (inverse(mass.tau), mass.parts()));
        let wanted = match &known {
            None => Wanted::Nothing,
            Some((inverse_tau, mass)) => Wanted::Share(*inverse_tau, mass),
        };
        let streamed = stream(&pairs, wanted, |i| limits[i] as usize);
        let top = Csr::trusted(run.batch.nodes(), streamed.pointers, streamed.indices);
        (top, wide(&streamed.shares))
    }
}
