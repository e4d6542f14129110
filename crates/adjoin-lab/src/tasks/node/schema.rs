//! What a model expects of data: which classes, and which features in which order.

use super::scaling::Scaling;
use crate::{Error, Result};
use adjoin_data::{Features, NodeDataset, UNKNOWN_LABEL, WORD};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Classes and features of the data that a model was trained on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Names of the classes, in the order of the model's outputs.
    pub classes: Vec<String>,
    /// Number of features.
    pub columns: usize,
    /// Names of the features, in the order of the model's inputs; empty when the data had none.
    pub names: Vec<String>,
    /// What is done to the features, with numbers of the training nodes.
    pub scaling: Scaling,
}

impl Schema {
    /// That of a dataset whose features are scaled.
    pub fn of(dataset: &NodeDataset, scaling: Scaling) -> Self {
        Self {
            classes: dataset.class_names.clone(),
            columns: dataset.features.columns(),
            names: dataset.feature_names.clone(),
            scaling,
        }
    }

    /// Other data, with classes and features matched by name. Classes that are only numbered, and
    /// features without names, are matched by their place. Words and categories that the model has not seen say
    /// nothing to it and are left out.
    ///
    /// # Errors
    /// If the data has a class or a column of numbers that the model does not know, or lacks one of its
    /// columns.
    pub fn fit(&self, mut dataset: NodeDataset) -> Result<NodeDataset> {
        let wrong = |what: String| Error::Config { place: dataset.name.clone(), what };
        let classes = self.match_classes(&dataset.class_names).map_err(wrong)?;
        let features = match self.names.is_empty() || dataset.feature_names.is_empty() {
            true if dataset.features.columns() == self.columns => None,
            true => {
                let (found, known) = (dataset.features.columns(), self.columns);
                let what = format!("has {found} features; the run was trained with {known}");
                return Err(wrong(what));
            }
            false => {
                let places = self.match_columns(&dataset.feature_names).map_err(wrong)?;
                let moved = moved(&dataset.features, &places, self.columns);
                Some(moved.ok_or_else(|| wrong("has too many features".into()))?)
            }
        };
        if let Some(features) = features {
            dataset.features = features;
            dataset.feature_names = self.names.clone();
        }
        for label in dataset.labels.iter_mut().filter(|label| **label != UNKNOWN_LABEL) {
            *label = classes[*label as usize];
        }
        dataset.class_names = self.classes.clone();
        Ok(dataset)
    }

    /// The place of every class of other data among those of the model.
    fn match_classes(&self, found: &[String]) -> std::result::Result<Vec<u32>, String> {
        let place = |name: &String| self.classes.iter().position(|known| known == name);
        let by_name: Vec<_> = found.iter().map(|name| place(name).map(|at| at as u32)).collect();
        let Some(strange) = by_name.iter().position(Option::is_none) else {
            return Ok(by_name.into_iter().flatten().collect());
        };
        let numbered = found.iter().enumerate().all(|(at, name)| *name == at.to_string());
        if numbered && found.len() <= self.classes.len() {
            return Ok((0..found.len() as u32).collect());
        }
        let (name, known) = (&found[strange], self.classes.join(", "));
        Err(format!("has the class `{name}`; the run was trained for {known}"))
    }

    /// The place of every column of other data among those of the model; none for unknown words.
    fn match_columns(&self, found: &[String]) -> std::result::Result<Vec<Option<u32>>, String> {
        let known: HashMap<&str, u32> = self.names.iter().map(String::as_str).zip(0..).collect();
        let there: HashSet<&str> = found.iter().map(String::as_str).collect();
        // Data need not have all words, nor all categories of a column.
        let columns = |names: &'_ [String]| -> HashSet<String> {
            names.iter().filter_map(|name| category_of(name).map(String::from)).collect()
        };
        let (known_columns, there_columns) = (columns(&self.names), columns(found));
        let part = |name: &str, columns: &HashSet<String>| {
            name.starts_with(WORD) || category_of(name).is_some_and(|of| columns.contains(of))
        };
        let missing =
            |name: &&String| !there.contains(name.as_str()) && !part(name, &there_columns);
        if let Some(name) = self.names.iter().find(missing) {
            let name = category_of(name).unwrap_or(name);
            return Err(format!("lacks the column `{name}` that the run was trained with"));
        }
        let place = |name: &String| match known.get(name.as_str()) {
            Some(&at) => Ok(Some(at)),
            None if part(name, &known_columns) => Ok(None),
            None => Err(format!("has the column `{name}`; the run was trained without it")),
        };
        found.iter().map(place).collect()
    }
}

/// The column that a category is one of.
fn category_of(name: &str) -> Option<&str> {
    name.split_once('=').map(|(column, _)| column)
}

/// Features with every column in another place, or left out; none if there are too many.
fn moved(features: &Features, places: &[Option<u32>], columns: usize) -> Option<Features> {
    let row = |node: usize| -> Vec<(u32, f32)> {
        let entries = features.row(node).into_iter();
        entries.filter_map(|(at, value)| Some((places[at as usize]?, value))).collect()
    };
    let rows: Vec<_> = (0..features.rows()).map(row).collect();
    if features.is_sparse() {
        return Features::from_rows(columns, rows);
    }
    let mut values = vec![0.0; features.rows().checked_mul(columns)?];
    for (node, row) in rows.into_iter().enumerate() {
        for (column, value) in row {
            values[node * columns + column as usize] = value;
        }
    }
    Some(Features::from_dense(features.rows(), columns, values))
}
