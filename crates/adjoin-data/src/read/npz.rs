//! Graphs in NumPy archives (`.npz`), told apart by the names of their arrays.

use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use super::npy::Array;
use crate::dataset::{NodeDataset, UNKNOWN_LABEL};
use crate::edges::simplify;
use crate::error::{At, Error, Result};
use crate::features::Features;
use crate::marks::EdgeMarks;
use crate::split::Split;
use crate::split_spec::is_split_name;

/// Largest array after expansion, 1 GiB.
const MAX_EXPANDED: u64 = 1 << 30;
/// Below this no ratio is suspicious: small arrays of zeros shrink a thousandfold.
const RATIO_FREE: u64 = 16 << 20;
/// The emptiest public bag of words, stored dense, expands 170-fold.
const MAX_RATIO: u64 = 500;

/// Reads an archive of plain arrays. No array is a pickle, and those not named here are not opened.
///
/// | part | arrays |
/// |---|---|
/// | features | `feat_indptr`, `feat_indices`, `feat_shape`, `feat_data` (ones when absent); or `attr_` with the same endings; or `node_features` (N, d) |
/// | edges | `edges` (E, 2), any direction; or `adj_indptr`, `adj_indices`; `edge_weights` (E) if wanted |
/// | marks | `edge_planted`, `edge_injected` (E), 0 or 1, if wanted; see [`EdgeMarks`] |
/// | labels | `labels` or `node_labels` (N); negative is unknown |
/// | splits | `train_idx`, `val_idx`, `test_idx`, the split `public`; and `train_masks`, `val_masks`, `test_masks` (S, N), the splits `fixed:0`... or as in `split_names` |
/// | names | `class_names` (C), `node_ids` (N), `feature_names` (F), text |
pub fn npz(path: &Path) -> Result<NodeDataset> {
    npz_bytes(&super::stem(path), path, &super::file_bytes(path)?)
}

/// As [`npz`], from memory.
pub fn npz_bytes(name: &str, path: &Path, bytes: &[u8]) -> Result<NodeDataset> {
    let mut archive = Archive::open(path, bytes)?;
    let (labels, classes) = read_labels(&mut archive)?;
    let nodes = labels.len();
    let features = read_features(&mut archive, nodes)?;
    let (edges, weights, marks) = read_edges(&mut archive, nodes)?;
    let mut splits = read_index_split(&mut archive)?;
    splits.extend(read_mask_splits(&mut archive, nodes)?);
    let mut class_names = archive.texts("class_names")?.unwrap_or_default();
    if class_names.is_empty() {
        class_names = (0..classes).map(|class| class.to_string()).collect();
    }
    let node_ids = archive.texts("node_ids")?.unwrap_or_default();
    let name = name.to_string();
    let feature_names = archive.texts("feature_names")?.unwrap_or_default();
    let missing = features.has_missing().then(|| At::file(path).field("features"));
    let dataset = NodeDataset {
        name,
        features,
        missing,
        feature_names,
        edges,
        weights,
        marks,
        labels,
        class_names,
        node_ids,
        splits,
    };
    dataset.validate()?;
    Ok(dataset)
}

/// A zip file in memory, opened with limits.
struct Archive<'a> {
    path: &'a Path,
    zip: ZipArchive<Cursor<&'a [u8]>>,
}

impl<'a> Archive<'a> {
    fn open(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let zip = open_zip(path, bytes)?;
        Ok(Self { path, zip })
    }

    fn has(&self, key: &str) -> bool {
        self.zip.index_for_name(&format!("{key}.npy")).is_some()
    }

