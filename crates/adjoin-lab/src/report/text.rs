//! Names, numbers and sentences as a reader meets them. Everything here returns plain text, except
//! [`escape`], which makes it safe inside HTML.

use crate::record::{Paired, Summary};

/// Differences with a p-value above this are called indistinguishable from chance.
pub const SIGNIFICANT: f64 = 0.05;

/// Text made safe for HTML content and quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// A fraction as percent, `81.5`.
pub fn percent(fraction: f64) -> String {
    format!("{:.1}", 100.0 * fraction)
}

/// `81.5 ± 0.4`, without the deviation when there is one seed.
pub fn percent_summary(s: &Summary) -> String {
    match s.deviation {
        Some(d) => format!("{} ± {}", percent(s.mean), percent(d)),
        None => percent(s.mean),
    }
}

/// A difference in points with its sign, `+1.9` (a true minus, and no sign on zero).
pub fn points(difference: f64) -> String {
    let text = percent(difference.abs());
    match text.as_str() {
        "0.0" => text,
        _ if difference < 0.0 => format!("\u{2212}{text}"),
        _ => format!("+{text}"),
    }
}

/// `p = 0.013`, `p < 0.0001`.
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 1e-4 => "p < 0.0001".into(),
        p if p < 0.01 => format!("p = {p:.4}"),
        p if p < 0.1 => format!("p = {p:.3}"),
        p => format!("p = {p:.2}"),
    }
}

/// 10556 as `10 556`, with a thin no-break space.
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 && digits.len() > 4 {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// Bytes in the unit that suits them.
pub fn bytes(n: u64) -> String {
    let mb = n as f64 / 1e6;
    if mb >= 1000.0 { format!("{:.2} GB", mb / 1000.0) } else { format!("{mb:.0} MB") }
}

/// Milliseconds, with more digits where they say something.
pub fn milliseconds(ms: f64) -> String {
    match ms {
        ms if !ms.is_finite() => "–".into(),
        ms if ms >= 1000.0 => format!("{:.2} s", ms / 1000.0),
        ms if ms >= 100.0 => format!("{ms:.0} ms"),
        ms => format!("{ms:.1} ms"),
    }
}

/// `1 seed`, `10 seeds`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// How a known name is usually spelt; others stay as they are.
pub fn spelling(name: &str) -> String {
    const KNOWN: [(&str, &str); 19] = [
        ("cora", "Cora"),
        ("citeseer", "Citeseer"),
        ("pubmed", "Pubmed"),
        ("gcn", "GCN"),
        ("sage", "GraphSAGE"),
        ("graphsage", "GraphSAGE"),
        ("gat", "GAT"),
        ("gcnii", "GCNII"),
        ("stgcn", "ST-GCN"),
        ("edgeconv", "EdgeConv"),
        ("dgg", "DGG"),
        ("dgg*", "DGG*"),
        ("dropedge", "DropEdge"),
        ("neuralsparse", "NeuralSparse"),
        ("ptdnet", "PTDNet"),
        ("dgm", "DGM"),
        ("knn", "kNN"),
        ("node", "node classification"),
        ("trajectory", "trajectory prediction"),
    ];
    let known = KNOWN.iter().find(|k| k.0 == name);
    known.map_or_else(|| name.to_owned(), |k| k.1.to_owned())
}

/// `GCN alone`, `GCN with DGG`.
pub fn run_name(backbone: &str, learner: &str) -> String {
    match learner {
        "none" => format!("{} alone", spelling(backbone)),
        _ => format!("{} with {}", spelling(backbone), spelling(learner)),
    }
}

/// What a paired difference lets one say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Better,
    Worse,
    /// Tested, and small against its own spread.
    Alike,
    /// Too few shared seeds for a test.
    Untested,
}

/// Reads a paired difference.
pub fn verdict(paired: Option<&Paired>) -> Verdict {
    match paired.and_then(|d| d.p.map(|p| (p, d.difference.mean))) {
        None => Verdict::Untested,
        Some((p, _)) if p >= SIGNIFICANT => Verdict::Alike,
        Some((_, difference)) if difference > 0.0 => Verdict::Better,
        Some(_) => Verdict::Worse,
    }
}

/// A sentence on one run against its baseline.
pub fn paired_sentence(name: &str, baseline: &str, paired: Option<&Paired>) -> String {
    let Some(found) = paired else {
        return format!("{name} and {baseline} share no seed, so they cannot be paired.");
    };
    let d = &found.difference;
    let size = percent(d.mean.abs());
    let size = if size == "0.0" {
        format!("{name} and {baseline} differ by 0.0")
    } else {
        let side = if d.mean < 0.0 { "below" } else { "above" };
        format!("{name} is {size} points {side} {baseline}")
    };
    let (Some(deviation), Some(p)) = (d.deviation, found.p) else {
        return format!("{size} on the one seed they share: too few to judge.");
    };
    let meaning = match verdict(paired) {
        Verdict::Alike => "which chance alone could well produce",
        _ => "more than chance alone would usually produce",
    };
    format!(
        "Paired over {}, {size} (deviation {}; two-sided t-test, {}), {meaning}.",
        count(d.n, "shared seed"),
        percent(deviation),
        p_value(p)
    )
}

/// Items as a list in a sentence.
pub fn joined(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::paired;

    #[test]
    fn numbers_read_well() {
        assert_eq!(percent(0.8149), "81.5");
        assert_eq!(points(0.0187), "+1.9");
        assert_eq!(points(-0.0187), "\u{2212}1.9");
        assert_eq!(points(-0.0001), "0.0");
        assert_eq!(p_value(0.00001), "p < 0.0001");
        assert_eq!(p_value(0.034), "p = 0.034");
        assert_eq!(thousands(2708), "2708");
        assert_eq!(thousands(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!((bytes(412_000_000), bytes(1_400_000_000)), ("412 MB".into(), "1.40 GB".into()));
        assert_eq!(milliseconds(3.14159), "3.1 ms");
        assert_eq!(joined(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }

    #[test]
    fn verdicts_follow_the_test() {
        let better = paired(&[(0.83, 0.81), (0.84, 0.82), (0.835, 0.816)]);
        let alike = paired(&[(0.83, 0.81), (0.80, 0.82), (0.82, 0.82)]);
        assert_eq!(verdict(better.as_ref()), Verdict::Better);
        assert_eq!(verdict(alike.as_ref()), Verdict::Alike);
        assert_eq!(verdict(paired(&[(0.5, 0.6)]).as_ref()), Verdict::Untested);
        assert_eq!(verdict(paired(&[(0.5, 0.6), (0.5, 0.601)]).as_ref()), Verdict::Worse);
        let text = paired_sentence("A", "B", alike.as_ref());
        assert!(
            text.contains("3 shared seeds") && text.contains("chance alone could well"),
            "{text}"
        );
        assert!(paired_sentence("A", "B", None).contains("no seed"));
    }
}
