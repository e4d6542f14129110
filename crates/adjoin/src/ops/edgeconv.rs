//! EdgeConv aggregation from node-level products.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{Real, batch_norm, edgeconv as kernel},
    topology::Csr,
};
use burn::tensor::{Shape, Tensor};

struct Extremes {
    topology: Csr,
    width: usize,
}

impl Op<3> for Extremes {
    /// The neighbour that each value came from.
    type Saved<T: Real> = Vec<u32>;

    fn forward<T: Real>(&self, [p, q, scale]: [&[T]; 3]) -> (Vec<T>, Shape, Vec<u32>) {
        let (out, chosen) = kernel::extremes(&self.topology, p, q, scale);
        (out, Shape::new([self.topology.rows(), self.width]), chosen)
    }

    fn backward<T: Real>(
        &self,
        _inputs: [&[T]; 3],
        _output: &[T],
        chosen: &Vec<u32>,
        grad: &[T],
        wanted: [bool; 3],
    ) -> [Option<Vec<T>>; 3] {
        let (topology, width) = (&self.topology, self.width);
        [
            wanted[0].then(|| kernel::extremes_backward_p(topology, chosen, grad, width)),
            wanted[1].then(|| kernel::extremes_backward_q(topology, grad, width)),
            None,
        ]
    }
}

struct Statistics {
    topology: Csr,
    width: usize,
}

impl Op<2> for Statistics {
    type Saved<T: Real> = kernel::Centres<T>;

    fn forward<T: Real>(&self, [p, q]: [&[T]; 2]) -> (Vec<T>, Shape, kernel::Centres<T>) {
        let (out, centres) = kernel::statistics(&self.topology, p, q, self.width);
        (out, Shape::new([2, self.width]), centres)
    }

    fn backward<T: Real>(
        &self,
        [p, q]: [&[T]; 2],
        _output: &[T],
        centres: &kernel::Centres<T>,
        grad: &[T],
        wanted: [bool; 2],
    ) -> [Option<Vec<T>>; 2] {
        kernel::statistics_backward(&self.topology, p, q, centres, grad, wanted)
    }
}

struct Normalise {
    topology: Csr,
    slope: f64,
    eps: f64,
}

impl Normalise {
    fn parameters<'a, T: Real>(
        &self,
        [statistics, scale, shift]: [&'a [T]; 3],
    ) -> batch_norm::Parameters<'a, T> {
        let (slope, eps) = (T::from_f64(self.slope), T::from_f64(self.eps));
        batch_norm::Parameters { statistics, scale, shift, slope, eps }
    }
}

impl Op<4> for Normalise {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [m, statistics, scale, shift]: [&[T]; 4]) -> (Vec<T>, Shape, ()) {
        let parameters = self.parameters([statistics, scale, shift]);
        let out = batch_norm::forward(&self.topology, m, parameters);
        (out, Shape::new([self.topology.rows(), scale.len()]), ())
    }

    fn backward<T: Real>(
        &self,
        [m, statistics, scale, shift]: [&[T]; 4],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 4],
    ) -> [Option<Vec<T>>; 4] {
        let parameters = self.parameters([statistics, scale, shift]);
        batch_norm::backward(&self.topology, m, parameters, grad).map(Some)
    }
}

/// Checks `p` and `q` against the graph and gives the number of channels.
pub(crate) fn channels(topology: &Csr, p: &Tensor<2>, q: &Tensor<2>) -> Result<usize> {
    let [nodes, width] = p.dims();
    if nodes != topology.columns() || width == 0 {
        let expected = [topology.columns(), width.max(1)];
        return Err(Error::shape("edgeconv: p", expected, p.dims()));
    }
    if q.dims() != [topology.rows(), width] {
        return Err(Error::shape("edgeconv: q", [topology.rows(), width], q.dims()));
    }
    Ok(width)
}

pub(super) fn vector(what: &'static str, tensor: &Tensor<1>, width: usize) -> Result<()> {
    if tensor.dims() == [width] {
        return Ok(());
    }
    Err(Error::shape(what, [width], tensor.dims()))
}

