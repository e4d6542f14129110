//! The datasets of point clouds that have a name, and where they are found.

use std::path::Path;

use super::cloud::PointDataset;
use super::folder::{FolderConfig, folder, has_classes};
use super::hdf5::{hdf5_files, modelnet40_hdf5};
use super::modelnet::{LANDMARK, modelnet40};
use super::shapes::{ShapesConfig, shapes};
use crate::error::{At, Error, Result};
use crate::locations::{ByHand, Locations};
use crate::names::suggestion;

/// Facts about a dataset of point clouds, as it is loaded here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownPoints {
    /// The name to load it by.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Number of shapes for training, validation and testing.
    pub shapes: [usize; 3],
    /// Number of points of every shape.
    pub points: usize,
    /// Number of classes.
    pub classes: usize,
    /// Licence of the public copy.
    pub licence: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// Folder below a data folder in which its files belong; empty when it needs none.
    pub home: &'static str,
    /// The files that belong there.
    pub files: &'static str,
}

impl KnownPoints {
    /// True when it needs no file.
    pub fn is_embedded(&self) -> bool {
        self.home.is_empty()
    }
}

const ALL: [KnownPoints; 3] = [
    KnownPoints {
        name: "shapes",
        about: "solids, turned, noisy and incomplete (generated)",
        shapes: [420, 60, 120],
        points: 1024,
        classes: 12,
        licence: "made by this program",
        source: "this program",
        home: "",
        files: "",
    },
    KnownPoints {
        name: "modelnet40",
        about: "furniture, vehicles and other things",
        shapes: [8856, 987, 2468],
        points: 1024,
        classes: 40,
        licence: "for academic use, as far as known (the copy states none)",
        source: "https://github.com/prasadsawant5/PointNet (ModelNet40, packed as arrays) or \
                 https://modelnet.cs.princeton.edu",
        home: "modelnet40",
        files: "classes.txt, {train,test}_points_i16.npy and {train,test}_labels_u8.npy; or the \
                published folders CLASS/{train,test}/*.off; or (built with the feature hdf5) \
                shape_names.txt and ply_data_{train,test}*.h5",
    },
    KnownPoints {
        name: "modelnet10",
        about: "the ten classes of furniture of modelnet40 that ModelNet10 has",
        shapes: [3591, 400, 908],
        points: 1024,
        classes: 10,
        licence: "for academic use, as far as known (the copy states none)",
        source: "https://github.com/prasadsawant5/PointNet (ModelNet40, packed as arrays) or \
                 https://modelnet.cs.princeton.edu",
        home: "modelnet40",
        files: "classes.txt, {train,test}_points_i16.npy and {train,test}_labels_u8.npy; or the \
                published folders CLASS/{train,test}/*.off; or (built with the feature hdf5) \
                shape_names.txt and ply_data_{train,test}*.h5",
    },
];

/// The part of ModelNet40 that is ModelNet10, and its classes.
const TEN: &str = "modelnet10";
const TEN_CLASSES: [&str; 10] = [
    "bathtub",
    "bed",
    "chair",
    "desk",
    "dresser",
    "monitor",
    "night_stand",
    "sofa",
    "table",
    "toilet",
];

/// All datasets of point clouds with a name.
pub fn list() -> Vec<KnownPoints> {
    ALL.to_vec()
}

/// The dataset of this name; capitals do not matter. An unknown name is an error that suggests the
/// nearest known one.
pub fn find(name: &str) -> Result<KnownPoints> {
    let plain = name.to_ascii_lowercase();
    ALL.into_iter().find(|known| known.name == plain).ok_or_else(|| {
        let names = ALL.map(|known| known.name);
        Error::UnknownName { name: name.into(), help: suggestion(&plain, &names) }
    })
}

/// Loads a dataset of point clouds by name ([`list`]), or a user's folder by path.
///
/// The files of a name are looked for in its folder ([`KnownPoints::home`]) below every folder of
/// `locations`; `shapes` is made on the spot. What is no known name is taken as the path of a folder:
/// with ModelNet40's arrays or HDF5 files in it, or with a folder for each class ([`folder()`]), read
/// with the default [`FolderConfig`]. Write `./shapes` for a folder with a known name.
pub fn load(name_or_path: &str, locations: &Locations) -> Result<PointDataset> {
    load_with(name_or_path, locations, &FolderConfig::default())
}

/// As [`load`], with settings for a folder with a folder for each class.
pub fn load_with(
    name_or_path: &str,
    locations: &Locations,
    config: &FolderConfig,
) -> Result<PointDataset> {
    let known = match find(name_or_path) {
        Ok(known) => known,
        Err(unknown) => {
            let path = Path::new(name_or_path);
            return if path.exists() { by_path(path, config) } else { Err(unknown) };
        }
    };
    if known.is_embedded() {
        return shapes(&ShapesConfig::default());
    }
    let KnownPoints { name, source, home, files, .. } = known;
    let by_hand = ByHand { name, source, home, files };
    let mut dataset = by_path(&by_hand.folder(locations, is_points)?, config)?;
    dataset.name = name.to_string();
    match name {
        TEN => dataset.with_classes(&TEN_CLASSES),
        _ => Ok(dataset),
    }
}

/// True for a folder that [`load`] would read as point clouds.
pub fn is_points(path: &Path) -> bool {
    path.join(LANDMARK).is_file() || !hdf5_files(path, "train").is_empty() || has_classes(path)
}

fn by_path(path: &Path, config: &FolderConfig) -> Result<PointDataset> {
    if path.join(LANDMARK).is_file() {
        return modelnet40(path);
    }
    if !hdf5_files(path, "train").is_empty() {
        return modelnet40_hdf5(path);
    }
    match path.is_dir() {
        true => folder(path, config),
        false => Err(At::file(path).error(
            "not point clouds of a known kind",
            "give a folder with a folder for each class",
        )),
    }
}
