//! Files and folders that appear whole or not at all.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};
use tempfile::{Builder, TempDir};

/// What stands in the name of an unfinished file or folder.
const TEMPORARY: &str = ".tmp-";

/// Writes a file through a temporary one beside it, so that a crash leaves the old file or the new one, never a
/// part. A link stays, and the file it leads to is replaced. What is there and is no regular file (a pipe, a
/// device) is written to directly.
///
/// # Errors
/// What the system says.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let behind = path.is_symlink().then(|| fs::canonicalize(path)).transpose()?;
    let path = behind.as_deref().unwrap_or(path);
    if path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        let mut out = fs::OpenOptions::new().write(true).open(path)?;
        out.write_all(bytes)?;
        return out.flush();
    }
    let mut builder = Builder::new();
    #[cfg(unix)]
    {
        // Temporary files are private by default; results are for whoever may read new files.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let name = sibling(path, TEMPORARY);
    let name = name.file_name().unwrap_or_default();
    let mut out = builder.prefix(name).tempfile_in(folder_of(path))?;
    out.write_all(bytes)?;
    out.as_file().sync_all()?;
    out.persist(path).map_err(|error| error.error)?;
    sync_folder(path);
    Ok(())
}

/// A new folder beside a path, removed again unless it is renamed.
///
/// # Errors
/// What the system says.
pub(crate) fn folder_beside(path: &Path) -> io::Result<TempDir> {
    let parent = folder_of(path);
    fs::create_dir_all(parent)?;
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(TEMPORARY);
    Builder::new().prefix(&name).tempdir_in(parent)
}

/// Puts a finished folder in its place, instead of one that may be there.
///
/// # Errors
/// What the system says; the old folder is back then.
pub(crate) fn place_folder(made: TempDir, folder: &Path) -> io::Result<()> {
    // A folder cannot be renamed over another: step the old one aside, and back if need be.
    let aside = folder_beside(folder)?;
    let old = aside.path().join("old");
    let replaced = folder.exists();
    if replaced {
        fs::rename(folder, &old)?;
    }
    fs::rename(made.path(), folder).inspect_err(|_| {
        if replaced {
            let _ = fs::rename(&old, folder);
        }
    })?;
    sync_folder(folder);
    Ok(())
}

/// Whether a file of this name is one that was not finished.
pub fn is_temporary(name: &str) -> bool {
    name.contains(TEMPORARY)
}

/// The path with something added to its last part.
pub fn sibling(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(ending);
    path.with_file_name(name)
}

/// Makes renames in the folder of a path survive a power cut, where the system can.
pub fn sync_folder(path: &Path) {
    // Not every system lets a folder be opened; the data itself is safe either way.
    if let Ok(folder) = File::open(folder_of(path)) {
        let _ = folder.sync_all();
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "a long text that was there before").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(link.is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_an_error_and_stays_a_device() {
        let full = Path::new("/dev/full");
        assert!(write(full, b"x").is_err());
        assert!(!full.symlink_metadata().unwrap().is_file());
    }
}
