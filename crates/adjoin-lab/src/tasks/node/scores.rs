//! Scores of candidates, by what became of them.

use super::links::{Fate, links};
use crate::{
    graph::GraphRecord,
    report::{Bars, bars, number},
};
use std::fmt::Write;

/// Equal parts of 0 to 1 that scores are counted in.
pub const BINS: usize = 20;

/// The part of 0 to 1 that a score is in.
pub fn bin(score: f32) -> usize {
    ((score * BINS as f32) as usize).min(BINS - 1)
}

/// Names of the groups, in the words of the page.
const NAMES: [(&str, &str); 4] = [
    ("Kept", "given links that stay"),
    ("Dropped", "given links that are gone"),
    ("Added", "links that were not given"),
    ("Passed over", "candidates that were not given, and are not added"),
];

/// Scores of one group: how many candidates are in each part of 0 to 1, and how many of these were injected.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    counts: Vec<u32>,
    injected: Vec<u32>,
}

/// The groups in the order of [`NAMES`]; none where the learner has no scores.
fn groups(g: &GraphRecord) -> Option<[Group; 4]> {
    let scores = g.scores.as_ref()?;
    let empty = || Group { counts: vec![0; BINS], injected: vec![0; BINS] };
    let mut all = [empty(), empty(), empty(), empty()];
    for node in 0..g.node_ids.len() {
        for link in links(g, node) {
            let Some(score) = link.score else { continue };
            let group = match link.fate {
                Fate::Kept => &mut all[0],
                Fate::Dropped => &mut all[1],
                Fate::New => &mut all[2],
            };
            group.counts[bin(score)] += 1;
            group.injected[bin(score)] += u32::from(g.is_injected(node, link.to));
        }
    }
    for (own, count) in all[3].counts.iter_mut().zip(&scores.passed_over) {
        *own += count;
    }
    Some(all)
}

/// The figure on scores; empty where there are none.
pub fn panel(g: &GraphRecord) -> String {
    let Some(groups) = groups(g) else { return String::new() };
    let marked = !g.injected.is_empty();
    let legend = match marked {
        true => {
            r#"<p class="legend"><span><i class="box learned"></i>given or added</span><span><i class="box injected"></i>injected</span></p>"#
        }
        false => "",
    };
    let mut out = format!(
        r#"<figure class="panel scores"><h4>Scores of the candidates</h4><p class="hint">The score p of every candidate, from 0 to 1, by what became of it. Every group has a scale of its own.</p>{legend}<div class="small-charts">"#
    );
    for ((name, meaning), group) in NAMES.iter().zip(&groups) {
        let total: u32 = group.counts.iter().sum();
        if total == 0 {
            let _ =
                write!(out, r#"<div><h5>{name}</h5><p class="hint">None: {meaning}.</p></div>"#);
            continue;
        }
        let injected: u32 = group.injected.iter().sum();
        let mean = (0..BINS)
            .map(|bin| f64::from(group.counts[bin]) * (bin as f64 + 0.5) / BINS as f64)
            .sum::<f64>()
            / f64::from(total);
        let also = match injected {
            0 => String::new(),
            some => format!(", {} of them injected", number(some as usize)),
        };
        let _ = write!(
            out,
            r#"<div><h5>{name}</h5><p class="hint">{} {meaning}{also}; mean score {mean:.2}</p>{}</div>"#,
            number(total as usize),
            bars(&Bars {
                label: &format!("Scores of {}", meaning),
                counts: &group.counts,
                marked: &group.injected,
                ends: ["0", "score", "1"],
            })
        );
    }
    out.push_str("</div>");
    out.push_str(&table(&groups, marked));
    out + "</figure>"
}

/// The same as a table.
fn table(groups: &[Group; 4], marked: bool) -> String {
    let mut out = String::from(
        r#"<details class="table-alternative"><summary>The same as a table</summary><div class="scroll tall" tabindex="0" role="region" aria-label="Scores as a table"><table class="plain"><thead><tr><th scope="col">Score</th>"#,
    );
    for (name, _) in NAMES {
        let _ = write!(out, r#"<th scope="col" class="r">{name}</th>"#);
    }
    if marked {
        out.push_str(r#"<th scope="col" class="r">Injected, kept</th><th scope="col" class="r">Injected, dropped</th>"#);
    }
    out.push_str("</tr></thead><tbody>");
    for bin in 0..BINS {
        let (low, high) = (bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64);
        let _ = write!(out, r#"<tr><th scope="row" class="num">{low:.2}–{high:.2}</th>"#);
        let injected = marked.then(|| [&groups[0].injected, &groups[1].injected]);
        let injected = injected.into_iter().flatten();
        for counts in groups.iter().map(|group| &group.counts).chain(injected) {
            let _ = write!(out, r#"<td class="r num">{}</td>"#, counts[bin]);
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table></div></details>"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ScoreRecord;

    /// Node 0 keeps 1, drops the injected 2 and adds 3.
    fn scored() -> GraphRecord {
        GraphRecord {
            node_ids: ["a", "b", "c", "d"].map(String::from).to_vec(),
            class_names: vec!["x".into()],
            labels: vec![None; 4],
            predicted: vec![0; 4],
            part: vec![0; 4],
            input_pointers: vec![0, 2, 2, 2, 2],
            input_indices: vec![1, 2],
            learned_pointers: vec![0, 2, 2, 2, 2],
            learned_indices: vec![1, 3],
            learned_weights: vec![1.0, 0.5],
            injected: vec![false, true],
            scores: Some(ScoreRecord {
                input: vec![Some(0.9), Some(0.02)],
                learned: vec![Some(0.9), Some(1.0)],
                passed_over: (0..BINS as u32).collect(),
            }),
            ..GraphRecord::default()
        }
    }

    #[test]
    fn every_candidate_is_counted_where_it_ended() {
        let graph = scored();
        graph.check().unwrap();
        let [kept, dropped, added, passed] = groups(&graph).unwrap();
        assert_eq!((kept.counts[18], kept.counts.iter().sum::<u32>()), (1, 1));
        assert_eq!((dropped.counts[0], dropped.injected[0]), (1, 1));
        assert_eq!((added.counts[19], added.injected.iter().sum::<u32>()), (1, 0));
        assert_eq!(passed.counts, (0..BINS as u32).collect::<Vec<_>>());
        let page = panel(&graph);
        assert!(page.contains("1 given links that are gone, 1 of them injected"), "{page}");
        assert_eq!(page.matches("bar injected").count(), 1, "{page}");
    }

    #[test]
    fn learners_without_scores_say_nothing_and_damage_is_found() {
        assert_eq!(panel(&GraphRecord { scores: None, ..scored() }), "");
        let mut bad = scored();
        bad.scores = bad.scores.map(|scores| ScoreRecord { input: vec![None], ..scores });
        assert!(bad.check().unwrap_err().contains("scores.input"));
        let mut bad = scored();
        bad.scores = bad.scores.map(|s| ScoreRecord { learned: vec![Some(2.0), None], ..s });
        assert!(bad.check().unwrap_err().contains("outside 0 to 1"));
    }
}
