//! Drawings that need no script. Positions across are in percent, so that text keeps its size on any screen.

use super::text::escape;
use std::fmt::Write;

/// Points of a scatter plot; of more an even sample.
const POINTS: usize = 3000;
/// Of so many per mille of the points the largest coordinates are at the rim.
const RIM: usize = 5;

/// A scatter plot.
pub struct Scatter<'a> {
    /// Its heading.
    pub title: &'a str,
    /// What it shows, for those who cannot see it.
    pub label: &'a str,
    /// What the axes are, across and up.
    pub names: [&'a str; 2],
    /// Coordinates, from 0 on.
    pub points: &'a [[f64; 2]],
    /// Whether both axes are the same, with a line where coordinates are equal.
    pub diagonal: bool,
    /// A sentence below.
    pub note: &'a str,
}

/// A figure with a scatter plot.
pub fn scatter(plot: &Scatter) -> String {
    let finite = |point: &&[f64; 2]| point.iter().all(|value| value.is_finite());
    let every = plot.points.len().div_ceil(POINTS).max(1);
    let shown: Vec<&[f64; 2]> = plot.points.iter().step_by(every).filter(finite).collect();
    let largest = |axis: usize| {
        let mut values: Vec<f64> = shown.iter().map(|point| point[axis]).collect();
        values.sort_by(f64::total_cmp);
        let at = values.len().saturating_sub(1 + values.len() * RIM / 1000);
        values.get(at).copied().unwrap_or(1.0).max(1.0).ceil()
    };
    let mut ends = [largest(0), largest(1)];
    if plot.diagonal {
        ends = [ends[0].max(ends[1]); 2];
    }
    let [right, top] = ends;
    let mut out = format!(
        r#"<figure class="panel"><h4>{}</h4><p class="hint">{}</p><svg class="scatter" role="img" aria-label="{}"><text class="tick" x="0" y="12">{}</text>"#,
        escape(plot.title),
        escape(plot.note),
        escape(plot.label),
        escape(plot.names[1]),
    );
    for part in [0.0, 0.5, 1.0] {
        let (across, up) = (part * right, part * top);
        let anchor = if part == 1.0 { "end" } else { "middle" };
        let _ = write!(
            out,
            r#"<text class="tick" x="{:.1}%" y="276" text-anchor="{anchor}">{across}</text><text class="tick" x="11%" y="{:.1}" text-anchor="end">{up}</text>"#,
            13.0 + 86.0 * part,
            262.0 - 236.0 * part,
        );
    }
    let _ = write!(
        out,
        r#"<text class="tick" x="99%" y="296" text-anchor="end">{}</text><svg x="13%" y="22" width="86%" height="236" viewBox="0 0 1000 1000" preserveAspectRatio="none" overflow="visible"><path class="frame" d="M0 0V1000H1000"/>"#,
        escape(plot.names[0])
    );
    if plot.diagonal {
        out.push_str(r#"<path class="equal" d="M0 1000L1000 0"/>"#);
    }
    out.push_str(r#"<path class="dots" d=""#);
    for [x, y] in shown {
        let (x, y) = ((x / right).clamp(0.0, 1.0), (y / top).clamp(0.0, 1.0));
        let _ = write!(out, "M{:.0} {:.0}h0", 1000.0 * x, 1000.0 * (1.0 - y));
    }
    out + "\"/></svg></svg></figure>"
}

/// A small histogram.
pub struct Bars<'a> {
    /// What it shows, for those who cannot see it.
    pub label: &'a str,
    /// How many there are in each bin.
    pub counts: &'a [u32],
    /// How many of these are marked; drawn in another colour.
    pub marked: &'a [u32],
    /// What is at the left end, in the middle and at the right end.
    pub ends: [&'a str; 3],
}

/// A small histogram, without a frame.
pub fn bars(chart: &Bars) -> String {
    const HEIGHT: f64 = 90.0;
    let most = chart.counts.iter().copied().max().unwrap_or(0).max(1);
    let width = 100.0 / chart.counts.len().max(1) as f64;
    let mut out = format!(
        r#"<svg class="bars" role="img" aria-label="{}"><text class="tick" x="0" y="10">{most}</text>"#,
        escape(chart.label)
    );
    let mut rect = |class: &str, bin: usize, from: u32, to: u32| {
        let [y, end] = [to, from].map(|n| 14.0 + HEIGHT * (1.0 - f64::from(n) / f64::from(most)));
        let _ = write!(
            out,
            r#"<rect class="bar {class}" x="{:.2}%" y="{y:.1}" width="{:.2}%" height="{:.1}"/>"#,
            width * (bin as f64 + 0.08),
            width * 0.84,
            end - y
        );
    };
    for (bin, (count, marked)) in chart.counts.iter().zip(chart.marked).enumerate() {
        if *marked > 0 {
            rect("injected", bin, 0, *marked);
        }
        if count > marked {
            rect("learned", bin, *marked, *count);
        }
    }
    let [left, middle, right] = chart.ends.map(escape);
    let _ = write!(
        out,
        r#"<line class="axis" x1="0" x2="100%" y1="104" y2="104"/><text class="tick" x="0" y="120">{left}</text><text class="tick" x="50%" y="120" text-anchor="middle">{middle}</text><text class="tick" x="100%" y="120" text-anchor="end">{right}</text></svg>"#
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_parts_stand_below_the_others() {
        let chart =
            Bars { label: "x", counts: &[4, 2, 0], marked: &[1, 2, 0], ends: ["0", "s", "1"] };
        let page = bars(&chart);
        assert_eq!(
            (page.matches("bar injected").count(), page.matches("bar learned").count()),
            (2, 1)
        );
        assert!(page.contains(r#"y="81.5" width="28.00%" height="22.5""#), "{page}");
    }

    #[test]
    fn one_far_point_does_not_squeeze_the_others() {
        let mut points = vec![[2.0, 2.0]; 999];
        points.push([2.0, 500.0]);
        let plot = Scatter {
            title: "t",
            label: "l",
            names: ["a", "b"],
            points: &points,
            diagonal: true,
            note: "",
        };
        let page = scatter(&plot);
        assert!(page.contains("M1000 0h0"), "at the rim");
        assert!(!page.contains(">500<"), "{page}");
    }
}
