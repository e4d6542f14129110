//! Writes a dataset as CSV files or as plain NumPy arrays; both are read back without loss, but for the names of sparse
//! features, which only the arrays have room for.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::dataset::{NodeDataset, UNKNOWN_LABEL};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::files;
use crate::npz_writer::NpzWriter;
use crate::read::{GIVEN, is_feature_name};
use crate::split::Split;

/// What to do when the output exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// Leave it and fail.
    #[default]
    Refuse,
    /// Replace it once the new one is complete.
    Replace,
}

const FOLDER_FILES: [&str; 3] = ["nodes.csv", "edges.csv", "classes.txt"];

/// Writes `nodes.csv`, `edges.csv` and `classes.txt` into a new folder, for
/// [`read::csv_folder`](crate::read::csv_folder). The folder appears whole or not at all; with
/// [`Existing::Replace`] only a folder that holds nothing but such files is replaced.
pub fn write_csv_folder(dataset: &NodeDataset, folder: &Path, existing: Existing) -> Result<()> {
    dataset.validate()?;
    check_names(dataset)?;
    check_target(folder, existing)?;
    let failed = |error| Error::io("create", folder, error);
    let made = files::folder_beside(folder).map_err(failed)?;
    let made_path = made.path();
    write_synced(&made_path.join("nodes.csv"), |out| write_nodes(dataset, out))?;
    write_synced(&made_path.join("edges.csv"), |out| write_edges(dataset, out))?;
    write_synced(&made_path.join("classes.txt"), |out| {
        dataset.class_names.iter().try_for_each(|name| writeln!(out, "{name}"))
    })?;
    files::place_folder(made, folder).map_err(failed)
}

/// Writes a file to the disk, not only to the system's memory.
fn write_synced(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<fs::File>) -> io::Result<()>,
) -> Result<()> {
    let written = || {
        let mut out = BufWriter::new(fs::File::create(path)?);
        write(&mut out)?;
        out.flush()?;
        out.get_ref().sync_all()
    };
    written().map_err(|error| Error::io("write", path, error))
}

/// Writes a compressed archive of plain arrays, for [`read::npz`](crate::read::npz) and NumPy. The file
/// appears whole or not at all.
pub fn write_npz(dataset: &NodeDataset, path: &Path, existing: Existing) -> Result<()> {
    dataset.validate()?;
    check_target(path, existing)?;
    let mut archive = NpzWriter::default();
    let packed = fill(&mut archive, dataset).and_then(|()| archive.finish());
    let bytes = packed.map_err(|error| Error::io("pack", path, error))?;
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = folder.and_then(|()| files::write(path, &bytes));
    written.map_err(|error| Error::io("write", path, error))
}

fn check_target(target: &Path, existing: Existing) -> Result<()> {
    let exists = |help| Err(Error::Exists { path: target.to_path_buf(), help });
    if target.symlink_metadata().is_err() {
        return Ok(());
    }
    if existing == Existing::Refuse {
        return exists("choose another name or ask for it to be overwritten");
    }
    if !target.is_dir() {
        return Ok(());
    }
    let entries = target.read_dir().map_err(|error| Error::io("list", target, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| Error::io("list", target, error))?;
        if !FOLDER_FILES.iter().any(|name| entry.file_name() == *name) {
            return exists("it holds other files, so it is not overwritten: choose another name");
        }
    }
    Ok(())
}

/// Names that a line or a trimmed cell could not give back.
fn check_names(dataset: &NodeDataset) -> Result<()> {
    for (field, names) in [("class_names", &dataset.class_names), ("node_ids", &dataset.node_ids)] {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        let odd =
            |name: &&String| name.is_empty() || name.trim() != *name || name.contains(['\n', '\r']);
        if let Some(name) = twice.or_else(|| names.iter().find(odd)) {
            return Err(Error::Invalid {
                dataset: dataset.name.clone(),
                field,
                what: format!(
                    "{name:?} is empty, occurs twice, or has spaces around or breaks in it"
                ),
                help: "rename it, or write an .npz file instead".into(),
            });
        }
    }
    Ok(())
}

fn write_nodes(dataset: &NodeDataset, out: impl Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let mut header = vec!["id".to_string(), "label".to_string()];
    for split in &dataset.splits {
        header.push(if split.name == GIVEN {
            "split".into()
        } else {
            format!("split:{}", split.name)
        });
    }
    match &dataset.features {
        Features::Sparse { columns, .. } => header.push(format!("sparse:{columns}")),
        Features::Dense { columns, .. } => {
            // Names that mean something else in a header cannot be kept.
            let plain = dataset.feature_names.iter().all(|name| is_feature_name(name));
            match plain && !dataset.feature_names.is_empty() {
                true => header.extend(dataset.feature_names.iter().cloned()),
                false => header.extend((0..*columns).map(|column| format!("f{column}"))),
            }
        }
    }
    table.write_record(&header)?;
    for node in 0..dataset.nodes() {
        let id = dataset.node_ids.get(node).cloned().unwrap_or_else(|| node.to_string());
        let label =
            dataset.label(node as u32).and_then(|label| dataset.class_names.get(label as usize));
        let mut row = vec![id, label.cloned().unwrap_or_default()];
        row.extend(dataset.splits.iter().map(|split| part_of(split, node as u32).to_string()));
        match &dataset.features {
            Features::Sparse { .. } => {
                let pairs = dataset.features.row(node).into_iter();
                let pairs: Vec<String> =
                    pairs.map(|(column, value)| format!("{column}:{value}")).collect();
                row.push(pairs.join(" "));
            }
            Features::Dense { columns, values, .. } => {
                let cells = values.iter().skip(node * columns).take(*columns);
                row.extend(cells.map(f32::to_string));
            }
        }
        table.write_record(&row)?;
    }
    table.flush()
}

