//! Which runs may be compared with which, and the headline that follows from it.

use super::{
    ReportError,
    text::{self, NBSP, Verdict, spelling},
};
use crate::{
    run::RunRecord,
    stats::{Paired, Summary},
    task::{Measure, Metrics, Task},
};

/// A run as the page shows it.
pub struct Run<'a, T: Task> {
    /// What it left behind.
    pub record: &'a RunRecord<T>,
    /// `GCN with DGG`; numbered when two runs would have the same name.
    pub name: String,
    /// The name with the data it ran on, where the page has several kinds.
    pub label: String,
    /// How its numbers are written.
    pub measure: Measure,
    /// The main number of the tests over the seeds.
    pub test: Summary,
    /// The same of the validation at the best epochs.
    pub valid: Summary,
    /// The run this one is measured against, by position, and the difference to it.
    pub against: Option<(usize, Option<Paired>)>,
}

/// Runs on the same data, split and metric: positions into the list of runs.
pub type Group = Vec<usize>;

/// Names the runs, puts the comparable ones into groups and pairs each with its baseline: the same
/// backbone without a learner, else the first run of the group.
pub fn compare<T: Task>(
    records: &[RunRecord<T>],
) -> Result<(Vec<Run<'_, T>>, Vec<Group>), ReportError> {
    let mut runs = Vec::with_capacity(records.len());
    for record in records {
        let name = text::run_name(&record.backbone, &record.learner);
        let measure = T::Metrics::COLUMNS[0].measure;
        let (Some(test), Some(valid)) = (record.test(0), record.valid(0)) else {
            return Err(ReportError::NoSeeds { run: name });
        };
        if !(test.mean.is_finite() && valid.mean.is_finite()) {
            return Err(ReportError::NotFinite { run: name });
        }
        runs.push(Run { record, label: name.clone(), name, measure, test, valid, against: None });
    }
    let mut groups: Vec<Group> = Vec::new();
    for (i, run) in runs.iter().enumerate() {
        match groups.iter_mut().find(|g| comparable(runs[g[0]].record, run.record)) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    for group in &groups {
        number_same_names(&mut runs, group);
        for &i in group {
            let same_backbone = |&&j: &&usize| {
                let r = runs[j].record;
                r.learner == T::PLAIN && r.backbone == runs[i].record.backbone
            };
            let baseline = group.iter().find(same_backbone).copied().unwrap_or(group[0]);
            if baseline != i {
                let paired = runs[i].record.paired_with(runs[baseline].record, 0);
                runs[i].against = Some((baseline, paired));
            }
        }
    }
    label_by_data(&mut runs, &groups);
    Ok((runs, groups))
}

/// Outside its group's table a run needs its data in its label: the dataset, and the split where one
/// dataset comes with several.
fn label_by_data<T: Task>(runs: &mut [Run<T>], groups: &[Group]) {
    let dataset_of = |runs: &[Run<T>], g: &Group| runs[g[0]].record.dataset.clone();
    let datasets: Vec<String> = groups.iter().map(|g| dataset_of(runs, g)).collect();
    for (group, dataset) in groups.iter().zip(&datasets) {
        let alone = datasets.iter().filter(|d| *d == dataset).count() == 1;
        for &i in group {
            let Run { record, name, .. } = &runs[i];
            runs[i].label = match (groups.len(), alone) {
                (1, _) => name.clone(),
                (_, true) => format!("{name}, {}", spelling(dataset)),
                _ => {
                    // Another split has another hash, and other data of the same name another fingerprint.
                    let same = |&g: &usize| runs[g].record.split_hash == record.split_hash;
                    let one_split = groups.iter().filter(|g| same(&g[0])).count() > 1;
                    let mark = if one_split { &record.fingerprint } else { &record.split_hash };
                    let hash: String = mark.chars().take(6).collect();
                    let data = format!("{} {}", spelling(dataset), record.split);
                    format!("{name}, {} {hash}", data.trim_end())
                }
            };
        }
    }
}

fn comparable<T: Task>(a: &RunRecord<T>, b: &RunRecord<T>) -> bool {
    let key = |r: &RunRecord<T>| {
        [&r.task, &r.dataset, &r.fingerprint, &r.split, &r.split_hash, &r.metric].map(String::clone)
    };
    key(a) == key(b)
}

fn number_same_names<T: Task>(runs: &mut [Run<T>], group: &Group) {
    let names: Vec<String> = group.iter().map(|&i| runs[i].name.clone()).collect();
    for (at, &i) in group.iter().enumerate() {
        if names.iter().filter(|n| **n == names[at]).count() > 1 {
            let number = names[..=at].iter().filter(|n| **n == names[at]).count();
            runs[i].name = format!("{} ({number})", names[at]);
        }
    }
}

/// What a reader should take away, in a line or two.
pub fn headline<T: Task>(runs: &[Run<T>], groups: &[Group]) -> String {
    // Two comparisons fit into a headline.
    let compared = |group: &Group| group.iter().any(|&i| runs[i].against.is_some());
    if let [a, b] = groups
        && groups.iter().all(compared)
    {
        return format!("{}. {}", headline_of(runs, a), headline_of(runs, b));
    }
    let [group] = groups else {
        let mut datasets: Vec<&str> = runs.iter().map(|r| r.record.dataset.as_str()).collect();
        datasets.sort_unstable();
        datasets.dedup();
        let settings = text::count(groups.len(), "setting");
        let data: Vec<String> = datasets.iter().map(|d| spelling(d)).collect();
        return format!(
            "{} in {settings}: {}",
            text::count(runs.len(), "run"),
            text::joined(&data)
        );
    };
    headline_of(runs, group)
}

/// What comparable runs say.
fn headline_of<T: Task>(runs: &[Run<T>], group: &Group) -> String {
    let on = spelling(&runs[group[0]].record.dataset);
    let first = &runs[group[0]];
    let score = |i: usize| first.measure.with_unit(runs[i].test.mean);
    let of = if first.measure.lower { format!("{} ", first.record.metric) } else { String::new() };
    match group[..] {
        [only] => format!("{} reaches {of}{} on {on}", runs[only].name, score(only)),
        [a, b] => {
            let (new, base) = if runs[a].against.is_some() { (a, b) } else { (b, a) };
            let (n, m) = (&runs[new].name, &runs[base].name);
            let (s, t) = (score(new), score(base));
            // No graph was learned, so none can beat another.
            if let Some(graph) = kept(&runs[new]) {
                return format!("On {on}, validation keeps {graph}: {n} {of}{s}, {m} {t}");
            }
            match first.measure.verdict(runs[new].against.as_ref().and_then(|x| x.1.as_ref())) {
                Verdict::Better => format!("{n} beats {m} on {on}: {of}{s} against {t}"),
                Verdict::Worse => format!("{n} falls behind {m} on {on}: {of}{s} against {t}"),
                Verdict::Alike => {
                    format!("{n} and {m} are too close to tell apart on {on}: {of}{s} and {t}")
                }
                Verdict::Untested => format!("On {on}, {n} reaches {of}{s} and {m} {t}"),
            }
        }
        _ => {
            let order = |&a: &usize, &b: &usize| {
                let order = runs[a].test.mean.total_cmp(&runs[b].test.mean);
                if first.measure.lower { order.reverse() } else { order }
            };
            let best = group.iter().copied().max_by(order).unwrap_or(group[0]);
            let (n, s) = (&runs[best].name, score(best));
            let word = if first.measure.lower { "errs least" } else { "scores highest" };
            format!("{n} {word} of {} runs on {on}: {of}{s}", group.len())
        }
    }
}

/// What validation chose instead of the learned graph, where it did so for every seed.
fn kept<T: Task>(run: &Run<T>) -> Option<&'static str> {
    let choices = run.record.choices();
    let chosen = choices.iter().skip(1).find(|tally| tally.chosen == run.record.seeds.len())?;
    Some(if chosen.graph == "none" { "no graph" } else { "the given graph" })
}

