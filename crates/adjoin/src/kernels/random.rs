//! Counter-based random numbers: a value is a pure function of (key, row, column).
//!
//! Nothing is stored and nothing is sequential, so noise is the same for any thread count, can be
//! regenerated in a backward pass, and a run can be resumed bit for bit. The mixing functions are
//! well-known integer finalisers (SplitMix64 for keys, three xor-shift-multiply rounds for
//! elements); they pass the moment, uniformity and correlation tests below but are not meant for
//! cryptography.

use super::Real;

/// Identifies one stream of random numbers.
///
/// Keys are split like `key.child(purpose).child(step)`; children of different indices, and of
/// different parents, are independent streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64);

impl Key {
    /// The root stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(mix64(seed ^ 0x5851_f42d_4c95_7f2d))
    }

    /// An independent stream derived from this one.
    pub const fn child(self, index: u64) -> Self {
        Self(mix64(
            self.0.rotate_left(23).wrapping_add(mix64(index.wrapping_add(0x9e37_79b9_7f4a_7c15))),
        ))
    }

    /// The stream of one row: elements of it are cheap to draw one by one.
    #[inline(always)]
    pub(crate) const fn row(self, row: u32) -> RowKey {
        let mixed = mix64(self.0 ^ (row as u64).wrapping_mul(0xd134_2543_de82_ef95));
        RowKey(mixed as u32, (mixed >> 32) as u32)
    }

    /// 64 random bits for the element `index`.
    pub const fn bits(self, index: u64) -> u64 {
        mix64(self.0 ^ mix64(index.wrapping_mul(0xd134_2543_de82_ef95)))
    }

    /// Uniform in the open interval (0, 1), 53 bits.
    pub fn uniform(self, index: u64) -> f64 {
        ((self.bits(index) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal by the Box-Muller transform.
    pub fn normal(self, index: u64) -> f64 {
        let radius = (-2.0 * self.uniform(2 * index).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform(2 * index + 1)).cos()
    }

    /// Uniform integer in `0..n`.
    pub fn below(self, index: u64, n: usize) -> usize {
        ((self.bits(index) as u128 * n as u128) >> 64) as usize
    }

    /// A random permutation of `0..n` (Fisher-Yates).
    pub fn permutation(self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i as u64, i + 1));
        }
        order
    }
}

/// The random stream of one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowKey(u32, u32);

impl RowKey {
    /// 32 random bits for `column`; 32-bit arithmetic only, so that loops over columns vectorise.
    #[inline(always)]
    pub(crate) fn bits(self, column: u32) -> u32 {
        let mut x = column.wrapping_mul(0x9e37_79b9).wrapping_add(self.0);
        x ^= x >> 17;
        x = x.wrapping_mul(0xed5a_d4bb);
        x ^= x >> 11;
        x ^= self.1;
        x = x.wrapping_mul(0xac4c_1b51);
        x ^= x >> 15;
        x = x.wrapping_mul(0x3184_8bab);
        x ^ (x >> 14)
    }

    /// Uniform in the open interval (0, 1), 23 bits.
    #[inline(always)]
    pub(crate) fn uniform<T: Real>(self, column: u32) -> T {
        // 23 bits and a half are exact in f32 and never reach 0 or 1.
        (T::from_i32((self.bits(column) >> 9) as i32) + T::HALF) * T::from_f64(1.0 / 8_388_608.0)
    }

    /// Standard logistic, `ln(u / (1 - u))`.
    #[inline(always)]
    pub(crate) fn logistic<T: Real>(self, column: u32) -> T {
        let u = self.uniform::<T>(column);
        u.ln() - (T::ONE - u).ln()
    }

    /// Standard Gumbel, `-ln(-ln u)`.
    #[inline(always)]
    pub(crate) fn gumbel<T: Real>(self, column: u32) -> T {
        -(-self.uniform::<T>(column).ln()).ln()
    }
}

/// Gumbel noise of the pair (i, j); with `symmetric` the pair (j, i) gets the same.
#[inline(always)]
pub(crate) fn pair_gumbel<T: Real>(key: Key, symmetric: bool, i: u32, j: u32) -> T {
    let (row, column) = stream_of(symmetric, i, j);
    key.row(row).gumbel(column)
}

/// Logistic noise of the pair (i, j); with `symmetric` the pair (j, i) gets the same.
#[inline(always)]
pub(crate) fn pair_logistic<T: Real>(key: Key, symmetric: bool, i: u32, j: u32) -> T {
    let (row, column) = stream_of(symmetric, i, j);
    key.row(row).logistic(column)
}

/// The row and the column that the number of a pair is drawn from.
#[inline(always)]
fn stream_of(symmetric: bool, i: u32, j: u32) -> (u32, u32) {
    if symmetric && j < i { (j, i) } else { (i, j) }
}

/// Gumbel noise on pairs of nodes: `scale * g_ij`, g_ij standard Gumbel, a pure function of the key
/// and the pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairNoise {
    /// The stream it is drawn from: a new one each training step.
    pub key: Key,
    /// What the noise is multiplied by.
    pub scale: f64,
    /// Whether (i, j) and (j, i) get the same noise.
    pub symmetric: bool,
}

impl PairNoise {
    /// The Gumbel draw g_ij of a pair, before scaling.
    pub fn gumbel(&self, i: u32, j: u32) -> f64 {
        pair_gumbel(self.key, self.symmetric, i, j)
    }
}

