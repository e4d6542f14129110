//! Writes damaged clouds as a folder that is read as it is.

use std::fs;
use std::path::Path;

use super::cloud::PointDataset;
use crate::convert::Existing;
use crate::error::{Error, Result};
use crate::files;
use crate::npz_writer::npy;

/// The file that says how the clouds of a folder were damaged.
pub(super) const CORRUPTION: &str = "corruption.txt";

/// Writes damaged clouds ([`PointDataset::corrupted`]) for [`folder()`](super::folder()): one `.npy` file a cloud
/// in a folder for each class, `classes.txt` and `corruption.txt`. The folder appears whole or not at all;
/// with [`Existing::Replace`] only a folder that has a `corruption.txt` is replaced.
pub fn write_corrupted(dataset: &PointDataset, folder: &Path, existing: Existing) -> Result<()> {
    dataset.validate()?;
    let Some(corruption) = dataset.corruption else {
        return Err(Error::Setting {
            setting: "corruption",
            what: format!("{} is not damaged", dataset.name),
            help: "damage it with PointDataset::corrupted".into(),
        });
    };
    let exists = |help| Err(Error::Exists { path: folder.to_path_buf(), help });
    if folder.symlink_metadata().is_ok() {
        match existing {
            Existing::Refuse => {
                return exists("choose another name or ask for it to be overwritten");
            }
            Existing::Replace if !folder.join(CORRUPTION).is_file() => {
                return exists("it holds no corrupted clouds: choose another name");
            }
            Existing::Replace => {}
        }
    }
    let made = files::folder_beside(folder).map_err(|error| Error::io("create", folder, error))?;
    let put = |path: &Path, bytes: &[u8]| {
        fs::write(path, bytes).map_err(|error| Error::io("write", path, error))
    };
    put(&made.path().join(CORRUPTION), format!("{corruption}\n").as_bytes())?;
    let classes = dataset.class_names.join("\n") + "\n";
    put(&made.path().join("classes.txt"), classes.as_bytes())?;
    for name in &dataset.class_names {
        let path = made.path().join(name);
        fs::create_dir(&path).map_err(|error| Error::io("create", &path, error))?;
    }
    for (number, cloud) in dataset.clouds.iter().enumerate() {
        let class = &dataset.class_names[cloud.class as usize];
        let values = cloud.points.iter().flatten();
        let bytes: Vec<u8> = values.flat_map(|value| value.to_le_bytes()).collect();
        // By number: names of clouds may hold anything.
        let path = made.path().join(class).join(format!("{number:06}.npy"));
        put(&path, &npy("<f4", &[cloud.points.len(), 3], &bytes))?;
    }
    files::place_folder(made, folder).map_err(|error| Error::io("create", folder, error))
}
