//! Scores of candidate pairs, without building `[pairs, 2 d]`.

use super::bridge::{Input, Op, apply};
use crate::{
    Error, Result,
    kernels::{
        Real, edge_messages, pair_mlp,
        pairs::{self, Similarity},
    },
    topology::Csr,
};
use burn::tensor::{Shape, Tensor};

struct Measure {
    pairs: Csr,
    similarity: Similarity,
    width: usize,
}

impl Op<1> for Measure {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [u]: [&[T]; 1]) -> (Vec<T>, Shape, ()) {
        let values = pairs::forward(&self.pairs, self.similarity, u, self.width);
        (values, Shape::new([self.pairs.edges()]), ())
    }

    fn backward<T: Real>(
        &self,
        [u]: [&[T]; 1],
        output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        [Some(pairs::backward(&self.pairs, self.similarity, u, self.width, output, grad))]
    }
}

/// Distance, inner product or cosine of the node vectors of every candidate pair, `[pairs]`.
///
/// Gradients flow to `u` `[nodes, d]`; at coinciding vectors the gradient of the distance is 0.
///
/// # Errors
/// If the pairs name more nodes than `u` has rows.
pub fn pair_similarity(pairs: &Csr, similarity: Similarity, u: &Tensor<2>) -> Result<Tensor<1>> {
    let [nodes, width] = u.dims();
    check_nodes("pair_similarity: node vectors", pairs, [nodes, width], [nodes, width])?;
    apply("pair_similarity", Measure { pairs: pairs.clone(), similarity, width }, [u.into()])
}

/// Inputs of the pair network `c_ij = leaky(a_i + b_j + s_ij v)`.
#[derive(Clone, Debug)]
pub struct PairNetwork {
    /// The receiving node's share `x U + bias`, `[nodes, d]`.
    pub receiver: Tensor<2>,
    /// The other node's share `x V`, `[nodes, d]`.
    pub sender: Tensor<2>,
    /// A scalar per pair `[pairs]` and how it enters `[d]`; gradients flow to both.
    pub scalar: Option<(Tensor<1>, Tensor<1>)>,
    /// Slope of the LeakyReLU below zero.
    pub slope: f64,
}

impl PairNetwork {
    fn inputs(&self, pairs: &Csr) -> Result<([Input; 4], usize)> {
        let (shape, width) = (self.receiver.dims(), self.receiver.dims()[1]);
        check_nodes("pair network: nodes", pairs, shape, self.sender.dims())?;
        let none = || Tensor::empty([0], (&self.receiver.device(), self.receiver.dtype()));
        let (scalars, v) = match &self.scalar {
            Some((scalars, v)) => {
                if scalars.dims() != [pairs.edges()] {
                    let found = scalars.dims();
                    return Err(Error::shape("pair scalars", [pairs.edges()], found));
                }
                if v.dims() != [width] {
                    return Err(Error::shape("pair scalar weights", [width], v.dims()));
                }
                (scalars.clone(), v.clone())
            }
            None => (none(), none()),
        };
        let inputs = [(&self.receiver).into(), (&self.sender).into(), scalars.into(), v.into()];
        Ok((inputs, width))
    }
}

struct PairOp {
    pairs: Csr,
    width: usize,
    slope: f64,
}

impl PairOp {
    fn kernel<'a, T: Real>(&'a self, [a, b, scalars, v]: [&'a [T]; 4]) -> pair_mlp::Pairs<'a, T> {
        let (width, slope) = (self.width, T::from_f64(self.slope));
        pair_mlp::Pairs { topology: &self.pairs, a, b, scalars, v, width, slope }
    }
}

struct Logits(PairOp);

impl Op<5> for Logits {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [a, b, scalars, v, w]: [&[T]; 5]) -> (Vec<T>, Shape, ()) {
        let logits = pair_mlp::logits(self.0.kernel([a, b, scalars, v]), w);
        (logits, Shape::new([self.0.pairs.edges()]), ())
    }

