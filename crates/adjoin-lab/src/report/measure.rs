//! How numbers and differences are written on the page.

use super::text::{NBSP, SIGNIFICANT, Verdict, count, p_value};
use crate::{
    stats::{Paired, Summary},
    task::Measure,
};

impl Measure {
    /// A number with its unit, in one piece.
    pub(crate) fn with_unit(&self, value: f64) -> String {
        format!("{}{NBSP}{}", self.number(value), self.unit)
    }

    /// `81.5 ± 0.4`, without the standard deviation when there is one seed.
    pub(crate) fn summary(&self, s: &Summary) -> String {
        match s.std {
            Some(d) => format!("{}{NBSP}±{NBSP}{}", self.number(s.mean), self.number(d)),
            None => self.number(s.mean),
        }
    }

    /// A difference with its sign, `+1.9` (a true minus, and no sign on zero).
    pub(crate) fn signed(&self, difference: f64) -> String {
        let text = self.number(difference.abs());
        match text.bytes().all(|digit| matches!(digit, b'0' | b'.')) {
            true => text,
            false if difference < 0.0 => format!("\u{2212}{text}"),
            false => format!("+{text}"),
        }
    }

    /// Reads a paired difference.
    pub(crate) fn verdict(&self, paired: Option<&Paired>) -> Verdict {
        match paired.and_then(|d| d.p.map(|p| (p, d.difference.mean))) {
            None => Verdict::Untested,
            Some((p, _)) if p >= SIGNIFICANT => Verdict::Alike,
            Some((_, difference)) if (difference > 0.0) != self.lower => Verdict::Better,
            Some(_) => Verdict::Worse,
        }
    }

    /// A sentence on one run against its baseline.
    pub(crate) fn paired_sentence(
        &self,
        name: &str,
        baseline: &str,
        paired: Option<&Paired>,
    ) -> String {
        let Some(found) = paired else {
            return format!("{name} and {baseline} share no seed, so they cannot be paired.");
        };
        let d = &found.difference;
        let size = self.number(d.mean.abs());
        let size = if self.signed(d.mean) == size {
            format!("{name} and {baseline} differ by {size}")
        } else {
            let side = if d.mean < 0.0 { "below" } else { "above" };
            format!("{name} is {size} {} {side} {baseline}", self.points)
        };
        let (Some(std), Some(p)) = (d.std, found.p) else {
            return format!("{size} on the one seed they share: too few to judge.");
        };
        let meaning = match self.verdict(paired) {
            Verdict::Alike => "chance alone could well produce this",
            _ => "chance alone would seldom produce this",
        };
        format!(
            "{size}, paired over {} (standard deviation {}, t-test {}): {meaning}.",
            count(d.n, "shared seed"),
            self.number(std),
            p_value(p)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::paired;

    #[test]
    fn numbers_read_well() {
        assert_eq!(Measure::PERCENT.number(0.8149), "81.5");
        assert_eq!(Measure::PERCENT.signed(0.0187), "+1.9");
        assert_eq!(Measure::PERCENT.signed(-0.0187), "\u{2212}1.9");
        assert_eq!(Measure::PERCENT.signed(-0.0001), "0.0");
        assert_eq!(Measure::METRES.signed(-0.0187), "\u{2212}0.019");
        assert_eq!(Measure::METRES.with_unit(0.3121), "0.312\u{a0}m");
    }

    #[test]
    fn verdicts_follow_the_test() {
        let better = paired(&[(0.83, 0.81), (0.84, 0.82), (0.835, 0.816)]);
        let alike = paired(&[(0.83, 0.81), (0.80, 0.82), (0.82, 0.82)]);
        assert_eq!(Measure::PERCENT.verdict(better.as_ref()), Verdict::Better);
        assert_eq!(Measure::METRES.verdict(better.as_ref()), Verdict::Worse, "metres of error");
        assert_eq!(Measure::PERCENT.verdict(alike.as_ref()), Verdict::Alike);
        assert_eq!(Measure::PERCENT.verdict(paired(&[(0.5, 0.6)]).as_ref()), Verdict::Untested);
        let worse = paired(&[(0.5, 0.6), (0.5, 0.601)]);
        assert_eq!(Measure::PERCENT.verdict(worse.as_ref()), Verdict::Worse);
        assert_eq!(Measure::METRES.verdict(worse.as_ref()), Verdict::Better);
        let text = Measure::PERCENT.paired_sentence("A", "B", alike.as_ref());
        assert!(
            text.contains("3 shared seeds") && text.contains("chance alone could well"),
            "{text}"
        );
        assert!(Measure::PERCENT.paired_sentence("A", "B", None).contains("no seed"));
        let text = Measure::METRES.paired_sentence("A", "B", worse.as_ref());
        assert!(text.contains("A is 0.100 m below B"), "{text}");
    }
}
