//! What a finished run leaves behind, and the few statistics that a comparison of runs needs.
//!
//! A [`RunRecord`] is one learner on one backbone and dataset over several seeds. It is written as
//! JSON next to the checkpoints, and read again by `adjoin report`.

mod histogram;

pub use histogram::{DegreeHistogram, Tally, degree_histogram};

use serde::{Deserialize, Serialize};

/// One learner x backbone x dataset, trained with one or more seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// `node`, `trajectory` or `points`.
    pub task: String,
    /// Name of the dataset.
    pub dataset: String,
    /// Name of the split, such as `public` or `random:7`.
    pub split: String,
    /// Hash of the split's node lists: two runs are comparable only when it is the same.
    pub split_hash: String,
    /// Fingerprint of the dataset: two runs are comparable only when it is the same.
    #[serde(default)]
    pub fingerprint: String,
    /// Name of the network.
    pub backbone: String,
    /// `none` when the backbone worked on the input graph as it was given.
    pub learner: String,
    /// `accuracy`; in any case a fraction, higher is better.
    pub metric: String,
    /// When the run ended, RFC 3339 in UTC.
    pub created: String,
    /// The command line that makes this run again.
    pub command: String,
    /// The full configuration, defaults included.
    pub config_toml: String,
    /// What each seed gave.
    pub seeds: Vec<SeedRecord>,
    /// Mean wall-clock time of one training step, in milliseconds.
    pub ms_per_step: f64,
    /// Largest resident memory of the process during the run, in bytes; what earlier learners of the same
    /// command left in the hands of the allocator is in it.
    pub peak_rss_bytes: u64,
    /// The graph of one seed (the first), when the learner made one.
    pub graph: Option<GraphRecord>,
}

/// One seed of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedRecord {
    /// The seed.
    pub seed: u64,
    /// Metric on the validation part at the best epoch, in 0..1.
    pub valid: f64,
    /// Metric on the test part, read once, at the best validation epoch, in 0..1.
    pub test: f64,
    /// The epoch that validation chose, from 1.
    pub best_epoch: usize,
    /// Epochs trained before stopping.
    pub epochs: usize,
    /// Wall-clock time of the seed.
    pub seconds: f64,
    /// Every epoch, in order.
    pub curve: Vec<EpochRecord>,
}

/// One epoch of one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// The epoch, from 1.
    pub epoch: usize,
    /// The training loss.
    pub loss: f64,
    /// Metric on the training part, in 0..1.
    pub train: f64,
    /// Metric on the validation part, in 0..1.
    pub valid: f64,
    /// Mean of the learned degree over the nodes, when a degree is learned.
    pub mean_degree: Option<f64>,
    /// Deviation of the learned degree.
    pub std_degree: Option<f64>,
    /// The degree in every layer, where each has a graph of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degrees: Vec<LayerDegree>,
}

/// Neighbours of the nodes in one layer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerDegree {
    /// Their mean number.
    pub mean: f64,
    /// Its deviation from node to node.
    pub deviation: f64,
}

/// The input graph and the learned one, both as compressed sparse rows over the same nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphRecord {
    /// Names of the nodes; may be empty.
    pub node_ids: Vec<String>,
    /// Names of the classes.
    pub class_names: Vec<String>,
    /// True classes, where known.
    pub labels: Vec<Option<u32>>,
    /// Predicted class of every node.
    pub predicted: Vec<u32>,
    /// 0 other, 1 train, 2 validation, 3 test.
    pub part: Vec<u8>,
    /// Row pointers of the input graph.
    pub input_pointers: Vec<u32>,
    /// Columns of the input graph.
    pub input_indices: Vec<u32>,
    /// Weights of the input graph; empty when each is 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_weights: Vec<f32>,
    /// Row pointers of the learned graph.
    pub learned_pointers: Vec<u32>,
    /// Columns of the learned graph.
    pub learned_indices: Vec<u32>,
    /// Weights of the learned graph.
    pub learned_weights: Vec<f32>,
    /// Learned k of each node; empty when the learner has no such thing.
    pub degrees: Vec<f32>,
}

/// Mean, sample standard deviation (absent below two values) and count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation.
    pub deviation: Option<f64>,
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

