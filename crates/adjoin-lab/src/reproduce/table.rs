//! Rows of a reproduced table, and how they are written.

use crate::{
    Error, Result,
    record::{Paired, Summary},
};
use serde::Serialize;

/// A row of a table, whatever it is about.
pub trait TableRow {
    /// The heading of the columns, in Markdown.
    const HEADING: &'static str;

    /// The row as cells of a Markdown table.
    fn to_markdown(&self) -> String;
}

/// One configuration: ours beside the published.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The network.
    pub backbone: String,
    /// The learner, or what is changed.
    pub learner: String,
    /// The data.
    pub dataset: String,
    /// Test accuracy over the seeds, as a fraction.
    pub ours: Summary,
    /// Difference to the plain backbone, seed by seed.
    pub gain: Option<Paired>,
    /// The published accuracy, as a fraction.
    pub published: Option<f64>,
}

impl TableRow for Row {
    const HEADING: &'static str = "| dataset | backbone | learner | ours, % | seeds | over the plain backbone | published, % | ours - published |\n|---|---|---|---|---|---|---|---|";

    fn to_markdown(&self) -> String {
        let percent = |fraction: f64| format!("{:.1}", 100.0 * fraction);
        let signed = |fraction: f64| format!("{:+.1}", 100.0 * fraction);
        let deviation = self.ours.deviation.map_or(String::new(), |d| format!(" ± {}", percent(d)));
        let gain = self.gain.as_ref().map_or(String::new(), |gain| {
            let p = gain.p.map_or(String::new(), |p| format!(" (p = {p:.3})"));
            format!("{}{p}", signed(gain.difference.mean))
        });
        let published = self.published.map_or("-".into(), percent);
        let difference = self.published.map_or("-".into(), |p| signed(self.ours.mean - p));
        format!(
            "| {} | {} | {} | {}{deviation} | {} | {gain} | {published} | {difference} |",
            self.dataset,
            self.backbone,
            self.learner,
            percent(self.ours.mean),
            self.ours.n,
        )
    }
}

/// A reproduced table.
#[derive(Clone, Debug, Serialize)]
pub struct Table<R> {
    /// What it shows.
    pub title: String,
    /// How to read it, and what was done otherwise than published.
    pub notes: Vec<String>,
    /// Its rows.
    pub rows: Vec<R>,
}

impl<R: TableRow> Table<R> {
    pub(super) fn new(title: &str) -> Self {
        Self { title: title.into(), notes: Vec::new(), rows: Vec::new() }
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
        let rows: Vec<String> = self.rows.iter().map(R::to_markdown).collect();
        let notes: String = self.notes.iter().map(|note| format!("- {note}\n")).collect();
        let notes = if notes.is_empty() { notes } else { format!("{notes}\n") };
        format!(
            "## {}\n\n`{command}`, {date}\n\n{notes}{}\n{}\n",
            self.title,
            R::HEADING,
            rows.join("\n")
        )
    }
}
