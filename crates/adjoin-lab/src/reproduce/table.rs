//! Reproduced tables, and how they are written.

use crate::{
    Error, Result,
    stats::{Paired, Summary},
    task::Measure,
};

/// A row: the title of each column with what stands in it.
pub type Row = Vec<(&'static str, String)>;

/// A reproduced table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// How to read it, and what was done otherwise than published.
    pub notes: Vec<String>,
    /// Its rows.
    pub rows: Vec<Row>,
}

impl Table {
    pub(super) fn new(title: &str) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Refuses a table of nothing: names that are in the table, but not together.
    pub(super) fn not_empty(self) -> Result<Self> {
        if !self.rows.is_empty() {
            return Ok(self);
        }
        let what =
            "the table has no such row; leave out --datasets, --backbones or --learners".into();
        Err(Error::Config { place: "reproduce".into(), what })
    }

    /// The table in Markdown, with the command and the date that made it.
    pub fn to_markdown(&self, command: &str, date: &str) -> String {
        let rows: Vec<String> = self.rows.iter().map(line).collect();
        let notes: String = self.notes.iter().map(|note| format!("- {note}\n")).collect();
        let notes = if notes.is_empty() { notes } else { format!("{notes}\n") };
        let heading = self.rows.first().map_or_else(String::new, heading);
        format!(
            "## {}\n\n`{command}`, {date}\n\n{notes}{heading}\n{}\n",
            self.title,
            rows.join("\n")
        )
    }
}

/// The heading of the columns of a row, in Markdown.
pub fn heading(row: &Row) -> String {
    let titles: Vec<&str> = row.iter().map(|(title, _)| *title).collect();
    format!("| {} |\n|{}", titles.join(" | "), "---|".repeat(titles.len()))
}

/// A row in Markdown.
pub fn line(row: &Row) -> String {
    let cells: Vec<&str> = row.iter().map(|(_, cell)| cell.as_str()).collect();
    format!("| {} |", cells.join(" | "))
}

/// `82.4 ± 0.5`.
pub(super) fn spread(measure: Measure, summary: &Summary) -> String {
    match summary.std {
        Some(std) => format!("{} ± {}", measure.number(summary.mean), measure.number(std)),
        None => measure.number(summary.mean),
    }
}

/// `+1.0 (p = 0.001)`, or nothing.
pub(super) fn gain(measure: Measure, paired: Option<&Paired>) -> String {
    let Some(Paired { difference, p }) = paired else { return String::new() };
    let p = p.map_or(String::new(), |p| format!(" (p = {p:.3})"));
    format!("{}{p}", signed(measure, difference.mean))
}

/// A number with its sign.
pub(super) fn signed(measure: Measure, value: f64) -> String {
    let sign = if value < 0.0 { '-' } else { '+' };
    format!("{sign}{}", measure.number(value.abs()))
}

/// A number, or a dash where there is none.
pub(super) fn or_dash<N>(value: Option<N>, write: impl Fn(N) -> String) -> String {
    value.map_or_else(|| "-".into(), write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::paired;

    #[test]
    fn rows_and_headings_have_the_same_columns() {
        let row: Row = vec![("a", "1".into()), ("b", "2".into())];
        let table = Table { title: "T".into(), notes: vec!["n".into()], rows: vec![row] };
        let text = table.to_markdown("adjoin", "today");
        assert!(text.ends_with("- n\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"), "{text}");
        assert!(Table::new("empty").not_empty().is_err());
    }

    #[test]
    fn gains_have_their_sign() {
        let found = paired(&[(0.5, 0.4), (0.6, 0.55)]);
        let text = gain(Measure::PERCENT, found.as_ref());
        assert!(text.starts_with("+7.5 (p = 0."), "{text}");
        assert_eq!(signed(Measure::METRES, -0.0123), "-0.012");
    }
}
