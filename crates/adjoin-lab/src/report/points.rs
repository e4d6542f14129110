//! The page on runs of point clouds: accuracies, curves, shapes that can be turned, and degrees by layer.

use super::{
    Parts, ReportError,
    compare::{self, Run},
    fill, page, payload,
    table::{Line, cards, comparison, run_line},
    text::escape,
};
use crate::{
    points::PointsRecord,
    record::{RunRecord, summary},
};
use std::fmt::Write;

const SECTIONS: &str = include_str!("points.html");
const SCRIPTS: [&str; 2] = [include_str!("degrees.js"), include_str!("clouds.js")];

/// The page for these runs, in the order given.
///
/// # Errors
/// If there is no run, or one without results.
pub fn render_points(records: &[PointsRecord]) -> Result<String, ReportError> {
    if records.is_empty() {
        return Err(ReportError::NoRuns);
    }
    let views: Vec<RunRecord> = records.iter().map(|record| record.run.clone()).collect();
    let (runs, groups) = compare::compare(&views)?;
    let mut results = comparison(&runs, &groups);
    for group in &groups {
        results.push_str(&accuracies(&runs, records, group));
    }
    let shown = records.iter().any(|record| !record.clouds.is_empty());
    let sections = fill(SECTIONS, |slot| match slot {
        "has_clouds" => if shown { "" } else { "hidden" }.into(),
        "layers" => layers(&runs),
        _ => String::new(),
    });
    let nav = [("clouds", "Clouds", true), ("layers", "Degrees", false)];
    let parts = Parts {
        nav: if shown { &nav[..] } else { &nav[1..] },
        results,
        sections,
        drawn: "The curves, the clouds and the degree histograms",
        data: payload::json(&payload::points(&runs, records))?,
        scripts: &SCRIPTS,
    };
    Ok(page(&runs, &groups, &parts))
}

/// Shares of right answers among all test clouds, and averaged over the classes.
fn accuracies(runs: &[Run], records: &[PointsRecord], group: &[usize]) -> String {
    let line = |&at: &usize| {
        let (run, record) = (&runs[at], &records[at]);
        let means = summary(&record.mean_class);
        let cells = [Some(run.test), means]
            .map(|found| found.map_or_else(|| "–".into(), |found| run.measure.summary(&found)));
        run_line(at, run, cells.to_vec())
    };
    let lines: Vec<Line> = group.iter().map(line).collect();
    let caption = "Test accuracy in %: rare classes count as much as frequent ones in the second";
    cards("errors", caption, "Run", &["All shapes", "Mean over classes"], &lines)
}

/// Mean and deviation of the degree, a row a layer and a column a run.
fn layers(runs: &[Run]) -> String {
    let degrees: Vec<Vec<[f64; 2]>> = runs.iter().map(|run| run.record.degrees()).collect();
    let most = degrees.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::from(
        r#"<div class="scroll" tabindex="0" role="region" aria-label="Neighbours by layer"><table class="plain by-layer"><thead><tr><th scope="col">Layer</th>"#,
    );
    for run in runs {
        let _ = write!(out, r#"<th scope="col" class="r">{}</th>"#, escape(&run.label));
    }
    out.push_str("</tr></thead><tbody>");
    for layer in 0..most {
        let _ = write!(out, r#"<tr><th scope="row" class="num">{}</th>"#, layer + 1);
        for run in &degrees {
            let cell = run.get(layer).map_or_else(
                || "–".into(),
                |[mean, deviation]| format!("{mean:.1} ± {deviation:.1}"),
            );
            let _ = write!(out, r#"<td class="r num">{cell}</td>"#);
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table></div>\n"
}
