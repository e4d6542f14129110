//! ModelNet40 as PointNet's HDF5 files, `modelnet40_ply_hdf5_2048`.

use std::path::{Path, PathBuf};

use super::cloud::PointDataset;
use crate::error::Result;

/// The files `ply_data_PART*.h5` of a folder, by number.
pub(super) fn hdf5_files(folder: &Path, part: &str) -> Vec<PathBuf> {
    let is_part = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| {
            name.starts_with(&format!("ply_data_{part}")) && name.ends_with(".h5")
        })
    };
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(is_part).collect();
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    files
}

/// Reads the files `ply_data_{train,test}*.h5` (datasets `data`, float32 (shapes, points, 3), and `label`,
/// uint8 (shapes, 1)) and `shape_names.txt` of a folder.
///
/// The published clouds of 2048 points have mean 0 and largest distance 1 already and are taken as they
/// are. The validation part is chosen as for [`modelnet40`](super::modelnet40). Needs the feature `hdf5`;
/// without it, this is an error that says so.
pub fn modelnet40_hdf5(folder: &Path) -> Result<PointDataset> {
    reader::read(folder)
}

#[cfg(not(feature = "hdf5"))]
mod reader {
    use super::*;
    use crate::error::At;

    pub(super) fn read(folder: &Path) -> Result<PointDataset> {
        let help = "build with --features hdf5, or give the arrays or the .off files";
        Err(At::file(folder).error("HDF5 files are not read by this build", help))
    }
}

#[cfg(feature = "hdf5")]
mod reader {
    use std::sync::Arc;

    use hdf5_reader::{H5Type, Hdf5File, OpenOptions};

    use super::super::cloud::Cloud;
    use super::super::file::MAX_SHAPE_BYTES;
    use super::super::folder::class_list;
    use super::super::modelnet::{known_labels, published};
    use super::*;
    use crate::error::At;
    use crate::read::limited_bytes;

    pub(super) fn read(folder: &Path) -> Result<PointDataset> {
        let class_names = class_list(&folder.join("shape_names.txt"))?;
        let part = |part: &str| -> Result<Vec<Cloud>> {
            let mut clouds = Vec::new();
            for file in hdf5_files(folder, part) {
                let bytes = limited_bytes(&file, MAX_SHAPE_BYTES)?;
                clouds.extend(clouds_in(&file, bytes.into(), class_names.len())?);
            }
            Ok(clouds)
        };
        published(class_names.clone(), part("train")?, part("test")?)
    }

    /// The clouds of one file.
    pub(super) fn clouds_in(path: &Path, bytes: Arc<[u8]>, classes: usize) -> Result<Vec<Cloud>> {
        let at = |field: &str| At::file(path).field(field);
        let (values, shape) = array::<f32>(path, bytes.clone(), "data")?;
        let [count, each] = match shape[..] {
            [count, each, 3] if each > 0 => [count, each],
            _ => {
                let what = format!("shape {shape:?} where (shapes, points, 3) is expected");
                return Err(at("data").error(what, "get the file again"));
            }
        };
        let (labels, shape) = array::<u8>(path, bytes, "label")?;
        if labels.len() != count {
            let what = format!("shape {shape:?} for {count} shapes");
            return Err(at("label").error(what, "get the file again"));
        }
        let labels: Vec<Option<u32>> = labels.into_iter().map(|label| Some(label.into())).collect();
        let labels = known_labels(&at("label"), &labels, classes)?;
        let stem = crate::read::stem(path);
        let clouds = values.chunks_exact(each * 3).zip(labels).enumerate();
        clouds
            .map(|(row, (values, class))| {
                if !values.iter().all(|value| value.is_finite()) {
                    let what = format!("row {row} has a place that is not finite");
                    return Err(at("data").error(what, "get the file again"));
                }
                let points = values.chunks_exact(3).map(|v| [v[0], v[1], v[2]]).collect();
                Ok(Cloud { name: format!("{stem} {row}"), class, points })
            })
            .collect()
    }

    /// The elements of a dataset, row-major, and its shape.
    fn array<T: H5Type>(path: &Path, bytes: Arc<[u8]>, name: &str) -> Result<(Vec<T>, Vec<usize>)> {
        let limit = MAX_SHAPE_BYTES as usize;
        let options = OpenOptions::default().with_max_read_bytes(limit).with_max_chunk_bytes(limit);
        let read = Hdf5File::from_shared_bytes_with_options(bytes, options)
            .and_then(|file| file.dataset(name))
            .and_then(|dataset| dataset.read_array::<T>());
        let array = read.map_err(|error| {
            let help = "the file is truncated, damaged or of another kind: get it again";
            At::file(path).field(name).error(error.to_string(), help)
        })?;
        let shape = array.shape().to_vec();
        Ok((array.into_iter().collect(), shape))
    }
}
