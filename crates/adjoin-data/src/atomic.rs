//! Files and folders that appear whole or not at all.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// A path beside the final one that is removed unless [`Temporary::publish`] was reached.
pub(crate) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// A free name in the folder of `target`; that folder is made if need be.
    pub fn beside(target: &Path) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::create_dir_all(folder).map_err(|error| Error::io("create", folder, error))?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name =
            target.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        Ok(Self { path: folder.join(format!(".{name}.tmp-{}-{number}", std::process::id())) })
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives what was written its final name in one step.
    pub fn publish(self, target: &Path) -> Result<()> {
        fs::rename(&self.path, target).map_err(|error| Error::io("create", target, error))?;
        // Makes the new name survive a power cut; not every system lets a folder be opened.
        if let Some(folder) = target.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After `publish` nothing is there any more, and neither call does anything.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Writes a file to the disk, not only to the system's memory.
pub(crate) fn write_synced(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let failed = |error| Error::io("write", path, error);
    let mut out = BufWriter::new(File::create(path).map_err(failed)?);
    write(&mut out).map_err(failed)?;
    out.flush().map_err(failed)?;
    out.get_ref().sync_all().map_err(failed)
}

/// Writes `bytes` to `target`, whole or not at all.
pub(crate) fn write_atomically(target: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = Temporary::beside(target)?;
    write_synced(temporary.path(), |out| out.write_all(bytes))?;
    temporary.publish(target)
}
