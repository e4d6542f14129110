//! The element types the kernels work on, and elementary functions that vectorise.

use super::Lanes;
use burn::tensor::Element;

/// A floating-point element: `f32` for work, `f64` for checking gradients.
///
/// The `f32` versions of `exp`, `ln` and `tanh` are polynomial, branch-free and accurate to a few
/// units in the last place, so that loops over them compile to vector code; the `f64` versions are
/// the standard library's, because they serve as the reference.
pub trait Real:
    Element
    + Lanes
    + bytemuck::Pod
    + Copy
    + PartialOrd
    + Send
    + Sync
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
    + std::ops::SubAssign
    + std::ops::MulAssign
    + std::iter::Sum
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// 1/2.
    const HALF: Self;
    /// Below every finite value.
    const NEG_INFINITY: Self;
    /// Lowest finite value.
    const LOWEST: Self;
    /// Smallest positive normal number.
    const TINY: Self;

    /// Nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// From an integer.
    fn from_i32(value: i32) -> Self;
    /// Widened to `f64`.
    fn to_f64(self) -> f64;
    /// `self * a + b` with one rounding.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// e^self.
    fn exp(self) -> Self;
    /// Natural logarithm; the argument must be positive and normal.
    fn ln(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// The smaller of two numbers.
    fn min(self, other: Self) -> Self;
    /// Neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Logistic function `1 / (1 + e^-self)`.
    #[inline(always)]
    fn sigmoid(self) -> Self {
        Self::ONE / (Self::ONE + (-self).exp())
    }
    /// From a count.
    #[inline(always)]
    fn from_usize(value: usize) -> Self {
        Self::from_f64(value as f64)
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const NEG_INFINITY: Self = f64::NEG_INFINITY;
    const LOWEST: Self = f64::MIN;
    const TINY: Self = f64::MIN_POSITIVE;

    fn from_f64(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn from_i32(value: i32) -> Self {
        value as f64
    }
    fn to_f64(self) -> f64 {
        self
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        f64::mul_add(self, a, b)
    }
    fn exp(self) -> Self {
        f64::exp(self)
    }
    fn ln(self) -> Self {
        f64::ln(self)
    }
    fn tanh(self) -> Self {
        f64::tanh(self)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const NEG_INFINITY: Self = f32::NEG_INFINITY;
    const LOWEST: Self = f32::MIN;
    const TINY: Self = f32::MIN_POSITIVE;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn from_i32(value: i32) -> Self {
        value as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self as f64
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        f32::mul_add(self, a, b)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        exp_f32(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        ln_f32(self)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        // Far from zero 1 - 2 / (e^2x + 1), which saturates cleanly because exp does; near zero that
        // would lose digits, and an odd polynomial takes over.
        let far = (1.0 - 2.0 / (exp_f32(2.0 * self.abs()) + 1.0)).copysign(self);
        let z = self * self;
        let mut p = -5.704_988_7e-3_f32;
        p = f32::mul_add(p, z, 2.063_909e-2);
        p = f32::mul_add(p, z, -5.373_971_5e-2);
        p = f32::mul_add(p, z, 1.333_144_2e-1);
        p = f32::mul_add(p, z, -3.333_328e-1);
        let near = f32::mul_add(p * z, self, self);
        if self.abs() < 0.625 { near } else { far }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
}

/// e^x by range reduction `x = n ln 2 + r`, |r| <= ln 2 / 2, and a degree-6 polynomial in r.
/// Underflows to 0 below -87.3 and saturates near the largest finite value above 88.3; NaN stays NaN.
#[inline(always)]
fn exp_f32(x: f32) -> f32 {
    let clamped = if x > 88.3 { 88.3 } else { x };
    let clamped = if clamped < -87.3 { -87.3 } else { clamped };
    // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer without a function call.
    const ROUND: f32 = 12_582_912.0;
    let shifted = f32::mul_add(clamped, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = f32::mul_add(n, -0.693_359_4, clamped);
    let r = f32::mul_add(n, 2.121_944_4e-4, r);
    let mut p = 1.987_569_1e-4_f32;
    p = f32::mul_add(p, r, 1.398_199_9e-3);
    p = f32::mul_add(p, r, 8.333_452e-3);
    p = f32::mul_add(p, r, 4.166_579_6e-2);
    p = f32::mul_add(p, r, 1.666_666_5e-1);
    p = f32::mul_add(p, r, 0.5);
    let p = f32::mul_add(p, r * r, r) + 1.0;
    // The low bits of `shifted` hold n; moved to the exponent field they make 2^n.
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    let y = p * scale;
    if x < -87.3 { 0.0 } else { y }
}

/// ln x for positive normal x: `x = m 2^e` with m in [sqrt(1/2), sqrt 2), polynomial in m - 1.
#[inline(always)]
fn ln_f32(x: f32) -> f32 {
    // Shifting by the bits of sqrt(1/2) puts the mantissa in [sqrt(1/2), sqrt 2).
    let bits = x.to_bits().wrapping_sub(0x3f35_04f3);
    let e = (bits as i32 >> 23) as f32;
    let m = f32::from_bits((bits & 0x007f_ffff).wrapping_add(0x3f35_04f3));
    let f = m - 1.0;
    let mut p = 7.037_683_6e-2_f32;
    p = f32::mul_add(p, f, -1.151_461e-1);
    p = f32::mul_add(p, f, 1.167_699_9e-1);
    p = f32::mul_add(p, f, -1.242_014_1e-1);
    p = f32::mul_add(p, f, 1.424_932_3e-1);
    p = f32::mul_add(p, f, -1.666_805_8e-1);
    p = f32::mul_add(p, f, 2.000_071_5e-1);
    p = f32::mul_add(p, f, -2.499_999_4e-1);
    p = f32::mul_add(p, f, 3.333_333e-1);
    let f2 = f * f;
    let mut y = p * f * f2;
    y = f32::mul_add(e, -2.121_944_4e-4, y);
    y = f32::mul_add(f2, -0.5, y);
    f32::mul_add(e, 0.693_359_4, f + y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_functions_stay_within_a_few_ulps_of_std() {
        let mut worst = [0.0f64; 3];
        for i in 0..200_000 {
            let x = -87.0 + 175.0 * i as f32 / 200_000.0;
            let relative = |a: f32, b: f64| ((a as f64 - b) / b).abs();
            worst[0] = worst[0].max(relative(Real::exp(x), (x as f64).exp()));
            let positive = (x * 0.9).exp();
            let ln = (positive as f64).ln();
            worst[1] = worst[1].max((Real::ln(positive) as f64 - ln).abs() / ln.abs().max(1.0));
            let t = x * 0.1;
            if t != 0.0 {
                worst[2] = worst[2].max(relative(Real::tanh(t), (t as f64).tanh()));
            }
        }
        assert!(worst.iter().all(|&w| w < 4e-7), "{worst:?}");
    }

    #[test]
    fn exp_saturates_without_nan() {
        assert_eq!(Real::exp(-1000.0f32), 0.0);
        assert!(Real::exp(1000.0f32) > 1e38);
        assert!(Real::exp(f32::NAN).is_nan());
        assert_eq!(Real::tanh(50.0f32), 1.0);
        assert_eq!(Real::tanh(-50.0f32), -1.0);
        assert!(Real::sigmoid(-200.0f32) < 1e-37);
    }
}
