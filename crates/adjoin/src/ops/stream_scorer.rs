//! How pairs are scored as they stream by.

use super::{
    DeepPairs,
    bridge::{Input, check_finite, to_f64},
};
use crate::{
    Error, Result,
    kernels::{
        Real,
        random::PairNoise,
        stream::{Cosine, Distance, Dot, NetworkInputs, PairLayers, PairMlp, Scorer},
    },
    topology::Batch,
};
use burn::tensor::Tensor;

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
    /// The same with more layers, or with messages between edges.
    Deep(DeepPairs),
}

/// A way to make the kernel's scorer from `N` inputs.
pub(super) trait Kind<const N: usize>: Send + Sync + 'static {
    type Scorer<T: Real>: Scorer<T> + Send + 'static;

    fn scorer<T: Real>(&self, inputs: [&[T]; N], batch: &Batch) -> Self::Scorer<T>;
}

/// Number of features.
pub(super) struct DistanceKind<const SQUARED: bool>(usize);
pub(super) struct DotKind(usize);
pub(super) struct CosineKind(usize);
pub(super) struct MlpKind;
pub(super) struct DeepKind {
    before: usize,
    summed: bool,
}

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

impl Kind<10> for DeepKind {
    type Scorer<T: Real> = PairLayers<T>;

    fn scorer<T: Real>(&self, inputs: [&[T]; 10], batch: &Batch) -> PairLayers<T> {
        let [a, b, t, own, other, bias, weights, biases, w, w0] = inputs;
        let w0 = w0[0];
        let inputs = NetworkInputs { a, b, t, own, other, bias, weights, biases, w, w0 };
        PairLayers::new(&inputs, self.before, self.summed, batch)
    }
}

/// What is done with a scorer, whatever its kind.
pub(super) trait Visitor {
    type Answer;

    fn run<K: Kind<N>, const N: usize>(self, kind: K, inputs: [Input; N]) -> Result<Self::Answer>;
}

impl StreamScorer {
    /// Checks the tensors, and hands them on in the order of the kernel's inputs.
    pub(super) fn visit<V: Visitor>(
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
            Self::Deep(pairs) => {
                let summed = pairs.messages.as_ref().is_some_and(|messages| messages.summed);
                let kind = DeepKind { before: pairs.before, summed };
                visitor.run(kind, pairs.inputs(nodes)?)
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
