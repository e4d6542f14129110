//! The trajectory datasets that have a name, and where they are found.

use std::path::Path;

use super::crowd::{CrowdConfig, crowd};
use super::eth_ucy::eth_ucy;
use super::scene::TrajectoryDataset;
use super::sportvu::{Team, sportvu};
use super::table::{Purpose, TableConfig, csv, new_csv};
use super::trajnet::{TrajNetSplit, trajnet};
use crate::error::{At, Error, Result};
use crate::locations::{ByHand, Locations};
use crate::names::suggestion;

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

const SDD: KnownTrajectories = KnownTrajectories {
    name: "sdd",
    about: "people on a campus, each recording split by time",
    scenes: [1237, 119, 292],
    agents: [2, 21],
    licence: "CC BY-NC-SA 3.0, as far as known (the copies state none or MIT)",
    source: "https://github.com/vita-epfl/trajnetplusplusdataset (train) and \
             https://github.com/xupei0610/SocialVAE (test)",
    home: "sdd_trajnet",
    files: "train/*.txt and test/*.txt",
    ..ETH
};

const NBA: KnownTrajectories = KnownTrajectories {
    name: "nba-atk-10",
    about: "basketball, the attacking five",
    scenes: [8635, 1127, 2446],
    agents: [5, 5],
    observed: 10,
    predicted: 40,
    licence: "MIT (repository)",
    source: "https://github.com/xupei0610/SocialVAE (data/nba/score, packed as arrays)",
    home: "nba",
    files: "segments.tsv and score_{train,test}_{xy_i16,offsets_i32,player_ids_i32}.npy",
};

const NBA_DEFENCE: KnownTrajectories =
    KnownTrajectories { name: "nba-def-10", about: "basketball, the defending five", ..NBA };

const ALL: [KnownTrajectories; 14] = [
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
    SDD,
    KnownTrajectories {
        name: "sdd-trajnet",
        about: "people on a campus, other recordings for testing",
        scenes: [1571, 136, 527],
        ..SDD
    },
    NBA,
    KnownTrajectories { name: "nba-atk-20", observed: 20, predicted: 30, ..NBA },
    KnownTrajectories { name: "nba-atk-40", observed: 40, predicted: 10, ..NBA },
    NBA_DEFENCE,
    KnownTrajectories { name: "nba-def-20", observed: 20, predicted: 30, ..NBA_DEFENCE },
    KnownTrajectories { name: "nba-def-40", observed: 40, predicted: 10, ..NBA_DEFENCE },
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

/// Loads a trajectory dataset by name ([`list`]), or a user's CSV file by path.
///
/// The files of a name are looked for in its folder ([`KnownTrajectories::home`]) below every folder of
/// `locations`; `crowd` is made on the spot. What is no known name is taken as the path of a CSV file,
/// read with the default [`TableConfig`].
pub fn load(name_or_path: &str, locations: &Locations) -> Result<TrajectoryDataset> {
    load_with(name_or_path, locations, &TableConfig::default())
}

/// As [`load`], with settings for a user's file; datasets with a name have their own.
pub fn load_with(
    name_or_path: &str,
    locations: &Locations,
    table: &TableConfig,
) -> Result<TrajectoryDataset> {
    load_by(name_or_path, locations, |path| csv(path, table))
}

/// As [`load_with`], for a model that is there already: of a user's file all scenes are to test with
/// ([`new_csv`]).
pub fn load_new(
    name_or_path: &str,
    locations: &Locations,
    table: &TableConfig,
    purpose: Purpose,
) -> Result<TrajectoryDataset> {
    load_by(name_or_path, locations, |path| new_csv(path, table, purpose))
}

fn load_by(
    name_or_path: &str,
    locations: &Locations,
    read_csv: impl Fn(&Path) -> Result<TrajectoryDataset>,
) -> Result<TrajectoryDataset> {
    let known = match find(name_or_path) {
        Ok(known) => known,
        Err(unknown) => {
            let path = Path::new(name_or_path);
            return if path.exists() { by_path(path, read_csv) } else { Err(unknown) };
        }
    };
    if known.is_embedded() {
        return crowd(&CrowdConfig::default());
    }
    let KnownTrajectories { name, source, home, files, .. } = known;
    read(&known, &ByHand { name, source, home, files }.folder(locations, Path::is_dir)?)
}

fn by_path(
    path: &Path,
    read_csv: impl Fn(&Path) -> Result<TrajectoryDataset>,
) -> Result<TrajectoryDataset> {
    let is_csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    match is_csv && path.is_file() {
        true => read_csv(path),
        false => Err(At::file(path).error(
            "not trajectories of a known kind",
            "give a .csv file with columns scene, frame, agent, x and y",
        )),
    }
}

fn read(known: &KnownTrajectories, home: &Path) -> Result<TrajectoryDataset> {
    match known.name {
        "sdd" => trajnet(home, TrajNetSplit::ByTime),
        "sdd-trajnet" => trajnet(home, TrajNetSplit::Benchmark),
        name if name.starts_with("nba-atk") => sportvu(home, Team::Attack, known.observed),
        name if name.starts_with("nba-def") => sportvu(home, Team::Defence, known.observed),
        place => eth_ucy(home, place),
    }
}