fn part_of(split: &Split, node: u32) -> &'static str {
    let parts = [(&split.train, "train"), (&split.valid, "valid"), (&split.test, "test")];
    let of = parts.iter().find(|(nodes, _)| nodes.binary_search(&node).is_ok());
    of.map_or("", |(_, part)| *part)
}

fn write_edges(dataset: &NodeDataset, out: impl Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    let id = |node: u32| {
        dataset.node_ids.get(node as usize).cloned().unwrap_or_else(|| node.to_string())
    };
    let mut header = vec!["source", "target"];
    header.extend(dataset.weights.is_some().then_some("weight"));
    header.extend(dataset.marks.named().map(|(name, _)| name));
    table.write_record(&header)?;
    for (at, (u, v)) in dataset.edges.iter().enumerate() {
        let mut row = vec![id(*u), id(*v)];
        row.extend(dataset.weights.as_ref().map(|weights| weights[at].to_string()));
        row.extend(dataset.marks.named().map(|(_, marks)| u8::from(marks[at]).to_string()));
        table.write_record(&row)?;
    }
    table.flush()
}

fn fill(archive: &mut NpzWriter, dataset: &NodeDataset) -> io::Result<()> {
    let nodes = dataset.nodes();
    let ends = dataset.edges.iter().flat_map(|(u, v)| [*u, *v]);
    archive.numbers("edges", &[dataset.edges.len(), 2], ends)?;
    if let Some(weights) = &dataset.weights {
        archive.floats("edge_weights", &[weights.len()], weights)?;
    }
    for (name, marks) in dataset.marks.named() {
        let bytes: Vec<u8> = marks.iter().map(|mark| u8::from(*mark)).collect();
        archive.array(&format!("edge_{name}"), "|b1", &[marks.len()], &bytes)?;
    }
    match &dataset.features {
        Features::Sparse { rows, columns, pointers, indices, values } => {
            archive.numbers("feat_indptr", &[pointers.len()], pointers.iter().copied())?;
            archive.numbers("feat_indices", &[indices.len()], indices.iter().copied())?;
            archive.floats("feat_data", &[values.len()], values)?;
            archive.numbers("feat_shape", &[2], [*rows as u32, *columns as u32])?;
        }
        Features::Dense { rows, columns, values } => {
            archive.floats("node_features", &[*rows, *columns], values)?;
        }
    }
    let labels = dataset.labels.iter().map(|label| match *label {
        UNKNOWN_LABEL => -1,
        label => i64::from(label),
    });
    let bytes: Vec<u8> = labels.flat_map(i64::to_le_bytes).collect();
    archive.array("labels", "<i8", &[nodes], &bytes)?;
    archive.texts("class_names", &dataset.class_names)?;
    if !dataset.feature_names.is_empty() {
        archive.texts("feature_names", &dataset.feature_names)?;
    }
    if !dataset.node_ids.is_empty() {
        archive.texts("node_ids", &dataset.node_ids)?;
    }
    fill_splits(archive, &dataset.splits, nodes)
}

fn fill_splits(archive: &mut NpzWriter, splits: &[Split], nodes: usize) -> io::Result<()> {
    if let [only] = splits
        && only.name == "public"
    {
        for (key, part) in [("train", &only.train), ("val", &only.valid), ("test", &only.test)] {
            archive.numbers(&format!("{key}_idx"), &[part.len()], part.iter().copied())?;
        }
        return Ok(());
    }
    if splits.is_empty() {
        return Ok(());
    }
    type Part = fn(&Split) -> &Vec<u32>;
    let parts: [(&str, Part); 3] = [
        ("train", |split| &split.train),
        ("val", |split| &split.valid),
        ("test", |split| &split.test),
    ];
    for (key, part) in parts {
        let mut masks = vec![0u8; splits.len() * nodes];
        for (row, split) in splits.iter().enumerate() {
            for node in part(split) {
                masks[row * nodes + *node as usize] = 1;
            }
        }
        archive.array(&format!("{key}_masks"), "|b1", &[splits.len(), nodes], &masks)?;
    }
    let names: Vec<String> = splits.iter().map(|split| split.name.clone()).collect();
    archive.texts("split_names", &names)
}
