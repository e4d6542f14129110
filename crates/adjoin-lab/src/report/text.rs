//! Names, numbers and sentences as a reader meets them. Everything here returns plain text, except
//! [`escape`], which makes it safe inside HTML.

/// Differences with a p-value above this are called indistinguishable from chance.
pub const SIGNIFICANT: f64 = 0.05;

/// A space at which no line is broken.
pub const NBSP: char = '\u{a0}';

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

/// `p = 0.013`, `p < 0.0001`, in one piece.
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 1e-4 => format!("p{NBSP}<{NBSP}0.0001"),
        p if p < 0.01 => format!("p{NBSP}={NBSP}{p:.4}"),
        p if p < 0.1 => format!("p{NBSP}={NBSP}{p:.3}"),
        p => format!("p{NBSP}={NBSP}{p:.2}"),
    }
}

/// 10556 as `10 556`, with a thin no-break space.
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
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
    // What the wrong edges of `adjoin_data::add_wrong_edges` are called.
    if let Some((clean, damage)) = name.split_once("+wrong:") {
        let damage = damage.strip_suffix(":0").unwrap_or(damage);
        return format!("{} with wrong edges {damage}", spelling(clean));
    }
    const KNOWN: [(&str, &str); 32] = [
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
        ("kernel", "the published graph"),
        ("social-stgcnn", "Social-STGCNN"),
        ("dagnet", "DAG-Net"),
        ("crowd", "a generated crowd"),
        ("eth", "ETH"),
        ("hotel", "Hotel"),
        ("univ", "Univ"),
        ("zara1", "Zara1"),
        ("zara2", "Zara2"),
        ("sdd", "SDD"),
        ("dgcnn", "DGCNN"),
        ("resgcn", "ResGCN"),
        ("shapes", "generated shapes"),
        ("modelnet40", "ModelNet40"),
        ("modelnet10", "ModelNet10"),
    ];
    let known = KNOWN.iter().find(|k| k.0 == name);
    known.map_or_else(|| name.to_owned(), |k| k.1.to_owned())
}

/// `GCN alone`, `GCN with DGG`.
pub fn run_name(backbone: &str, learner: &str) -> String {
    let backbone = spelling(backbone);
    match learner {
        "none" => format!("{backbone} alone"),
        "complete" => format!("{backbone} with everybody joined"),
        "isolated" => format!("{backbone} with nobody joined"),
        _ => format!("{backbone} with {}", spelling(learner)),
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

    #[test]
    fn numbers_read_well() {
        assert_eq!(percent(0.8149), "81.5");
        assert_eq!(p_value(0.00001), "p\u{a0}<\u{a0}0.0001");
        assert_eq!(p_value(0.034), "p\u{a0}=\u{a0}0.034");
        assert_eq!(thousands(2708), "2708");
        assert_eq!(thousands(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!((bytes(412_000_000), bytes(1_400_000_000)), ("412 MB".into(), "1.40 GB".into()));
        assert_eq!(milliseconds(4.321), "4.3 ms");
        assert_eq!(spelling("cora+wrong:0.5:0"), "Cora with wrong edges 0.5");
        assert_eq!(spelling("cora+wrong:0.5:3"), "Cora with wrong edges 0.5:3");
        assert_eq!(joined(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
