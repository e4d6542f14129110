//! Minimisation of smooth functions of some hundreds of variables.

/// Pairs of steps and gradient changes that the curvature is estimated from.
const MEMORY: usize = 8;

/// Sufficient decrease of a step, as a part of what the slope promises.
const DECREASE: f64 = 1e-4;

/// Halvings of a step before the search along it is given up.
const HALVINGS: usize = 30;

/// Minimises `f` from `x` by limited-memory BFGS with backtracking; at most `steps` steps, and until the
/// largest entry of the gradient is below `tolerance`. `f` writes its gradient and gives its value.
///
/// Everything is sequential: the result has the same bits on any number of threads if `f` has.
pub(super) fn minimise(
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
    mut x: Vec<f64>,
    steps: usize,
    tolerance: f64,
) -> Vec<f64> {
    let mut gradient = vec![0.0; x.len()];
    let mut value = f(&x, &mut gradient);
    let mut pairs: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::with_capacity(MEMORY);
    for _ in 0..steps {
        if gradient.iter().all(|g| g.abs() < tolerance) {
            break;
        }
        let mut direction = descent(&gradient, &pairs);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            // Rounding has spoilt the estimate: start it anew.
            pairs.clear();
            direction = gradient.iter().map(|g| -g).collect();
            slope = -dot(&gradient, &gradient);
        }
        let mut length = if pairs.is_empty() { 1.0 / (1.0 + (-slope).sqrt()) } else { 1.0 };
        let mut next_gradient = vec![0.0; x.len()];
        let taken = (0..HALVINGS).find_map(|_| {
            let next: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + length * d).collect();
            let found = f(&next, &mut next_gradient);
            let good = found.is_finite() && found <= value + DECREASE * length * slope;
            length *= if good { 1.0 } else { 0.5 };
            good.then_some((next, found))
        });
        let Some((next, found)) = taken else { break };
        let step: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        let curvature = dot(&step, &change);
        if curvature > 1e-12 * dot(&change, &change).sqrt() * dot(&step, &step).sqrt() {
            if pairs.len() == MEMORY {
                pairs.remove(0);
            }
            pairs.push((step, change, 1.0 / curvature));
        }
        (x, value, gradient) = (next, found, next_gradient);
    }
    x
}

/// `-H g` by the two-loop recursion, `H` the estimate of the inverse curvature.
fn descent(gradient: &[f64], pairs: &[(Vec<f64>, Vec<f64>, f64)]) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(pairs.len());
    for (step, change, inverse) in pairs.iter().rev() {
        let share = inverse * dot(step, &q);
        q.iter_mut().zip(change).for_each(|(q, y)| *q -= share * y);
        shares.push(share);
    }
    if let Some((step, change, _)) = pairs.last() {
        let scale = dot(step, change) / dot(change, change);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((step, change, inverse), share) in pairs.iter().zip(shares.into_iter().rev()) {
        let correction = share - inverse * dot(change, &q);
        q.iter_mut().zip(step).for_each(|(q, s)| *q += correction * s);
    }
    q
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_valley_of_rosenbrock() {
        let f = |x: &[f64], gradient: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            gradient[0] = -2.0 * a - 400.0 * x[0] * b;
            gradient[1] = 200.0 * b;
            a * a + 100.0 * b * b
        };
        let found = minimise(f, vec![-1.2, 1.0], 200, 1e-9);
        assert!(found.iter().all(|x| (x - 1.0).abs() < 1e-6), "{found:?}");
    }
}
