//! Means, standard deviations and the paired test.

use adjoin_lab::stats::{Summary, auc, mean, paired, spearman, std, student_two_sided, summary};

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

#[test]
fn rank_correlation_and_area() {
    // Without ties: 1 - 6 * (1 + 1 + 0 + 0) / (4 * 15).
    close(spearman(&[1.0, 2.0, 3.0, 9.0], &[20.0, 10.0, 30.0, 40.0]).unwrap(), 0.8);
    close(spearman(&[1.0, 2.0, 3.0], &[-1.0, -2.0, -3.0]).unwrap(), -1.0);
    // Ranks 3.5, 1, 3.5, 2 against 1, 2, 3, 4.
    close(spearman(&[3.0, 1.0, 3.0, 2.0], &[1.0, 2.0, 3.0, 4.0]).unwrap(), -1.0 / 22.5f64.sqrt());
    assert_eq!(spearman(&[1.0, 2.0], &[5.0, 5.0]), None);
    assert_eq!(spearman(&[], &[]), None);
    // 0.9 beats both, 0.4 ties with one and loses to none of the rest: (2 + 1.5) / 4.
    let scored = [(0.9, true), (0.4, true), (0.4, false), (0.1, false)];
    close(auc(&scored).unwrap(), 0.875);
    close(auc(&[(1.0, true), (1.0, false), (1.0, false)]).unwrap(), 0.5);
    assert_eq!(auc(&[(1.0, true)]), None);
}
