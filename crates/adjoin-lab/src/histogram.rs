//! How many nodes have how many neighbours.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Two samples of degrees counted into the same bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DegreeHistogram {
    /// Bin b holds the degrees that round to `b * width .. (b + 1) * width` (end not included); the
    /// last bin is open above.
    pub width: u32,
    /// Counts of the input degrees.
    pub input: Vec<u32>,
    /// Counts of the learned degrees.
    pub learned: Vec<u32>,
}

/// Counts both samples into at most `bins` bins. Bins reach to about the 99th percentile of the wider
/// sample, so that a few hubs do not flatten the rest; everything beyond is in the last one.
pub fn degree_histogram(input: &[f32], learned: &[f32], bins: usize) -> DegreeHistogram {
    let tally = |sample: &[f32]| sample.iter().copied().collect::<Tally>();
    DegreeHistogram::of(&tally(input), &tally(learned), bins)
}

impl DegreeHistogram {
    /// As [`degree_histogram`], of samples that are too large to be kept.
    pub fn of(input: &Tally, learned: &Tally, bins: usize) -> Self {
        let bins = bins.max(2) as u32;
        let reach = input.percentile(0.99).max(learned.percentile(0.99));
        let width = (reach + 2).div_ceil(bins).max(1);
        let used = ((reach / width) + 2).min(bins) as usize;
        let count = |Tally(counts): &Tally| {
            let mut bins = vec![0; used];
            for (degree, count) in counts {
                bins[((degree / width) as usize).min(used - 1)] += count;
            }
            bins
        };
        Self { width, input: count(input), learned: count(learned) }
    }
}

/// How often each degree, rounded, was met.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally(BTreeMap<u32, u32>);

impl Tally {
    /// Counts a degree; what is no number is left out.
    pub fn add(&mut self, degree: f32) {
        if degree.is_finite() {
            *self.0.entry(degree.round().clamp(0.0, 1e9) as u32).or_default() += 1;
        }
    }

    /// The least degree that this share of the sample does not exceed.
    fn percentile(&self, share: f64) -> u32 {
        let all: u64 = self.0.values().map(|&count| u64::from(count)).sum();
        let wanted = (all as f64 * share).ceil() as u64;
        let mut seen = 0;
        let enough = |&(_, &count): &(&u32, &u32)| {
            seen += u64::from(count);
            seen >= wanted
        };
        self.0.iter().find(enough).map_or(0, |(degree, _)| *degree)
    }
}

impl FromIterator<f32> for Tally {
    fn from_iter<I: IntoIterator<Item = f32>>(degrees: I) -> Self {
        let mut tally = Self::default();
        degrees.into_iter().for_each(|degree| tally.add(degree));
        tally
    }
}
