//! What `adjoin train` and `adjoin evaluate` say of some runs.

use crate::table::{number, p_value, spread, table};
use adjoin_lab::{
    run::{Details, RunRecord, by_data, plain_of, warnings},
    stats::Paired,
    task::{Column, Degree, Measure, Metrics, Task},
};
use std::path::Path;

/// Columns of the test metrics that a person looks at, with their places.
pub fn shown<T: Task>() -> Vec<(usize, &'static Column)> {
    let columns = T::Metrics::COLUMNS.iter().enumerate();
    columns.filter(|(_, column)| column.measure != Measure::LOSS).collect()
}

/// For every dataset a table of the learners and differences to one of them; then where the report is.
pub fn text<T: Task>(records: &[RunRecord<T>], report: &Path) -> String {
    let tables: Vec<String> = by_data(records).map(of_data).collect();
    tables.join("\n\n") + &format!("\nreport: {}\n", report.display())
}

fn of_data<T: Task>(records: &[RunRecord<T>]) -> String {
    let Some(first) = records.first() else { return String::new() };
    let measure = T::Metrics::COLUMNS[0].measure;
    let better = if measure.lower { "lower" } else { "higher" };
    let split = match first.split.is_empty() {
        true => String::new(),
        false => format!(", split {} ({})", first.split, first.split_hash),
    };
    let mut out = format!(
        "{} with {}{split}: test results in {}, mean ± standard deviation over {} seeds; {better} is better\n\n{}",
        first.dataset,
        first.backbone,
        measure.unit,
        first.seeds.len(),
        results(records),
    );
    if let Some(plain) = plain_of(records).filter(|_| records.len() > 1) {
        out += &format!(
            "\nminus {} with the same seed; p: paired t-test\n\n{}",
            plain.learner,
            differences(records, plain)
        );
    }
    out += &chosen(records);
    let details: Vec<_> =
        records.iter().map(|record| (record.learner.clone(), record.details())).collect();
    out += &known(&details);
    if records.iter().any(|record| record.degrees().len() > 1) {
        out += &format!("\n{}", degrees(records));
    }
    for warning in warnings(records) {
        out += &format!("\nwarning: {warning}\n");
    }
    out
}

/// What validation chose, where it had a choice of graphs: how often each, and what each reached.
fn chosen<T: Task>(records: &[RunRecord<T>]) -> String {
    let measure = T::Metrics::COLUMNS[0].measure;
    let mut rows = Vec::new();
    for record in records {
        for tally in record.choices() {
            let times = format!("{} of {}", tally.chosen, record.seeds.len());
            rows.push(vec![
                record.learner.clone(),
                tally.graph,
                spread(measure, tally.valid),
                times,
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    rows.insert(0, ["learner", "graph", "validation", "chosen"].map(String::from).to_vec());
    format!("\nthe graphs that validation chose among\n\n{}", table(&rows))
}

fn results<T: Task>(records: &[RunRecord<T>]) -> String {
    let columns = shown::<T>();
    let mut rows = vec![vec!["learner".to_string(), "validation".into()]];
    rows[0].extend(columns.iter().map(|(_, column)| column.title.to_string()));
    rows[0].extend(["ms/step", "steps", "seconds"].map(String::from));
    for record in records {
        let mut row = vec![record.learner.clone()];
        row.push(spread(T::Metrics::COLUMNS[0].measure, record.valid(0)));
        row.extend(columns.iter().map(|(at, column)| spread(column.measure, record.test(*at))));
        let [steps, seconds] = record.budget();
        row.extend([
            format!("{:.1}", record.ms_per_step),
            format!("{steps:.0}"),
            format!("{seconds:.1}"),
        ]);
        rows.push(row);
    }
    for reference in records.first().into_iter().flat_map(|record| &record.references) {
        let values = reference.test.values();
        let mut row = vec![format!("({})", reference.name), "-".into()];
        row.extend(columns.iter().map(|(at, column)| number(column.measure, values[*at])));
        row.extend(["-", "-", "-"].map(String::from));
        rows.push(row);
    }
    table(&rows)
        + "steps and seconds of a seed: teacher and all graphs that validation chose among included\n"
}

/// Learned graphs against what is known of the edges; empty when nothing is.
pub fn known(runs: &[(String, Details)]) -> String {
    let Some((_, first)) = runs.iter().find(|(_, details)| !details.is_empty()) else {
        return String::new();
    };
    let mut rows = vec![vec!["learner".to_string()]];
    rows[0].extend(first.iter().map(|(column, _)| column.title.to_string()));
    for (learner, details) in runs {
        let mut row = vec![learner.clone()];
        row.extend(details.iter().map(|(column, found)| spread(column.measure, *found)));
        rows.push(row);
    }
    let planted = first.iter().any(|(column, _)| column.key == "k_correlation");
    let more = if planted { "; rank correlations are with the planted numbers" } else { "" };
    format!("\nthe learned graph against what is known of the edges{more}\n\n{}", table(&rows))
}

fn differences<T: Task>(records: &[RunRecord<T>], plain: &RunRecord<T>) -> String {
    let columns = shown::<T>();
    let mut rows = vec![vec!["learner".to_string()]];
    for (_, column) in &columns {
        rows[0].extend([column.title.to_string(), "%".into(), "p".into()]);
    }
    for record in records.iter().filter(|record| record.learner != plain.learner) {
        let mut row = vec![record.learner.clone()];
        for (at, column) in &columns {
            let of = plain.test(*at).map_or(f64::NAN, |summary| summary.mean);
            row.extend(difference(column.measure, record.paired_with(plain, *at), of));
        }
        rows.push(row);
    }
    table(&rows)
}

/// The difference, the same in per cent of the other's mean, and its p.
fn difference(measure: Measure, paired: Option<Paired>, of: f64) -> [String; 3] {
    let dash = || "-".to_string();
    let Some(Paired { difference, p }) = paired else { return [dash(), dash(), dash()] };
    let sign = if difference.mean >= 0.0 { "+" } else { "" };
    [
        format!("{sign}{}", spread(measure, Some(difference))),
        format!("{:+.1}", 100.0 * difference.mean / of),
        p.map_or_else(dash, p_value),
    ]
}

/// Neighbours by layer, at the best epoch, mean and standard deviation over the nodes; seeds averaged.
fn degrees<T: Task>(records: &[RunRecord<T>]) -> String {
    let layers = records.iter().map(|record| record.degrees().len()).max().unwrap_or(0);
    let mut rows = vec![vec!["neighbours".to_string()]];
    rows[0].extend((1..=layers).map(|layer| format!("layer {layer}")));
    for record in records {
        let mut row = vec![record.learner.clone()];
        let pair = |Degree { mean, std }: Degree| format!("{mean:.1} ± {std:.1}");
        row.extend(record.degrees().into_iter().map(pair));
        row.resize(layers + 1, "-".into());
        rows.push(row);
    }
    format!("{}mean ± standard deviation over validation points, itself included\n", table(&rows))
}
