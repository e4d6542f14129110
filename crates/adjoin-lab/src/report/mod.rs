//! One HTML page on one or more runs: what was trained, how well it did, what graph was learned.
//!
//! The page is a single file without network requests. Headline, tables and homophily are written here
//! and need no JavaScript; curves, histograms and the neighbourhood explorer are drawn by the
//! embedded scripts from JSON.

mod compare;
mod graph;
mod measure;
mod payload;
mod points;
mod table;
mod text;
mod trajectory;

pub use compare::plain;
pub use points::render_points;
pub use trajectory::render_trajectories;

use crate::record::RunRecord;
use compare::{Group, Run};
use std::fmt::Write;
pub(crate) use text::escape;

const PAGE: &str = include_str!("page.html");
const SECTIONS: &str = include_str!("node.html");
const STYLE: &str = include_str!("style.css");
/// What the charts need on any page.
const SHARED: [&str; 2] = [include_str!("script.js"), include_str!("curves.js")];
const SCRIPTS: [&str; 3] =
    [include_str!("degrees.js"), include_str!("explorer.js"), include_str!("search.js")];

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Nothing to report on.
    #[error("no runs given: name at least one run folder")]
    NoRuns,
    /// A run without results.
    #[error("{run} has no finished seed, so there is nothing to report")]
    NoSeeds {
        /// Which run.
        run: String,
    },
    /// A result that is not a number.
    #[error("{run} has a test or validation metric that is not a number")]
    NotFinite {
        /// Which run.
        run: String,
    },
    /// A graph whose arrays do not fit each other.
    #[error("the graph of {run} is damaged: {reason}")]
    Graph {
        /// Which run.
        run: String,
        /// What does not fit.
        reason: String,
    },
    /// Data that cannot be written.
    #[error("the report's data cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The page for these runs, in the order given.
pub fn render(runs: &[RunRecord]) -> Result<String, ReportError> {
    if runs.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let (runs, groups) = compare::compare(runs)?;
    for run in &runs {
        if let Some(graph) = &run.record.graph {
            let named = |reason| ReportError::Graph { run: run.name.clone(), reason };
            graph.check().map_err(named)?;
        }
    }
    let graphs: Vec<_> = runs
        .iter()
        .filter_map(|r| r.record.graph.as_ref().map(|g| (r.label.as_str(), g)))
        .collect();
    let nodes: usize = graphs.iter().map(|g| g.1.node_ids.len()).sum();
    let limit = if nodes > graph::ALL_NODES { graph::SOME_NODES } else { nodes };

    let mut panels = String::new();
    for (at, (name, g)) in graphs.iter().enumerate() {
        panels.push_str(&graph::panel(g, at, name, limit));
    }
    let hidden = |hide: bool| if hide { "hidden" } else { "" };
    let sections = fill(SECTIONS, |slot| match slot {
        "graphs" => panels.clone(),
        "no_graph" => hidden(!graphs.is_empty()).into(),
        "has_graph" => hidden(graphs.is_empty()).into(),
        _ => String::new(),
    });
    let nav: &[_] = if graphs.is_empty() {
        &[]
    } else {
        &[("graph", "Learned graph", false), ("explorer", "Explorer", true)]
    };
    let parts = Parts {
        nav,
        results: table::comparison(&runs, &groups),
        sections,
        drawn: "The curves, the degree histogram and the neighbourhood explorer",
        data: payload::json(&payload::payload(&runs, limit))?,
        scripts: &SCRIPTS,
    };
    Ok(page(&runs, &groups, &parts))
}

/// What a page on one task has that those on others have not.
struct Parts<'a> {
    /// Sections between training and how to run again: id, title, and whether they need a script.
    nav: &'a [(&'a str, &'a str, bool)],
    /// Tables of results.
    results: String,
    /// The sections themselves.
    sections: String,
    /// What is missing without JavaScript.
    drawn: &'a str,
    /// Data of the charts, as JSON.
    data: String,
    /// What draws the sections.
    scripts: &'a [&'a str],
}

/// The page around the parts.
fn page(runs: &[Run], groups: &[Group], parts: &Parts) -> String {
    let headline = compare::headline(runs, groups);
    let mut account = String::new();
    for group in groups {
        let _ = writeln!(account, "<p>{}</p>", escape(&compare::account(runs, group)));
        let differences = compare::differences(runs, group);
        match &differences[..] {
            [] => {}
            [one] => {
                let _ = writeln!(account, "<p>{}</p>", escape(one));
            }
            many => {
                let items: String =
                    many.iter().map(|d| format!("<li>{}</li>", escape(d))).collect();
                let _ = writeln!(account, "<ul>{items}</ul>");
            }
        }
    }
    let nav = parts.nav.iter().map(|(id, title, script)| {
        let class = if *script { " class=\"needs-script\"" } else { "" };
        format!("<li{class}><a href=\"#{id}\">{title}</a></li>")
    });
    let nav: String = nav.collect();
    let date = runs.iter().map(|r| r.record.created.as_str()).max().unwrap_or_default();
    let scripts: Vec<&str> = SHARED.iter().chain(parts.scripts).copied().collect();
    let script = format!("(() => {{\n\"use strict\";\n{}\n}})();", scripts.join("\n"));
    let valid = runs.first().map_or_else(String::new, |run| match run.measure.lower {
        true => format!("{}, {}", run.record.metric, run.measure.unit),
        false => format!("score, {}", run.measure.unit),
    });
    fill(PAGE, |slot| match slot {
        "headline" => escape(&headline),
        "account" => account.clone(),
        "date" => escape(date),
        "day" => escape(date.get(..10).unwrap_or(date)),
        "nav" => nav.clone(),
        "comparison" => parts.results.clone(),
        "curve_summary" => table::curve_summary(runs),
        "valid" => escape(&valid),
        "sections" => parts.sections.clone(),
        "reproduction" => table::reproduction(runs),
        "drawn" => parts.drawn.into(),
        "version" => env!("CARGO_PKG_VERSION").into(),
        "style" => STYLE.into(),
        "data" => parts.data.clone(),
        "script" => script.clone(),
        _ => String::new(),
    })
}

/// Replaces each `{{slot}}` of the template once, in one pass: text put into a slot is never read again.
fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        match after.split_once("}}") {
            Some((slot, after)) => {
                out.push_str(&value(slot));
                rest = after;
            }
            None => rest = after,
        }
    }
    out + rest
}

#[cfg(test)]
mod tests;
