//! The generator's view of complete candidates: log mass and best candidates, without N x N.

use super::bridge::{Input, Op, Query, apply, ask, check_finite, to_f64};
use crate::{
    Error, Result,
    kernels::{
        Real,
        random::{NoiseRows, PairNoise},
        stream::{
            Cosine, Distance, Dot, PairMlp, Pairs, Scorer, Streamed, log_mass_backward, stream,
        },
    },
    topology::{Batch, Csr},
};
use burn::tensor::{Shape, Tensor};
use std::sync::{Arc, OnceLock};

/// How pairs of nodes are scored when all pairs of a graph are candidates.
///
/// N is the number of nodes of all graphs of the batch, d the number of features, at least 1.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one of them lives at a time, and briefly")]
pub enum StreamScorer {
    /// `log p_ij = -t |u_i - u_j|`; the gradient of the distance at 0 is 0.
    Distance {
        /// `[N, d]`.
        u: Tensor<2>,
        /// `[1]`, not negative.
        t: Tensor<1>,
    },
    /// `log p_ij = -t |u_i - u_j|^2`.
    SquaredDistance {
        /// `[N, d]`.
        u: Tensor<2>,
        /// `[1]`, not negative.
        t: Tensor<1>,
    },
    /// `log p_ij = log sigmoid(<u_i, u_j> / sqrt d)`.
    Dot {
        /// `[N, d]`.
        u: Tensor<2>,
    },
    /// `log p_ij = log max((1 + cos(u_i, u_j)) / 2, 1e-6)`; a zero vector has cosine 0, and no
    /// gradient.
    Cosine {
        /// `[N, d]`.
        u: Tensor<2>,
    },
    /// `log p_ij = log sigmoid(w . leaky(a_i + b_j) + w0)`, leaky with slope 0.01.
    Mlp {
        /// `[N, d]`: the first layer's share of the node that receives, with the bias.
        a: Tensor<2>,
        /// `[N, d]`: its share of the node that is received from.
        b: Tensor<2>,
        /// `[d]`.
        w: Tensor<1>,
        /// `[1]`.
        w0: Tensor<1>,
    },
}

/// The log of the mass of every row of complete candidates,
/// `m_i = log sum_j exp(l_ij / tau)` with `l_ij = log p_ij + s g_ij`, j over the other nodes of i's
/// graph.
///
/// A node that is alone in its graph gets the lowest finite number. Gradients flow to all tensors of
/// the scorer: `dL/dl_ij = dL/dm_i exp(l_ij / tau - m_i) / tau`, the pairs being scored again in the
/// backward pass. Time is O(N^2 d), memory O(N d), and the result has the same bits for any number
/// of threads.
///
/// # Shapes
/// Of the scorer as in [`StreamScorer`]; result `[N]`.
///
/// # Errors
/// If shapes do not fit the batch, values are not finite, or `tau` is not positive.
pub fn log_mass(
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    tau: f64,
    batch: &Batch,
) -> Result<Tensor<1>> {
    Ok(log_mass_and_top(scorer, noise, tau, 0, batch)?.0)
}

/// [`log_mass`], and the `limit` best candidates of every row as [`top_candidates`] gives them, in
/// one pass over the pairs.
///
/// # Errors
/// As [`log_mass`].
pub fn log_mass_and_top(
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    tau: f64,
    limit: usize,
    batch: &Batch,
) -> Result<(Tensor<1>, Csr)> {
    if !(tau > 0.0 && tau.is_finite()) {
        let value = tau.to_string();
        return Err(Error::Setting { name: "tau", value, expected: "must be positive" });
    }
    let edges = limit.min(batch.nodes()).saturating_mul(batch.nodes());
    check_edges(edges)?;
    let run = Run { noise, batch: batch.clone() };
    scorer.visit(batch, noise, MassVisitor { run, inverse_tau: 1.0 / tau, limit })
}

/// For each row i the `limits[i]` candidates with the largest `l_ij = log p_ij + s g_ij`, among all
/// other nodes of i's graph; ties go to the lower column. Rows hold fewer when the graph has no
/// more. Rows with limit 0 cost nothing. No gradient flows.
///
/// # Errors
/// If shapes do not fit the batch, values are not finite, or there is not one limit per node.
pub fn top_candidates(
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    limits: &[u32],
    batch: &Batch,
) -> Result<Csr> {
    if limits.len() != batch.nodes() {
        return Err(Error::shape("top_candidates: limits", [batch.nodes()], [limits.len()]));
    }
    check_edges(limits.iter().map(|&limit| (limit as usize).min(batch.nodes())).sum())?;
    let run = Run { noise, batch: batch.clone() };
    scorer.visit(batch, noise, TopVisitor { run, limits })
}

