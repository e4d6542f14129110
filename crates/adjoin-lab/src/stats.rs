//! The few statistics that a comparison of runs needs.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean, sample standard deviation (absent below two values) and count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation.
    pub std: Option<f64>,
    /// How many values.
    pub n: usize,
}

/// Difference of two runs over the seeds that both have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// Mean of (this - other), and its sample standard deviation.
    pub difference: Summary,
    /// Two-sided p-value of the paired t-test; absent below two pairs.
    pub p: Option<f64>,
}

/// Arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation (n - 1 below the line); `None` below two values.
pub fn std(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Ranks from 1, equal values sharing their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for tied in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = start as f64 + (tied.len() + 1) as f64 / 2.0;
        tied.iter().for_each(|at| ranks[*at] = rank);
        start += tied.len();
    }
    ranks
}

/// Spearman's rank correlation, ties sharing their mean rank; `None` when one side is constant.
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let (centre_a, centre_b) = (mean(&a)?, mean(&b)?);
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(&b) {
        let (x, y) = (x - centre_a, y - centre_b);
        both += x * y;
        of_a += x * x;
        of_b += y * y;
    }
    (of_a > 0.0 && of_b > 0.0).then(|| both / (of_a * of_b).sqrt())
}

/// Area under the ROC curve of scored yes-or-no answers: the probability that a yes scores above a no, a
/// tie counting half; `None` without both.
pub fn auc(scored: &[(f64, bool)]) -> Option<f64> {
    let scores: Vec<f64> = scored.iter().map(|(score, _)| *score).collect();
    let yes = scored.iter().filter(|(_, yes)| *yes).count() as f64;
    let no = scored.len() as f64 - yes;
    let ranked = ranks(&scores).into_iter().zip(scored);
    let sum: f64 = ranked.filter(|(_, (_, yes))| *yes).map(|(rank, _)| rank).sum();
    (yes > 0.0 && no > 0.0).then(|| (sum - yes * (yes + 1.0) / 2.0) / (yes * no))
}

/// Mean, standard deviation and count in one.
pub fn summary(values: &[f64]) -> Option<Summary> {
    Some(Summary { mean: mean(values)?, std: std(values), n: values.len() })
}

/// Paired comparison of (this, other) values; `None` without pairs.
pub fn paired(pairs: &[(f64, f64)]) -> Option<Paired> {
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    let difference = summary(&differences)?;
    let p = difference.std.and_then(|std| {
        // Equal pairs differ in their last bits only: rounding noise is no evidence of anything.
        let scale = pairs.iter().fold(0.0_f64, |m, (a, b)| m.max(a.abs()).max(b.abs()));
        let noise = 8.0 * f64::EPSILON * scale;
        if std <= noise {
            // Of differences that are all the same the test can say nothing.
            return (difference.mean.abs() <= noise).then_some(1.0);
        }
        let n = difference.n as f64;
        Some(student_two_sided(difference.mean / (std / n.sqrt()), n - 1.0))
    });
    Some(Paired { difference, p })
}

/// Probability that |T| >= |t| for Student's distribution with `freedom` degrees of freedom.
pub fn student_two_sided(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |law| 2.0 * law.sf(t.abs()))
}
