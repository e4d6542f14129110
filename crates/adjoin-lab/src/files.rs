//! Files that appear whole or not at all.

use crate::{Error, Result};
use std::{
    ffi::OsString,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

/// What the name of an unfinished file ends with, before the number of the process.
const TEMPORARY: &str = ".tmp-";

/// Writes a file through a temporary one beside it, so that a crash leaves the old file or the new
/// one, never a part. A link stays, and the file it leads to is replaced. What is there and is no regular
/// file (a pipe, a device) is written to directly.
///
/// # Errors
/// What the system says, with the path.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let behind = match path.is_symlink() {
        true => Some(fs::canonicalize(path).map_err(Error::file(path))?),
        false => None,
    };
    let path = behind.as_deref().unwrap_or(path);
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let mut out = fs::OpenOptions::new().write(true).open(path).map_err(Error::file(path))?;
        out.write_all(bytes).map_err(Error::file(path))?;
        return out.flush().map_err(Error::file(path));
    }
    let temporary = sibling(path, &format!("{TEMPORARY}{}", std::process::id()));
    let written = write_synced(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path).map_err(Error::file(path)));
    match written {
        Ok(()) => {
            sync_folder(path);
            Ok(())
        }
        Err(error) => {
            let _ = fs::remove_file(&temporary);
            Err(error)
        }
    }
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

/// Removes what a process that was killed was writing in a folder.
pub(crate) fn remove_leftovers(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|e| is_temporary(&e.file_name().to_string_lossy())) {
        // What cannot be removed does no harm.
        let _ = fs::remove_file(entry.path());
    }
}

/// Whether a file of this name is one that was not finished.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.contains(TEMPORARY)
}

/// The path with something added to its last part.
pub(crate) fn sibling(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(ending);
    path.with_file_name(name)
}

/// Makes renames in the folder of `path` survive a power cut, where the system can.
pub(crate) fn sync_folder(path: &Path) {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Not every system lets a folder be opened; the data itself is safe either way.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut out = File::create(path).map_err(Error::file(path))?;
    out.write_all(bytes).map_err(Error::file(path))?;
    out.sync_all().map_err(Error::file(path))
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
    #[cfg(unix)]
    fn a_link_stays_and_what_it_leads_to_is_replaced_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "a long text that was there before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(matches!(write_new(&link, b"new", false), Err(Error::Exists { .. })));
        write_new(&link, b"new", true).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(link.is_symlink());
    }

    #[test]
    fn a_missing_folder_is_seen_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check_new(&folder.path().join("a.md"), false).is_ok());
        let wrong = check_new(&folder.path().join("no/a.md"), true).unwrap_err().to_string();
        assert!(wrong.contains("folder is not there"), "{wrong}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_an_error_and_stays_a_device() {
        let full = Path::new("/dev/full");
        assert!(matches!(write(full, b"x"), Err(Error::File { .. })));
        assert!(!full.symlink_metadata().unwrap().is_file());
    }
}