/// [`PairNoise`] made ready to be added to whole rows of pairs.
pub(crate) struct NoiseRows<T> {
    keys: Vec<RowKey>,
    scale: T,
    symmetric: bool,
}

impl<T: Real> NoiseRows<T> {
    /// For the pairs of nodes `0..nodes`.
    pub(crate) fn new(noise: PairNoise, nodes: usize) -> Self {
        let keys = (0..nodes as u32).map(|row| noise.key.row(row)).collect();
        Self { keys, scale: T::from_f64(noise.scale), symmetric: noise.symmetric }
    }

    /// `values[n] += scale * g(row, first + n)`, with the g of [`pair_gumbel`].
    #[inline(always)]
    pub(crate) fn add(&self, row: usize, first: usize, values: &mut [T]) {
        // Below the diagonal symmetric noise belongs to the stream of the column's row.
        let lower = if self.symmetric { row.saturating_sub(first).min(values.len()) } else { 0 };
        self.add_split(row, first, lower, values);
    }

    /// The same for the pairs seen from the other end: `values[n] += scale * g(first + n, row)`.
    #[inline(always)]
    pub(crate) fn add_reverse(&self, row: usize, first: usize, values: &mut [T]) {
        if self.symmetric {
            self.add(row, first, values);
        } else {
            self.add_split(row, first, values.len(), values);
        }
    }

    /// The first `lower` values from the streams of their columns, the others from that of the row.
    #[inline(always)]
    fn add_split(&self, row: usize, first: usize, lower: usize, values: &mut [T]) {
        let scale = self.scale;
        let (left, right) = values.split_at_mut(lower);
        for (value, key) in left.iter_mut().zip(&self.keys[first..]) {
            *value = scale.mul_add(key.gumbel(row as u32), *value);
        }
        let (own, start) = (self.keys[row], (first + lower) as u32);
        for (n, value) in right.iter_mut().enumerate() {
            *value = scale.mul_add(own.gumbel(start + n as u32), *value);
        }
    }
}

/// SplitMix64's finaliser.
#[inline(always)]
const fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gumbel_has_its_mean_and_variance() {
        let key = Key::new(7).child(3);
        let n = 1000 * 1000;
        let draws = (0..1000u32).flat_map(|i| (0..1000u32).map(move |j| (i, j)));
        let (mut sum, mut square) = (0.0, 0.0);
        for (i, j) in draws {
            let g: f64 = pair_gumbel(key, false, i, j);
            sum += g;
            square += g * g;
        }
        let mean = sum / n as f64;
        let variance = square / n as f64 - mean * mean;
        assert!((mean - 0.577_215_66).abs() < 5e-3, "{mean}");
        assert!((variance - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-2, "{variance}");
    }

    #[test]
    fn uniform_bits_are_balanced_and_rows_and_columns_are_uncorrelated() {
        let key = Key::new(1);
        let value = |i: u32, j: u32| key.row(i).uniform::<f64>(j) - 0.5;
        let (mut rows, mut columns, mut diagonal) = (0.0, 0.0, 0.0);
        let mut bins = [0u32; 64];
        for i in 0..512 {
            for j in 0..512 {
                rows += value(i, j) * value(i + 1, j);
                columns += value(i, j) * value(i, j + 1);
                diagonal += value(i, j) * value(j, i) * f64::from(u8::from(i != j));
                bins[(64.0 * (value(i, j) + 0.5)) as usize] += 1;
            }
        }
        // Standard error of a mean product of two centred uniforms is 1/12/512.
        let bound = 5.0 / 12.0 * 512.0;
        assert!(rows.abs() < bound && columns.abs() < bound && diagonal.abs() < 2.0 * bound);
        let expected = 512.0 * 512.0 / 64.0;
        let chi: f64 = bins.iter().map(|&b| (b as f64 - expected).powi(2) / expected).sum();
        assert!((20.0..130.0).contains(&chi), "chi-square of 63 degrees of freedom: {chi}");
    }

    #[test]
    fn symmetric_noise_agrees_in_both_directions() {
        let key = Key::new(5);
        assert_eq!(pair_gumbel::<f32>(key, true, 3, 9), pair_gumbel::<f32>(key, true, 9, 3));
        assert_ne!(pair_gumbel::<f32>(key, false, 3, 9), pair_gumbel::<f32>(key, false, 9, 3));
    }

    #[test]
    fn noise_rows_are_the_noise_of_their_pairs() {
        for symmetric in [false, true] {
            let noise = PairNoise { key: Key::new(5), scale: 0.5, symmetric };
            let rows = NoiseRows::<f64>::new(noise, 50);
            for row in [0, 10, 25, 49] {
                let mut values = [1.0; 20];
                rows.add(row, 15, &mut values);
                for (n, &value) in values.iter().enumerate() {
                    let g: f64 = pair_gumbel(noise.key, symmetric, row as u32, 15 + n as u32);
                    assert_eq!(value, 0.5f64.mul_add(g, 1.0));
                }
                let mut values = [1.0; 20];
                rows.add_reverse(row, 15, &mut values);
                for (n, &value) in values.iter().enumerate() {
                    let g: f64 = pair_gumbel(noise.key, symmetric, 15 + n as u32, row as u32);
                    assert_eq!(value, 0.5f64.mul_add(g, 1.0));
                }
            }
        }
    }

    #[test]
    fn permutations_contain_every_index_once() {
        let mut p = Key::new(2).permutation(100);
        assert_ne!(p, (0..100).collect::<Vec<_>>());
        p.sort_unstable();
        assert_eq!(p, (0..100).collect::<Vec<_>>());
    }
}
