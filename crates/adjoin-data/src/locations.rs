//! The folders in which data is looked for.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folders that are searched, in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Locations {
    /// Named by the user for this run (`--data-dir`).
    pub data_dir: Option<PathBuf>,
    /// Named by the environment (`ADJOIN_DATA`).
    pub environment: Option<PathBuf>,
    /// The folder `data` where the program was started.
    pub local: Option<PathBuf>,
    /// The user's cache, into which `fetch` puts files.
    pub cache: Option<PathBuf>,
}

impl Locations {
    /// The usual places, with the folder the user named, if any, first.
    pub fn from_environment(data_dir: Option<PathBuf>) -> Self {
        Self {
            data_dir,
            environment: path_variable("ADJOIN_DATA"),
            local: Some(PathBuf::from("data")),
            cache: user_cache(),
        }
    }

    /// The folders, first to last.
    pub fn folders(&self) -> Vec<&Path> {
        let all = [&self.data_dir, &self.environment, &self.local, &self.cache];
        all.into_iter().flatten().map(PathBuf::as_path).collect()
    }
}

fn path_variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The user's cache folder for adjoin, by the custom of the system.
fn user_cache() -> Option<PathBuf> {
    if let Some(cache) = path_variable("XDG_CACHE_HOME").filter(|cache| cache.is_absolute()) {
        return Some(cache.join("adjoin"));
    }
    if cfg!(windows) {
        return path_variable("LOCALAPPDATA").map(|home| home.join("adjoin").join("cache"));
    }
    let home = path_variable("HOME")?;
    let caches = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    Some(home.join(caches).join("adjoin"))
}

/// A dataset whose files are put in place by hand.
pub(crate) struct ByHand {
    pub name: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// Folder below a data folder in which its files belong.
    pub home: &'static str,
    /// The files that belong there.
    pub files: &'static str,
}

impl ByHand {
    /// The first home that `holds` the files. The error says which belong where: in the user's cache,
    /// which is there on every system.
    pub fn folder(&self, locations: &Locations, holds: impl Fn(&Path) -> bool) -> Result<PathBuf> {
        let mut looked: Vec<PathBuf> =
            locations.folders().iter().map(|folder| folder.join(self.home)).collect();
        if let Some(found) = looked.iter().position(|home| holds(home)) {
            return Ok(looked.swap_remove(found));
        }
        let home = looked.last().cloned().unwrap_or_else(|| Path::new("data").join(self.home));
        let help =
            format!("get it from {} and put into {}: {}", self.source, home.display(), self.files);
        Err(Error::Missing { name: self.name.into(), looked, help })
    }
}
