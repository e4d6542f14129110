//! Results that are replaced only when asked.

pub(crate) use adjoin_data::files::{is_temporary, sibling, sync_folder};

use crate::{Error, Result};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Writes a file whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    adjoin_data::files::write(path, bytes).map_err(Error::file(path))
}

/// As [`write()`], but refuses to replace a file unless `overwrite` is set.
pub fn write_new(path: &Path, bytes: &[u8], overwrite: bool) -> Result<()> {
    check_new(path, overwrite)?;
    write(path, bytes)
}

/// Whether [`write_new`] would begin: to be asked before long work whose result goes there.
///
/// # Errors
/// If the file is there and `overwrite` is not set, or its folder is not.
pub fn check_new(path: &Path, overwrite: bool) -> Result<()> {
    let refused = |what: &str| Err(Error::Exists { path: path.into(), what: what.into() });
    if path.is_dir() {
        return refused("is a folder: name a file");
    }
    if path.is_file() && !overwrite {
        return refused("exists: choose another name, or add --overwrite");
    }
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            refused("cannot be made: its folder is not there")
        }
        _ => Ok(()),
    }
}

/// The path from the root, so that it means the same wherever a command is run.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Removes what a process that was killed was writing in a folder.
pub(crate) fn remove_leftovers(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|e| is_temporary(&e.file_name().to_string_lossy())) {
        // What cannot be removed does no harm.
        let _ = fs::remove_file(entry.path());
    }
}
