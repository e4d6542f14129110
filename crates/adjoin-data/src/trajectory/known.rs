//! The trajectory datasets that have a name, and where they are found.

use std::path::{Path, PathBuf};

use super::crowd::{CrowdConfig, crowd};
use super::eth_ucy::eth_ucy;
use super::scene::TrajectoryDataset;
use crate::error::{At, Error, Result};
use crate::locate::Locations;
use crate::registry::suggestion;

/// Facts about a trajectory dataset, as it is loaded here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownTrajectories {
    /// The name to load it by.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Number of scenes for training, validation and testing.
    pub scenes: [usize; 3],
    /// Fewest and most agents in a scene.
    pub agents: [usize; 2],
    /// Steps that are seen.
    pub observed: usize,
    /// Steps that are to be predicted.
    pub predicted: usize,
    /// Licence of the public copy.
    pub licence: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// Folder below a data folder in which its files belong; empty when it needs none.
    pub home: &'static str,
    /// The files that belong there.
    pub files: &'static str,
}

impl KnownTrajectories {
    /// True when it needs no file.
    pub fn is_embedded(&self) -> bool {
        self.home.is_empty()
    }
}

const CROWD: KnownTrajectories = KnownTrajectories {
    name: "crowd",
    about: "people crossing a square (generated)",
    scenes: [210, 30, 60],
    agents: [2, 12],
    observed: 8,
    predicted: 12,
    licence: "made by this program",
    source: "this program",
    home: "",
    files: "",
};

const ETH: KnownTrajectories = KnownTrajectories {
    name: "eth",
    about: "pedestrians, ETH left out",
    scenes: [2785, 660, 70],
    agents: [2, 57],
    observed: 8,
    predicted: 12,
    licence: "MIT (repository); the recordings state none",
    source: "https://github.com/abduallahmohamed/Social-STGCNN",
    home: "eth_ucy",
    files: "splits.tsv with the files it names, or the published folders eth, hotel, univ, zara1 and \
            zara2, each with train, val and test",
};

const ALL: [KnownTrajectories; 6] = [
    CROWD,
    ETH,
    KnownTrajectories {
        name: "hotel",
        about: "pedestrians, hotel left out",
        scenes: [2594, 621, 301],
        ..ETH
    },
    KnownTrajectories {
        name: "univ",
        about: "pedestrians, university left out",
        scenes: [2076, 530, 947],
        ..ETH
    },
    KnownTrajectories {
        name: "zara1",
        about: "pedestrians, first Zara left out",
        scenes: [2322, 605, 602],
        ..ETH
    },
    KnownTrajectories {
        name: "zara2",
        about: "pedestrians, second Zara left out",
        scenes: [2112, 501, 921],
        ..ETH
    },
];

/// All trajectory datasets with a name.
pub fn list() -> Vec<KnownTrajectories> {
    ALL.to_vec()
}

/// The trajectory dataset of this name; capitals and `_` for `-` do not matter. An unknown name is an
/// error that suggests the nearest known one.
pub fn find(name: &str) -> Result<KnownTrajectories> {
    let plain = name.to_ascii_lowercase().replace('_', "-");
    ALL.into_iter().find(|known| known.name == plain).ok_or_else(|| {
        let names = ALL.map(|known| known.name);
        Error::UnknownName { name: name.into(), help: suggestion(&plain, &names) }
    })
}

/// Loads a trajectory dataset by name ([`list`]).
///
/// The files of a name are looked for in its folder ([`KnownTrajectories::home`]) below every folder of
/// `locations`; `crowd` is made on the spot.
pub fn load(name_or_path: &str, locations: &Locations) -> Result<TrajectoryDataset> {
    let known = find(name_or_path)?;
    if known.is_embedded() {
        return crowd(&CrowdConfig::default());
    }
    let homes: Vec<PathBuf> =
        locations.folders().iter().map(|folder| folder.join(known.home)).collect();
    match homes.iter().find(|home| home.is_dir()) {
        Some(home) => read(&known, home),
        None => Err(missing(&known, homes, locations)),
    }
}

fn read(known: &KnownTrajectories, home: &Path) -> Result<TrajectoryDataset> {
    match known.home {
        "eth_ucy" => eth_ucy(home, known.name),
        _ => Err(At::file(home).error("no reader for this folder", "report this as a fault")),
    }
}

fn missing(known: &KnownTrajectories, looked: Vec<PathBuf>, locations: &Locations) -> Error {
    let data =
        locations.folders().last().map_or("the data folder".into(), |f| f.display().to_string());
    let help =
        format!("get it from {} and put {} into {data}/{}", known.source, known.files, known.home);
    Error::Missing { name: known.name.into(), looked, help }
}
