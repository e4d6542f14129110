//! Reductions of edge values over rows, and gathers of node values to edges.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{Real, segment as kernel},
    topology::Csr,
};
use burn::tensor::{Shape, Tensor};

#[derive(Clone, Copy)]
enum Kind {
    Sum,
    Mean,
    Max,
    Softmax,
    LogSumExp,
    Broadcast,
    Gather,
}

struct Segment {
    topology: Csr,
    kind: Kind,
}

impl Op<1> for Segment {
    /// The positions of the maxima, for [`Kind::Max`].
    type Saved<T: Real> = Vec<u32>;

    fn forward<T: Real>(&self, [values]: [&[T]; 1]) -> (Vec<T>, Shape, Vec<u32>) {
        let topology = &self.topology;
        let mut saved = Vec::new();
        let out = match self.kind {
            Kind::Sum => kernel::sum(topology, values),
            Kind::Mean => kernel::mean(topology, values),
            Kind::Max => {
                let (out, arguments) = kernel::max(topology, values);
                saved = arguments;
                out
            }
            Kind::Softmax => kernel::softmax(topology, values),
            Kind::LogSumExp => kernel::logsumexp(topology, values),
            Kind::Broadcast => kernel::broadcast_rows(topology, values),
            Kind::Gather => kernel::gather_columns(topology, values),
        };
        let shape = Shape::new([out.len()]);
        (out, shape, saved)
    }

    fn backward<T: Real>(
        &self,
        [values]: [&[T]; 1],
        output: &[T],
        arguments: &Vec<u32>,
        grad: &[T],
        wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        let topology = &self.topology;
        let run = || match self.kind {
            Kind::Sum => kernel::broadcast_rows(topology, grad),
            Kind::Mean => kernel::mean_backward(topology, grad),
            Kind::Max => kernel::max_backward(topology, arguments, grad),
            Kind::Softmax => kernel::softmax_backward(topology, output, grad),
            Kind::LogSumExp => kernel::logsumexp_backward(topology, values, output, grad),
            Kind::Broadcast => kernel::sum(topology, grad),
            Kind::Gather => kernel::sum_columns(topology, grad),
        };
        [wanted[0].then(run)]
    }
}

fn segment(
    what: &'static str,
    topology: &Csr,
    values: &Tensor<1>,
    kind: Kind,
) -> Result<Tensor<1>> {
    let expected = match kind {
        Kind::Broadcast => topology.rows(),
        Kind::Gather => topology.columns(),
        _ => topology.edges(),
    };
    if values.dims() != [expected] {
        return Err(Error::shape(what, [expected], values.dims()));
    }
    apply(what, Segment { topology: topology.clone(), kind }, [values.into()])
}

/// `s_i = sum_j v_ij` over the edges of row i; 0 for a row without edges.
///
/// # Shapes
/// `values` `[edges]`; result `[rows]`. The gradient of `v_ij` is that of `s_i`.
///
/// # Errors
/// If the values do not fit the topology.
pub fn segment_sum(topology: &Csr, values: &Tensor<1>) -> Result<Tensor<1>> {
    segment("segment_sum: values", topology, values, Kind::Sum)
}

/// `m_i = sum_j v_ij / n_i` with `n_i` the edges of row i; 0 for a row without edges.
///
/// # Shapes
/// `values` `[edges]`; result `[rows]`. The gradient of `v_ij` is that of `m_i` over `n_i`.
///
/// # Errors
/// If the values do not fit the topology.
pub fn segment_mean(topology: &Csr, values: &Tensor<1>) -> Result<Tensor<1>> {
    segment("segment_mean: values", topology, values, Kind::Mean)
}

/// `m_i = max_j v_ij`; 0 for a row without edges.
///
/// The gradient goes to the edge that is the maximum, the first one if several are equal.
///
/// # Shapes
/// `values` `[edges]`; result `[rows]`.
///
/// # Errors
/// If the values do not fit the topology.
pub fn segment_max(topology: &Csr, values: &Tensor<1>) -> Result<Tensor<1>> {
    segment("segment_max: values", topology, values, Kind::Max)
}

/// `s_ij = exp(v_ij) / sum_k exp(v_ik)` over the edges of row i, safe for large values.
///
/// An edge with value minus infinity gets 0; if all edges of a row have it, all of them do. The
/// gradient is `dv_ij = s_ij (ds_ij - sum_k s_ik ds_ik)`.
///
/// # Shapes
/// `values` `[edges]`; result `[edges]`.
///
/// # Errors
/// If the values do not fit the topology.
pub fn segment_softmax(topology: &Csr, values: &Tensor<1>) -> Result<Tensor<1>> {
    segment("segment_softmax: values", topology, values, Kind::Softmax)
}

/// `l_i = log sum_j exp(v_ij)` over the edges of row i, safe for large values.
///
/// A row without edges would give minus infinity, which turns into NaN in most of what may follow;
/// it gives the lowest finite value instead, and passes no gradient on. Elsewhere the gradient is
/// `dv_ij = dl_i exp(v_ij - l_i)`.
///
/// # Shapes
/// `values` `[edges]`; result `[rows]`.
///
/// # Errors
/// If the values do not fit the topology.
pub fn segment_logsumexp(topology: &Csr, values: &Tensor<1>) -> Result<Tensor<1>> {
    segment("segment_logsumexp: values", topology, values, Kind::LogSumExp)
}

/// `v_ij = v_i`: gives every edge the value of the node that receives.
///
/// The gradient of `v_i` is the [`segment_sum`] of the edges' gradients.
///
/// # Shapes
/// `values` `[rows]`; result `[edges]`.
///
/// # Errors
/// If the values do not fit the topology.
pub fn broadcast_rows(topology: &Csr, values: &Tensor<1>) -> Result<Tensor<1>> {
    segment("broadcast_rows: values", topology, values, Kind::Broadcast)
}

/// `v_ij = v_j`: gives every edge the value of the node that is received from.
///
/// The gradient of `v_j` is the sum of the gradients of the edges of column j.
///
/// # Shapes
/// `values` `[columns]`; result `[edges]`.
///
/// # Errors
/// If the values do not fit the topology.
pub fn gather_columns(topology: &Csr, values: &Tensor<1>) -> Result<Tensor<1>> {
    segment("gather_columns: values", topology, values, Kind::Gather)
}
