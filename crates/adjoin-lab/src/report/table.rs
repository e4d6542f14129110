//! The parts of the page that stand without JavaScript: comparison tables and how to run again.

use super::{
    compare::{Group, Run, data_name},
    text::{self, Verdict, bytes, escape, milliseconds, p_value, percent, spelling},
};
use crate::task::{Measure, Metrics, Task};
use std::fmt::Write;

/// A round-number axis over some values, as left end, right end and distance of the grid lines.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    /// Covers `values`, as shown, with a margin.
    fn over(values: impl Iterator<Item = f64>, measure: Measure) -> Axis {
        let (low, high) = values
            .filter(|v| v.is_finite())
            .fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if low > high { (0.0, 100.0) } else { (low, high) };
        let span = (high - low).max(measure.least_span);
        let step = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
            .into_iter()
            .find(|s| span / s <= 4.0)
            .unwrap_or(50.0);
        let pad = span * 0.06;
        Axis {
            low: ((low - pad) / step).floor() * step,
            high: ((high + pad) / step).ceil() * step,
            step,
        }
    }

    /// Position of a value as a percentage of the width, kept off the very edges for round marks.
    fn at(&self, value: f64) -> f64 {
        4.0 + 92.0 * (value - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let n = ((self.high - self.low) / self.step).round() as usize;
        (0..=n).map(|i| self.low + i as f64 * self.step)
    }

    fn grid(&self) -> String {
        self.ticks().fold(String::new(), |mut out, t| {
            let x = self.at(t);
            let _ = write!(out, r#"<line class="grid" x1="{x:.2}%" x2="{x:.2}%" y1="0" y2="30"/>"#);
            out
        })
    }

    /// The numbers of the grid lines: on their own, or below the marks of a strip.
    fn labels(&self, below: bool) -> String {
        let digits = (-self.step.log10()).ceil().clamp(0.0, 3.0) as usize;
        // Long numbers at every line would run into each other.
        let every = if digits >= 2 { 2 } else { 1 };
        let y = if below { 45 } else { 13 };
        self.ticks().step_by(every).fold(String::new(), |mut out, t| {
            let x = self.at(t);
            let _ = write!(
                out,
                r#"<text class="tick" x="{x:.2}%" y="{y}" text-anchor="middle">{t:.digits$}</text>"#
            );
            out
        })
    }
}

/// The seeds of a run as dots, with a bar one standard deviation to both sides of the mean.
fn strip<T: Task>(run: &Run<T>, axis: &Axis) -> String {
    let mut out = format!(
        r#"<svg class="strip" role="img" aria-label="Test {} over seeds: {} {}">{}"#,
        escape(&run.record.metric),
        run.measure.summary(&run.test),
        if run.measure.unit == "%" { "percent" } else { "metres" },
        axis.grid()
    );
    let factor = run.measure.factor;
    let centre = factor * run.test.mean;
    if let Some(d) = run.test.std {
        let (a, b) = (axis.at(centre - factor * d), axis.at(centre + factor * d));
        let _ = write!(out, r#"<line class="spread" x1="{a:.2}%" x2="{b:.2}%" y1="20" y2="20"/>"#);
    }
    for seed in run.record.seeds.iter().filter(|s| s.test.value().is_finite()) {
        let x = axis.at(factor * seed.test.value());
        let _ = write!(out, r#"<circle class="seed" cx="{x:.2}%" cy="11" r="3"/>"#);
    }
    let x = axis.at(centre);
    let _ = write!(
        out,
        r#"<circle class="mean" cx="{x:.2}%" cy="20" r="5"/>{}</svg>"#,
        axis.labels(true)
    );
    out
}

fn difference_cell<T: Task>(run: &Run<T>, runs: &[Run<T>]) -> String {
    let Some((base, paired)) = &run.against else {
        return r#"<span class="muted">baseline</span>"#.into();
    };
    let against = escape(&runs[*base].name);
    let Some(found) = paired else {
        return format!(r#"<span class="muted">no seed shared with {against}</span>"#);
    };
    let d = &found.difference;
    let spread =
        d.std.map(|v| format!("\u{a0}±\u{a0}{}", run.measure.number(v))).unwrap_or_default();
    let note = match found.p {
        Some(p) => format!("{}, n\u{a0}=\u{a0}{}", p_value(p), d.n),
        None => "one pair".into(),
    };
    let (class, word) = match run.measure.verdict(paired.as_ref()) {
        Verdict::Better => ("up", "better"),
        Verdict::Worse => ("down", "worse"),
        Verdict::Alike => ("level", "no clear difference"),
        Verdict::Untested => ("level", "not tested"),
    };
    format!(
        r#"<b class="num">{}{spread}</b> <span class="verdict {class}">{word}</span><small>{note}<br>against {against}</small>"#,
        run.measure.signed(d.mean)
    )
}

/// One table for each group of comparable runs.
pub fn comparison<T: Task>(runs: &[Run<T>], groups: &[Group]) -> String {
    let mut out = String::new();
    for group in groups {
        let first = runs[group[0]].record;
        let ends = |i: &usize| {
            let t = &runs[*i].test;
            let d = t.std.unwrap_or(0.0);
            let factor = runs[*i].measure.factor;
            let seeds = runs[*i].record.seeds.iter().map(|s| factor * s.test.value());
            seeds.chain([factor * (t.mean - d), factor * (t.mean + d)]).collect::<Vec<_>>()
        };
        let axis = Axis::over(group.iter().flat_map(ends), runs[group[0]].measure);
        let Measure { unit, points, .. } = runs[group[0]].measure;
        let time = "Time a step";
        let metric = escape(&first.metric);
        let caption = format!(
            "{} <span class=\"hash\">{}</span>",
            escape(&data_name(first)),
            escape(&short(&first.split_hash))
        );
        let _ = write!(
            out,
            r#"<table class="cards compare" role="table"><caption>{caption}</caption>
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Run</th><th role="columnheader" scope="col" class="r">Test {metric},&nbsp;{unit}</th><th role="columnheader" scope="col">Each seed, and mean ± standard deviation</th><th role="columnheader" scope="col" class="r">Validation,&nbsp;{unit}</th><th role="columnheader" scope="col">Paired difference, {points}</th><th role="columnheader" scope="col" class="r">Seeds</th><th role="columnheader" scope="col" class="r">{time}</th><th role="columnheader" scope="col" class="r">Peak memory</th></tr></thead>
<tbody role="rowgroup">"#
        );
        for &i in group {
            let run = &runs[i];
            let _ = writeln!(
                out,
                r#"<tr role="row" class="run-{}"><th role="rowheader" scope="row"><span class="key" aria-hidden="true"></span>{}</th><td role="cell" class="r num lead" data-label="Test {metric}, {unit}">{}</td><td role="cell" class="wide" data-label="Each seed, and mean ± standard deviation">{}</td><td role="cell" class="r num second" data-label="Validation, {unit}">{}</td><td role="cell" class="diff" data-label="Paired difference, {points}"><div>{}</div></td><td role="cell" class="r num" data-label="Seeds">{}</td><td role="cell" class="r num" data-label="{time}">{}</td><td role="cell" class="r num" data-label="Peak memory">{}</td></tr>"#,
                i % 6,
                escape(&run.name),
                run.measure.summary(&run.test),
                strip(run, &axis),
                run.measure.summary(&run.valid),
                difference_cell(run, runs),
                run.test.n,
                milliseconds(run.record.ms_per_step),
                bytes(run.record.peak_rss_bytes),
            );
        }
        let _ = writeln!(
            out,
            r#"</tbody><tfoot aria-hidden="true"><tr><td></td><td></td><td class="wide"><svg class="strip scale">{}</svg></td><td colspan="5"></td></tr></tfoot></table>"#,
            axis.labels(false)
        );
    }
    if runs.iter().filter(|r| r.against.is_some()).count() > 1 {
        out.push_str(
            "<p class=\"note\">The p-values are not corrected for the number of comparisons.</p>\n",
        );
    }
    out
}

/// A row of a small table.
pub struct Line {
    /// Its heading, in HTML.
    name: String,
    class: String,
    cells: Vec<String>,
}

impl Line {
    /// A row of this class; `name` is plain text, cells are HTML.
    pub(super) fn new(name: &str, class: &str, cells: Vec<String>) -> Self {
        Self { name: escape(name), class: class.into(), cells }
    }
}

/// A row on a run, in its colour and with its data where the page has several kinds.
pub(super) fn labelled_line<T: Task>(at: usize, run: &Run<T>, cells: Vec<String>) -> Line {
    let name = format!(r#"<span class="key" aria-hidden="true"></span>{}"#, escape(&run.label));
    Line { name, class: format!("run-{}", at % 6), cells }
}

/// A row on a run, in its colour.
pub fn run_line<T: Task>(at: usize, run: &Run<T>, cells: Vec<String>) -> Line {
    let name = format!(r#"<span class="key" aria-hidden="true"></span>{}"#, escape(&run.name));
    Line { name, class: format!("run-{}", at % 6), cells }
}

/// A row on what was not trained.
pub fn untrained_line(name: &str, cells: Vec<String>) -> Line {
    Line { name: escape(name), class: "untrained".into(), cells }
}

/// A table of numbers whose rows become cards on narrow screens; `first` and `titles` head the columns.
pub fn cards(class: &str, caption: &str, first: &str, titles: &[&str], lines: &[Line]) -> String {
    let mut out = format!(
        r#"<table class="cards {class}" role="table"><caption>{caption}</caption><thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">{first}</th>"#
    );
    for title in titles {
        let _ = write!(out, r#"<th role="columnheader" scope="col" class="r">{title}</th>"#);
    }
    out.push_str("</tr></thead><tbody role=\"rowgroup\">");
    for Line { name, class, cells } in lines {
        let _ = write!(
            out,
            r#"<tr role="row" class="{class}"><th role="rowheader" scope="row">{name}</th>"#
        );
        for (title, cell) in titles.iter().zip(cells) {
            let _ =
                write!(out, r#"<td role="cell" class="r num" data-label="{title}">{cell}</td>"#);
        }
        out.push_str("</tr>");
    }
    out + "</tbody></table>\n"
}

/// The first digits of a hash, enough to tell splits apart by eye.
fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

/// What the learning curves say, for those who cannot see them.
pub fn curve_summary<T: Task>(runs: &[Run<T>]) -> String {
    let mut out = String::new();
    for run in runs {
        let n = run.record.seeds.len() as f64;
        let best = run.record.seeds.iter().map(|s| s.best_epoch as f64).sum::<f64>() / n;
        let epochs = run.record.seeds.iter().map(|s| s.epochs as f64).sum::<f64>() / n;
        let _ = write!(
            out,
            "<li>{}: best validation {} at epoch {best:.0} of {epochs:.0}{}.</li>",
            escape(&run.label),
            run.measure.with_unit(run.valid.mean),
            if run.record.seeds.len() > 1 { " on average" } else { "" }
        );
    }
    out
}

/// Command, configuration and seeds of every run.
pub fn reproduction<T: Task>(runs: &[Run<T>]) -> String {
    let mut out = String::new();
    for (i, run) in runs.iter().enumerate() {
        let r = run.record;
        let facts = [
            ("Finished", r.created.clone()),
            ("Task", T::ABOUT.into()),
            ("Data", data_name(r)),
            (if r.split.is_empty() { "Fingerprint" } else { "Split hash" }, r.split_hash.clone()),
            ("Backbone", spelling(&r.backbone)),
            ("Learner", spelling(&r.learner)),
        ];
        let _ = write!(
            out,
            r#"<details{}><summary>{}<span class="muted"> {}</span></summary><div class="inside"><dl class="facts">"#,
            if i == 0 { " open" } else { "" },
            escape(&run.name),
            escape(&spelling(&r.dataset)),
        );
        for (term, fact) in facts {
            let _ = write!(out, "<div><dt>{term}</dt><dd>{}</dd></div>", escape(&fact));
        }
        let _ = writeln!(
            out,
            r#"</dl><h3>Command</h3>{}<h3>Configuration</h3>{}{}</div></details>"#,
            code(&r.command, "Command", &run.name),
            code(&r.config_toml, "Configuration", &run.name),
            seed_table(run)
        );
    }
    out
}

fn code(text: &str, what: &str, name: &str) -> String {
    let label = escape(&format!("{what} of {name}"));
    format!(
        r#"<div class="code"><pre tabindex="0" role="region" aria-label="{label}"><code>{}</code></pre></div>"#,
        escape(text.trim_end())
    )
}

fn seed_table<T: Task>(run: &Run<T>) -> String {
    let unit = run.measure.unit;
    let mut out = format!(
        r#"<h3>Seeds</h3><div class="scroll" tabindex="0" role="region" aria-label="Result of each seed"><table class="plain"><thead><tr><th scope="col" class="r">Seed</th><th scope="col" class="r">Validation, {unit}</th><th scope="col" class="r">Test, {unit}</th><th scope="col" class="r">Best epoch</th><th scope="col" class="r">Epochs</th><th scope="col" class="r">Steps in all</th><th scope="col" class="r">Seconds</th></tr></thead><tbody>"#,
    );
    for s in &run.record.seeds {
        let _ = write!(
            out,
            r#"<tr><th scope="row" class="r num">{}</th><td class="r num">{}</td><td class="r num">{}</td><td class="r num">{}</td><td class="r num">{}</td><td class="r num">{}</td><td class="r num">{:.1}</td></tr>"#,
            s.seed,
            run.measure.number(s.valid.value()),
            run.measure.number(s.test.value()),
            s.best_epoch,
            s.epochs,
            s.steps,
            s.seconds
        );
    }
    out + "</tbody></table></div>"
}

/// A row of the homophily tables between `low` and 1: hollow for the input, solid for the learned.
pub fn dumbbell(low: f64, before: Option<f64>, after: Option<f64>) -> String {
    let at = |v: f64| 3.0 + 94.0 * (v - low) / (1.0 - low);
    let mut out = String::from(r#"<svg class="strip" aria-hidden="true">"#);
    for quarter in 0..=4 {
        let x = at(low + f64::from(quarter) / 4.0 * (1.0 - low));
        let _ = write!(out, r#"<line class="grid" x1="{x:.2}%" x2="{x:.2}%" y1="0" y2="100%"/>"#);
    }
    if let (Some(a), Some(b)) = (before, after) {
        let (a, b) = (at(a), at(b));
        let _ = write!(out, r#"<line class="spread" x1="{a:.2}%" x2="{b:.2}%" y1="15" y2="15"/>"#);
    }
    for (value, class) in [(before, "before"), (after, "mean")] {
        if let Some(v) = value {
            let _ = write!(out, r#"<circle class="{class}" cx="{:.2}%" cy="15" r="5"/>"#, at(v));
        }
    }
    out + "</svg>"
}

/// Percent, or a dash where there is nothing to measure.
pub fn maybe_percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), percent)
}

/// A table cell's number of things, `10 556`.
pub fn number(n: usize) -> String {
    text::thousands(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_an_axis_have_the_digits_of_its_step_and_room() {
        let labels = |low, high, step| {
            let labels = Axis { low, high, step }.labels(false);
            let shown = labels.split('<').filter_map(|part| Some(part.split_once('>')?.1));
            shown.filter(|text| !text.is_empty()).map(String::from).collect::<Vec<_>>()
        };
        assert_eq!(labels(0.33, 0.38, 0.01), ["0.33", "0.35", "0.37"]);
        assert_eq!(labels(0.3, 0.312, 0.002), ["0.300", "0.304", "0.308", "0.312"]);
        assert_eq!(labels(81.0, 82.5, 0.5), ["81.0", "81.5", "82.0", "82.5"]);
        assert_eq!(labels(50.0, 70.0, 10.0), ["50", "60", "70"]);
    }
}
