//! What runs are measured by, and how its numbers are written.

use super::text::{NBSP, SIGNIFICANT, Verdict, count, p_value};
use crate::record::{Paired, Summary};

/// A measure of how well a run did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// The unit of its numbers on the page.
    pub unit: &'static str,
    /// The unit of differences.
    pub points: &'static str,
    /// Numbers on the page over numbers in records.
    pub factor: f64,
    /// Digits after the point.
    pub digits: usize,
    /// Whether less is better.
    pub lower: bool,
    /// The least stretch of an axis, as shown.
    pub least_span: f64,
}

/// Shares of right answers.
const FRACTION: Measure = Measure {
    unit: "%",
    points: "points",
    factor: 100.0,
    digits: 1,
    lower: false,
    least_span: 0.5,
};

/// Distances.
const METRES: Measure =
    Measure { unit: "m", points: "m", factor: 1.0, digits: 3, lower: true, least_span: 0.005 };

impl Measure {
    /// By the task that it is for.
    pub fn of_task(task: &str) -> Self {
        if task == "trajectory" { METRES } else { FRACTION }
    }

    /// A number as shown, `81.5` or `0.312`.
    pub fn number(&self, value: f64) -> String {
        format!("{:.*}", self.digits, self.factor * value)
    }

    /// A number with its unit, in one piece.
    pub fn with_unit(&self, value: f64) -> String {
        format!("{}{NBSP}{}", self.number(value), self.unit)
    }

    /// `81.5 ± 0.4`, without the deviation when there is one seed.
    pub fn summary(&self, s: &Summary) -> String {
        match s.deviation {
            Some(d) => format!("{}{NBSP}±{NBSP}{}", self.number(s.mean), self.number(d)),
            None => self.number(s.mean),
        }
    }

    /// A difference with its sign, `+1.9` (a true minus, and no sign on zero).
    pub fn signed(&self, difference: f64) -> String {
        let text = self.number(difference.abs());
        match text.bytes().all(|digit| matches!(digit, b'0' | b'.')) {
            true => text,
            false if difference < 0.0 => format!("\u{2212}{text}"),
            false => format!("+{text}"),
        }
    }

    /// Reads a paired difference.
    pub fn verdict(&self, paired: Option<&Paired>) -> Verdict {
        match paired.and_then(|d| d.p.map(|p| (p, d.difference.mean))) {
            None => Verdict::Untested,
            Some((p, _)) if p >= SIGNIFICANT => Verdict::Alike,
            Some((_, difference)) if (difference > 0.0) != self.lower => Verdict::Better,
            Some(_) => Verdict::Worse,
        }
    }

    /// A sentence on one run against its baseline.
    pub fn paired_sentence(&self, name: &str, baseline: &str, paired: Option<&Paired>) -> String {
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
        let (Some(deviation), Some(p)) = (d.deviation, found.p) else {
            return format!("{size} on the one seed they share: too few to judge.");
        };
        let meaning = match self.verdict(paired) {
            Verdict::Alike => "chance alone could well produce this",
            _ => "chance alone would seldom produce this",
        };
        format!(
            "{size}, paired over {} (deviation {}, t-test {}): {meaning}.",
            count(d.n, "shared seed"),
            self.number(deviation),
            p_value(p)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::paired;

    #[test]
    fn numbers_read_well() {
        assert_eq!(FRACTION.number(0.8149), "81.5");
        assert_eq!(FRACTION.signed(0.0187), "+1.9");
        assert_eq!(FRACTION.signed(-0.0187), "\u{2212}1.9");
        assert_eq!(FRACTION.signed(-0.0001), "0.0");
        assert_eq!(METRES.signed(-0.0187), "\u{2212}0.019");
        assert_eq!(METRES.with_unit(0.3121), "0.312\u{a0}m");
    }

    #[test]
    fn verdicts_follow_the_test() {
        let better = paired(&[(0.83, 0.81), (0.84, 0.82), (0.835, 0.816)]);
        let alike = paired(&[(0.83, 0.81), (0.80, 0.82), (0.82, 0.82)]);
        assert_eq!(FRACTION.verdict(better.as_ref()), Verdict::Better);
        assert_eq!(METRES.verdict(better.as_ref()), Verdict::Worse, "metres of error");
        assert_eq!(FRACTION.verdict(alike.as_ref()), Verdict::Alike);
        assert_eq!(FRACTION.verdict(paired(&[(0.5, 0.6)]).as_ref()), Verdict::Untested);
        let worse = paired(&[(0.5, 0.6), (0.5, 0.601)]);
        assert_eq!(FRACTION.verdict(worse.as_ref()), Verdict::Worse);
        assert_eq!(METRES.verdict(worse.as_ref()), Verdict::Better);
        let text = FRACTION.paired_sentence("A", "B", alike.as_ref());
        assert!(
            text.contains("3 shared seeds") && text.contains("chance alone could well"),
            "{text}"
        );
        assert!(FRACTION.paired_sentence("A", "B", None).contains("no seed"));
        let text = METRES.paired_sentence("A", "B", worse.as_ref());
        assert!(text.contains("A is 0.100 m below B"), "{text}");
    }
}
