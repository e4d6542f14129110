//! The differentiable top-k selector.

use super::bridge::{Op, apply, with_values};
use crate::{
    Error, Result,
    kernels::{
        Real,
        selector::{self, Selection, Step},
    },
    topology::Csr,
};
use burn::tensor::{DType, Shape, Tensor};

struct Select {
    selection: Selection,
    step: Step,
}

impl Op<2> for Select {
    type Saved<T: Real> = Vec<T>;

    fn forward<T: Real>(&self, [e, k]: [&[T]; 2]) -> (Vec<T>, Shape, Vec<T>) {
        let h = selector::steps(&self.selection, k, self.step);
        let weights = selector::forward(&self.selection, e, &h, self.step);
        let shape = Shape::new([weights.len()]);
        (weights, shape, h)
    }

    fn backward<T: Real>(
        &self,
        [e, _]: [&[T]; 2],
        _output: &[T],
        h: &Vec<T>,
        grad: &[T],
        _wanted: [bool; 2],
    ) -> [Option<Vec<T>>; 2] {
        let (grad_e, grad_k) = selector::backward(&self.selection, e, h, self.step, grad);
        [Some(grad_e), Some(grad_k)]
    }
}

/// What [`select`] kept.
#[derive(Clone, Debug)]
pub struct Selected {
    /// The edges.
    pub topology: Csr,
    /// Their weights `a`, `[edges]`.
    pub weights: Tensor<1>,
    /// Where each of them was among the candidates.
    pub entries: Vec<u32>,
}

/// Keeps, of every row, the candidates of the highest samples: `a_ij = e_ij h(rank_ij; k_i)`.
///
/// Gradients flow to the samples `e` `[pairs]` and to the degrees `k` `[nodes]`; the ranking itself is
/// constant. Weights below 1e-7 are not stored, so a row keeps about `k_i + 8 lambda` edges.
///
/// # Errors
/// If the shapes do not fit, `lambda` is not positive, or a sample or degree is not finite.
pub fn select(candidates: &Csr, e: &Tensor<1>, k: &Tensor<1>, step: Step) -> Result<Selected> {
    if e.dims() != [candidates.edges()] {
        return Err(Error::shape("select: samples", [candidates.edges()], e.dims()));
    }
    if k.dims() != [candidates.rows()] {
        return Err(Error::shape("select: degrees", [candidates.rows()], k.dims()));
    }
    if step.lambda <= 0.0 || !step.lambda.is_finite() {
        let value = step.lambda.to_string();
        return Err(Error::Setting { name: "lambda", value, expected: "must be above 0" });
    }
    if e.dtype() != k.dtype() {
        let found = format!("samples of type {:?} and degrees of type {:?}", e.dtype(), k.dtype());
        return Err(Error::Unsupported { what: "select", found });
    }
    let selection = with_values("select: samples", e, |samples| {
        with_values("select: degrees", k, |degrees| match e.dtype() {
            DType::F64 => plan::<f64>(candidates, samples.storage(), degrees.storage(), step),
            _ => plan::<f32>(candidates, samples.storage(), degrees.storage(), step),
        })
    })???;
    let (topology, entries) = (selection.topology.clone(), selection.entries.clone());
    let weights = apply("select", Select { selection, step }, [e.into(), k.into()])?;
    Ok(Selected { topology, weights, entries })
}

fn plan<T: Real>(candidates: &Csr, e: &[T], k: &[T], step: Step) -> Result<Selection> {
    finite("edge samples", e, |entry| {
        let row = candidates.pointers().partition_point(|&p| p as usize <= entry) - 1;
        (row, candidates.indices()[entry] as usize)
    })?;
    finite("degrees k", k, |row| (row, 0))?;
    Ok(selector::select(candidates, e, k, step))
}

fn finite<T: Real>(
    what: &'static str,
    values: &[T],
    place: impl Fn(usize) -> (usize, usize),
) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(at) => {
            let (row, column) = place(at);
            Err(Error::NotFinite { what, value: values[at].to_f64(), row, column })
        }
    }
}
