//! What is done to features before a model sees them: missing values are filled in, columns and rows are scaled.
//!
//! Means, deviations and maxima are those of the training nodes. They are kept with the run, so that other data is
//! treated alike.

use super::config::{FeatureConfig, Missing, Scale};
use crate::{Error, Result};
use adjoin_data::{Features, NodeDataset, WORD};
use serde::{Deserialize, Serialize};

/// Fewest columns of a bag of words that is not named as one.
const BAG: usize = 50;
/// Most values of such a bag that are not zero: an eighth of weights or counts, half of a 0/1 table.
const FILLED: f64 = 0.125;
const FILLED_BINARY: f64 = 0.5;
/// Most values of a sparse matrix that is made dense because its columns are shifted: 2 GiB.
const DENSE: usize = 1 << 29;

/// Column `c` of a model is `(x_c - shift_c) * factor_c`; missing `x_c` are `means_c` before. The columns of a bag
/// of words are divided by their sum in every row. Columns that say which values were missing follow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// What takes the place of missing values, a number a column; empty if none may be missing.
    means: Vec<f32>,
    /// Columns that are followed by one that is 1 where their value is missing.
    indicators: Vec<u32>,
    /// How columns are scaled.
    by: Scale,
    /// Those columns.
    columns: Vec<Scaled>,
    /// First column of a bag of words and the one after its last.
    bag: Option<[usize; 2]>,
    /// Columns in all, as given.
    width: usize,
}

/// A column that is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Scaled {
    column: u32,
    shift: f32,
    factor: f32,
}

/// What is known of a column.
#[derive(Clone, Copy, Debug)]
struct Stats {
    /// Of all nodes: whether there are only 0 and 1, whether there is none below 0, how many are not 0, and whether
    /// one is missing.
    binary: bool,
    positive: bool,
    filled: usize,
    missing: bool,
    /// Of the training nodes.
    mean: f64,
    deviation: f64,
    largest: f64,
}

impl Scaling {
    /// The scaling that a configuration and some training nodes ask for.
    ///
    /// # Errors
    /// If a value is missing and must not be.
    pub fn fit(config: &FeatureConfig, dataset: &NodeDataset, training: &[u32]) -> Result<Self> {
        if config.missing == Missing::Refuse {
            refuse_missing(dataset)?;
        }
        let stats = stats(&dataset.features, training);
        let mut scaling = Self { width: stats.len(), by: config.scale, ..Self::default() };
        if config.missing == Missing::Impute {
            scaling.means = stats.iter().map(|column| column.mean as f32).collect();
            let missing = (0u32..).zip(&stats).filter(|(_, column)| column.missing);
            scaling.indicators = missing.map(|(at, _)| at).collect();
        }
        match config.scale {
            Scale::None => {}
            Scale::Row => scaling.bag = Some([0, stats.len()]),
            Scale::Max | Scale::Standard => {
                scaling.columns = scaled(&stats, config.scale, |_| true);
            }
            Scale::Auto => {
                scaling.by = Scale::Standard;
                scaling.bag = bag(dataset, &stats);
                let [start, end] = scaling.bag.unwrap_or_default();
                let numeric = |at: usize| !(start..end).contains(&at) && !stats[at].binary;
                scaling.columns = scaled(&stats, Scale::Standard, numeric);
            }
        }
        Ok(scaling)
    }

    /// What it does, in words.
    pub fn about(&self) -> String {
        let mut parts = Vec::new();
        let some = match self.columns.len() {
            count if count == self.width => String::new(),
            count => format!("{count} of {} ", self.width),
        };
        match self.columns.is_empty() {
            true => {}
            false if self.by == Scale::Max => {
                parts.push(format!("{some}divided by the largest value (training nodes)"));
            }
            false => parts.push(format!("{some}standardised (training nodes)")),
        }
        match self.bag {
            Some([0, end]) if end == self.width => parts.push("rows scaled to sum 1".into()),
            Some([start, end]) => {
                parts.push(format!(
                    "{} of a bag of words scaled to sum 1 in every row",
                    end - start
                ));
            }
            None => {}
        }
        if parts.is_empty() {
            parts.push("as given".into());
        }
        if !self.indicators.is_empty() {
            parts.push(format!(
                "missing values in {} filled with the mean (training nodes) and marked",
                self.indicators.len()
            ));
        }
        format!("features: {}", parts.join("; "))
    }

