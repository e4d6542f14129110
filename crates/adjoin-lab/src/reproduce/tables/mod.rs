//! The tables: which cells they have, and the published numbers.

pub mod ablation;
pub mod corrupted;
pub mod distractors;
pub mod node;
pub mod points;
pub mod structure;
pub mod trajectory;

use super::table::{self, Row};
use crate::{
    Result,
    stats::{Paired, Summary},
    task::{Measure, Source},
};
use adjoin_data::Locations;

/// Columns of accuracies: ours beside the published, and over the plain network.
fn accuracy(
    names: [&str; 3],
    ours: &Summary,
    gain: Option<&Paired>,
    published: Option<f64>,
) -> Row {
    let percent = Measure::PERCENT;
    let [dataset, backbone, learner] = names.map(String::from);
    let difference = published.map(|published| ours.mean - published);
    vec![
        ("dataset", dataset),
        ("backbone", backbone),
        ("learner", learner),
        ("ours, %", table::spread(percent, ours)),
        ("seeds", ours.n.to_string()),
        ("over the plain backbone", table::gain(percent, gain)),
        ("published, %", table::or_dash(published, |value| percent.number(value))),
        ("ours - published", table::or_dash(difference, |value| table::signed(percent, value))),
    ]
}

/// A dataset by name.
fn source(name: &str, split: Option<&str>, locations: &Locations) -> Source {
    Source {
        name: name.into(),
        data_dir: locations.data_dir.clone(),
        split: split.map(String::from),
        ..Source::default()
    }
}

/// The one summary that every finished cell has.
fn first(summary: Option<Summary>) -> Result<Summary> {
    summary.ok_or_else(|| crate::Error::Config {
        place: "--seeds".into(),
        what: "must be at least 1".into(),
    })
}
