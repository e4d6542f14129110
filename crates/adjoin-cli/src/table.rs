//! Tables of text.

use adjoin_lab::{stats::Summary, task::Measure};

/// Columns as wide as their widest cell, below a header; numbers are aligned right, words left.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |at: usize| rows.iter().filter_map(move |row| row.get(at));
    let width = |at: usize| cells(at).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let is_number =
        |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || "+-<".contains(c));
    let formats: Vec<(usize, bool)> =
        (0..columns).map(|at| (width(at), cells(at).skip(1).all(is_number))).collect();
    let mut out = String::new();
    for row in rows {
        let cell = |(cell, &(width, number)): (&String, &(usize, bool))| match number {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        };
        let cells: Vec<String> = row.iter().zip(&formats).map(cell).collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// The p of a test; one below what three digits show is not zero.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".into() } else { format!("{p:.3}") }
}

/// A number in the unit of its measure; accuracies have two digits here, where there is room.
pub fn number(measure: Measure, value: f64) -> String {
    let digits = if measure.unit == "%" { 2 } else { measure.digits };
    format!("{:.digits$}", measure.factor * value)
}

/// Mean and standard deviation.
pub fn spread(measure: Measure, summary: Option<Summary>) -> String {
    let Some(Summary { mean, std, .. }) = summary else { return "-".into() };
    match std {
        Some(std) => format!("{} ± {}", number(measure, mean), number(measure, std)),
        None => number(measure, mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["name", "n", "what"], ["a", "12 ± 3", "x"], ["bcd", "-4", "yz"]];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        let expected = "name       n  what\na     12 ± 3  x\nbcd       -4  yz\n";
        assert_eq!(table(&rows), expected);
    }
}