    fn backward<T: Real>(
        &self,
        [a, b, scalars, v, w]: [&[T]; 5],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        wanted: [bool; 5],
    ) -> [Option<Vec<T>>; 5] {
        let upstream = pair_mlp::Upstream::Logits(w, grad);
        let pairs = self.0.kernel([a, b, scalars, v]);
        let grads = pair_mlp::backward(pairs, upstream);
        let of_scalars = wanted[2].then(|| pair_mlp::backward_scalars(pairs, upstream));
        [Some(grads.a), Some(grads.b), of_scalars, Some(grads.v), Some(grads.w)]
    }
}

struct Embeddings(PairOp);

impl Op<4> for Embeddings {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, inputs: [&[T]; 4]) -> (Vec<T>, Shape, ()) {
        let embeddings = pair_mlp::embeddings(self.0.kernel(inputs));
        (embeddings, Shape::new([self.0.pairs.edges(), self.0.width]), ())
    }

    fn backward<T: Real>(
        &self,
        inputs: [&[T]; 4],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        wanted: [bool; 4],
    ) -> [Option<Vec<T>>; 4] {
        let upstream = pair_mlp::Upstream::Embeddings(grad);
        let pairs = self.0.kernel(inputs);
        let grads = pair_mlp::backward(pairs, upstream);
        let of_scalars = wanted[2].then(|| pair_mlp::backward_scalars(pairs, upstream));
        [Some(grads.a), Some(grads.b), of_scalars, Some(grads.v)]
    }
}

/// `logit_ij = <w, c_ij>` at every candidate pair, `[pairs]`; `c` is never stored.
///
/// Gradients flow to both shares, to `w` `[d]`, to the pair scalars and to their weights.
///
/// # Errors
/// If the shapes do not fit.
pub fn pair_logits(pairs: &Csr, network: &PairNetwork, w: &Tensor<1>) -> Result<Tensor<1>> {
    let ([a, b, scalars, v], width) = network.inputs(pairs)?;
    if w.dims() != [width] {
        return Err(Error::shape("pair network: output weights", [width], w.dims()));
    }
    let op = Logits(PairOp { pairs: pairs.clone(), width, slope: network.slope });
    apply("pair_logits", op, [a, b, scalars, v, w.into()])
}

/// `c_ij` at every candidate pair, `[pairs, d]`: the input of message passing between edges.
///
/// # Errors
/// If the shapes do not fit.
pub fn pair_embeddings(pairs: &Csr, network: &PairNetwork) -> Result<Tensor<2>> {
    let (inputs, width) = network.inputs(pairs)?;
    let op = Embeddings(PairOp { pairs: pairs.clone(), width, slope: network.slope });
    apply("pair_embeddings", op, inputs)
}

struct Messages {
    pairs: Csr,
    width: usize,
}

impl Op<1> for Messages {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [c]: [&[T]; 1]) -> (Vec<T>, Shape, ()) {
        let averages = edge_messages::forward(&self.pairs, c, self.width);
        (averages, Shape::new([self.pairs.edges(), self.width]), ())
    }

    fn backward<T: Real>(
        &self,
        _inputs: [&[T]; 1],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        [Some(edge_messages::backward(&self.pairs, grad, self.width))]
    }
}

/// The average embedding of the edges that share a node with each edge,
/// `m_ij = (S_i + S_j - 2 c_ij) / (n_i + n_j - 2)`, `[pairs, d]`. Self-loops send nothing and
/// receive 0.
///
/// # Errors
/// If `c` does not have one row per pair.
pub fn edge_messages(pairs: &Csr, c: &Tensor<2>) -> Result<Tensor<2>> {
    let [rows, width] = c.dims();
    if rows != pairs.edges() {
        return Err(Error::shape("edge embeddings", [pairs.edges(), width], [rows, width]));
    }
    apply("edge_messages", Messages { pairs: pairs.clone(), width }, [c.into()])
}

fn check_nodes(
    what: &'static str,
    pairs: &Csr,
    receiver: [usize; 2],
    sender: [usize; 2],
) -> Result<()> {
    let expected = [[pairs.rows(), receiver[1]], [pairs.columns(), receiver[1]]];
    if [receiver, sender] == expected {
        return Ok(());
    }
    Err(Error::shape(what, expected, [receiver, sender]))
}
