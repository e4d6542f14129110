//! Picking entries of a vector.

use super::bridge::{Op, apply};
use crate::{
    Error, Result,
    kernels::{Real, rows::zeros},
    topology::ABSENT,
};
use burn::tensor::{Shape, Tensor};

struct Take {
    indices: Vec<u32>,
    fill: f64,
}

impl Op<1> for Take {
    type Saved<T: Real> = ();

    fn forward<T: Real>(&self, [values]: [&[T]; 1]) -> (Vec<T>, Shape, ()) {
        let fill = T::from_f64(self.fill);
        let pick = |&at: &u32| values.get(at as usize).copied().unwrap_or(fill);
        (self.indices.iter().map(pick).collect(), Shape::new([self.indices.len()]), ())
    }

    fn backward<T: Real>(
        &self,
        [values]: [&[T]; 1],
        _output: &[T],
        _saved: &(),
        grad: &[T],
        _wanted: [bool; 1],
    ) -> [Option<Vec<T>>; 1] {
        let mut out = zeros(values.len());
        for (&at, &g) in self.indices.iter().zip(grad) {
            if let Some(slot) = out.get_mut(at as usize) {
                *slot += g;
            }
        }
        [Some(out)]
    }
}

/// `out_e = values[indices_e]`, or `fill` where the index is [`ABSENT`].
///
/// Gradients flow to the values that were picked.
///
/// # Errors
/// If an index is out of range.
pub fn take(values: &Tensor<1>, indices: Vec<u32>, fill: f64) -> Result<Tensor<1>> {
    let [len] = values.dims();
    if let Some(&bad) = indices.iter().find(|&&at| at != ABSENT && at as usize >= len) {
        return Err(Error::shape("take: index", format!("below {len}"), bad));
    }
    apply("take", Take { indices, fill }, [values.into()])
}