/// Makes a first selection of the `limit` best of every row serve larger limits: rows with
/// `limits[i] > limit` are streamed once more, alone, and replaced; the others stay as they are.
///
/// # Errors
/// As [`top_candidates`], or if `first` is not a graph on the nodes of the batch.
pub fn extend_top(
    first: &Csr,
    limit: usize,
    scorer: &StreamScorer,
    noise: Option<PairNoise>,
    limits: &[u32],
    batch: &Batch,
) -> Result<Csr> {
    first.same_shape("extend_top: first", &Csr::empty(batch.nodes(), batch.nodes()))?;
    let sizes = batch.graph_of_nodes().into_iter().map(|graph| batch.range(graph as usize).len());
    // A first selection that already holds the whole graph cannot grow.
    let larger = |(&wanted, size): (&u32, usize)| {
        if wanted as usize > limit && size > limit + 1 { wanted } else { 0 }
    };
    let missing: Vec<u32> = limits.iter().zip(sizes).map(larger).collect();
    if limits.len() == batch.nodes() && missing.iter().all(|&wanted| wanted == 0) {
        return Ok(first.clone());
    }
    // Too few or too many limits are refused here, under the caller's own count.
    let limits = if limits.len() == batch.nodes() { &missing } else { limits };
    let more = top_candidates(scorer, noise, limits, batch)?;
    let rows: Vec<&[u32]> = (0..batch.nodes())
        .map(|i| if missing[i] > 0 { more.row(i) } else { first.row(i) })
        .collect();
    check_edges(rows.iter().map(|row| row.len()).sum())?;
    Ok(Csr::from_sorted_rows(batch.nodes(), &rows))
}

fn check_edges(found: usize) -> Result<()> {
    let limit = u32::MAX as usize - 1;
    let what = "number of candidates";
    if found > limit { Err(Error::TooLarge { what, found, limit }) } else { Ok(()) }
}

/// A way to make the kernel's scorer from `N` inputs.
trait Kind<const N: usize>: Send + Sync + 'static {
    type Scorer<T: Real>: Scorer<T> + Send + 'static;

    fn scorer<T: Real>(&self, inputs: [&[T]; N], batch: &Batch) -> Self::Scorer<T>;
}

/// Number of features.
struct DistanceKind<const SQUARED: bool>(usize);
struct DotKind(usize);
struct CosineKind(usize);
struct MlpKind;

impl<const SQUARED: bool> Kind<2> for DistanceKind<SQUARED> {
    type Scorer<T: Real> = Distance<T, SQUARED>;

    fn scorer<T: Real>(&self, [u, t]: [&[T]; 2], batch: &Batch) -> Distance<T, SQUARED> {
        Distance::new(u, t[0], self.0, batch)
    }
}

impl Kind<1> for DotKind {
    type Scorer<T: Real> = Dot<T>;

    fn scorer<T: Real>(&self, [u]: [&[T]; 1], batch: &Batch) -> Dot<T> {
        Dot::new(u, self.0, batch)
    }
}

impl Kind<1> for CosineKind {
    type Scorer<T: Real> = Cosine<T>;

    fn scorer<T: Real>(&self, [u]: [&[T]; 1], batch: &Batch) -> Cosine<T> {
        Cosine::new(u, self.0, batch)
    }
}

impl Kind<4> for MlpKind {
    type Scorer<T: Real> = PairMlp<T>;

    fn scorer<T: Real>(&self, [a, b, w, w0]: [&[T]; 4], batch: &Batch) -> PairMlp<T> {
        PairMlp::new(a, b, w, w0[0], batch)
    }
}

/// What is done with a scorer, whatever its kind.
trait Visitor {
    type Answer;

    fn run<K: Kind<N>, const N: usize>(self, kind: K, inputs: [Input; N]) -> Result<Self::Answer>;
}

impl StreamScorer {
    /// Checks the tensors, and hands them on in the order of the kernel's inputs.
    fn visit<V: Visitor>(
        &self,
        batch: &Batch,
        noise: Option<PairNoise>,
        visitor: V,
    ) -> Result<V::Answer> {
        if let Some(scale) = noise.map(|noise| noise.scale).filter(|scale| !scale.is_finite()) {
            let value = scale.to_string();
            return Err(Error::Setting { name: "noise scale", value, expected: "must be finite" });
        }
        let nodes = batch.nodes();
        match self {
            Self::Distance { u, t } | Self::SquaredDistance { u, t } => {
                let width = features("distance scorer: u", u, nodes)?;
                vector("distance scorer: t", t, 1)?;
                if let Some(t) = to_f64("distance scorer: t", t)?.into_iter().find(|&t| t < 0.0) {
                    let (name, value) = ("distance scorer: t", t.to_string());
                    return Err(Error::Setting { name, value, expected: "must not be negative" });
                }
                let inputs = [u.into(), t.into()];
                match self {
                    Self::SquaredDistance { .. } => {
                        visitor.run(DistanceKind::<true>(width), inputs)
                    }
                    _ => visitor.run(DistanceKind::<false>(width), inputs),
                }
            }
            Self::Dot { u } => {
                visitor.run(DotKind(features("dot scorer: u", u, nodes)?), [u.into()])
            }
            Self::Cosine { u } => {
                visitor.run(CosineKind(features("cosine scorer: u", u, nodes)?), [u.into()])
            }
            Self::Mlp { a, b, w, w0 } => {
                let width = features("pair MLP: a", a, nodes)?;
                if b.dims() != a.dims() {
                    return Err(Error::shape("pair MLP: b", a.dims(), b.dims()));
                }
                features("pair MLP: b", b, nodes)?;
                vector("pair MLP: w", w, width)?;
                vector("pair MLP: w0", w0, 1)?;
                visitor.run(MlpKind, [a.into(), b.into(), w.into(), w0.into()])
            }
        }
    }
}

