//! Batch normalisation, a leaky rectifier and pooling over the nodes of each graph.

use super::bridge::{Op, Query, apply, ask};
use super::edgeconv::not_negative;
use crate::{
    Error, Result,
    kernels::{Real, batch_norm::Parameters, norm_pool as kernel},
    topology::Batch,
};
use burn::tensor::{Shape, Tensor, TensorData};

struct NormPool {
    batch: Batch,
    slope: f64,
    eps: f64,
    through: bool,
}

impl NormPool {
    fn parameters<'a, T: Real>(
        &self,
        [statistics, scale, shift]: [&'a [T]; 3],
    ) -> Parameters<'a, T> {
        let (slope, eps) = (T::from_f64(self.slope), T::from_f64(self.eps));
        Parameters { statistics, scale, shift, slope, eps }
    }
}

impl Op<4> for NormPool {
    /// The row of the largest value of every graph and channel.
    type Saved<T: Real> = Vec<u32>;

    fn forward<T: Real>(
        &self,
        [x, statistics, scale, shift]: [&[T]; 4],
    ) -> (Vec<T>, Shape, Vec<u32>) {
        let parameters = self.parameters([statistics, scale, shift]);
        let (out, largest) = kernel::forward(x, &self.batch, parameters);
        (out, Shape::new([self.batch.graphs(), 2 * scale.len()]), largest)
    }

    fn backward<T: Real>(
        &self,
        [x, statistics, scale, shift]: [&[T]; 4],
        _output: &[T],
        largest: &Vec<u32>,
        grad: &[T],
        _wanted: [bool; 4],
    ) -> [Option<Vec<T>>; 4] {
        let parameters = self.parameters([statistics, scale, shift]);
        kernel::backward(x, &self.batch, parameters, largest, grad, self.through).map(Some)
    }
}

struct Statistics {
    width: usize,
}

impl Query<1> for Statistics {
    type Answer = Vec<f64>;

    fn run<T: Real>(&self, [x]: [&[T]; 1]) -> Vec<f64> {
        kernel::statistics(x, self.width).into_iter().map(Real::to_f64).collect()
    }
}

/// Mean (row 0) and biased variance (row 1) of every column of `x` `[rows, C]`, as a constant `[2, C]`.
///
/// No gradient flows through them here: [`norm_pool`] accounts for that itself.
///
/// # Errors
/// If `x` is of an element type the kernels do not serve.
pub fn column_statistics(x: &Tensor<2>) -> Result<Tensor<2>> {
    let width = x.dims()[1];
    let values = ask("column_statistics", Statistics { width }, [x.into()])?;
    let data = TensorData::new(values, [2, width]);
    Ok(Tensor::from_data(data, (&x.device(), x.dtype())))
}

/// Where [`norm_pool`] takes mean and variance from.
#[derive(Clone, Copy, Debug)]
pub enum NormStatistics<'a> {
    /// They are [`column_statistics`] of the input itself: gradients flow through them to the input.
    Batch(&'a Tensor<2>),
    /// They are given, as in evaluation: gradients flow to them.
    Given(&'a Tensor<2>),
}

/// The largest and the mean of `leaky((x - mean) / sqrt(variance + eps) * scale + shift)` over the nodes
/// of every graph, channel by channel; nothing of the size of `x` is kept beside `x`.
///
/// Gradients flow to `x`, `scale` and `shift`, and through the statistics (see [`NormStatistics`]). Of
/// equal values the first is the largest. A graph without nodes gives 0.
///
/// # Shapes
/// `x` `[nodes, C]`, statistics `[2, C]`, `scale` and `shift` `[C]`; result `[graphs, 2 C]`, the largest
/// values first.
///
/// # Errors
/// If the shapes do not fit, or the slope or `eps` is negative or not finite.
pub fn norm_pool(
    x: &Tensor<2>,
    batch: &Batch,
    statistics: NormStatistics,
    scale: &Tensor<1>,
    shift: &Tensor<1>,
    slope: f64,
    eps: f64,
) -> Result<Tensor<2>> {
    let [rows, width] = x.dims();
    if rows != batch.nodes() || width == 0 {
        return Err(Error::shape("norm_pool: x", [batch.nodes(), width.max(1)], x.dims()));
    }
    for (what, vector) in [("norm_pool: scale", scale), ("norm_pool: shift", shift)] {
        if vector.dims() != [width] {
            return Err(Error::shape(what, [width], vector.dims()));
        }
    }
    let (through, statistics) = match statistics {
        NormStatistics::Batch(own) => (true, own.clone().detach()),
        NormStatistics::Given(given) => (false, given.clone()),
    };
    if statistics.dims() != [2, width] {
        return Err(Error::shape("norm_pool: statistics", [2, width], statistics.dims()));
    }
    not_negative([("slope", slope), ("eps", eps)])?;
    let op = NormPool { batch: batch.clone(), slope, eps, through };
    apply("norm_pool", op, [x.into(), statistics.into(), scale.into(), shift.into()])
}
