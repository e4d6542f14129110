//! What validation chose, and what was trained to let it choose.

use super::{
    compare::Run,
    table::{Line, cards},
    text::{count, escape, joined},
};
use crate::{
    run::SeedRecord,
    stats::{Summary, summary},
    task::{Measure, Metrics, Settings, Task},
};
use std::fmt::Write;

/// Of every run whose learner let validation choose a graph: what each graph reached, seed by seed and in sum,
/// and by how much the chosen one was ahead. Empty where there was no choice.
pub fn panels<T: Task>(runs: &[Run<T>]) -> String {
    let mut out = String::new();
    for run in runs.iter().filter(|run| !run.record.choices().is_empty()) {
        if out.is_empty() {
            out.push_str(
                "<h3 id=\"choice\">What validation chose</h3>\n<p class=\"intro\">The learned graph is used \
                 only where it is the best on validation data; among equals the lower validation loss decides. \
                 Tests took no part.</p>\n",
            );
        }
        out.push_str(&panel(run));
    }
    out + &trained(runs)
}

fn panel<T: Task>(run: &Run<T>) -> String {
    let Measure { unit, points, .. } = run.measure;
    let tallies = run.record.choices();
    let graphs: Vec<&str> = tallies.iter().map(|tally| tally.graph.as_str()).collect();
    let mut titles: Vec<String> =
        graphs.iter().map(|graph| format!("{}, {unit}", title(graph))).collect();
    titles.push("Chosen".into());
    titles.push(format!("Ahead of the next, {points}"));
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut lines = Vec::new();
    let mut leads = Vec::new();
    for seed in &run.record.seeds {
        let Some(choice) = &seed.choice else { continue };
        let mut cells: Vec<String> = graphs
            .iter()
            .map(|graph| {
                let found = choice.alternatives.iter().find(|one| one.graph == *graph);
                let text = found.map_or("–".into(), |one| run.measure.number(one.valid.value()));
                if *graph == choice.chosen { format!("<b>{text}</b>") } else { text }
            })
            .collect();
        cells.push(escape(&choice.chosen));
        let lead = lead(run.measure, seed);
        cells.push(lead.map_or("–".into(), |lead| run.measure.signed(lead)));
        leads.extend(lead);
        lines.push(Line::new(&format!("Seed {}", seed.seed), "", cells));
    }
    let mut cells: Vec<String> =
        tallies.iter().map(|tally| spread(run.measure, tally.valid)).collect();
    let times = tallies.iter().filter(|tally| tally.chosen > 0);
    let times = times.map(|tally| format!("{} {} of {}", tally.graph, tally.chosen, lines.len()));
    cells.push(escape(&joined(&times.collect::<Vec<_>>())));
    cells.push(spread(run.measure, summary(&leads)));
    lines.push(Line::new("All seeds", "all", cells));
    let caption = format!("{}: validation {}", escape(&run.label), escape(&run.record.metric));
    cards("choice", &caption, "Seed", &titles, &lines)
}

fn title(graph: &str) -> String {
    let mut letters = graph.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    escape(&format!("{first}{}", letters.as_str()))
}

fn spread(measure: Measure, found: Option<Summary>) -> String {
    found.map_or_else(|| "–".into(), |found| measure.summary(&found))
}

/// How much better the chosen graph is than the best of the others on validation data.
fn lead<T: Task>(measure: Measure, seed: &SeedRecord<T>) -> Option<f64> {
    let choice = seed.choice.as_ref()?;
    let better = |value: f64| if measure.lower { -value } else { value };
    let (chosen, others): (Vec<_>, Vec<_>) =
        choice.alternatives.iter().partition(|one| one.graph == choice.chosen);
    let next = others.iter().map(|one| better(one.valid.value())).reduce(f64::max)?;
    Some(better(chosen.first()?.valid.value()) - next)
}

/// What every run trained, where they differ in more than the learner: models, teachers, epochs and time.
fn trained<T: Task>(runs: &[Run<T>]) -> String {
    let mut lines = Vec::new();
    let mut more = false;
    for (at, run) in runs.iter().enumerate() {
        let seeds = &run.record.seeds;
        let taught = T::Config::read("", &run.record.config_toml)
            .is_ok_and(|config| T::teacher(&config).is_some());
        let models = seeds.iter().filter_map(|seed| seed.choice.as_ref());
        let models = models.map(|choice| choice.alternatives.len()).max().unwrap_or(1);
        more |= taught || models > 1;
        let epochs = |seed: &SeedRecord<T>| match &seed.choice {
            Some(choice) => choice.alternatives.iter().map(|one| one.epochs).sum::<usize>() as f64,
            None => seed.epochs as f64,
        };
        let epochs = summary(&seeds.iter().map(epochs).collect::<Vec<_>>());
        let seconds = summary(&seeds.iter().map(|seed| seed.seconds).collect::<Vec<_>>());
        let mut who = count(models, "model");
        if taught {
            let _ = write!(who, " and a teacher");
        }
        let number = |found: Option<Summary>, digits: usize| {
            found.map_or_else(|| "–".into(), |found| format!("{:.digits$}", found.mean))
        };
        let cells = vec![who, number(epochs, 0), number(seconds, 1)];
        lines.push(super::table::labelled_line(at, run, cells));
    }
    if !more {
        return String::new();
    }
    let caption = "What a seed trained, on average over the seeds. The time holds all of it: evidence, teacher and every model; the epochs are those of the models";
    let titles = ["Trained", "Epochs in all", "Seconds"];
    cards("errors", caption, "Run", &titles, &lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        run::{Alternative, Choice},
        tasks::{Node, node::NodeMetrics},
    };

    fn seed(chosen: &str, values: [f64; 3]) -> SeedRecord<Node> {
        let metrics = |accuracy: f64| NodeMetrics { accuracy, loss: 1.0, edges: None };
        let one = |(graph, value): (&str, f64)| Alternative {
            graph: graph.into(),
            valid: metrics(value),
            best_epoch: 1,
            epochs: 2,
        };
        let graphs = ["learned", "given", "none"].into_iter().zip(values);
        SeedRecord {
            seed: 0,
            valid: metrics(values[0]),
            test: metrics(0.5),
            best_epoch: 1,
            epochs: 2,
            steps: 0,
            cut_short: false,
            seconds: 1.0,
            choice: Some(Choice { chosen: chosen.into(), alternatives: graphs.map(one).collect() }),
            curve: Vec::new(),
        }
    }

    #[test]
    fn the_lead_is_over_the_best_of_the_others() {
        let near = |found: Option<f64>, wanted: f64| {
            assert!((found.unwrap() - wanted).abs() < 1e-12, "{found:?}");
        };
        near(lead(Measure::PERCENT, &seed("learned", [0.8, 0.7, 0.75])), 0.05);
        near(lead(Measure::PERCENT, &seed("given", [0.8, 0.8, 0.75])), 0.0);
        near(lead(Measure::METRES, &seed("none", [0.8, 0.7, 0.65])), 0.05);
        let alone = SeedRecord { choice: None, ..seed("none", [0.0; 3]) };
        assert_eq!(lead(Measure::PERCENT, &alone), None);
    }
}
