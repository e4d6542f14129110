//! Nodes and edges that arrive row by row, with names: the common part of CSV folders and GraphML.

use std::collections::{HashMap, hash_map::Entry};
use std::path::PathBuf;

use super::column::{Column, Known};
use super::edge_row::{EdgeCells, EdgeRow};
use crate::dataset::{NodeDataset, UNKNOWN_LABEL, WORD};
use crate::edges::simplify;
use crate::error::{At, Error, Result};
use crate::features::Features;
use crate::marks::EdgeMarks;
use crate::split::Split;
use crate::split_spec::is_split_name;

/// Name of the split in a column that is just called `split`.
pub(crate) const GIVEN: &str = "given";

/// What a column of the node table means.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    Id,
    Label,
    /// Place in the list of splits.
    Split(usize),
    /// Place in the list of feature columns.
    Feature(usize),
    Words,
    /// `column:value` pairs of a matrix of this width.
    Sparse(u32),
}

/// Whether a column of this name holds a feature, and nothing else.
pub(crate) fn is_feature_name(name: &str) -> bool {
    let first = name.split_once(':').map_or(name, |(first, _)| first);
    !["id", "label", "words", "split", "sparse"].contains(&first) && name == name.trim()
}

/// Collects a graph.
pub(crate) struct Table {
    header: At,
    columns: Vec<(String, Role)>,
    split_names: Vec<String>,
    /// Train, validation and test nodes of each split.
    parts: Vec<[Vec<u32>; 3]>,
    ids: Vec<String>,
    places: HashMap<String, u32>,
    /// The label as written, and where.
    labels: Vec<Option<(String, At)>>,
    features: Vec<Column>,
    /// Where the first missing value of a packed column is.
    missing: Option<At>,
    sparse: Vec<Vec<(u32, f32)>>,
    words: HashMap<String, u32>,
    edges: HashMap<(u32, u32), (EdgeCells, At)>,
}

