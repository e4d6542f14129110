//! Epochs of classification as rows of numbers.

use crate::record::{EpochRecord, LayerDegree};

/// Numbers of an epoch before those of its layers, which have two each.
pub(crate) const COLUMNS: usize = 6;

/// An epoch as numbers; what is absent is NaN.
pub(crate) fn row(epoch: &EpochRecord) -> Vec<f64> {
    let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let EpochRecord { epoch, loss, train, valid, mean_degree, std_degree, degrees } = epoch;
    let mut row =
        vec![*epoch as f64, *loss, *train, *valid, or_nan(*mean_degree), or_nan(*std_degree)];
    row.extend(degrees.iter().flat_map(|degree| [degree.mean, degree.deviation]));
    row
}

/// An epoch from its row.
pub(crate) fn epoch_of(row: &[f64]) -> EpochRecord {
    let or_none = |value: f64| (!value.is_nan()).then_some(value);
    let layers = row[COLUMNS..].chunks_exact(2);
    EpochRecord {
        epoch: row[0] as usize,
        loss: row[1],
        train: row[2],
        valid: row[3],
        mean_degree: or_none(row[4]),
        std_degree: or_none(row[5]),
        degrees: layers.map(|pair| LayerDegree { mean: pair[0], deviation: pair[1] }).collect(),
    }
}