    /// Expands the array `key` and hands it to `read`; `None` when there is no such array.
    fn with<T>(&mut self, key: &str, read: impl Fn(Array<'_>) -> Result<T>) -> Result<Option<T>> {
        if !self.has(key) {
            return Ok(None);
        }
        let bytes = expand_entry(&mut self.zip, self.path, &format!("{key}.npy"))?;
        read(Array::parse(&bytes, At::file(self.path).field(key))?).map(Some)
    }

    /// As `with`, but the array must be there.
    fn must<T>(&mut self, key: &str, read: impl Fn(Array<'_>) -> Result<T>) -> Result<T> {
        let found = self.with(key, read)?;
        found.ok_or_else(|| {
            let names = self.zip.file_names().filter_map(|name| name.ok());
            let mut there: Vec<String> =
                names.take(20).map(|name| name.trim_end_matches(".npy").to_string()).collect();
            there.sort_unstable();
            At::file(self.path).field(key).error(
                format!("the array is missing (there are: {})", there.join(", ")),
                "`adjoin data --help` lists the arrays of a graph",
            )
        })
    }

    fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>> {
        self.with(key, |array| array.texts())
    }
}

/// Opens a zip file in memory.
pub(crate) fn open_zip<'a>(path: &Path, bytes: &'a [u8]) -> Result<ZipArchive<Cursor<&'a [u8]>>> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| {
        At::file(path).error(format!("not a whole zip archive ({error})"), "get the file again")
    })
}

/// Expands one entry, within the limits whatever the archive claims.
pub(crate) fn expand_entry(
    zip: &mut ZipArchive<Cursor<&[u8]>>,
    path: &Path,
    name: &str,
) -> Result<Vec<u8>> {
    let at = || At::file(path).field(name);
    let bad =
        |error: String| at().error(format!("cannot be expanded ({error})"), "get the file again");
    let entry = zip.by_name(name).map_err(|error| bad(error.to_string()))?;
    let limit = entry.compressed_size().saturating_mul(MAX_RATIO).clamp(RATIO_FREE, MAX_EXPANDED);
    let mut bytes = Vec::new();
    entry.take(limit + 1).read_to_end(&mut bytes).map_err(|error| bad(error.to_string()))?;
    if bytes.len() as u64 > limit {
        let what = format!(
            "expands to more than {limit} bytes (limits: {MAX_RATIO} times its packed size, \
             {MAX_EXPANDED} in all)"
        );
        return Err(Error::TooLarge { at: Box::new(at()), what });
    }
    Ok(bytes)
}

fn read_labels(archive: &mut Archive<'_>) -> Result<(Vec<u32>, u32)> {
    let key = if archive.has("node_labels") { "node_labels" } else { "labels" };
    archive.must(key, |array| {
        array.axes(1)?;
        let labels: Vec<u32> =
            array.indices()?.into_iter().map(|label| label.unwrap_or(UNKNOWN_LABEL)).collect();
        let highest = labels.iter().copied().filter(|label| *label != UNKNOWN_LABEL).max();
        match highest {
            // One number of a damaged file must not make millions of classes.
            Some(highest) if highest as usize > labels.len() => {
                let what = format!("class {highest} among only {} nodes", labels.len());
                Err(array.at().error(what, "number the classes 0, 1, 2 ..."))
            }
            highest => Ok((labels, highest.map_or(0, |highest| highest + 1))),
        }
    })
}

fn read_features(archive: &mut Archive<'_>, nodes: usize) -> Result<Features> {
    let prefix =
        ["feat", "attr"].into_iter().find(|prefix| archive.has(&format!("{prefix}_indptr")));
    let Some(prefix) = prefix else {
        return archive.must("node_features", |array| {
            let columns = array.axes(2)?[1];
            check_rows(&array, array.shape[0], nodes)?;
            Ok(Features::from_dense(nodes, columns, array.floats()?))
        });
    };
    let key = |ending: &str| format!("{prefix}_{ending}");
    let columns = archive.must(&key("shape"), |array| {
        let shape = known(&array)?;
        let [rows, columns] = shape[..] else {
            let what = format!("{} numbers where rows and columns are expected", shape.len());
            return Err(array.at().error(what, "get the file again"));
        };
        check_rows(&array, rows as usize, nodes)?;
        Ok(columns)
    })?;
    let indices = archive.must(&key("indices"), |array| known(&array))?;
    let pointers = read_pointers(archive, &key("indptr"), nodes, indices.len())?;
    let values = archive.with(&key("data"), |array| array.floats())?;
    let values = values.unwrap_or_else(|| vec![1.0; indices.len()]);
    if values.len() != indices.len() {
        let what = format!("{} values for {} stored entries", values.len(), indices.len());
        return Err(At::file(archive.path).field(key("data")).error(what, "get the file again"));
    }
    let rows = pointers.windows(2).map(|pair| {
        let row = pair[0] as usize..pair[1] as usize;
        indices[row.clone()].iter().copied().zip(values[row].iter().copied()).collect()
    });
    Features::from_rows(columns as usize, rows.collect()).ok_or_else(|| {
        let at = At::file(archive.path).field(key("indices"));
        at.error("more entries than can be counted", "leave out zeros")
    })
}