    /// The features of a dataset, as models see them.
    ///
    /// # Errors
    /// If a value is missing and must not be, or a sparse matrix is too large to be made dense.
    pub fn apply(&self, dataset: &NodeDataset) -> Result<Features> {
        let features = &dataset.features;
        if self.means.is_empty() {
            refuse_missing(dataset)?;
        }
        let mut scales = vec![(0.0, 1.0); features.columns()];
        for scaled in &self.columns {
            if let Some(scale) = scales.get_mut(scaled.column as usize) {
                *scale = (scaled.shift, scaled.factor);
            }
        }
        let shifted: Vec<u32> =
            (0..).zip(&scales).filter(|(_, scale)| scale.0 != 0.0).map(|(at, _)| at).collect();
        let dense = !features.is_sparse() || 2 * shifted.len() > features.columns();
        let width = features.columns() + self.indicators.len();
        let mut out = match dense {
            true => {
                let (rows, columns) = (features.rows(), features.columns());
                if features.is_sparse() && rows.saturating_mul(width) > DENSE {
                    let what = format!(
                        "{rows} sparse rows of {columns} would become dense: choose features.scale none, row or max"
                    );
                    return Err(Error::Config { place: "features.scale".into(), what });
                }
                let mut values = features.to_dense();
                for row in values.chunks_exact_mut(columns.max(1)) {
                    for (at, (value, (shift, factor))) in row.iter_mut().zip(&scales).enumerate() {
                        *value = (self.filled(at, *value) - shift) * factor;
                    }
                }
                Features::Dense { rows, columns: width, values: self.widened(features, values) }
            }
            false => {
                let row = |node| self.sparse_row(features.row(node), &scales, &shifted);
                let rows = (0..features.rows()).map(row).collect();
                Features::from_rows(width, rows).ok_or_else(|| Error::Config {
                    place: dataset.name.clone(),
                    what: "has too many features".into(),
                })?
            }
        };
        if let Some([start, end]) = self.bag {
            out.row_normalise(start..end);
        }
        Ok(out)
    }

    /// A value, or what takes its place.
    fn filled(&self, column: usize, value: f32) -> f32 {
        match value.is_nan() {
            true => self.means.get(column).copied().unwrap_or(0.0),
            false => value,
        }
    }

    /// A row of a sparse matrix; only shifted columns are written where nothing is stored.
    fn sparse_row(
        &self,
        stored: Vec<(u32, f32)>,
        scales: &[(f32, f32)],
        shifted: &[u32],
    ) -> Vec<(u32, f32)> {
        let value = |at: u32, value: f32| {
            let (shift, factor) = scales[at as usize];
            (at, (self.filled(at as usize, value) - shift) * factor)
        };
        let place = |at: &u32| stored.binary_search_by_key(at, |(column, _)| *column);
        let absent = shifted.iter().filter(|at| place(at).is_err()).map(|at| value(*at, 0.0));
        let marked = (scales.len() as u32..).zip(&self.indicators).filter_map(|(out, at)| {
            place(at).ok().filter(|at| stored[*at].1.is_nan()).map(|_| (out, 1.0))
        });
        let given = stored.iter().map(|(at, given)| value(*at, *given));
        given.chain(absent).chain(marked).collect()
    }

    /// Dense rows with the columns that say what was missing.
    fn widened(&self, given: &Features, values: Vec<f32>) -> Vec<f32> {
        if self.indicators.is_empty() {
            return values;
        }
        let before = given.to_dense();
        let rows =
            values.chunks_exact(self.width.max(1)).zip(before.chunks_exact(self.width.max(1)));
        let mark = |missing: bool| if missing { 1.0 } else { 0.0 };
        rows.flat_map(|(row, before)| {
            let marks = self.indicators.iter().map(|at| mark(before[*at as usize].is_nan()));
            row.iter().copied().chain(marks).collect::<Vec<f32>>()
        })
        .collect()
    }
}

