//! Where tests find the public data.
#![allow(dead_code)] // every file of tests uses a part

use adjoin_data::Locations;
use std::path::{Path, PathBuf};

/// The folder that `ADJOIN_DATA` names.
pub fn folder() -> PathBuf {
    let set = std::env::var_os("ADJOIN_DATA").filter(|value| !value.is_empty());
    let path = PathBuf::from(set.expect("set ADJOIN_DATA to the folder of the public datasets"));
    // Cargo runs tests in the crate's folder, but a relative path was meant from the workspace's.
    match path.is_relative() && !path.exists() {
        true => Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path),
        false => path,
    }
}

/// That folder and nothing else.
pub fn data() -> Locations {
    Locations { data_dir: Some(folder()), ..Locations::default() }
}