impl RunRecord {
    /// Test metric over the seeds; `None` without seeds.
    pub fn test(&self) -> Option<Summary> {
        summary(&self.seeds.iter().map(|s| s.test).collect::<Vec<_>>())
    }

    /// Validation metric at the best epoch over the seeds; `None` without seeds.
    pub fn valid(&self) -> Option<Summary> {
        summary(&self.seeds.iter().map(|s| s.valid).collect::<Vec<_>>())
    }

    /// Mean and deviation of the degree in every layer at the best epoch, averaged over the seeds; empty
    /// where layers share a graph.
    pub fn degrees(&self) -> Vec<[f64; 2]> {
        let best = |seed: &SeedRecord| {
            let at = seed.curve.iter().find(|epoch| epoch.epoch == seed.best_epoch);
            at.map(|epoch| epoch.degrees.clone()).unwrap_or_default()
        };
        let seeds: Vec<Vec<LayerDegree>> = self.seeds.iter().map(best).collect();
        let layers = seeds.iter().map(Vec::len).min().unwrap_or(0);
        let share = 1.0 / seeds.len().max(1) as f64;
        let layer = |at: usize| {
            let sum = |pick: fn(&LayerDegree) -> f64| {
                seeds.iter().map(|seed| pick(&seed[at])).sum::<f64>() * share
            };
            [sum(|degree| degree.mean), sum(|degree| degree.deviation)]
        };
        (0..layers).map(layer).collect()
    }

    /// Test metric of this run minus that of `other`, seed by seed; `None` when no seed is shared.
    pub fn paired_with(&self, other: &RunRecord) -> Option<Paired> {
        let pairs: Vec<(f64, f64)> = self
            .seeds
            .iter()
            .filter_map(|a| other.seeds.iter().find(|b| b.seed == a.seed).map(|b| (a.test, b.test)))
            .collect();
        paired(&pairs)
    }
}

impl GraphRecord {
    /// Whether the arrays fit together; everything else here relies on that. The error names the array.
    pub fn check(&self) -> Result<(), String> {
        let n = self.node_ids.len();
        let lengths = [
            ("labels", self.labels.len()),
            ("predicted", self.predicted.len()),
            ("part", self.part.len()),
            ("degrees", if self.degrees.is_empty() { n } else { self.degrees.len() }),
        ];
        if let Some((name, length)) = lengths.into_iter().find(|l| l.1 != n) {
            return Err(format!("{name} has {length} entries for {n} nodes"));
        }
        let classes = self.class_names.len();
        let mut used = self.labels.iter().flatten().chain(&self.predicted);
        if let Some(class) = used.find(|&&c| c as usize >= classes) {
            return Err(format!("class {class} is used but only {classes} have names"));
        }
        check_weights("learned", &self.learned_weights, &self.learned_indices)?;
        if !self.input_weights.is_empty() {
            check_weights("input", &self.input_weights, &self.input_indices)?;
        }
        check_rows("input", &self.input_pointers, &self.input_indices, n)?;
        check_rows("learned", &self.learned_pointers, &self.learned_indices, n)
    }

    /// Homophily of the input graph by weight.
    pub fn input_homophily(&self) -> Option<f64> {
        let weights = self.input_weights();
        homophily(&self.input_pointers, &self.input_indices, weights, &self.labels)
    }

    /// Weights of the input graph, if it has any.
    pub(crate) fn input_weights(&self) -> Option<&[f32]> {
        (!self.input_weights.is_empty()).then_some(&self.input_weights)
    }

    /// Homophily of the learned graph by weight.
    pub fn learned_homophily(&self) -> Option<f64> {
        let weights = Some(self.learned_weights.as_slice());
        homophily(&self.learned_pointers, &self.learned_indices, weights, &self.labels)
    }

    /// Neighbours of each node in the input graph, self-loops left out.
    pub fn input_degrees(&self) -> Vec<f32> {
        counts(&self.input_pointers, &self.input_indices)
    }

    /// Learned k of each node; where the learner has none, the number of stored neighbours.
    pub fn learned_degrees(&self) -> Vec<f32> {
        if self.degrees.is_empty() {
            counts(&self.learned_pointers, &self.learned_indices)
        } else {
            self.degrees.clone()
        }
    }
}

