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

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-10 * b.abs().max(1.0), "{a} is not {b}");
    }

    #[test]
    fn mean_and_standard_deviation() {
        close(mean(&[2.0, 4.0, 4.0, 5.0]).unwrap(), 3.75);
        // squares: 1.75^2 + 0.25^2 + 0.25^2 + 1.25^2 = 4.75, over 3
        close(std(&[2.0, 4.0, 4.0, 5.0]).unwrap(), (4.75_f64 / 3.0).sqrt());
        assert_eq!(mean(&[]), None);
        assert_eq!(std(&[1.0]), None);
        assert_eq!(summary(&[1.0]), Some(Summary { mean: 1.0, std: None, n: 1 }));
    }

    #[test]
    fn student_has_closed_forms_for_few_degrees_of_freedom() {
        let pi = std::f64::consts::PI;
        for t in [0.01_f64, 0.5, 1.0, 2.5, 10.0, 300.0] {
            close(student_two_sided(t, 1.0), 1.0 - 2.0 / pi * t.atan());
            close(student_two_sided(-t, 2.0), 1.0 - t / (2.0 + t * t).sqrt());
            let s = 3.0_f64.sqrt();
            let inside = 2.0 / pi * ((t / s).atan() + (t / s) / (1.0 + t * t / 3.0));
            close(student_two_sided(t, 3.0), 1.0 - inside);
        }
        close(student_two_sided(0.0, 9.0), 1.0);
        // The tabulated 95 % quantiles for nine degrees of freedom and for many.
        assert!((student_two_sided(2.262157, 9.0) - 0.05).abs() < 1e-7);
        assert!((student_two_sided(1.959964, 1e7) - 0.05).abs() < 1e-6);
    }

    #[test]
    fn paired_difference_by_hand() {
        // differences 1, 2, 3: mean 2, standard deviation 1, t = 2 sqrt(3), two degrees of freedom
        let found = paired(&[(2.0, 1.0), (4.0, 2.0), (6.0, 3.0)]).unwrap();
        assert_eq!(found.difference, Summary { mean: 2.0, std: Some(1.0), n: 3 });
        let t = 2.0 * 3.0_f64.sqrt();
        close(found.p.unwrap(), 1.0 - t / (2.0 + t * t).sqrt());
        assert_eq!(paired(&[]), None);
        assert_eq!(paired(&[(1.0, 0.0)]).unwrap().p, None);
        assert_eq!(paired(&[(0.3, 0.3), (0.7, 0.7)]).unwrap().p, Some(1.0));
        assert_eq!(paired(&[(0.3, 0.2), (0.7, 0.6)]).unwrap().p, None);
    }
}