fn features(what: &'static str, x: &Tensor<2>, nodes: usize) -> Result<usize> {
    let [rows, width] = x.dims();
    if rows != nodes || width == 0 {
        return Err(Error::shape(what, [nodes, width.max(1)], [rows, width]));
    }
    check_finite(what, x)?;
    Ok(width)
}

fn vector(what: &'static str, x: &Tensor<1>, len: usize) -> Result<()> {
    if x.dims() != [len] {
        return Err(Error::shape(what, [len], x.dims()));
    }
    check_finite(what, x)
}

/// What every pass over the pairs needs beside the scorer.
struct Run {
    noise: Option<PairNoise>,
    batch: Batch,
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
        Pairs { scorer, noise: noise.as_ref(), batch: &self.batch }
    }

    fn topology<T>(&self, streamed: Streamed<T>) -> Csr {
        Csr::trusted(self.batch.nodes(), streamed.pointers, streamed.indices)
    }
}

struct MassVisitor {
    run: Run,
    inverse_tau: f64,
    limit: usize,
}

impl Visitor for MassVisitor {
    type Answer = (Tensor<1>, Csr);

    fn run<K: Kind<N>, const N: usize>(self, kind: K, inputs: [Input; N]) -> Result<Self::Answer> {
        let top = Arc::new(OnceLock::new());
        let empty = Csr::empty(self.run.batch.nodes(), self.run.batch.nodes());
        let op = LogMass { kind, visitor: self, top: top.clone() };
        let mass = apply("log_mass", op, inputs)?;
        Ok((mass, top.get().cloned().unwrap_or(empty)))
    }
}

struct LogMass<K> {
    kind: K,
    visitor: MassVisitor,
    /// The second result, which is not a tensor, leaves this way.
    top: Arc<OnceLock<Csr>>,
}

impl<K: Kind<N>, const N: usize> Op<N> for LogMass<K> {
    /// The packed inputs: O(N d), and the backward pass needs them again.
    type Saved<T: Real> = (K::Scorer<T>, Option<NoiseRows<T>>);

    fn forward<T: Real>(&self, inputs: [&[T]; N]) -> (Vec<T>, Shape, Self::Saved<T>) {
        let MassVisitor { run, inverse_tau, limit } = &self.visitor;
        let scorer = self.kind.scorer(inputs, &run.batch);
        let noise = run.noise_rows();
        let pairs = run.pairs(&scorer, &noise);
        let mut streamed = stream(&pairs, Some(T::from_f64(*inverse_tau)), |_| *limit);
        let mass = std::mem::take(&mut streamed.mass);
        // Set once: an operation runs forward once.
        let _ = self.top.set(run.topology(streamed));
        (mass, Shape::new([run.batch.nodes()]), (scorer, noise))
    }

    fn backward<T: Real>(
        &self,
        _inputs: [&[T]; N],
        output: &[T],
        (scorer, noise): &Self::Saved<T>,
        grad: &[T],
        wanted: [bool; N],
    ) -> [Option<Vec<T>>; N] {
        let MassVisitor { run, inverse_tau, .. } = &self.visitor;
        let inverse_tau = T::from_f64(*inverse_tau);
        let pairs = run.pairs(scorer, noise);
        let mut grads = log_mass_backward(&pairs, inverse_tau, output, grad).into_iter();
        wanted.map(|wanted| grads.next().filter(|_| wanted))
    }
}

struct TopVisitor<'a> {
    run: Run,
    limits: &'a [u32],
}

impl Visitor for TopVisitor<'_> {
    type Answer = Csr;

    fn run<K: Kind<N>, const N: usize>(self, kind: K, inputs: [Input; N]) -> Result<Csr> {
        ask("top_candidates", TopQuery { kind, visitor: self }, inputs)
    }
}

struct TopQuery<'a, K> {
    kind: K,
    visitor: TopVisitor<'a>,
}

impl<K: Kind<N>, const N: usize> Query<N> for TopQuery<'_, K> {
    type Answer = Csr;

    fn run<T: Real>(&self, inputs: [&[T]; N]) -> Csr {
        let TopVisitor { run, limits } = &self.visitor;
        let scorer = self.kind.scorer(inputs, &run.batch);
        let noise = run.noise_rows();
        let pairs = run.pairs(&scorer, &noise);
        run.topology(stream(&pairs, None, |i| limits[i] as usize))
    }
}