fn check_weights(name: &str, weights: &[f32], indices: &[u32]) -> Result<(), String> {
    if weights.len() != indices.len() {
        return Err(format!("{name}_weights and {name}_indices differ in length"));
    }
    match weights.iter().any(|w| !w.is_finite() || *w < 0.0) {
        true => Err(format!("{name}_weights holds a negative or non-finite weight")),
        false => Ok(()),
    }
}

fn check_rows(name: &str, pointers: &[u32], indices: &[u32], n: usize) -> Result<(), String> {
    let rising = pointers.windows(2).all(|w| w[0] <= w[1]);
    let ends = pointers.first() == Some(&0) && pointers.last() == Some(&(indices.len() as u32));
    if pointers.len() != n + 1 || !rising || !ends {
        return Err(format!("{name}_pointers do not describe {n} rows of {name}_indices"));
    }
    match indices.iter().find(|&&j| j as usize >= n) {
        Some(j) => Err(format!("{name}_indices names node {j} of {n}")),
        None => Ok(()),
    }
}

/// Arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation (n - 1 below the line); `None` below two values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Mean, deviation and count in one.
pub fn summary(values: &[f64]) -> Option<Summary> {
    Some(Summary { mean: mean(values)?, deviation: deviation(values), n: values.len() })
}

/// Paired comparison of (this, other) values; `None` without pairs.
pub fn paired(pairs: &[(f64, f64)]) -> Option<Paired> {
    let differences: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
    let difference = summary(&differences)?;
    let p = difference.deviation.and_then(|d| {
        // Equal pairs differ in their last bits only: rounding noise is no evidence of anything.
        let scale = pairs.iter().fold(0.0_f64, |m, (a, b)| m.max(a.abs()).max(b.abs()));
        let noise = 8.0 * f64::EPSILON * scale;
        if d <= noise {
            // Of differences that are all the same the test can say nothing.
            return (difference.mean.abs() <= noise).then_some(1.0);
        }
        let n = difference.n as f64;
        Some(student_two_sided(difference.mean / (d / n.sqrt()), n - 1.0))
    });
    Some(Paired { difference, p })
}

/// Probability that |T| >= |t| for Student's distribution with `freedom` degrees of freedom.
pub fn student_two_sided(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// Regularised incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The continued fraction converges fast below the mean of the distribution; mirror above it.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    front.exp() / a * beta_fraction(a, b, x)
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for i in 1..1000 {
        let m = f64::from(i);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut step = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            step = c * d;
            value *= step;
        }
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// Natural logarithm of the gamma function for x > 0 (Lanczos, g = 7).
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.5203681218851,
        -1259.1392167224028,
        771.3234287776531,
        -176.6150291621406,
        12.507343278686905,
        -0.13857109526572012,
        9.984369578019572e-6,
        1.5056327351493116e-7,
    ];
    if x < 0.5 {
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let t = x + 7.5;
    let series = COEFFICIENTS
        .iter()
        .enumerate()
        .fold(0.9999999999998099, |sum, (i, c)| sum + c / (x + i as f64 + 1.0));
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + series.ln()
}

/// Neighbours of node `i` in compressed sparse rows, as positions into the index array.
pub(crate) fn row(pointers: &[u32], i: usize) -> std::ops::Range<usize> {
    pointers[i] as usize..pointers[i + 1] as usize
}

/// Share of the edge weight that joins nodes of equal class. Self-loops and edges with an unknown
/// label at either end are left out; without weights each edge counts 1. `None` when nothing is left.
pub fn homophily(
    pointers: &[u32],
    indices: &[u32],
    weights: Option<&[f32]>,
    labels: &[Option<u32>],
) -> Option<f64> {
    let (mut same, mut all) = (0.0, 0.0);
    for i in 0..pointers.len().saturating_sub(1) {
        let (s, a) = row_homophily(pointers, indices, weights, labels, i);
        same += s;
        all += a;
    }
    (all > 0.0).then(|| same / all)
}

/// Weight to equal classes and to known classes among the neighbours of node `i`.
pub(crate) fn row_homophily(
    pointers: &[u32],
    indices: &[u32],
    weights: Option<&[f32]>,
    labels: &[Option<u32>],
    i: usize,
) -> (f64, f64) {
    let (mut same, mut all) = (0.0, 0.0);
    for e in row(pointers, i) {
        let j = indices[e] as usize;
        if let (Some(a), Some(b), true) = (labels[i], labels[j], i != j) {
            let w = weights.map_or(1.0, |w| f64::from(w[e]));
            all += w;
            same += if a == b { w } else { 0.0 };
        }
    }
    (same, all)
}

