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
    /// Neighbours of a node, where every layer has a graph of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees: Option<Degrees>,
}

/// Mean and deviation of the degree over the nodes.
#[derive(Clone, Debug, Serialize)]
pub struct Degrees {
    /// By layer.
    pub layers: Vec<[f64; 2]>,
    /// As published, over all layers.
    pub published: Option<[f64; 2]>,
}

impl Degrees {
    /// Over all layers: the mean, and the deviation of all nodes of all layers from it.
    pub fn overall(&self) -> [f64; 2] {
        let count = self.layers.len().max(1) as f64;
        let mean = self.layers.iter().map(|[mean, _]| mean).sum::<f64>() / count;
        let square = |[m, d]: &[f64; 2]| d * d + (m - mean) * (m - mean);
        [mean, (self.layers.iter().map(square).sum::<f64>() / count).sqrt()]
    }
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
            "## {}\n\n`{command}`, {date}\n\n{}\n{}\n{}",
            self.title,
            Self::HEADING,
            rows.join("\n"),
            self.degrees()
        )
    }

    /// The neighbours of the rows that have them, as a table of its own.
    fn degrees(&self) -> String {
        let pair = |[mean, deviation]: [f64; 2]| format!("{mean:.1} ± {deviation:.1}");
        let row = |row: &Row| {
            let degrees = row.degrees.as_ref()?;
            let layers: Vec<String> = degrees.layers.iter().copied().map(pair).collect();
            Some(format!(
                "| {} | {} | {} | {} | {} |",
                row.backbone,
                row.learner,
                pair(degrees.overall()),
                degrees.published.map_or("-".into(), pair),
                layers.join(", "),
            ))
        };
        let rows: Vec<String> = self.rows.iter().filter_map(row).collect();
        match rows.is_empty() {
            true => String::new(),
            false => format!(
                "\nNeighbours of a point, itself included: mean ± deviation\n\n\
                 | backbone | learner | all layers | published | by layer |\n|---|---|---|---|---|\n{}\n",
                rows.join("\n")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_pooled_over_layers_and_written_where_there_are_any() {
        let degrees =
            Degrees { layers: vec![[10.0, 3.0], [14.0, 5.0]], published: Some([9.0, 0.0]) };
        let [mean, deviation] = degrees.overall();
        assert_eq!(mean, 12.0);
        assert!((deviation - ((9.0 + 25.0) / 2.0f64 + 4.0).sqrt()).abs() < 1e-12);
        let row = Row {
            backbone: "dgcnn".into(),
            learner: "dgg".into(),
            dataset: "modelnet40".into(),
            ours: Summary { mean: 0.5, deviation: None, n: 1 },
            gain: None,
            published: None,
            degrees: Some(degrees),
        };
        let plain = Row { degrees: None, ..row.clone() };
        let mut table = Table::new("T");
        table.rows.push(plain);
        assert!(!table.to_markdown("c", "d").contains("Neighbours"));
        table.rows.push(row);
        let text = table.to_markdown("c", "d");
        assert!(
            text.contains("| dgcnn | dgg | 12.0 ± 4.6 | 9.0 ± 0.0 | 10.0 ± 3.0, 14.0 ± 5.0 |"),
            "{text}"
        );
    }
}
