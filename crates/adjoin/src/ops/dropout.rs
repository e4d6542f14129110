//! Dropout, alone or after a rectifier.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{Real, dropout as kernel, random::Key},
    pass::Pass,
};
use burn::tensor::{Shape, Tensor, activation};

struct Dropout {
    probability: f64,
    key: Key,
    shape: Shape,
}

impl Op<1> for Dropout {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [x]: [&[T]; 1]) -> (Vec<T>, Shape, ()) {
        (kernel::apply(x, self.probability, self.key), self.shape.clone(), ())
    }

    fn backward<T: Real>(
        &self,
        _inputs: [&[T]; 1],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        [Some(kernel::apply(grad, self.probability, self.key))]
    }
}

/// In a training pass every value is 0 with the given probability and `x / (1 - p)` otherwise;
/// elsewhere nothing happens. The mask depends on the pass and the position only.
///
/// # Errors
/// If the probability is outside [0, 1).
pub fn dropout<const D: usize>(x: &Tensor<D>, probability: f64, pass: Pass) -> Result<Tensor<D>> {
    if !drops(probability, &pass)? {
        return Ok(x.clone());
    }
    let op = Dropout { probability, key: pass.key(), shape: x.shape() };
    apply("dropout", op, [x.into()])
}

struct RectifiedDropout(Dropout);

impl Op<1> for RectifiedDropout {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [x]: [&[T]; 1]) -> (Vec<T>, Shape, ()) {
        let Dropout { probability, key, shape } = &self.0;
        (kernel::rectify(x, *probability, *key), shape.clone(), ())
    }

    fn backward<T: Real>(
        &self,
        _inputs: [&[T]; 1],
        output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        [Some(kernel::rectify_backward(output, grad, self.0.probability))]
    }
}

/// `dropout(max(x, 0))` in one pass, forward and backward: what stands between two layers of most networks.
/// To the bit what a rectifier and [`dropout`] with the same pass give.
///
/// # Errors
/// If the probability is outside [0, 1).
pub fn relu_dropout<const D: usize>(
    x: &Tensor<D>,
    probability: f64,
    pass: Pass,
) -> Result<Tensor<D>> {
    if !drops(probability, &pass)? {
        return Ok(activation::relu(x.clone()));
    }
    let op = RectifiedDropout(Dropout { probability, key: pass.key(), shape: x.shape() });
    apply("relu_dropout", op, [x.into()])
}

/// Whether anything is left out in this pass.
fn drops(probability: f64, pass: &Pass) -> Result<bool> {
    if !(0.0..1.0).contains(&probability) {
        let value = probability.to_string();
        return Err(Error::Setting { name: "dropout", value, expected: "must be in [0, 1)" });
    }
    Ok(probability > 0.0 && pass.has_dropout())
}
