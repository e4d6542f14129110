//! Planetoid's `ind.NAME.*` files (Yang et al. 2016), as published.

use std::path::{Path, PathBuf};

use super::pickle::Pickle;
use crate::dataset::{NodeDataset, UNKNOWN_LABEL};
use crate::edges::simplify;
use crate::error::{At, Error, Result};
use crate::features::Features;
use crate::random::SplitMix64;
use crate::split::Split;

/// Nodes after the training nodes that validate, by convention of every paper on these data.
const VALIDATION: u32 = 500;

/// The files' contents, by ending.
#[derive(Debug, Clone, Default)]
pub struct PlanetoidFiles {
    /// `.allx`: features of all nodes but the test nodes, a pickled sparse matrix.
    pub allx: Vec<u8>,
    /// `.tx`: features of the test nodes, in the order of `test_index`.
    pub tx: Vec<u8>,
    /// `.y`: classes of the training nodes, a pickled one-hot matrix.
    pub y: Vec<u8>,
    /// `.ty`: classes of the test nodes.
    pub ty: Vec<u8>,
    /// `.ally`: classes of the rows of `allx`; NELL comes without.
    pub ally: Option<Vec<u8>>,
    /// `.graph`: a pickled dictionary of neighbours.
    pub graph: Vec<u8>,
    /// `.test.index`: one node number a line.
    pub test_index: Vec<u8>,
}

/// Reads `folder/ind.STEM.*`, e.g. stem `citeseer` or `nell.0.1`.
///
/// - Node numbers absent from `test.index` (isolated papers of Citeseer) get features of zero and no
///   label; they are in no split.
/// - Without `ally` (NELL) the labels of the usual validation nodes are not known: then half of the
///   test nodes (shuffled with seed 0) validate, and the split is named `carved`, not `public`.
pub fn planetoid(folder: &Path, stem: &str) -> Result<NodeDataset> {
    let path = |ending: &str| file(folder, stem, ending);
    let read = |ending: &str| super::file_bytes(&path(ending));
    let files = PlanetoidFiles {
        allx: read("allx")?,
        tx: read("tx")?,
        y: read("y")?,
        ty: read("ty")?,
        // Of other data a missing file would change the split without a word.
        ally: match stem.starts_with("nell") && !path("ally").exists() {
            true => None,
            false => Some(read("ally")?),
        },
        graph: read("graph")?,
        test_index: read("test.index")?,
    };
    planetoid_bytes(folder, stem, &files)
}

fn file(folder: &Path, stem: &str, ending: &str) -> PathBuf {
    folder.join(format!("ind.{stem}.{ending}"))
}

