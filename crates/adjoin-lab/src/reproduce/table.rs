//! Rows of a reproduced table, and how they are written.

use crate::record::{Paired, Summary};
use serde::Serialize;

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

impl Row {
    /// The row as cells of a Markdown table.
    pub fn to_markdown(&self) -> String {
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
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Its rows.
    pub rows: Vec<Row>,
}

impl Table {
    pub(super) fn new(title: &str) -> Self {
        Self { title: title.into(), rows: Vec::new() }
    }

    /// The heading of the columns.
    pub const HEADING: &str = "| dataset | backbone | learner | ours, % | seeds | over the plain backbone | published, % | ours - published |\n|---|---|---|---|---|---|---|---|";

    /// The table in Markdown, with the command and the date that made it.
    pub fn to_markdown(&self, command: &str, date: &str) -> String {
        let rows: Vec<String> = self.rows.iter().map(Row::to_markdown).collect();
        format!(
            "## {}\n\n`{command}`, {date}\n\n{}\n{}\n",
            self.title,
            Self::HEADING,
            rows.join("\n")
        )
    }
}