/// Where the rows of a sparse matrix begin and end, checked against what is stored.
fn read_pointers(
    archive: &mut Archive<'_>,
    key: &str,
    rows: usize,
    stored: usize,
) -> Result<Vec<u32>> {
    archive.must(key, |array| {
        check_rows(&array, array.shape.first().map_or(0, |n| n.saturating_sub(1)), rows)?;
        let pointers = known(&array)?;
        let rising = pointers.windows(2).all(|pair| pair[0] <= pair[1]);
        let ends = pointers.first() == Some(&0) && pointers.last() == Some(&(stored as u32));
        if rising && ends {
            return Ok(pointers);
        }
        let what = format!("must rise from 0 to the {stored} stored entries");
        Err(array.at().error(what, "get the file again"))
    })
}

type Edges = (Vec<(u32, u32)>, Option<Vec<f32>>, EdgeMarks);

fn read_edges(archive: &mut Archive<'_>, nodes: usize) -> Result<Edges> {
    if archive.has("adj_indptr") && !archive.has("edges") {
        let columns = archive.must("adj_indices", |array| ends(&array, nodes))?;
        let pointers = read_pointers(archive, "adj_indptr", nodes, columns.len())?;
        refuse_weights(archive)?;
        let rows = pointers.windows(2).enumerate().flat_map(|(row, pair)| {
            let ends = &columns[pair[0] as usize..pair[1] as usize];
            ends.iter().map(move |end| (row as u32, *end))
        });
        return Ok((simplify(rows), None, EdgeMarks::default()));
    }
    let pairs = archive.must("edges", |array| {
        if array.axes(2)?[1] != 2 {
            let what = format!("shape {:?} where (E, 2) is expected", array.shape);
            return Err(array.at().error(what, "store one row (source, target) an edge"));
        }
        let ends = ends(&array, nodes)?;
        Ok(ends.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>())
    })?;
    let edges = simplify(pairs.iter().copied());
    // Weights and marks are only written for edges in our own form, where row k is edge k.
    let fits = |array: &Array<'_>, what: &str, length: usize| {
        if length == edges.len() && pairs == edges {
            return Ok(());
        }
        let needed = format!("{what} need `edges` sorted, each once with the smaller end first");
        Err(array.at().error(needed, format!("sort the edges, or leave out the {what}")))
    };
    let weights = archive.with("edge_weights", |array| {
        let weights = array.floats()?;
        fits(&array, "weights", weights.len()).map(|()| weights)
    })?;
    let mut marks = [None, None];
    for (place, name) in marks.iter_mut().zip(EdgeMarks::NAMES) {
        *place = archive.with(&format!("edge_{name}"), |array| {
            let marks = array.bools()?;
            fits(&array, "marks", marks.len()).map(|()| marks)
        })?;
    }
    Ok((edges, weights, EdgeMarks::new(marks)))
}

/// Numbers of nodes.
fn ends(array: &Array<'_>, nodes: usize) -> Result<Vec<u32>> {
    let ends = known(array)?;
    if let Some(place) = ends.iter().position(|end| *end as usize >= nodes) {
        let row = place / array.shape.get(1).copied().unwrap_or(1).max(1);
        let what = format!("row {row} names node {} of only {nodes}", ends[place]);
        return Err(array.at().error(what, "nodes are counted from 0"));
    }
    Ok(ends)
}

