//! Bivariate normal distributions of steps: their likelihood, and draws from them.
//!
//! A row of parameters is `[mx, my, ln sx, ln sy, c]`, each for all predicted steps, with
//! correlation `rho = tanh(c)`.

use super::{Forecast, Sampling};
use adjoin::Key;
use burn::tensor::{Tensor, activation::softplus};

/// Parameters of one step of one agent.
pub(super) const PARAMETERS: usize = 5;

/// `sum_t -ln N(d_it; m_it, S_it)` of every agent i with, for `n = (d - m) / s`,
///
/// `-ln N = (nx^2 + ny^2 - 2 rho nx ny) / (2 (1 - rho^2)) + ln sx + ln sy + ln(1 - rho^2) / 2 + ln 2 pi`.
///
/// In logarithms throughout, `ln(1 - rho^2) = -2 ln cosh c`: nothing is cut off, so that far outliers
/// keep a gradient, to all parameters.
///
/// # Shapes
/// `parameters` `[agents, 5 steps]`, `targets` `[agents, 2 steps]`; result `[agents, 1]`.
pub fn negative_log_likelihood(parameters: &Tensor<2>, targets: &Tensor<2>) -> Tensor<2> {
    let steps = targets.dims()[1] / 2;
    let part = |at: usize| parameters.clone().narrow(1, at * steps, steps);
    let both = |at: usize| parameters.clone().narrow(1, at * steps, 2 * steps);
    let (deviations, c) = (both(2), part(4));
    let normal = (targets.clone() - both(0)) * deviations.clone().neg().exp();
    let [nx, ny] = [0, 1].map(|axis| normal.clone().narrow(1, axis * steps, steps));
    // ln cosh c = c + ln(1 + e^-2c) - ln 2, for any c.
    let ln_cosh = c.clone() + softplus(c.clone() * -2.0, 1.0) - std::f64::consts::LN_2;
    let cross = nx.clone() * ny.clone() * c.tanh() * 2.0;
    let quadratic = (nx.square() + ny.square() - cross) * (ln_cosh.clone() * 2.0).exp() * 0.5;
    let [sx, sy] = [0, 1].map(|axis| deviations.clone().narrow(1, axis * steps, steps));
    (quadratic + sx + sy - ln_cosh + std::f64::consts::TAU.ln()).sum_dim(1)
}

/// `sum_t -ln N(p_it; M_it, V_it)` of every agent's places `p_it = sum_{s <= t} d_is`, relative to the last
/// observed one. For independent steps means and covariances add up:
/// `M_t = sum_{s <= t} m_s`, `V_t = sum_{s <= t} S_s`.
///
/// Gradients flow to all parameters.
///
/// # Shapes
/// As [`negative_log_likelihood`].
pub fn position_negative_log_likelihood(parameters: &Tensor<2>, targets: &Tensor<2>) -> Tensor<2> {
    let steps = targets.dims()[1] / 2;
    let options = (&targets.device(), targets.dtype());
    let earlier = Tensor::<2>::ones([steps, steps], options).triu(0);
    let sums = |x: Tensor<2>| x.matmul(earlier.clone());
    let part = |at: usize| parameters.clone().narrow(1, at * steps, steps);
    let target = |axis: usize| targets.clone().narrow(1, axis * steps, steps);
    let [x, y] = [0, 1].map(|axis| sums(target(axis) - part(axis)));
    let [sx, sy] = [2, 3].map(|at| part(at).exp());
    let cross = sums(sx.clone() * sy.clone() * part(4).tanh());
    let [vx, vy] = [sx, sy].map(|deviation| sums(deviation.square()));
    let determinant = vx.clone() * vy.clone() - cross.clone().square();
    let quadratic = x.clone().square() * vy + y.clone().square() * vx - x * y * cross * 2.0;
    let twice = quadratic / determinant.clone() + determinant.log();
    (twice * 0.5 + std::f64::consts::TAU.ln()).sum_dim(1)
}

/// Draws paths of the agents of one scene: steps add up from where the agents are.
///
/// `parameters` is `[agents, 5 steps]`. The most likely path follows the means.
pub(super) fn forecast(
    parameters: &[f32],
    origins: &[[f32; 2]],
    steps: usize,
    samples: usize,
    sampling: Sampling,
    key: Key,
) -> Forecast {
    let agents = origins.len();
    let mut forecast = Forecast::new(samples, agents, steps);
    for (agent, (row, &origin)) in
        parameters.chunks_exact(PARAMETERS * steps).zip(origins).enumerate()
    {
        let at = |part: usize, time: usize| f64::from(row[part * steps + time]);
        let mut place = origin.map(f64::from);
        for (time, slot) in forecast.likely_mut(agent).iter_mut().enumerate() {
            place = [place[0] + at(0, time), place[1] + at(1, time)];
            *slot = place.map(|v| v as f32);
        }
        for sample in 0..samples {
            let key = key.child((agent * samples + sample) as u64);
            let mut place = origin.map(f64::from);
            for (time, slot) in forecast.path_mut(sample, agent).iter_mut().enumerate() {
                let [a, b] = key.normal_pair(match sampling {
                    Sampling::Independent => time as u64,
                    Sampling::Shared => 0,
                });
                let rho = at(4, time).tanh();
                let [sx, sy] = [at(2, time).exp(), at(3, time).exp()];
                place[0] += at(0, time) + sx * a;
                place[1] += at(1, time) + sy * (rho * a + (1.0 - rho * rho).sqrt() * b);
                *slot = place.map(|v| v as f32);
            }
        }
    }
    forecast
}

/// Two independent standard normal numbers at the price of one.
trait NormalPair {
    fn normal_pair(self, index: u64) -> [f64; 2];
}

impl NormalPair for Key {
    fn normal_pair(self, index: u64) -> [f64; 2] {
        let radius = (-2.0 * self.uniform(2 * index).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform(2 * index + 1)).sin_cos();
        [radius * cos, radius * sin]
    }
}
