//! The page's sections on nodes: the learned graph, and an explorer of its neighbourhoods.

use super::{Node, known, links};
use crate::{
    graph::GraphRecord,
    report::{GraphData, Group, ReportError, Reportable, Run, Section, fill},
    run::Details,
};

const SECTIONS: &str = include_str!("page/sections.html");
const SCRIPTS: [&str; 3] = [
    include_str!("../../report/degrees.js"),
    include_str!("page/explorer.js"),
    include_str!("page/search.js"),
];

impl Reportable for Node {
    fn section(runs: &[Run<Self>], _groups: &[Group]) -> Result<Section, ReportError> {
        let of = |run: &Run<Self>| {
            let graph = run.record.exhibit.as_ref()?.clone();
            Some((run.label.clone(), graph, run.record.details()))
        };
        let graphs: Vec<(String, GraphRecord, Details)> = runs.iter().filter_map(of).collect();
        for (run, graph, _) in &graphs {
            let damaged = |reason| ReportError::Graph { run: run.clone(), reason };
            graph.check().map_err(damaged)?;
        }
        let nodes: usize = graphs.iter().map(|(_, graph, _)| graph.node_ids.len()).sum();
        let limit = if nodes > links::ALL_NODES { links::SOME_NODES } else { nodes };
        let mut panels = String::new();
        for (at, (name, graph, details)) in graphs.iter().enumerate() {
            let known = known::panel(graph, details);
            panels.push_str(&links::panel(graph, at, name, limit, &known));
        }
        let data = |(name, graph, _): &(String, GraphRecord, Details)| {
            serde_json::to_value(GraphData {
                name,
                has_k: !graph.degrees.is_empty(),
                degrees: links::histogram(graph),
                noun: "node",
                input: Some("in the input"),
                explorer: Some(links::explorer(graph, limit)),
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
            drawn: "The curves, the degree histogram and the neighbourhood explorer",
            data: serde_json::json!({ "graphs": data }),
            scripts: &SCRIPTS,
        })
    }
}