/// Refuses data with missing values.
fn refuse_missing(dataset: &NodeDataset) -> Result<()> {
    if !dataset.features.has_missing() {
        return Ok(());
    }
    let place = match &dataset.missing {
        Some(at) => at.to_string(),
        None => dataset.name.clone(),
    };
    let what = "a feature is missing: fill it in, leave out the node or the column, or train with \
                features.missing=impute, which takes the mean of the training nodes and marks where it did"
        .into();
    Err(Error::Config { place, what })
}

/// The columns of a bag of words: those named as words, else all before the first category if together they look
/// like one.
fn bag(dataset: &NodeDataset, stats: &[Stats]) -> Option<[usize; 2]> {
    let names = &dataset.feature_names;
    if let Some(first) = names.iter().position(|name| name.starts_with(WORD)) {
        return Some([first, stats.len()]);
    }
    let end = names.iter().position(|name| name.contains('=')).unwrap_or(stats.len());
    let columns = &stats[..end];
    let filled = columns.iter().map(|column| column.filled).sum::<usize>() as f64;
    let most = match columns.iter().all(|column| column.binary) {
        true => FILLED_BINARY,
        false => FILLED,
    };
    let looks = end >= BAG
        && columns.iter().all(|column| column.positive && !column.missing)
        && filled <= most * (end * dataset.nodes()) as f64;
    looks.then_some([0, end])
}

/// Shift and factor of the wanted columns. One that is the same for all training nodes tells nothing and becomes 0.
fn scaled(stats: &[Stats], by: Scale, wanted: impl Fn(usize) -> bool) -> Vec<Scaled> {
    let inverse = |size: f64| if size > 0.0 { (1.0 / size) as f32 } else { 0.0 };
    let one = |(at, column): (usize, &Stats)| {
        let (shift, factor) = match by {
            Scale::Max => (0.0, inverse(column.largest)),
            _ => (column.mean as f32, inverse(column.deviation)),
        };
        Scaled { column: at as u32, shift, factor }
    };
    stats.iter().enumerate().filter(|(at, _)| wanted(*at)).map(one).collect()
}

fn stats(features: &Features, training: &[u32]) -> Vec<Stats> {
    let start = Stats {
        binary: true,
        positive: true,
        filled: 0,
        missing: false,
        mean: 0.0,
        deviation: 0.0,
        largest: 0.0,
    };
    let mut all = vec![start; features.columns()];
    for node in 0..features.rows() {
        for (at, value) in features.row(node) {
            let column = &mut all[at as usize];
            column.filled += 1;
            column.missing |= value.is_nan();
            column.binary &= value.is_nan() || value == 1.0;
            column.positive &= value.is_nan() || value > 0.0;
        }
    }
    // Smallest and largest stored value, how many are stored and how many are missing.
    let mut ends = vec![(f32::INFINITY, f32::NEG_INFINITY, 0usize, 0usize); all.len()];
    for &node in training {
        for (at, value) in features.row(node as usize) {
            let (column, (least, most, stored, missing)) =
                (&mut all[at as usize], &mut ends[at as usize]);
            if value.is_nan() {
                *missing += 1;
                continue;
            }
            *stored += 1;
            (*least, *most) = (least.min(value), most.max(value));
            column.mean += f64::from(value);
            column.largest = column.largest.max(f64::from(value.abs()));
        }
    }
    let present = |missing: usize| training.len().saturating_sub(missing).max(1) as f64;
    for (column, (_, _, _, missing)) in all.iter_mut().zip(&ends) {
        column.mean /= present(*missing);
    }
    for &node in training {
        for (at, value) in features.row(node as usize) {
            if !value.is_nan() {
                let column = &mut all[at as usize];
                column.deviation += (f64::from(value) - column.mean).powi(2);
            }
        }
    }
    for (column, (least, most, stored, missing)) in all.iter_mut().zip(&ends) {
        let zeros = training.len().saturating_sub(stored + missing);
        let sum = column.deviation + zeros as f64 * column.mean.powi(2);
        // Compared exactly: the sum of equal values need not be.
        let constant = *stored == 0 || (zeros == 0 && least == most);
        column.deviation = if constant { 0.0 } else { (sum / present(*missing)).sqrt() };
    }
    all
}