impl Table {
    /// A table with these columns; `header` is where they are named.
    pub fn new<'a>(header: At, names: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut columns: Vec<(String, Role)> = Vec::new();
        let mut split_names = Vec::new();
        let mut numbered = 0;
        for name in names {
            let at = || header.clone().field(name);
            if columns.iter().any(|(other, _)| other == name) {
                return Err(at().error("the column occurs twice", "give every column its own name"));
            }
            let role = match name.split_once(':').unwrap_or((name, "")) {
                ("id", "") => Role::Id,
                ("label", "") => Role::Label,
                ("words", "") => Role::Words,
                ("split", rest) => {
                    let split = if rest.is_empty() { GIVEN } else { rest };
                    if !is_split_name(split) {
                        let help = "use letters, digits, `-`, `_` and `.` after `split:`";
                        return Err(at().error("not a name for a split", help));
                    }
                    split_names.push(split.to_string());
                    Role::Split(split_names.len() - 1)
                }
                ("sparse", width) if !width.is_empty() => match width.parse() {
                    Ok(width) => Role::Sparse(width),
                    Err(_) => {
                        let help = "write sparse:1433 for a matrix of 1433 columns";
                        return Err(at().error("the width is not a whole number", help));
                    }
                },
                _ => {
                    numbered += 1;
                    Role::Feature(numbered - 1)
                }
            };
            columns.push((name.to_string(), role));
        }
        for (needed, role) in [("id", Role::Id), ("label", Role::Label)] {
            if !columns.iter().any(|(_, other)| *other == role) {
                let what = format!("there is no column `{needed}`");
                let help = "the columns are: id, label, split (if wanted), then features";
                return Err(header.error(what, help));
            }
        }
        let packed =
            columns.iter().filter(|(_, role)| matches!(role, Role::Words | Role::Sparse(_)));
        let packed = packed.count();
        if numbered + packed == 0 || packed > 1 {
            let what = "there must be columns of numbers, of categories, or a column `words`";
            return Err(header.error(what, "add the features of the nodes"));
        }
        Ok(Self {
            header,
            columns,
            parts: vec![<[Vec<u32>; 3]>::default(); split_names.len()],
            split_names,
            ids: Vec::new(),
            places: HashMap::new(),
            labels: Vec::new(),
            features: std::iter::repeat_with(Column::default).take(numbered).collect(),
            missing: None,
            sparse: Vec::new(),
            words: HashMap::new(),
            edges: HashMap::new(),
        })
    }

    /// Adds a node: one cell a column, at `at`.
    pub fn node<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>, at: &At) -> Result<()> {
        let node = self.ids.len() as u32;
        let mut label = None;
        let mut row = Vec::new();
        let mut in_split = false;
        let columns = std::mem::take(&mut self.columns);
        let mut given = 0;
        for ((name, role), cell) in columns.iter().zip(cells) {
            given += 1;
            let cell = cell.trim();
            let at = || at.clone().field(name.as_str());
            match role {
                Role::Id => self.add_id(cell, node, at())?,
                Role::Label => label = (!cell.is_empty()).then(|| (cell.to_string(), at())),
                Role::Split(split) => {
                    if let Some(part) = part(cell, at())? {
                        self.parts[*split][part].push(node);
                        in_split = true;
                    }
                }
                Role::Feature(column) => self.features[*column].push(cell, at)?,
                Role::Words => {
                    for word in cell.split_whitespace() {
                        let next = self.words.len() as u32;
                        let column = *self.words.entry(word.to_string()).or_insert(next);
                        row.push((column, 1.0));
                    }
                }
                Role::Sparse(width) => {
                    for pair in cell.split_whitespace() {
                        let (column, value) = sparse_pair(pair, *width, at())?;
                        if value.is_nan() {
                            self.missing.get_or_insert_with(at);
                        }
                        row.push((column, value));
                    }
                }
            }
        }
        let expected = columns.len();
        self.columns = columns;
        if given != expected {
            return Err(at
                .clone()
                .error(format!("{given} cells for {expected} columns"), "complete the row"));
        }
        if in_split && label.is_none() {
            let help = "label it, or leave its split empty";
            return Err(at
                .clone()
                .field("label")
                .error("the node is in a split but has no label", help));
        }
        self.labels.push(label);
        self.sparse.push(row);
        Ok(())
    }

    fn add_id(&mut self, id: &str, node: u32, at: At) -> Result<()> {
        if id.is_empty() {
            return Err(at.error("the id is empty", "give every node an id"));
        }
        if let Some(first) = self.places.insert(id.to_string(), node) {
            let what = format!("the id `{id}` occurs again (it is also node {})", first + 1);
            return Err(at.error(what, "give every node its own id"));
        }
        self.ids.push(id.to_string());
        Ok(())
    }

    /// Adds an edge between two nodes already added. Both directions are the same edge, and a
    /// self-loop is none.
    pub fn edge(&mut self, ends: [&str; 2], row: EdgeRow<'_>, at: &At) -> Result<()> {
        let mut nodes = [0; 2];
        for ((node, id), field) in nodes.iter_mut().zip(ends).zip(["source", "target"]) {
            let id = id.trim();
            *node = *self.places.get(id).ok_or_else(|| {
                let what = format!("`{id}` is not the id of a node");
                at.clone().field(field).error(what, "add the node or correct the id")
            })?;
        }
        let cells = row.read(at)?;
        let [u, v] = nodes;
        if u == v {
            return Ok(());
        }
        match self.edges.entry((u.min(v), u.max(v))) {
            Entry::Occupied(first) => cells.check_same(first.get(), at)?,
            Entry::Vacant(free) => {
                free.insert((cells, at.clone()));
            }
        }
        Ok(())
    }

    /// Fails when no node was added; asked before the edges, whose ids would all be unknown.
    pub fn check_nodes(&self) -> Result<()> {
        if self.ids.is_empty() {
            return Err(self.header.clone().error("there are no nodes", "add at least one node"));
        }
        Ok(())
    }

    /// The dataset. `classes` fixes the order of the classes; without it they are sorted, as numbers
    /// when all of them are.
    pub fn finish(
        self,
        name: String,
        classes: Option<(Vec<String>, PathBuf)>,
    ) -> Result<NodeDataset> {
        self.check_nodes()?;
        let (labels, class_names) = number_classes(&self.labels, classes)?;
        let mut missing = self.missing;
        let mut known = Vec::with_capacity(self.features.len());
        let named = self.columns.iter().filter(|(_, role)| matches!(role, Role::Feature(_)));
        for (column, (name, _)) in self.features.into_iter().zip(named) {
            let column = column.finish(self.header.clone().field(name.as_str()))?;
            if let Known::Numbers(_, Some(at)) = &column
                && missing.as_ref().is_none_or(|first| at.line < first.line)
            {
                missing = Some(at.clone());
            }
            known.push((name.as_str(), column));
        }
        let (features, feature_names) =
            gather_features(&self.columns, known, self.sparse, self.words)
                .ok_or_else(|| self.header.clone().error("too many features", "leave some out"))?;
        let edges = simplify(self.edges.keys().copied());
        let cells = |edge| self.edges.get(edge).map(|(cells, _)| *cells).unwrap_or_default();
        let weights: Option<Vec<f32>> = edges.iter().map(|edge| cells(edge).weight).collect();
        let weights = weights.filter(|weights| !weights.is_empty());
        let marks = [0, 1].map(|at| {
            let marks: Option<Vec<bool>> = edges.iter().map(|edge| cells(edge).marks[at]).collect();
            marks.filter(|marks| !marks.is_empty())
        });
        let splits = self.split_names.into_iter().zip(self.parts);
        let splits =
            splits.map(|(name, [train, valid, test])| Split::new(name, train, valid, test));
        let dataset = NodeDataset {
            name,
            features,
            missing,
            feature_names,
            edges,
            weights,
            marks: EdgeMarks::new(marks),
            labels,
            class_names,
            node_ids: self.ids,
            splits: splits.collect::<Result<_>>()?,
        };
        dataset.validate()?;
        Ok(dataset)
    }
}

