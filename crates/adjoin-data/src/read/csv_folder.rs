//! A user's own graph: a folder with `nodes.csv`, `edges.csv` and perhaps `classes.txt`.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord};

use super::edge_row::EdgeRow;
use super::table::Table;
use crate::dataset::NodeDataset;
use crate::error::{At, Error, Result};
use crate::marks::EdgeMarks;

/// Reads a folder of CSV files.
///
/// `nodes.csv` starts with a header; the order of the columns is free.
///
/// | column | meaning |
/// |---|---|
/// | `id` | any text, once |
/// | `label` | class by name or number; empty is unknown |
/// | `split` | `train`, `valid`, `test` or empty, the split `given`; `split:NAME` for further splits |
/// | `words` | a bag of words: text, of which each word is counted |
/// | `sparse:WIDTH` | `column:value` pairs of a matrix with WIDTH columns |
/// | any other | a number, or a category: text becomes one column `name=text` of 0 and 1 for each of its texts |
///
/// A cell that is empty, NaN, NA, N/A, null or ? is missing: a number is NaN then, and a node has none of the
/// categories.
///
/// `edges.csv` has `source,target` and if wanted `weight`; edges are undirected. Columns `planted` and
/// `injected`, 0 or 1, are [`EdgeMarks`]. `classes.txt`, one
/// class a line, fixes the order of the classes; without it they are sorted.
pub fn csv_folder(folder: &Path) -> Result<NodeDataset> {
    with_edges(folder, &super::file_bytes(&folder.join("edges.csv"))?)
}

/// The nodes alone; `edges.csv` need not be there.
pub(crate) fn csv_nodes(folder: &Path) -> Result<NodeDataset> {
    with_edges(folder, b"source,target\n")
}

fn with_edges(folder: &Path, edges: &[u8]) -> Result<NodeDataset> {
    let nodes = super::file_bytes(&folder.join("nodes.csv"))?;
    let classes = folder.join("classes.txt");
    let classes = if classes.exists() { Some(super::file_bytes(&classes)?) } else { None };
    csv_bytes(folder, &nodes, edges, classes.as_deref())
}

/// As [`csv_folder`], from memory.
pub fn csv_bytes(
    folder: &Path,
    nodes: &[u8],
    edges: &[u8],
    classes: Option<&[u8]>,
) -> Result<NodeDataset> {
    let path = folder.join("nodes.csv");
    let mut rows = Rows::open(&path, nodes)?;
    let mut table = Table::new(At::line(&path, 1), rows.header.iter())?;
    while let Some((row, at)) = rows.next()? {
        table.node(row.iter(), &at)?;
    }
    table.check_nodes()?;

    let path = folder.join("edges.csv");
    let mut rows = Rows::open(&path, edges)?;
    let columns = edge_columns(&rows.header, &path)?;
    while let Some((row, at)) = rows.next()? {
        let cell = |column: usize| row.get(column).unwrap_or("");
        let [source, target, weight, planted, injected] = columns.map(|column| column.map(cell));
        let row = EdgeRow { weight, marks: [planted, injected] };
        table.edge([source.unwrap_or(""), target.unwrap_or("")], row, &at)?;
    }

    let classes = match classes {
        Some(bytes) => {
            Some((read_classes(&folder.join("classes.txt"), bytes)?, folder.join("classes.txt")))
        }
        None => None,
    };
    let name =
        folder.file_name().map_or_else(|| "graph".into(), |n| n.to_string_lossy().into_owned());
    table.finish(name, classes)
}

/// Places of source, target, weight and marks.
fn edge_columns(header: &StringRecord, path: &Path) -> Result<[Option<usize>; 5]> {
    let mut columns = [None; 5];
    let [planted, injected] = EdgeMarks::NAMES;
    let names = ["source", "target", "weight", planted, injected];
    let help = "the columns are: source, target; if wanted weight, planted, injected";
    for (place, name) in header.iter().enumerate() {
        let slot = names.iter().position(|known| *known == name).map(|known| &mut columns[known]);
        match slot {
            Some(slot @ None) => *slot = Some(place),
            Some(_) => {
                return Err(At::line(path, 1).field(name).error("the column occurs twice", help));
            }
            None => return Err(At::line(path, 1).field(name).error("an unknown column", help)),
        }
    }
    match columns {
        [Some(_), Some(_), ..] => Ok(columns),
        _ => Err(At::line(path, 1).error("columns `source` and `target` are needed", help)),
    }
}

fn read_classes(path: &Path, bytes: &[u8]) -> Result<Vec<String>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| At::file(path).error("not UTF-8 text", "save the file as UTF-8"))?;
    let mut names: Vec<String> = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, name) in text.lines().map(str::trim).enumerate() {
        if name.is_empty() {
            continue;
        }
        if names.iter().any(|other| other == name) {
            let what = format!("class `{name}` occurs twice");
            return Err(At::line(path, line as u64 + 1).error(what, "name every class once"));
        }
        names.push(name.to_string());
    }
    Ok(names)
}

/// The rows of a CSV file with their lines.
pub(crate) struct Rows<'a> {
    path: &'a Path,
    reader: csv::Reader<&'a [u8]>,
    pub header: StringRecord,
}

impl<'a> Rows<'a> {
    pub fn open(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        // Spreadsheets like to put a byte-order mark before the first column's name.
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        if bytes.trim_ascii().is_empty() {
            let help = "the first line must name the columns";
            return Err(At::file(path).error("the file is empty", help));
        }
        let mut reader = ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
        let header = reader.headers().map_err(|error| Error::from((error, path)))?.clone();
        Ok(Self { path, reader, header })
    }

    pub fn next(&mut self) -> Result<Option<(StringRecord, At)>> {
        let mut record = StringRecord::new();
        match self.reader.read_record(&mut record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let line = record.position().map_or(0, csv::Position::line);
                Ok(Some((record, At::line(self.path, line))))
            }
            Err(error) => Err(Error::from((error, self.path))),
        }
    }
}
