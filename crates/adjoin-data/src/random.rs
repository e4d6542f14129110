//! A small generator whose numbers will never change: splits and made graphs depend on them.

/// SplitMix64 (Steele, Lea and Flood, 2014): one 64-bit state, a full period, no setup.
///
/// The sequence of every method here is part of this crate's contract: a split named `random:7`
/// is the same set of nodes on every machine and in every later version.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator that always gives the same numbers for the same `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The generator of one of many things made from a seed: each depends on the seed and on its own
    /// number, not on how many others there are.
    pub fn keyed(seed: u64, number: u64) -> Self {
        Self::new(Self::new(seed).next_u64().wrapping_add(number))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound`; 0 when `bound` is 0.
    ///
    /// Takes the high half of `bits * bound`. The bias, at most `bound / 2^64`, is far below
    /// anything a graph could show, and without a rejection loop every draw takes one step.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Uniform in `[0, 1)`, 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in `[least, most)`.
    pub fn within(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// About normal with deviation 1: the sum of twelve uniform numbers, moved to mean 0. Every
    /// machine rounds it alike.
    pub fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Fisher-Yates, from the last place down to the second.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // Reference values of SplitMix64 seeded with 1234567.
        let mut random = SplitMix64::new(1234567);
        assert_eq!(random.next_u64(), 6457827717110365317);
        assert_eq!(random.next_u64(), 3203168211198807973);
        assert_eq!(random.next_u64(), 9817491932198370423);
    }

    #[test]
    fn a_shuffle_is_a_stable_permutation() {
        let mut items: Vec<u32> = (0..10).collect();
        SplitMix64::new(0).shuffle(&mut items);
        assert_eq!(items, FROZEN);
        items.sort_unstable();
        assert_eq!(items, (0..10).collect::<Vec<u32>>());
    }

    /// If this changes, every published random split changes with it.
    const FROZEN: [u32; 10] = [4, 9, 2, 5, 1, 7, 6, 0, 3, 8];
}
