//! The page on runs of trajectories: errors, curves, scenes that move, and degrees.

use super::{Trajectory, TrajectoryMetrics};
use crate::{
    report::{
        GraphData, Group, Line, ReportError, Reportable, Run, Section, cards, escape, fill,
        run_line, spelling, untrained_line,
    },
    task::{Measure, Metrics},
};

const SECTIONS: &str = include_str!("page/sections.html");
const SCRIPTS: [&str; 2] =
    [include_str!("../../report/degrees.js"), include_str!("page/scenes.js")];

/// The three ways of counting errors: their title and the column of their ADE, which FDE follows.
const WAYS: [(&str, usize); 3] =
    [("Best sample of each agent", 0), ("Best sample for the scene", 2), ("Most likely path", 4)];

impl Reportable for Trajectory {
    fn section(runs: &[Run<Self>], groups: &[Group]) -> Result<Section, ReportError> {
        let results = groups.iter().map(|group| all_errors(runs, group)).collect();
        let mut degrees = String::new();
        for (at, run) in runs.iter().enumerate() {
            degrees.push_str(&degree_panel(at, run));
        }
        let moving = runs.iter().any(|run| !run.record.exhibit.scenes.is_empty());
        let body = fill(SECTIONS, |slot| match slot {
            "degrees" => degrees.clone(),
            "has_scenes" => if moving { "" } else { "hidden" }.into(),
            _ => String::new(),
        });
        let mut nav = vec![("degrees", "Degrees", true)];
        if moving {
            nav.insert(0, ("scenes", "Scenes", true));
        }
        let graph = |run: &Run<Self>| {
            serde_json::to_value(GraphData::<()> {
                name: &run.label,
                has_k: run.record.exhibit.has_k,
                degrees: run.record.exhibit.degrees.clone(),
                noun: "position",
                input: Some("with so many others in the frame"),
                explorer: None,
            })
        };
        let graphs = runs.iter().map(graph).collect::<Result<Vec<_>, _>>()?;
        let scenes: Vec<_> = runs.iter().map(|run| &run.record.exhibit.scenes).collect();
        let seconds = runs.first().map_or(0.0, |run| run.record.exhibit.seconds);
        Ok(Section {
            nav,
            results,
            body,
            drawn: "The curves, the scenes and the degree histograms",
            data: serde_json::json!({ "graphs": graphs, "scenes": scenes, "seconds": seconds }),
            scripts: &SCRIPTS,
        })
    }
}

/// Every way of counting errors, beside predictions that need no training.
fn all_errors(runs: &[Run<Trajectory>], group: &[usize]) -> String {
    let Some(&first) = group.first() else { return String::new() };
    let first = runs[first].record;
    let measure = Measure::METRES;
    let mut lines: Vec<Line> = Vec::new();
    for &at in group {
        let number = |column: usize| {
            let found = runs[at].record.test(column);
            found.map_or_else(|| "–".into(), |found| measure.summary(&found))
        };
        let cells = WAYS.map(|(_, ade)| format!("{} / {}", number(ade), number(ade + 1)));
        lines.push(run_line(at, &runs[at], cells.to_vec()));
    }
    for reference in &first.references {
        let values = TrajectoryMetrics::values(&reference.test);
        let number = |column: usize| measure.number(values[column]);
        let cells = WAYS.map(|(_, ade)| format!("{} / {}", number(ade), number(ade + 1)));
        lines.push(untrained_line(&reference.name, cells.to_vec()));
    }
    let caption = format!(
        "All test errors on the same scenes of {}, ADE / FDE in metres, best of {} samples; lower is better",
        escape(&spelling(&first.dataset)),
        first.exhibit.samples
    );
    cards("errors", &caption, "Prediction", &WAYS.map(|(way, _)| way), &lines)
}

fn degree_panel(at: usize, run: &Run<Trajectory>) -> String {
    format!(
        r#"<figure class="panel"><h3>{}</h3><p class="legend"><span><i class="box input"></i>others in the frame</span><span><i class="box learned"></i>{}</span></p><div class="chart" data-chart="degrees" data-graph="{at}"></div><p class="readout" data-readout="degrees-{at}">&nbsp;</p></figure>
"#,
        escape(&run.label),
        if run.record.exhibit.has_k { "learned k" } else { "neighbours in the graph" },
    )
}
