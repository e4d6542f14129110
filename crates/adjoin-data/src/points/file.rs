//! One shape in one file, whatever its format.

use std::path::Path;

use super::cloud::{Point, unit_sphere};
use super::mesh::Mesh;
use super::off::off_bytes;
use super::ply::ply_bytes;
use super::xyz::{npy_bytes, xyz_bytes};
use crate::error::{At, Result};
use crate::random::SplitMix64;
use crate::read::limited_bytes;

/// Largest file of one shape that is read, 256 MiB.
pub(super) const MAX_SHAPE_BYTES: u64 = 256 << 20;

/// What a file of a shape holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Geometry {
    /// Points.
    Points(Vec<Point>),
    /// A surface from which points can be drawn.
    Surface(Mesh),
}

/// The endings of files with a shape, in small letters.
const ENDINGS: [&str; 6] = ["off", "ply", "xyz", "txt", "csv", "npy"];

/// The ending that says how a file is to be read, if any does.
pub(super) fn ending(path: &Path) -> Option<&'static str> {
    let own = path.extension()?.to_str()?;
    ENDINGS.into_iter().find(|known| known.eq_ignore_ascii_case(own))
}

/// Reads a file by its ending: `.off` and `.ply` meshes, `.ply`, `.xyz`, `.txt`, `.csv` and `.npy`
/// points.
pub fn geometry(path: &Path) -> Result<Geometry> {
    let Some(ending) = ending(path) else {
        let help = format!("give a file that ends in one of: {}", ENDINGS.join(", "));
        return Err(At::file(path).error("not a kind of file that is known", help));
    };
    let bytes = limited_bytes(path, MAX_SHAPE_BYTES)?;
    match ending {
        "off" => off_bytes(path, &bytes).map(Geometry::Surface),
        "ply" => ply_bytes(path, &bytes),
        "npy" => npy_bytes(path, &bytes).map(Geometry::Points),
        _ => xyz_bytes(path, &bytes).map(Geometry::Points),
    }
}

/// The points of a file, moved and scaled as [`unit_sphere`] says: all that it has, or `count` drawn
/// from a surface.
pub fn cloud_file(path: &Path, count: usize, random: &mut SplitMix64) -> Result<Vec<Point>> {
    let mut points = file_points(path, count, random)?;
    unit_sphere(&mut points);
    Ok(points)
}

/// As [`cloud_file`], where and as large as the file says.
pub(super) fn file_points(
    path: &Path,
    count: usize,
    random: &mut SplitMix64,
) -> Result<Vec<Point>> {
    match geometry(path)? {
        Geometry::Points(points) => Ok(points),
        Geometry::Surface(mesh) => mesh.sample(count, random, &At::file(path)),
    }
}
