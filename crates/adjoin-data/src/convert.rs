//! Writes a dataset as CSV files or as plain NumPy arrays; both are read back without loss, but for the names of sparse
//! features, which only the arrays have room for.

use std::fs;
use std::io::{self, Cursor, Write};
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::atomic::{Temporary, write_atomically, write_synced};
use crate::dataset::{NodeDataset, UNKNOWN_LABEL};
use crate::error::{Error, Result};
use crate::features::Features;
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
    let temporary = Temporary::beside(folder)?;
    let made = temporary.path();
    fs::create_dir(made).map_err(|error| Error::io("create", made, error))?;
    write_synced(&made.join("nodes.csv"), |out| write_nodes(dataset, out))?;
    write_synced(&made.join("edges.csv"), |out| write_edges(dataset, out))?;
    write_synced(&made.join("classes.txt"), |out| {
        dataset.class_names.iter().try_for_each(|name| writeln!(out, "{name}"))
    })?;
    if !folder.exists() {
        return temporary.publish(folder);
    }
    // A folder cannot be renamed over another: step the old one aside, and back if need be.
    let aside = Temporary::beside(folder)?;
    fs::rename(folder, aside.path()).map_err(|error| Error::io("replace", folder, error))?;
    temporary.publish(folder).inspect_err(|_| {
        let _ = fs::rename(aside.path(), folder);
    })
}

/// Writes a compressed archive of plain arrays, for [`read::npz`](crate::read::npz) and NumPy. The file
/// appears whole or not at all.
pub fn write_npz(dataset: &NodeDataset, path: &Path, existing: Existing) -> Result<()> {
    dataset.validate()?;
    check_target(path, existing)?;
    let mut archive = Npz { zip: ZipWriter::new(Cursor::new(Vec::new())) };
    let packed =
        archive.fill(dataset).and_then(|()| archive.zip.finish().map_err(io::Error::other));
    let bytes = packed.map_err(|error| Error::io("pack", path, error))?.into_inner();
    write_atomically(path, &bytes)
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
    match &dataset.weights {
        None => {
            table.write_record(["source", "target"])?;
            for (u, v) in &dataset.edges {
                table.write_record([id(*u), id(*v)])?;
            }
        }
        Some(weights) => {
            table.write_record(["source", "target", "weight"])?;
            for ((u, v), weight) in dataset.edges.iter().zip(weights) {
                table.write_record([id(*u), id(*v), weight.to_string()])?;
            }
        }
    }
    table.flush()
}

/// A NumPy archive in the making.
struct Npz {
    zip: ZipWriter<Cursor<Vec<u8>>>,
}

impl Npz {
    fn fill(&mut self, dataset: &NodeDataset) -> io::Result<()> {
        let nodes = dataset.nodes();
        let ends = dataset.edges.iter().flat_map(|(u, v)| [*u, *v]);
        self.numbers("edges", &[dataset.edges.len(), 2], ends)?;
        if let Some(weights) = &dataset.weights {
            self.floats("edge_weights", &[weights.len()], weights)?;
        }
        match &dataset.features {
            Features::Sparse { rows, columns, pointers, indices, values } => {
                self.numbers("feat_indptr", &[pointers.len()], pointers.iter().copied())?;
                self.numbers("feat_indices", &[indices.len()], indices.iter().copied())?;
                self.floats("feat_data", &[values.len()], values)?;
                self.numbers("feat_shape", &[2], [*rows as u32, *columns as u32])?;
            }
            Features::Dense { rows, columns, values } => {
                self.floats("node_features", &[*rows, *columns], values)?;
            }
        }
        let labels = dataset.labels.iter().map(|label| match *label {
            UNKNOWN_LABEL => -1,
            label => i64::from(label),
        });
        let bytes: Vec<u8> = labels.flat_map(i64::to_le_bytes).collect();
        self.array("labels", "<i8", &[nodes], &bytes)?;
        self.texts("class_names", &dataset.class_names)?;
        if !dataset.feature_names.is_empty() {
            self.texts("feature_names", &dataset.feature_names)?;
        }
        if !dataset.node_ids.is_empty() {
            self.texts("node_ids", &dataset.node_ids)?;
        }
        self.splits(&dataset.splits, nodes)
    }

    fn splits(&mut self, splits: &[Split], nodes: usize) -> io::Result<()> {
        if let [only] = splits
            && only.name == "public"
        {
            for (key, part) in [("train", &only.train), ("val", &only.valid), ("test", &only.test)]
            {
                self.numbers(&format!("{key}_idx"), &[part.len()], part.iter().copied())?;
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
            self.array(&format!("{key}_masks"), "|b1", &[splits.len(), nodes], &masks)?;
        }
        let names: Vec<String> = splits.iter().map(|split| split.name.clone()).collect();
        self.texts("split_names", &names)
    }

    fn numbers(
        &mut self,
        key: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = u32>,
    ) -> io::Result<()> {
        let bytes: Vec<u8> = values.into_iter().flat_map(u32::to_le_bytes).collect();
        self.array(key, "<u4", shape, &bytes)
    }

    fn floats(&mut self, key: &str, shape: &[usize], values: &[f32]) -> io::Result<()> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.array(key, "<f4", shape, &bytes)
    }

    fn texts(&mut self, key: &str, texts: &[String]) -> io::Result<()> {
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
        let mut bytes = Vec::with_capacity(4 * width * texts.len());
        for text in texts {
            let start = bytes.len();
            bytes.extend(text.chars().flat_map(|character| u32::from(character).to_le_bytes()));
            bytes.resize(start + 4 * width, 0);
        }
        self.array(key, &format!("<U{width}"), &[texts.len()], &bytes)
    }

    fn array(&mut self, key: &str, descr: &str, shape: &[usize], data: &[u8]) -> io::Result<()> {
        let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
        let mut header = format!(
            "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
            sides.trim_end()
        );
        // NumPy wants the data to start at a multiple of 64 bytes, ten of which are before the header.
        let padding = 63 - (10 + header.len()) % 64;
        header.extend(std::iter::repeat_n(' ', padding));
        header.push('\n');
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .large_file(data.len() >= 1 << 31);
        self.zip.start_file(format!("{key}.npy"), options).map_err(io::Error::other)?;
        self.zip.write_all(b"\x93NUMPY\x01\x00")?;
        self.zip.write_all(&(header.len() as u16).to_le_bytes())?;
        self.zip.write_all(header.as_bytes())?;
        self.zip.write_all(data)
    }
}
