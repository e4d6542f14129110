//! The page's sections on nodes: the learned graph, and an explorer of its neighbourhoods.

use super::{Node, agreement, classes, known, links, scores, sizes};
use crate::{
    graph::GraphRecord,
    report::{Group, ReportError, Reportable, Run, Section, fill},
    run::Details,
    task::Task,
};
use serde::Serialize;

const SECTIONS: &str = include_str!("page/sections.html");
const SCRIPTS: [&str; 3] = [
    include_str!("../../report/degrees.js"),
    include_str!("page/explorer.js"),
    include_str!("page/search.js"),
];

/// A graph as the page draws it.
#[derive(Serialize)]
struct GraphData<'a> {
    name: &'a str,
    charts: Vec<sizes::SizeChart>,
    explorer: links::Explorer<'a>,
}

/// A graph on the page.
struct Shown {
    name: String,
    graph: GraphRecord,
    details: Details,
    /// What validation chose for the seed that is shown, if it had a choice.
    chosen: Option<String>,
}

impl Shown {
    fn of(run: &Run<Node>) -> Option<Self> {
        let choice = run.record.seeds.first().and_then(|seed| seed.choice.as_ref());
        Some(Self {
            name: run.label.clone(),
            graph: run.record.exhibit.as_ref()?.clone(),
            details: run.record.details(),
            chosen: choice.map(|choice| choice.chosen.clone()),
        })
    }

    /// What stands below the tiles.
    fn parts(&self, at: usize) -> String {
        let graph = &self.graph;
        let note = match self.chosen.as_deref() {
            Some("given") => {
                r#"<p class="note">Validation chose the given graph for this seed: the network uses it as it is, so nothing below differs from it.</p>"#
            }
            Some("none") => {
                r#"<p class="note">Validation chose no graph for this seed: every node is by itself.</p>"#
            }
            _ => "",
        };
        format!(
            "{note}{}<div class=\"pair\">{}{}{}</div>\n{}{}",
            sizes::table(graph),
            sizes::figures(graph, at),
            agreement::panel(graph),
            scores::panel(graph),
            known::panel(graph, &self.details),
            classes::panel(graph)
        )
    }
}

impl Reportable for Node {
    fn section(runs: &[Run<Self>], _groups: &[Group]) -> Result<Section, ReportError> {
        // The given graph as it is has nothing to show beside a learned one.
        let learns = |run: &&Run<Self>| run.record.learner != Self::PLAIN;
        let only_plain = !runs.iter().any(|run| learns(&run) && run.record.exhibit.is_some());
        let graphs: Vec<Shown> =
            runs.iter().filter(|run| only_plain || learns(run)).filter_map(Shown::of).collect();
        for Shown { name, graph, .. } in &graphs {
            let damaged = |reason| ReportError::Graph { run: name.clone(), reason };
            graph.check().map_err(damaged)?;
        }
        let nodes: usize = graphs.iter().map(|shown| shown.graph.node_ids.len()).sum();
        let limit = if nodes > links::ALL_NODES { links::SOME_NODES } else { nodes };
        let mut panels = String::new();
        for (at, shown) in graphs.iter().enumerate() {
            let parts = shown.parts(at);
            panels.push_str(&links::panel(&shown.graph, at, &shown.name, limit, &parts));
        }
        let data = |shown: &Shown| {
            serde_json::to_value(GraphData {
                name: &shown.name,
                charts: sizes::charts(&shown.graph),
                explorer: links::explorer(&shown.graph, limit),
            })
        };
        let data = graphs.iter().map(data).collect::<Result<Vec<_>, _>>()?;
        let hidden = |hide: bool| if hide { "hidden" } else { "" };
        let body = fill(SECTIONS, |slot| match slot {
            "graphs" => panels.clone(),
            "no_graph" => hidden(!graphs.is_empty()).into(),
            "has_graph" => hidden(graphs.is_empty()).into(),
            _ => String::new(),
        });
        let nav = vec![("graph", "Learned graph", false), ("explorer", "Explorer", true)];
        Ok(Section {
            nav: if graphs.is_empty() { Vec::new() } else { nav },
            results: String::new(),
            body,
            drawn: "The curves, the histograms of sizes and the neighbourhood explorer",
            data: serde_json::json!({ "graphs": data }),
            scripts: &SCRIPTS,
        })
    }
}
