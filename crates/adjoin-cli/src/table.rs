//! Tables of text.

/// Columns as wide as their widest cell; the first is aligned left, the others right.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        rows.iter()
            .filter_map(|row| row.get(at))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(at, (cell, &width))| match at {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// A fraction as per cent.
pub fn percent(value: f64) -> String {
    format!("{:.2}", 100.0 * value)
}

/// Mean and deviation in per cent.
pub fn mean_deviation(summary: adjoin_lab::record::Summary) -> String {
    match summary.deviation {
        Some(deviation) => format!("{} ± {}", percent(summary.mean), percent(deviation)),
        None => percent(summary.mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".to_string(), "1".into()], vec!["bcd".into(), "± 23".into()]];
        assert_eq!(table(&rows), "a       1\nbcd  ± 23\n");
    }
}