/// A sparse matrix may name an edge in both directions, so it has no place for the weight of one.
fn refuse_weights(archive: &mut Archive<'_>) -> Result<()> {
    let help = "store `edges` (E, 2), each once with the smaller end first, and `edge_weights`";
    let ones = archive.with("adj_data", |array| Ok(array.floats()?.iter().all(|w| *w == 1.0)))?;
    if ones == Some(false) {
        let at = At::file(archive.path).field("adj_data");
        return Err(at.error("weights of a sparse matrix are not read", help));
    }
    let marks = EdgeMarks::NAMES.map(|name| format!("edge_{name}"));
    let of_edges = std::iter::once("edge_weights").chain(marks.iter().map(String::as_str));
    for key in of_edges {
        if archive.has(key) {
            let at = At::file(archive.path).field(key);
            return Err(at.error("it needs `edges`, not `adj_indptr`", help));
        }
    }
    Ok(())
}

fn read_index_split(archive: &mut Archive<'_>) -> Result<Vec<Split>> {
    if !["train_idx", "val_idx", "test_idx"].iter().any(|part| archive.has(part)) {
        return Ok(Vec::new());
    }
    let mut part = |key: &str| archive.must(key, |array| known(&array));
    let split = Split::new("public", part("train_idx")?, part("val_idx")?, part("test_idx")?)?;
    Ok(vec![split])
}

fn read_mask_splits(archive: &mut Archive<'_>, nodes: usize) -> Result<Vec<Split>> {
    if !["train_masks", "val_masks", "test_masks"].iter().any(|part| archive.has(part)) {
        return Ok(Vec::new());
    }
    let names = archive.texts("split_names")?.unwrap_or_default();
    if let Some(name) = names.iter().find(|name| !is_split_name(name)) {
        let what = format!("`{name}` is not a name for a split");
        let at = At::file(archive.path).field("split_names");
        return Err(at.error(what, "use letters, digits, `-`, `_` and `.`"));
    }
    let mut part = |key: &str| {
        archive.must(key, |array| {
            let columns = array.axes(2)?[1];
            check_rows(&array, columns, nodes)?;
            let masks = array.bools()?;
            let indices = |mask: &[bool]| {
                let chosen = mask.iter().enumerate().filter(|(_, chosen)| **chosen);
                chosen.map(|(node, _)| node as u32).collect::<Vec<u32>>()
            };
            Ok(masks.chunks(nodes.max(1)).map(indices).collect::<Vec<_>>())
        })
    };
    let (train, valid, test) = (part("train_masks")?, part("val_masks")?, part("test_masks")?);
    if train.len() != valid.len() || train.len() != test.len() {
        let what = format!("{}, {} and {} splits", train.len(), valid.len(), test.len());
        let at = At::file(archive.path).field("train_masks, val_masks, test_masks");
        return Err(at.error(what, "the three need the same number of rows"));
    }
    let parts = train.into_iter().zip(valid).zip(test).enumerate();
    let named = parts.map(|(number, ((train, valid), test))| {
        let name = names.get(number).cloned().unwrap_or_else(|| format!("fixed:{number}"));
        Split::new(name, train, valid, test)
    });
    named.collect()
}

fn check_rows(array: &Array<'_>, found: usize, nodes: usize) -> Result<()> {
    if found == nodes {
        return Ok(());
    }
    let what = format!("covers {found} nodes, but there are labels for {nodes}");
    Err(array.at().error(what, "the arrays of one graph must agree"))
}

/// Whole numbers of which none is negative.
fn known(array: &Array<'_>) -> Result<Vec<u32>> {
    let indices: Option<Vec<u32>> = array.indices()?.into_iter().collect();
    indices.ok_or_else(|| array.at().error("a negative number", "nodes and columns count from 0"))
}
