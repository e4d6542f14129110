//! The page on runs of point clouds: accuracies, curves, shapes that can be turned, and degrees by layer.

use super::Points;
use crate::{
    histogram::DegreeHistogram,
    report::{
        GraphData, Group, Line, ReportError, Reportable, Run, Section, cards, escape, fill,
        run_line,
    },
    task::Degree,
};
use std::fmt::Write;

const SECTIONS: &str = include_str!("page/sections.html");
const SCRIPTS: [&str; 2] =
    [include_str!("../../report/degrees.js"), include_str!("page/clouds.js")];

impl Reportable for Points {
    fn section(runs: &[Run<Self>], groups: &[Group]) -> Result<Section, ReportError> {
        let results = groups.iter().map(|group| accuracies(runs, group)).collect();
        let shown = runs.iter().any(|run| !run.record.exhibit.clouds.is_empty());
        let body = fill(SECTIONS, |slot| match slot {
            "has_clouds" => if shown { "" } else { "hidden" }.into(),
            "layers" => layers(runs),
            _ => String::new(),
        });
        let mut nav = vec![("layers", "Degrees", false)];
        if shown {
            nav.insert(0, ("clouds", "Clouds", true));
        }
        let degrees = |run: &Run<Self>| -> Result<Vec<_>, serde_json::Error> {
            let layer = |degrees: &DegreeHistogram| {
                serde_json::to_value(GraphData::<()> {
                    name: &run.label,
                    has_k: run.record.exhibit.has_k,
                    degrees: degrees.clone(),
                    noun: "point",
                    input: None,
                    explorer: None,
                })
            };
            run.record.exhibit.layers.iter().map(layer).collect()
        };
        let degrees = runs.iter().map(degrees).collect::<Result<Vec<_>, _>>()?;
        let clouds: Vec<_> = runs.iter().map(|run| &run.record.exhibit.clouds).collect();
        Ok(Section {
            nav,
            results,
            body,
            drawn: "The curves, the clouds and the degree histograms",
            data: serde_json::json!({ "clouds": clouds, "layers": degrees }),
            scripts: &SCRIPTS,
        })
    }
}

/// Shares of right answers among all test clouds, and averaged over the classes.
fn accuracies(runs: &[Run<Points>], group: &[usize]) -> String {
    let line = |&at: &usize| {
        let run = &runs[at];
        let cells = [0, 1]
            .map(|column| run.record.test(column))
            .map(|found| found.map_or_else(|| "–".into(), |found| run.measure.summary(&found)));
        run_line(at, run, cells.to_vec())
    };
    let lines: Vec<Line> = group.iter().map(line).collect();
    let caption = "Test accuracy in %: rare classes count as much as frequent ones in the second";
    cards("errors", caption, "Run", &["All shapes", "Mean over classes"], &lines)
}

/// Mean and standard deviation of the degree, a row a layer and a column a run.
fn layers(runs: &[Run<Points>]) -> String {
    let degrees: Vec<Vec<Degree>> = runs.iter().map(|run| run.record.degrees()).collect();
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
            let cell = run
                .get(layer)
                .map_or_else(|| "–".into(), |Degree { mean, std }| format!("{mean:.1} ± {std:.1}"));
            let _ = write!(out, r#"<td class="r num">{cell}</td>"#);
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table></div>\n"
}
