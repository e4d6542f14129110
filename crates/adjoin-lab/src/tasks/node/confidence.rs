//! How confident class probabilities are on the whole.

use burn::tensor::{Tensor, activation::softmax};

/// Steps of the search for a factor: each halves what is left of a range of `2^60`.
const STEPS: usize = 60;

/// Class probabilities `p_i = softmax(s l_i)` of logits `[nodes, classes]`, where one factor `s` for all nodes makes
/// the mean of their largest probabilities `wanted`.
///
/// What a network thinks likely, and how likely, are two things: strong decay and dropout leave the first and flatten
/// the second, until all pairs of nodes agree equally much. No order of classes changes here, and no label is looked at.
pub(super) fn as_confident_as(logits: Tensor<2>, wanted: f64) -> Tensor<2> {
    let classes = logits.dims()[1].max(1);
    let values = logits.to_data().convert::<f64>();
    let values: Vec<f64> = values.iter::<f64>().collect();
    let (mut low, mut high) = (-30.0, 30.0);
    for _ in 0..STEPS {
        let middle: f64 = 0.5 * (low + high);
        match mean_largest(&values, classes, middle.exp2()) < wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    softmax(logits * f64::exp2(0.5 * (low + high)), 1)
}

/// The mean over nodes of `max_c softmax(factor l)_c`.
fn mean_largest(logits: &[f64], classes: usize, factor: f64) -> f64 {
    let rows = logits.chunks_exact(classes);
    let nodes = rows.len().max(1) as f64;
    let largest = |row: &[f64]| {
        let top = row.iter().fold(f64::NEG_INFINITY, |top, &l| top.max(l));
        1.0 / row.iter().map(|l| (factor * (l - top)).exp()).sum::<f64>()
    };
    rows.map(largest).sum::<f64>() / nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, TensorData};

    #[test]
    fn probabilities_get_as_confident_as_wanted_and_keep_their_order() {
        let flat = [[0.01f32, 0.02, 0.0], [0.03, -0.01, 0.02], [0.0, 0.001, 0.04]];
        let logits = |scale: f32| {
            let values: Vec<f32> = flat.iter().flatten().map(|l| l * scale).collect();
            Tensor::<2>::from_data(TensorData::new(values, [3, 3]), &Device::flex())
        };
        let plain = softmax(logits(1.0), 1);
        for wanted in [0.4, 0.7, 0.99] {
            let sharp = as_confident_as(logits(1.0), wanted);
            let mean = sharp.clone().max_dim(1).mean().into_scalar::<f64>();
            assert!((mean - wanted).abs() < 1e-4, "{mean} instead of {wanted}");
            let order =
                |probabilities: &Tensor<2>| probabilities.clone().argsort_descending(1).into_data();
            assert_eq!(order(&sharp), order(&plain));
            // However flat or sharp they were, the same comes out.
            let again = as_confident_as(logits(300.0), wanted);
            assert!((again - sharp).abs().max().into_scalar::<f64>() < 1e-4);
        }
    }

    #[test]
    fn nodes_of_which_nothing_is_known_stay_so() {
        let nothing = Tensor::<2>::zeros([2, 4], &Device::flex());
        let probabilities: Vec<f32> =
            as_confident_as(nothing, 0.7).into_data().iter::<f32>().collect();
        assert_eq!(probabilities, [0.25; 8]);
    }
}
