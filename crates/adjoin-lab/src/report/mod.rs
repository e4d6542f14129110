//! One HTML page on one or more runs: what was trained, how well it did, what graph was learned.
//!
//! The page is a single file without network requests. Headline, tables and homophily are written here
//! and need no JavaScript; curves, histograms and the neighbourhood explorer are drawn by the
//! embedded scripts from JSON.

mod choice;
mod compare;
mod draw;
mod measure;
mod payload;
mod table;
mod text;

pub use compare::{Group, Run};
pub(crate) use draw::{Bars, Scatter, bars, scatter};
pub use payload::GraphData;
pub(crate) use table::{Line, cards, dumbbell, maybe_percent, number, run_line, untrained_line};
pub(crate) use text::{escape, percent, spelling};

use crate::{run::RunRecord, task::Task};
use serde_json::Value;
use std::fmt::Write;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
/// What the charts need on any page.
const SHARED: [&str; 2] = [include_str!("script.js"), include_str!("curves.js")];
/// What goes over the finished page.
const LAST: &str = include_str!("downloads.js");

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

/// A task that a page can be written on.
pub trait Reportable: Task {
    /// What its page has that those of other tasks have not.
    fn section(runs: &[Run<Self>], groups: &[Group]) -> Result<Section, ReportError>;
}

/// What a page on one task has that those on others have not.
pub struct Section {
    /// Sections between training and how to run again: id, title, and whether they need a script.
    pub nav: Vec<(&'static str, &'static str, bool)>,
    /// Further tables of results.
    pub results: String,
    /// The sections themselves.
    pub body: String,
    /// What is missing without JavaScript.
    pub drawn: &'static str,
    /// Data of the charts.
    pub data: Value,
    /// What draws the sections.
    pub scripts: &'static [&'static str],
}

/// The page for these runs, in the order given.
///
/// # Errors
/// If there is no run, or one without results.
pub fn render<T: Reportable>(records: &[RunRecord<T>]) -> Result<String, ReportError> {
    if records.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let (runs, groups) = compare::compare(records)?;
    let mut section = T::section(&runs, &groups)?;
    let data = payload::json(&runs, std::mem::take(&mut section.data))?;
    Ok(page(&runs, &groups, &section, &data))
}

/// The page around the parts.
fn page<T: Task>(runs: &[Run<T>], groups: &[Group], section: &Section, data: &str) -> String {
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
    let nav = section.nav.iter().map(|(id, title, script)| {
        let class = if *script { " class=\"needs-script\"" } else { "" };
        format!("<li{class}><a href=\"#{id}\">{title}</a></li>")
    });
    let nav: String = nav.collect();
    let date = runs.iter().map(|r| r.record.created.as_str()).max().unwrap_or_default();
    let scripts: Vec<&str> = SHARED.iter().chain(section.scripts).copied().chain([LAST]).collect();
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
        "comparison" => table::comparison(runs, groups) + &choice::panels(runs) + &section.results,
        "curve_summary" => table::curve_summary(runs),
        "valid" => escape(&valid),
        "sections" => section.body.clone(),
        "reproduction" => table::reproduction(runs),
        "drawn" => section.drawn.into(),
        "version" => env!("CARGO_PKG_VERSION").into(),
        "style" => STYLE.into(),
        "data" => data.into(),
        "script" => script.clone(),
        _ => String::new(),
    })
}

/// Replaces each `{{slot}}` of the template once, in one pass: text put into a slot is never read again.
pub(crate) fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
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
