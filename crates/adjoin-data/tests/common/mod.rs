//! Where tests find the public data.

use adjoin_data::Locations;
use std::path::{Path, PathBuf};

/// Where to look, or `None` after saying which test is skipped.
pub fn data(test: &str) -> Option<Locations> {
    let folder =
        std::env::var_os("ADJOIN_DATA").filter(|value| !value.is_empty()).map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: {test}: ADJOIN_DATA not set");
    }
    // Cargo runs tests in the crate's folder, but a relative path was meant from the workspace's.
    let folder = folder.map(|path| match path.is_relative() && !path.exists() {
        true => Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path),
        false => path,
    });
    folder.map(|folder| Locations { data_dir: Some(folder), ..Locations::default() })
}