fn part(cell: &str, at: At) -> Result<Option<usize>> {
    match cell {
        "" => Ok(None),
        "train" => Ok(Some(0)),
        "valid" | "val" | "validation" => Ok(Some(1)),
        "test" => Ok(Some(2)),
        _ => Err(at.error(
            format!("`{}` is not a part of a split", shorten(cell)),
            "write train, valid, test, or leave it empty",
        )),
    }
}

pub(super) fn number(cell: &str, at: At, help: &str) -> Result<f32> {
    match cell.parse::<f32>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(at.error(
            format!("`{}` is not a finite number", shorten(cell)),
            "replace it, or leave out the node or the column",
        )),
        Err(_) => Err(at.error(format!("`{}` is not a number", shorten(cell)), help)),
    }
}

fn sparse_pair(pair: &str, width: u32, at: At) -> Result<(u32, f32)> {
    let parts = pair.split_once(':').and_then(|(column, value)| {
        Some((column.parse::<u32>().ok()?, value.parse::<f32>().ok()?))
    });
    match parts {
        Some((column, value)) if column < width && !value.is_infinite() => Ok((column, value)),
        _ => Err(at.error(
            format!(
                "`{}` is not a column below {width}, a colon and a finite number",
                shorten(pair)
            ),
            "write for example 12:0.5 99:1",
        )),
    }
}

/// Enough of a cell to recognise it.
pub(super) fn shorten(cell: &str) -> String {
    match cell.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &cell[..end]),
        None => cell.to_string(),
    }
}

type Classes = (Vec<u32>, Vec<String>);

fn number_classes(
    labels: &[Option<(String, At)>],
    given: Option<(Vec<String>, PathBuf)>,
) -> Result<Classes> {
    let (names, source) = given.unwrap_or_else(|| {
        let mut names: Vec<String> =
            labels.iter().flatten().map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        if names.iter().all(|name| name.parse::<i64>().is_ok()) {
            names.sort_by_key(|name| name.parse::<i64>().unwrap_or(0));
        }
        (names, PathBuf::new())
    });
    let numbers: HashMap<&str, u32> =
        names.iter().enumerate().map(|(number, name)| (name.as_str(), number as u32)).collect();
    let one = |label: &Option<(String, At)>| match label {
        None => Ok(UNKNOWN_LABEL),
        Some((name, at)) => numbers.get(name.as_str()).copied().ok_or_else(|| {
            let what = format!("class `{}` is not in {}", shorten(name), source.display());
            at.clone().error(what, "add it there or correct the label")
        }),
    };
    let labels = labels.iter().map(one).collect::<Result<_>>()?;
    Ok((labels, names))
}