pub(super) fn not_negative(settings: [(&'static str, f64); 2]) -> Result<()> {
    for (name, value) in settings {
        if !(value >= 0.0 && value.is_finite()) {
            let value = value.to_string();
            return Err(Error::Setting { name, value, expected: "finite and not negative" });
        }
    }
    Ok(())
}

/// The message that survives the maximum over neighbours, before normalisation:
/// `m_ic = q_ic + max_j p_jc` where `scale_c >= 0`, and `q_ic + min_j p_jc` elsewhere.
///
/// EdgeConv takes the maximum over j of `f_c(p_jc + q_ic)` with `f_c` monotone, rising or falling
/// with the sign of the channel's batch-norm scale: that is `f_c` of this. A row without neighbours
/// gives 0. Of equal neighbours the first one counts.
///
/// Gradients flow to `p` at the chosen neighbour and to `q`; there is none to `scale`, of which
/// only the sign matters. With edge weights the layer is [`edgeconv_weighted`](super::edgeconv_weighted).
///
/// # Shapes
/// `p` `[columns, C]`, `q` `[rows, C]`, `scale` `[C]`; result `[rows, C]`.
///
/// # Errors
/// If the shapes do not fit the topology.
pub fn edgeconv_extremes(
    topology: &Csr,
    p: &Tensor<2>,
    q: &Tensor<2>,
    scale: &Tensor<1>,
) -> Result<Tensor<2>> {
    let width = channels(topology, p, q)?;
    vector("edgeconv: scale", scale, width)?;
    let op = Extremes { topology: topology.clone(), width };
    // Detached: a tracked parent that gets no gradient would leave a hole in the backward pass.
    apply("edgeconv_extremes", op, [p.into(), q.into(), scale.clone().detach().into()])
}

/// Batch statistics of all messages: row 0 is the mean and row 1 the biased variance of
/// `p_jc + q_ic` over all edges (i, j), without building the messages. Both are 0 without edges.
///
/// Gradients flow to `p` and `q`.
///
/// # Shapes
/// `p` `[columns, C]`, `q` `[rows, C]`; result `[2, C]`.
///
/// # Errors
/// If the shapes do not fit the topology.
pub fn edgeconv_statistics(topology: &Csr, p: &Tensor<2>, q: &Tensor<2>) -> Result<Tensor<2>> {
    let width = channels(topology, p, q)?;
    let op = Statistics { topology: topology.clone(), width };
    apply("edgeconv_statistics", op, [p.into(), q.into()])
}

/// The end of an EdgeConv layer:
/// `y_ic = leaky((m_ic - mean_c) / sqrt(variance_c + eps) * scale_c + shift_c)`.
///
/// With the running statistics for `statistics`, it is the layer's evaluation mode. Rows without
/// neighbours give 0 and pass no gradient on. Gradients flow to the four tensors.
///
/// # Shapes
/// `m` `[rows, C]`, `statistics` `[2, C]` (mean, variance), `scale` and `shift` `[C]`; result
/// `[rows, C]`.
///
/// # Errors
/// If the shapes do not fit, the slope is negative or not finite (the maximum over neighbours
/// needs a rising function), or `eps` is negative or not finite.
pub fn edgeconv_normalise(
    topology: &Csr,
    m: &Tensor<2>,
    statistics: &Tensor<2>,
    scale: &Tensor<1>,
    shift: &Tensor<1>,
    slope: f64,
    eps: f64,
) -> Result<Tensor<2>> {
    let [rows, width] = m.dims();
    if rows != topology.rows() || width == 0 {
        let expected = [topology.rows(), width.max(1)];
        return Err(Error::shape("edgeconv: messages", expected, m.dims()));
    }
    if statistics.dims() != [2, width] {
        return Err(Error::shape("edgeconv: statistics", [2, width], statistics.dims()));
    }
    vector("edgeconv: scale", scale, width)?;
    vector("edgeconv: shift", shift, width)?;
    not_negative([("slope", slope), ("eps", eps)])?;
    let op = Normalise { topology: topology.clone(), slope, eps };
    apply("edgeconv_normalise", op, [m.into(), statistics.into(), scale.into(), shift.into()])
}

/// EdgeConv with batch normalisation in training mode, from node-level products:
/// `y_ic = max_j leaky(BN_c(p_jc + q_ic))` over the neighbours j of i, with
/// `BN_c(m) = (m - mean_c) / sqrt(variance_c + eps) * scale_c + shift_c`.
///
/// The usual layer on `[x_j - x_i, x_i]` with weights `[theta; phi]` has `p = x theta` and
/// `q = x (phi - theta)`. It is [`edgeconv_extremes`], [`edgeconv_statistics`] and
/// [`edgeconv_normalise`] one after the other; nothing of size `[edges, C]` is built.
///
/// Gives `y`, and the mean and biased variance for the running statistics. Gradients flow to `p`,
/// `q`, `scale` and `shift`, through the statistics too. Rows without neighbours give 0.
///
/// # Shapes
/// `p` `[columns, C]`, `q` `[rows, C]`, `scale` and `shift` `[C]`; results `[rows, C]`, `[C]`, `[C]`.
///
/// # Errors
/// As the three parts.
pub fn edgeconv(
    topology: &Csr,
    p: &Tensor<2>,
    q: &Tensor<2>,
    scale: &Tensor<1>,
    shift: &Tensor<1>,
    slope: f64,
    eps: f64,
) -> Result<(Tensor<2>, Tensor<1>, Tensor<1>)> {
    let m = edgeconv_extremes(topology, p, q, scale)?;
    let statistics = edgeconv_statistics(topology, p, q)?;
    let y = edgeconv_normalise(topology, &m, &statistics, scale, shift, slope, eps)?;
    let width = scale.dims()[0];
    let row = |n| statistics.clone().slice([n..n + 1, 0..width]).reshape([width]);
    Ok((y, row(0), row(1)))
}
