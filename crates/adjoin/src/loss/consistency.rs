//! Agreement of predictions over several draws of the graph.

use crate::{Error, Result};
use burn::tensor::{Tensor, activation::log_softmax};

/// Mean squared distance of each prediction to the sharpened mean prediction, over all nodes.
///
/// With `p_s` the class probabilities of draw s, the target is `mean_s(p_s)^(1/T)`, normalised, with
/// no gradient through it. Uses no labels. `logits` are `[nodes, classes]` each.
///
/// # Errors
/// If there are no draws, their shapes differ, or the temperature is not positive.
pub fn consistency(logits: &[Tensor<2>], temperature: f64) -> Result<Tensor<1>> {
    let Some(first) = logits.first() else {
        return Err(Error::shape("consistency: number of draws", "at least 1", 0));
    };
    if first.dims()[1] == 0 {
        return Err(Error::shape("consistency: number of classes", "at least 1", 0));
    }
    if let Some(other) = logits.iter().find(|other| other.dims() != first.dims()) {
        return Err(Error::shape("consistency: predictions", first.dims(), other.dims()));
    }
    if temperature <= 0.0 || !temperature.is_finite() {
        let (name, value) = ("consistency temperature", temperature.to_string());
        return Err(Error::Setting { name, value, expected: "must be above 0" });
    }
    let probabilities: Vec<Tensor<2>> =
        logits.iter().map(|logits| log_softmax(logits.clone(), 1).exp()).collect();
    let draws = probabilities.len() as f64;
    let mean = probabilities.iter().skip(1).fold(probabilities[0].clone().detach(), |sum, p| {
        sum + p.clone().detach()
    }) / draws;
    let sharpened = mean.powf_scalar(1.0 / temperature);
    let target = sharpened.clone() / sharpened.sum_dim(1);
    let nodes = first.dims()[0].max(1) as f64;
    let distance = |p: Tensor<2>| (p - target.clone()).square().sum_dim(1).sum() * (1.0 / nodes);
    let total = probabilities.into_iter().map(distance).reduce(|a, b| a + b);
    // There is at least one draw: checked above.
    Ok(total.map_or_else(|| first.clone().sum() * 0.0, |total| total * (1.0 / draws)))
}