/// Numbers first, then categories, then words, the last two in alphabetical order (so that the order of the rows
/// does not matter), and the names of all of them, if they have any. A category is a column of 0 and 1 called
/// `column=category`; a row without one has zeros.
fn gather_features(
    columns: &[(String, Role)],
    known: Vec<(&str, Known)>,
    packed: Vec<Vec<(u32, f32)>>,
    words: HashMap<String, u32>,
) -> Option<(Features, Vec<String>)> {
    let mut names: Vec<String> = Vec::new();
    let mut numbers: Vec<Vec<f32>> = Vec::new();
    let mut categories: Vec<(usize, Vec<Option<u32>>)> = Vec::new();
    let mut category_names: Vec<String> = Vec::new();
    for (name, column) in known {
        match column {
            Known::Numbers(cells, _) => {
                names.push(name.into());
                numbers.push(cells);
            }
            Known::Categories(all, cells) => {
                categories.push((category_names.len(), cells));
                category_names.extend(all.iter().map(|category| format!("{name}={category}")));
            }
        }
    }
    let first = names.len();
    names.extend(category_names);
    let count = names.len();
    let width = columns.iter().find_map(|(_, role)| match role {
        Role::Sparse(width) => Some(*width as usize),
        Role::Words => Some(words.len()),
        _ => None,
    });
    let mut sorted: Vec<(String, u32)> = words.into_iter().collect();
    sorted.sort_unstable();
    let mut place: Vec<u32> = (0..sorted.len() as u32).collect();
    for (new, (_, old)) in sorted.iter().enumerate() {
        *place.get_mut(*old as usize)? = new as u32;
    }
    if width.is_some() {
        match sorted.is_empty() {
            // Columns of a matrix have numbers, not names.
            true => names.clear(),
            false => names.extend(sorted.iter().map(|(word, _)| format!("{WORD}{word}"))),
        }
    }
    let shift = u32::try_from(count).ok()?;
    let own = |node: usize| {
        let of_numbers = numbers.iter().enumerate().map(move |(at, cells)| (at, cells[node]));
        let of_categories = categories.iter().filter_map(move |(start, cells)| {
            cells[node].map(|category| (first + start + category as usize, 1.0))
        });
        of_numbers.chain(of_categories).filter(|(_, value)| *value != 0.0)
    };
    let rows = packed.len();
    let Some(width) = width else {
        let mut values = vec![0.0; rows.checked_mul(count)?];
        for node in 0..rows {
            own(node).for_each(|(column, value)| values[node * count + column] = value);
        }
        return Some((Features::from_dense(rows, count, values), names));
    };
    let rows = packed.into_iter().enumerate().map(|(node, row)| {
        let mut joined: Vec<(u32, f32)> = own(node).map(|(at, value)| (at as u32, value)).collect();
        joined.extend(row.into_iter().filter_map(|(column, value)| {
            let column = place.get(column as usize).copied().unwrap_or(column);
            Some((column.checked_add(shift)?, value))
        }));
        joined
    });
    Some((Features::from_rows(count.checked_add(width)?, rows.collect())?, names))
}

impl From<(csv::Error, &std::path::Path)> for Error {
    fn from((error, path): (csv::Error, &std::path::Path)) -> Self {
        let line = error.position().map_or(1, csv::Position::line);
        let at = At::line(path, line);
        match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => at.error(
                format!("{len} cells, but the header has {expected_len} columns"),
                "complete the row; text with commas needs quotes",
            ),
            csv::ErrorKind::Utf8 { .. } => at.error("not UTF-8 text", "save the file as UTF-8"),
            _ => at.error(error.to_string(), "correct the line"),
        }
    }
}
