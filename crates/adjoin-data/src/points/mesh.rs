//! A surface made of triangles, and points drawn from it.

use super::cloud::Point;
use crate::error::{At, Error, Result};
use crate::random::SplitMix64;

/// Most corners, and most triangles, that are taken into memory.
const MAX_ELEMENTS: usize = 1 << 25;

/// Triangles between corners.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    vertices: Vec<Point>,
    triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// A mesh of these corners and faces (polygons, by number of the corner); `at` is for messages.
    pub fn new(vertices: Vec<Point>, faces: &[&[u32]], at: &At) -> Result<Self> {
        let mut mesh = Self::default();
        vertices.into_iter().try_for_each(|vertex| mesh.push_vertex(vertex, at))?;
        faces.iter().try_for_each(|face| mesh.push_face(face, at))?;
        Ok(mesh)
    }

    /// The corners.
    pub fn vertices(&self) -> &[Point] {
        &self.vertices
    }

    /// The triangles, by number of the corner.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Gives up the triangles.
    pub(super) fn into_vertices(self) -> Vec<Point> {
        self.vertices
    }

    /// Adds a corner, which must be at a finite place.
    pub(super) fn push_vertex(&mut self, vertex: Point, at: &At) -> Result<()> {
        if let Some(axis) = vertex.iter().position(|value| !value.is_finite()) {
            let what = format!("`{}` is not a finite number", vertex[axis]);
            let field = ["x", "y", "z"][axis];
            return Err(at.clone().field(field).error(what, "correct or remove the corner"));
        }
        room(self.vertices.len(), at)?;
        self.vertices.push(vertex);
        Ok(())
    }

    /// Adds a polygon as triangles that share its first corner.
    pub(super) fn push_face(&mut self, corners: &[u32], at: &At) -> Result<()> {
        let [first, rest @ ..] = corners else {
            return Err(at.clone().error("a face without corners", "remove it"));
        };
        if rest.len() < 2 {
            let what = format!("a face of {} corners", corners.len());
            return Err(at.clone().error(what, "a face needs three; remove it"));
        }
        let count = self.vertices.len();
        if let Some(corner) = corners.iter().find(|corner| **corner as usize >= count) {
            let what = format!("a face with corner {corner} of only {count}");
            return Err(at.clone().error(what, "corners are counted from 0"));
        }
        for pair in rest.windows(2) {
            room(self.triangles.len(), at)?;
            self.triangles.push([*first, pair[0], pair[1]]);
        }
        Ok(())
    }

    /// Draws `count` points, every piece of the surface being as likely as it is large. The error is
    /// about a mesh without a surface.
    pub fn sample(self, count: usize, random: &mut SplitMix64, at: &At) -> Result<Vec<Point>> {
        let sampler = self.sampler(at)?;
        Ok((0..count).map(|_| sampler.point(random).map(|value| value as f32)).collect())
    }

    /// As [`Mesh::sample`], point by point.
    pub(super) fn sampler(self, at: &At) -> Result<MeshSampler> {
        let mut sampler = MeshSampler { mesh: self, up_to: Vec::new(), total: 0.0 };
        for triangle in &sampler.mesh.triangles {
            sampler.total += area(sampler.mesh.corners(triangle));
            sampler.up_to.push(sampler.total);
        }
        if sampler.total > 0.0 {
            return Ok(sampler);
        }
        let what = match sampler.up_to.len() {
            0 => "the mesh has no faces".to_string(),
            count => format!("the {count} triangles of the mesh have no area"),
        };
        Err(at.clone().error(what, "give a mesh with a surface, or points"))
    }

    fn corners(&self, triangle: &[u32; 3]) -> [[f64; 3]; 3] {
        triangle.map(|corner| self.vertices[corner as usize].map(f64::from))
    }
}

/// A mesh from which points can be drawn.
#[derive(Debug)]
pub(super) struct MeshSampler {
    mesh: Mesh,
    /// Area of each triangle and those before it.
    up_to: Vec<f64>,
    total: f64,
}

