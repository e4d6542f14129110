//! Meshes and point clouds in the Polygon File Format (`.ply`): text, little- and big-endian.

mod body;
mod header;

use std::path::Path;

use self::body::Body;
use self::header::Header;
use super::file::Geometry;
use super::mesh::Mesh;
use crate::error::{At, Result};

/// Reads a PLY file from memory; the path is for messages.
///
/// The element `vertex` must have properties x, y and z and come before `face`, whose list
/// `vertex_indices` (or `vertex_index`) makes polygons. Without faces it is a cloud of points. Other
/// elements and properties are skipped.
pub fn ply_bytes(path: &Path, bytes: &[u8]) -> Result<Geometry> {
    let header = Header::parse(path, bytes)?;
    let mut body = Body::new(path, bytes, &header);
    let mut mesh = Mesh::default();
    // The values of one row that are wanted.
    let (mut place, mut corners) = ([0.0; 3], Vec::new());
    for element in &header.elements {
        // A row without properties has no bytes, so there may be any number of them.
        let count = if element.properties.is_empty() { 0 } else { element.count };
        for row in 0..count {
            body.start_row(element, row);
            let at = body.at();
            for property in &element.properties {
                match property.list {
                    None => {
                        let value = body.value(property.kind)?;
                        if let Some(axis) = property.axis {
                            place[axis] = value as f32;
                        }
                    }
                    Some(length) => {
                        if property.corners {
                            corners.clear();
                        }
                        for _ in 0..body.index(length)? {
                            if property.corners {
                                corners.push(body.index(property.kind)?);
                            } else {
                                body.value(property.kind)?;
                            }
                        }
                    }
                }
            }
            match element.name.as_str() {
                "vertex" => mesh.push_vertex(place, &at)?,
                "face" => mesh.push_face(&corners, &at)?,
                _ => {}
            }
        }
    }
    if mesh.vertices().is_empty() {
        return Err(At::file(path).error("the file has no points", "give one with points"));
    }
    Ok(match mesh.triangles().is_empty() {
        true => Geometry::Points(mesh.into_vertices()),
        false => Geometry::Surface(mesh),
    })
}

#[cfg(test)]
mod tests;