/// The dataset, and its split where it can be split in several ways.
pub fn data_name<T: Task>(record: &RunRecord<T>) -> String {
    match record.split.is_empty() {
        true => spelling(&record.dataset),
        false => format!("{}, {} split", spelling(&record.dataset), record.split),
    }
}

/// What was trained and how it did, in a sentence or two.
pub fn account<T: Task>(runs: &[Run<T>], group: &Group) -> String {
    let first = runs[group[0]].record;
    let scores: Vec<String> = group
        .iter()
        .map(|&i| {
            let Run { name, measure, test, .. } = &runs[i];
            format!("{name} {}{NBSP}{}", measure.summary(test), measure.unit)
        })
        .collect();
    let fewest = group.iter().map(|&i| runs[i].test.n).min().unwrap_or(0);
    let most = group.iter().map(|&i| runs[i].test.n).max().unwrap_or(0);
    let seeds = if fewest == most {
        text::count(most, "seed") + if group.len() > 1 { " each" } else { "" }
    } else {
        format!("{fewest} to {most} seeds each")
    };
    let spread = if most > 1 { ", mean ± standard deviation over seeds" } else { "" };
    format!(
        "Trained for {} on {}, {seeds}. Test {}{spread}: {}.",
        T::ABOUT,
        data_name(first),
        first.metric,
        text::joined(&scores)
    )
}

/// Each run of the group against its baseline, a sentence each.
pub fn differences<T: Task>(runs: &[Run<T>], group: &Group) -> Vec<String> {
    let compared = group.iter().filter_map(|&i| runs[i].against.as_ref().map(|a| (i, a)));
    compared
        .map(|(i, (base, paired))| {
            let Run { name, measure, .. } = &runs[i];
            let sentence = measure.paired_sentence(name, &runs[*base].name, paired.as_ref());
            match kept(&runs[i]) {
                Some(graph) => format!(
                    "{sentence} Validation chose {graph} for every seed of {name}: what differs is the training, not \
                     a learned graph."
                ),
                None => sentence,
            }
        })
        .collect()
}