impl MeshSampler {
    pub fn point(&self, random: &mut SplitMix64) -> [f64; 3] {
        let height = random.unit() * self.total;
        let place = self.up_to.partition_point(|sum| *sum <= height).min(self.up_to.len() - 1);
        let [a, b, c] = self.mesh.corners(&self.mesh.triangles[place]);
        // The square root makes up for the triangle getting wider away from its first corner.
        let (away, along) = (random.unit().sqrt(), random.unit());
        let weights = [1.0 - away, away * (1.0 - along), away * along];
        [0, 1, 2].map(|axis| weights[0] * a[axis] + weights[1] * b[axis] + weights[2] * c[axis])
    }
}

fn room(count: usize, at: &At) -> Result<()> {
    if count < MAX_ELEMENTS {
        return Ok(());
    }
    let what = format!("more than {MAX_ELEMENTS} corners or triangles");
    Err(Error::TooLarge { at: Box::new(at.clone()), what })
}

fn area([a, b, c]: [[f64; 3]; 3]) -> f64 {
    let [u, v] = [b, c].map(|corner| [0, 1, 2].map(|axis| corner[axis] - a[axis]));
    let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    cross.iter().map(|value| value * value).sum::<f64>().sqrt() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> At {
        At::line("m.off", 3)
    }

    #[test]
    fn points_are_drawn_by_area() {
        // A square of 1 x 1 at height 0, one of 1 x 3 at height 1, and a sliver without area.
        let square =
            |width: f32, z: f32| [[0.0, 0.0, z], [width, 0.0, z], [width, 1.0, z], [0.0, 1.0, z]];
        let vertices = [square(1.0, 0.0), square(3.0, 1.0)].concat();
        let faces: [&[u32]; 3] = [&[0, 1, 2, 3], &[0, 1, 1], &[4, 5, 6, 7]];
        let mesh = Mesh::new(vertices, &faces, &at()).unwrap();
        assert_eq!(mesh.triangles().len(), 5);
        let points = mesh.sample(40_000, &mut SplitMix64::new(0), &at()).unwrap();
        let upper: Vec<&Point> = points.iter().filter(|point| point[2] == 1.0).collect();
        assert!((upper.len() as f64 / 40_000.0 - 0.75).abs() < 0.01, "{}", upper.len());
        // Uniform within: the thirds are equally full, and so are the two triangles.
        for third in 0..3 {
            let count = upper.iter().filter(|point| point[0] as usize == third).count();
            assert!((count as f64 / 10_000.0 - 1.0).abs() < 0.05, "{third}: {count}");
        }
        let below = upper.iter().filter(|point| point[1] * 3.0 < point[0]).count();
        assert!((below as f64 / 15_000.0 - 1.0).abs() < 0.05, "{below}");
    }

    #[test]
    fn what_is_no_surface_is_refused() {
        let vertices = vec![[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
        let error = |faces: &[&[u32]]| {
            let mesh = Mesh::new(vertices.clone(), faces, &at());
            let sampled = mesh.and_then(|mesh| mesh.sample(1, &mut SplitMix64::new(0), &at()));
            sampled.unwrap_err().to_string()
        };
        assert!(error(&[]).contains("m.off, line 3: the mesh has no faces"));
        assert!(error(&[&[0, 1, 2]]).contains("the 1 triangles of the mesh have no area"));
        assert!(error(&[&[0, 1, 3]]).contains("corner 3 of only 3"));
        assert!(error(&[&[0, 1]]).contains("a face of 2 corners"));
        assert!(error(&[&[]]).contains("without corners"));
        let nan = Mesh::new(vec![[0.0, f32::NAN, 0.0]], &[], &at()).unwrap_err().to_string();
        assert!(nan.contains("field `y`: `NaN`"), "{nan}");
    }
}
