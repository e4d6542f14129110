//! Pair networks of several layers on complete candidates.

use super::bridge::{Input, Op, apply, check_finite};
use crate::{
    Error, Result,
    kernels::{
        Real,
        stream::{Embeddings, pair_sums as sums, pair_sums_backward},
    },
    topology::Batch,
};
use burn::tensor::{Shape, Tensor};

/// Square layers `x = leaky(x W + b)` of one width, one after the other.
#[derive(Clone, Debug)]
pub struct PairLayers {
    /// W of all layers, `[layers, d, d]`.
    pub weights: Tensor<3>,
    /// b of all layers, `[layers, d]`.
    pub biases: Tensor<2>,
}

/// Messages between the edges of complete graphs, see [`pair_sums`].
#[derive(Clone, Debug)]
pub struct PairMessages {
    /// `S W_2`, `[N, d]`.
    pub sums: Tensor<2>,
    /// `W_1`, `[d, d]`: what the embedding of the edge itself is multiplied by.
    pub own: Tensor<2>,
    /// `W_2`, `[d, d]`: what its difference from the others is multiplied by.
    pub other: Tensor<2>,
    /// `[d]`.
    pub bias: Tensor<1>,
    /// Whether messages are summed over the edges that share a node, and not averaged.
    pub summed: bool,
}

/// A pair network of several layers on complete candidates, with messages between edges or without.
///
/// `c_ij = leaky(a_i + b_j)`, then the layers `before`; with messages
/// `y_ij = leaky(s (c W_1 + (c - m) W_2 + bias))` with `m_ij = (S_i + S_j - 2 c_ij) / n`, n the number of edges
/// that share a node with (i, j) and s either 1 or n; then the layers `after`, and
/// `log p_ij = log sigmoid(w . x_ij + w0)`. A pair of a node with itself has no neighbours: there m is 0 and s
/// is 1. Leaky has slope 0.01.
#[derive(Clone, Debug)]
pub struct DeepPairs {
    /// `[N, d]`: the first layer's share of the node that receives, with the bias.
    pub a: Tensor<2>,
    /// `[N, d]`: its share of the node that is received from.
    pub b: Tensor<2>,
    /// All square layers, if there are any: those before the messages first.
    pub layers: Option<PairLayers>,
    /// How many of them are before the messages.
    pub before: usize,
    /// The messages, if there are any.
    pub messages: Option<PairMessages>,
    /// `[d]`.
    pub w: Tensor<1>,
    /// `[1]`.
    pub w0: Tensor<1>,
}

impl DeepPairs {
    /// The inputs in the order of the kernel, once their shapes are checked.
    pub(super) fn inputs(&self, nodes: usize) -> Result<[Input; 10]> {
        let [_, d] = self.a.dims();
        let none = || Input::from(Tensor::<1>::empty([0], (&self.a.device(), self.a.dtype())));
        let matrix = |what, x: &Tensor<2>, rows| {
            Error::expect_shape(what, [rows, d.max(1)], x.dims())?;
            check_finite(what, x)
        };
        let vector = |what, x: &Tensor<1>, len| {
            Error::expect_shape(what, [len], x.dims())?;
            check_finite(what, x)
        };
        matrix("pair network: a", &self.a, nodes)?;
        matrix("pair network: b", &self.b, nodes)?;
        vector("pair network: w", &self.w, d)?;
        vector("pair network: w0", &self.w0, 1)?;
        let [t, own, other, bias] = match &self.messages {
            None => [(); 4].map(|()| none()),
            Some(PairMessages { sums, own, other, bias, .. }) => {
                matrix("pair messages: sums", sums, nodes)?;
                matrix("pair messages: own weights", own, d)?;
                matrix("pair messages: other weights", other, d)?;
                vector("pair messages: bias", bias, d)?;
                [sums.into(), own.into(), other.into(), bias.into()]
            }
        };
        let (weights, biases) = layer_inputs(self.layers.as_ref(), d)?.unwrap_or((none(), none()));
        let count = self.layers.as_ref().map_or(0, |layers| layers.biases.dims()[0]);
        if self.before > count {
            let what = "pair network: layers before the messages";
            return Err(Error::shape(what, format!("at most {count}"), self.before));
        }
        let (a, b) = ((&self.a).into(), (&self.b).into());
        Ok([a, b, t, own, other, bias, weights, biases, (&self.w).into(), (&self.w0).into()])
    }
}

fn layer_inputs(layers: Option<&PairLayers>, d: usize) -> Result<Option<(Input, Input)>> {
    let Some(PairLayers { weights, biases }) = layers else { return Ok(None) };
    let count = biases.dims()[0];
    Error::expect_shape("pair layers: weights", [count, d, d], weights.dims())?;
    Error::expect_shape("pair layers: biases", [count, d], biases.dims())?;
    check_finite("pair layers: weights", weights)?;
    check_finite("pair layers: biases", biases)?;
    Ok(Some((weights.into(), biases.into())))
}

struct Sums {
    batch: Batch,
    width: usize,
}

impl Sums {
    fn kernel<'a, T>(&self, [a, b, weights, biases]: [&'a [T]; 4]) -> Embeddings<'a, T> {
        Embeddings { a, b, weights, biases, width: self.width }
    }
}

impl Op<4> for Sums {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, inputs: [&[T]; 4]) -> (Vec<T>, Shape, ()) {
        let values = sums(&self.kernel(inputs), &self.batch);
        (values, Shape::new([self.batch.nodes(), self.width]), ())
    }

    fn backward<T: Real>(
        &self,
        inputs: [&[T]; 4],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 4],
    ) -> [Option<Vec<T>>; 4] {
        pair_sums_backward(&self.kernel(inputs), &self.batch, grad).map(Some)
    }
}

/// Sums of the embeddings of all pairs that a node is part of, `S_v = sum_j c_vj + c_jv` over the other nodes j
/// of its graph: what message passing between the edges of a complete graph needs, because
/// `m_ij = (S_i + S_j - 2 c_ij) / n` is the mean over the edges that share a node with (i, j).
///
/// `c_ij = leaky(a_i + b_j)`, then `layers`. Time is O(N^2 d), or O(N^2 d^2) with layers, memory O(N d); the
/// backward pass embeds the pairs again. The result has the same bits for any number of threads.
///
/// # Shapes
/// `a` and `b` `[N, d]`; result `[N, d]`.
///
/// # Errors
/// If shapes do not fit the batch, or values are not finite.
pub fn pair_sums(
    a: &Tensor<2>,
    b: &Tensor<2>,
    layers: Option<&PairLayers>,
    batch: &Batch,
) -> Result<Tensor<2>> {
    let [_, width] = a.dims();
    for (what, x) in [("pair sums: a", a), ("pair sums: b", b)] {
        Error::expect_shape(what, [batch.nodes(), width.max(1)], x.dims())?;
        check_finite(what, x)?;
    }
    let none = || Input::from(Tensor::<1>::empty([0], (&a.device(), a.dtype())));
    let (weights, biases) = layer_inputs(layers, width)?.unwrap_or((none(), none()));
    let op = Sums { batch: batch.clone(), width };
    apply("pair_sums", op, [a.into(), b.into(), weights, biases])
}
