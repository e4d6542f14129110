//! Shapes as clouds of points, each with a class.
//!
//! Everything is a [`PointDataset`]: clouds and a split into training, validation and testing.
//!
//! ```
//! use adjoin_data::{Locations, points};
//!
//! let shapes = points::load("shapes", &Locations::default())?; // made on the spot: no file
//! assert_eq!((shapes.classes(), shapes.split.train.len(), shapes.points()), (12, 420, [1024; 2]));
//! let quick = shapes.subset([5, 2, 2], 0)?.with_points(256, points::Sampling::First)?;
//! assert_eq!((quick.clouds.len(), quick.points()), (108, [256; 2]));
//! # Ok::<(), adjoin_data::Error>(())
//! ```
//!
//! | need | item |
//! |---|---|
//! | a dataset by name, or a user's folder | [`load`], or [`load_with`] settings for the folder |
//! | which names exist | [`list`], [`find`] |
//! | one reader by itself | [`modelnet40()`], [`modelnet40_hdf5()`], [`folder()`] |
//! | one file | [`geometry`], [`cloud_file`], [`off_bytes`], [`ply_bytes`], [`xyz_bytes`] |
//! | made-up shapes | [`shapes()`] |
//! | damaged clouds, to test with | [`PointDataset::corrupted`], [`write_corrupted`] |
//! | fewer points or shapes, another validation part | [`PointDataset::with_points`], [`PointDataset::subset`], [`PointDataset::with_validation`] |

mod choose;
mod cloud;
mod corrupt;
mod file;
mod folder;
mod hdf5;
mod known;
mod mesh;
mod modelnet;
mod off;
mod ply;
mod shapes;
mod solids;
mod write;
mod xyz;

pub use choose::Sampling;
pub use cloud::{Cloud, Point, PointDataset, unit_sphere};
pub use corrupt::{Corruption, Damage};
pub use file::{Geometry, cloud_file, geometry};
pub use folder::{FolderConfig, folder};
pub use hdf5::modelnet40_hdf5;
pub use known::{KnownPoints, find, is_points, list, load, load_with};
pub use mesh::Mesh;
pub use modelnet::modelnet40;
pub use off::off_bytes;
pub use ply::ply_bytes;
pub use shapes::{Pose, ShapesConfig, shapes};
pub use write::write_corrupted;
pub use xyz::xyz_bytes;
