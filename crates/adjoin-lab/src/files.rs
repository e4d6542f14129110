//! Results that are replaced only when asked.

pub(crate) use adjoin_data::files::{is_temporary, sibling, sync_folder};

use crate::{Error, Result};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Writes a file whole or not at all.
///
/// # Errors
/// What the system says, with the path.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    adjoin_data::files::write(path, bytes).map_err(Error::file(path))
}

/// As [`write`], but refuses to replace a file unless `overwrite` is set.
///
/// # Errors
/// As [`write`], or that the file is there.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_new(&path, b"one", false).unwrap();
        assert!(matches!(write_new(&path, b"two", false), Err(Error::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write_new(&path, b"two", true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        assert!(write_new(folder.path(), b"x", true).is_err());
    }

    #[test]
    fn a_missing_folder_is_seen_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_new(&folder.path().join("a.md"), false).is_ok());
        let wrong = check_new(&folder.path().join("no/a.md"), true).unwrap_err().to_string();
        assert!(wrong.contains("folder is not there"), "{wrong}");
    }
}