/// Number of neighbours of each node, self-loops left out.
fn counts(pointers: &[u32], indices: &[u32]) -> Vec<f32> {
    (0..pointers.len().saturating_sub(1))
        .map(|i| row(pointers, i).filter(|&e| indices[e] as usize != i).count() as f32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-10 * b.abs().max(1.0), "{a} is not {b}");
    }

    #[test]
    fn mean_and_deviation() {
        close(mean(&[2.0, 4.0, 4.0, 5.0]).unwrap(), 3.75);
        // squares: 1.75^2 + 0.25^2 + 0.25^2 + 1.25^2 = 4.75, over 3
        close(deviation(&[2.0, 4.0, 4.0, 5.0]).unwrap(), (4.75_f64 / 3.0).sqrt());
        assert_eq!(mean(&[]), None);
        assert_eq!(deviation(&[1.0]), None);
        assert_eq!(summary(&[1.0]), Some(Summary { mean: 1.0, deviation: None, n: 1 }));
    }

    #[test]
    fn student_has_closed_forms_for_few_degrees_of_freedom() {
        let pi = std::f64::consts::PI;
        for t in [0.01_f64, 0.5, 1.0, 2.5, 10.0, 300.0] {
            close(student_two_sided(t, 1.0), 1.0 - 2.0 / pi * t.atan());
            close(student_two_sided(t, 2.0), 1.0 - t / (2.0 + t * t).sqrt());
            let s = 3.0_f64.sqrt();
            let inside = 2.0 / pi * ((t / s).atan() + (t / s) / (1.0 + t * t / 3.0));
            close(student_two_sided(-t, 3.0), 1.0 - inside);
        }
        close(student_two_sided(0.0, 9.0), 1.0);
        // The tabulated 95 % quantile for nine degrees of freedom.
        assert!((student_two_sided(2.262157, 9.0) - 0.05).abs() < 1e-7);
        assert!((student_two_sided(1.959964, 1e7) - 0.05).abs() < 1e-6);
    }

    #[test]
    fn gamma_of_halves_and_wholes() {
        close(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln());
        close(ln_gamma(5.0), 24.0_f64.ln());
        close(ln_gamma(0.25) + ln_gamma(0.75), (std::f64::consts::PI * 2.0_f64.sqrt()).ln());
    }

    #[test]
    fn paired_difference_by_hand() {
        // differences 1, 2, 3: mean 2, deviation 1, t = 2 sqrt(3), two degrees of freedom
        let found = paired(&[(2.0, 1.0), (4.0, 2.0), (6.0, 3.0)]).unwrap();
        assert_eq!(found.difference, Summary { mean: 2.0, deviation: Some(1.0), n: 3 });
        let t = 2.0 * 3.0_f64.sqrt();
        close(found.p.unwrap(), 1.0 - t / (2.0 + t * t).sqrt());
        assert_eq!(paired(&[]), None);
        assert_eq!(paired(&[(1.0, 0.0)]).unwrap().p, None);
        assert_eq!(paired(&[(0.3, 0.3), (0.7, 0.7)]).unwrap().p, Some(1.0));
        assert_eq!(paired(&[(0.3, 0.2), (0.7, 0.6)]).unwrap().p, None);
    }

    #[test]
    fn homophily_leaves_out_loops_and_unknown_labels() {
        // 0 -> 0, 1, 2; 1 -> 2, 3; 3 is unlabelled
        let (pointers, indices) = ([0, 3, 5, 5, 5], [0, 1, 2, 2, 3]);
        let labels = [Some(7), Some(7), Some(8), None];
        close(homophily(&pointers, &indices, None, &labels).unwrap(), 1.0 / 3.0);
        let weights = [9.0, 0.5, 0.25, 0.25, 9.0];
        close(homophily(&pointers, &indices, Some(&weights), &labels).unwrap(), 0.5);
        assert_eq!(homophily(&[0, 1], &[0], None, &[Some(1)]), None);
        assert_eq!(homophily(&[], &[], None, &[]), None);
        assert_eq!(counts(&pointers, &indices), [2.0, 2.0, 0.0, 0.0]);
    }
}