/// As [`planetoid`], from memory.
pub fn planetoid_bytes(folder: &Path, stem: &str, files: &PlanetoidFiles) -> Result<NodeDataset> {
    let path = |ending: &str| file(folder, stem, ending);
    let at = |ending: &str| At::file(path(ending));
    let fit = "the files do not belong together: get all of them again";

    let allx = Pickle::parse(&path("allx"), &files.allx)?.sparse_rows()?;
    let tx = Pickle::parse(&path("tx"), &files.tx)?.sparse_rows()?;
    let y = Pickle::parse(&path("y"), &files.y)?.one_hot()?;
    let ty = Pickle::parse(&path("ty"), &files.ty)?.one_hot()?;
    let ally = match &files.ally {
        Some(bytes) => Some(Pickle::parse(&path("ally"), bytes)?.one_hot()?),
        None => None,
    };
    let (pairs, listed) = Pickle::parse(&path("graph"), &files.graph)?.adjacency()?;
    let test = read_test_index(&path("test.index"), &files.test_index)?;

    let known = allx.rows.len();
    if tx.columns != allx.columns {
        let what = format!("{} columns, but allx has {}", tx.columns, allx.columns);
        return Err(at("tx").error(what, fit));
    }
    for (ending, found, expected) in [
        ("tx", tx.rows.len(), test.len()),
        ("ty", ty.rows.len(), test.len()),
        ("ally", ally.as_ref().map_or(known, |ally| ally.rows.len()), known),
    ] {
        if found != expected {
            return Err(at(ending).error(format!("{found} rows, expected {expected}"), fit));
        }
    }
    if ty.columns != y.columns || ally.as_ref().is_some_and(|ally| ally.columns != y.columns) {
        return Err(at("y").error(format!("{} classes, unlike ty or ally", y.columns), fit));
    }
    if let Some(node) = test.iter().find(|node| (**node as usize) < known) {
        let what = format!("test node {node} is also one of the {known} rows of allx");
        return Err(at("test.index").error(what, fit));
    }

    let after_test = test.iter().max().map_or(0, |node| *node as usize + 1);
    let nodes = listed.max(after_test).max(known);
    // Every node is listed somewhere and takes bytes there; one wild number must not take all memory.
    if nodes > files.graph.len() + known + test.len() {
        let what = format!("node number {} in files too short for so many nodes", nodes - 1);
        return Err(at("graph").error(what, fit));
    }
    let mut rows = allx.rows;
    rows.resize(nodes, Vec::new());
    let mut labels = vec![UNKNOWN_LABEL; nodes];
    let training = ally.as_ref().unwrap_or(&y).rows.iter().enumerate();
    let testing = test.iter().map(|node| *node as usize).zip(&ty.rows);
    for (node, class) in training.chain(testing) {
        if let (Some(label), Some(class)) = (labels.get_mut(node), class) {
            *label = *class;
        }
    }
    for (node, row) in test.iter().zip(tx.rows) {
        rows[*node as usize] = row;
    }
    let features = Features::from_rows(allx.columns, rows)
        .ok_or_else(|| at("allx").error("too many entries", fit))?;

    let missing = features.has_missing().then(|| at("allx"));
    let trained = y.rows.len() as u32;
    let dataset = NodeDataset {
        name: stem.to_string(),
        features,
        missing,
        feature_names: Vec::new(),
        edges: simplify(pairs),
        marks: Default::default(),
        weights: None,
        splits: vec![make_split(&path("y"), trained, known, &labels, test, ally.is_some())?],
        labels,
        class_names: (0..y.columns).map(|class| class.to_string()).collect(),
        node_ids: Vec::new(),
    };
    dataset.validate()?;
    Ok(dataset)
}

fn make_split(
    y: &Path,
    trained: u32,
    known: usize,
    labels: &[u32],
    mut test: Vec<u32>,
    ally: bool,
) -> Result<Split> {
    if trained as usize > known {
        let what = format!("{trained} training rows, but allx has only {known}");
        return Err(At::file(y).error(what, "the files do not belong together"));
    }
    let labelled =
        |node: &u32| labels.get(*node as usize).is_some_and(|label| *label != UNKNOWN_LABEL);
    let train = (0..trained).filter(labelled).collect();
    test.retain(labelled);
    if ally {
        let end = (trained + VALIDATION).min(known as u32);
        return Split::new("public", train, (trained..end).filter(labelled).collect(), test);
    }
    test.sort_unstable();
    SplitMix64::new(0).shuffle(&mut test);
    let valid = test.split_off(test.len() - test.len() / 2);
    Split::new("carved", train, valid, test)
}

fn read_test_index(path: &Path, bytes: &[u8]) -> Result<Vec<u32>> {
    let wrong = |line: usize, what: String| -> Error {
        At::line(path, line as u64 + 1).error(what, "each line must be one node number, each once")
    };
    let mut nodes = Vec::new();
    for (line, text) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let text = text.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok());
        match number.filter(|node| *node != UNKNOWN_LABEL) {
            Some(node) => nodes.push((node, line)),
            None => {
                let shown = String::from_utf8_lossy(&text[..text.len().min(40)]);
                return Err(wrong(line, format!("`{shown}` is not a node number")));
            }
        }
    }
    if nodes.is_empty() {
        return Err(At::file(path).error("the file is empty", "get the file again"));
    }
    let mut sorted = nodes.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(wrong(pair[1].1, format!("node {} occurs twice", pair[0].0))),
        None => Ok(nodes.into_iter().map(|(node, _)| node).collect()),
    }
}
