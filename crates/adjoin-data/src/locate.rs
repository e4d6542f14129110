//! Which reader a name or a path is for.

use std::path::{Path, PathBuf};

use crate::cora::cora;
use crate::dataset::NodeDataset;
use crate::error::{At, Error, Result};
use crate::locations::Locations;
use crate::read;
use crate::registry::{KnownDataset, find};
use crate::split_spec::SplitSpec;

/// Folders below a data folder that hold several archives.
const GROUPS: [&str; 5] =
    ["planetoid_plain", "heterophilous", "amazon_coauthor", "poisoned", "misleading"];

/// A dataset that was found but not read yet.
enum Found {
    Planetoid { folder: PathBuf, stem: String },
    Npz(PathBuf),
    Csv(PathBuf),
    GraphMl(PathBuf),
}

impl Found {
    fn read(&self, edges: bool) -> Result<NodeDataset> {
        match self {
            Self::Planetoid { folder, stem } => read::planetoid(folder, stem),
            Self::Npz(path) => read::npz(path),
            Self::Csv(folder) if edges => read::csv_folder(folder),
            Self::Csv(folder) => read::csv_nodes(folder),
            Self::GraphMl(path) => read::graphml(path),
        }
    }

    /// The file whose presence means that this dataset is there.
    fn landmark(&self) -> PathBuf {
        match self {
            Self::Planetoid { folder, stem } => folder.join(format!("ind.{stem}.graph")),
            Self::Npz(path) | Self::GraphMl(path) => path.clone(),
            Self::Csv(folder) => folder.join("nodes.csv"),
        }
    }
}

/// Loads a dataset by name, or a user's folder or file by path.
///
/// A known name ([`list`](crate::list)) or any other plain word is looked for in every folder of
/// `locations`, as `NAME/ind.NAME.*`, `GROUP/NAME.npz` (groups `planetoid_plain`, `heterophilous`,
/// `amazon_coauthor`, `poisoned`, `misleading`), `NAME.npz`, `NAME/NAME.npz`, `NAME/nodes.csv` and `NAME.graphml`. Cora is in the program
/// itself if it is nowhere else. What is not found so is taken as a path: a folder with `nodes.csv`
/// or `ind.*` files, an `.npz` or a `.graphml` file. Write `./cora` for a folder with a known name.
pub fn load(name_or_path: &str, locations: &Locations) -> Result<NodeDataset> {
    find_and_read(name_or_path, locations, true)
}

/// As [`load`], without the edges: a folder needs no `edges.csv`.
pub fn load_nodes(name_or_path: &str, locations: &Locations) -> Result<NodeDataset> {
    Ok(find_and_read(name_or_path, locations, false)?.without_edges())
}

fn find_and_read(name_or_path: &str, locations: &Locations, edges: bool) -> Result<NodeDataset> {
    let known = find(name_or_path);
    let plain_word = !name_or_path.contains(['/', '\\']);
    let mut looked = Vec::new();
    if plain_word {
        let (name, stems) = match &known {
            Ok(entry) => (entry.name, entry.stems.to_vec()),
            Err(_) => (name_or_path, vec![name_or_path]),
        };
        for folder in locations.folders() {
            for found in candidates(folder, name, &stems) {
                let landmark = found.landmark();
                if landmark.is_file() {
                    let mut dataset = found.read(edges)?;
                    dataset.name = name.to_string();
                    if known.is_ok() && dataset.splits.is_empty() {
                        // The protocol that such graphs are published with (Shchur et al. 2018).
                        dataset.splits.extend(SplitSpec::Random { seed: 0 }.make(&dataset).ok());
                    }
                    return Ok(dataset);
                }
                looked.push(landmark);
            }
        }
    }
    match known {
        Ok(entry) if entry.is_embedded() => cora(),
        Ok(entry) => Err(missing(&entry, looked, locations)),
        Err(unknown) => {
            let path = Path::new(name_or_path);
            if path.exists() { by_path(path)?.read(edges) } else { Err(unknown) }
        }
    }
}

fn candidates(folder: &Path, name: &str, stems: &[&str]) -> Vec<Found> {
    let mut all = Vec::new();
    for stem in stems {
        // The variants of NELL share a folder, which is called like the part before the first dot.
        let own = folder.join(stem.split('.').next().unwrap_or(stem));
        all.push(Found::Planetoid { folder: own, stem: stem.to_string() });
        all.push(Found::Planetoid { folder: folder.to_path_buf(), stem: stem.to_string() });
    }
    let file = format!("{name}.npz");
    for group in GROUPS {
        all.push(Found::Npz(folder.join(group).join(&file)));
    }
    all.push(Found::Npz(folder.join(&file)));
    all.push(Found::Npz(folder.join(name).join(&file)));
    all.push(Found::Csv(folder.join(name)));
    all.push(Found::GraphMl(folder.join(format!("{name}.graphml"))));
    all
}

/// What a path that exists holds.
fn by_path(path: &Path) -> Result<Found> {
    let readable = "give a folder with nodes.csv and edges.csv or with ind.* files, an .npz or a .graphml file";
    if !path.is_dir() {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        return match ending.as_deref() {
            Some("npz") => Ok(Found::Npz(path.into())),
            Some("graphml" | "xml") => Ok(Found::GraphMl(path.into())),
            _ => Err(At::file(path).error("not a kind of file that is known", readable)),
        };
    }
    if path.join("nodes.csv").is_file() {
        return Ok(Found::Csv(path.into()));
    }
    let entries = path.read_dir().map_err(|error| Error::io("list", path, error))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut stems: Vec<String> = names
        .filter_map(|name| Some(name.strip_prefix("ind.")?.strip_suffix(".graph")?.to_string()))
        .collect();
    stems.sort_unstable();
    match stems.pop() {
        Some(stem) => Ok(Found::Planetoid { folder: path.into(), stem }),
        None => Err(At::file(path).error("the folder holds no graph", readable)),
    }
}

fn missing(entry: &KnownDataset, looked: Vec<PathBuf>, locations: &Locations) -> Error {
    let cache =
        locations.cache.as_ref().map_or("the cache".into(), |path| path.display().to_string());
    let help = if entry.can_fetch() {
        let bytes: u64 = entry.files().iter().map(|file| file.bytes).sum();
        format!(
            "`adjoin data fetch {}` would download {} files ({:.1} MB) from {} into {cache}",
            entry.name,
            entry.files().len(),
            bytes as f64 / 1e6,
            entry.source
        )
    } else {
        format!(
            "get {}.npz from {} and put it into {cache}/{}",
            entry.name,
            entry.source,
            entry.home()
        )
    };
    Error::Missing { name: entry.name.into(), looked, help }
}
