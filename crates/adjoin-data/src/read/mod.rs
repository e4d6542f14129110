//! Readers of published and of users' formats. Each takes a path and gives a checked dataset.
//!
//! The `*_bytes` functions do the same from memory; the path they take is only for messages.

mod column;
mod csv_folder;
mod edge_row;
mod graphml;
mod npy;
mod npz;
mod pickle;
mod planetoid;
mod table;
mod text;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use csv_folder::{csv_bytes, csv_folder};
pub use graphml::{graphml, graphml_bytes};
pub use npz::{npz, npz_bytes};
pub use planetoid::{PlanetoidFiles, planetoid, planetoid_bytes};

pub(crate) use csv_folder::{Rows, csv_nodes};
pub(crate) use npy::Array;
#[cfg(test)]
pub(crate) use npy::written_npy;
pub(crate) use npz::{expand_entry, open_zip};
pub(crate) use table::{GIVEN, is_feature_name};
pub(crate) use text::{coordinate, text_of, wrong_cell};

use crate::error::{At, Error, Result};

/// Largest file that is read into memory, 2 GiB. The largest public one here has 8 MB.
pub const MAX_FILE_BYTES: u64 = 2 << 30;

/// The bytes of a file that exists and is not too large.
pub(crate) fn file_bytes(path: &Path) -> Result<Vec<u8>> {
    limited_bytes(path, MAX_FILE_BYTES)
}

/// As [`file_bytes`], with a limit of one's own.
pub(crate) fn limited_bytes(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let length = file.metadata().map_err(|error| Error::io("inspect", path, error))?.len();
    let mut bytes = Vec::new();
    // A pipe or a growing file may give more than its length says, so reading is limited as well.
    if length <= limit {
        let mut reader = file.take(limit + 1);
        reader.read_to_end(&mut bytes).map_err(|error| Error::io("read", path, error))?;
    }
    let length = length.max(bytes.len() as u64);
    if length > limit {
        let what = format!("{length} bytes, the limit is {limit}");
        return Err(Error::TooLarge { at: Box::new(At::file(path)), what });
    }
    Ok(bytes)
}

/// What a file is called without folder and ending: the name of the dataset in it.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "graph".into(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_and_missing_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("big");
        // A file with a hole: large for whoever reads it, nothing on the disk.
        File::create(&path).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
        assert!(file_bytes(&path).unwrap_err().to_string().contains("the limit is"));
        assert!(matches!(limited_bytes(&path, 7), Err(Error::TooLarge { .. })));
        let missing = file_bytes(&folder.path().join("none")).unwrap_err().to_string();
        assert!(missing.contains("none"), "{missing}");
    }
}
