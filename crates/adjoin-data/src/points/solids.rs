//! Surfaces of simple solids, and points drawn from them uniformly.
//!
//! Only additions, multiplications, divisions and square roots are used, which every machine rounds
//! alike; angles are drawn by rejection.

use std::f64::consts::PI;

use super::cloud::Point;
use super::mesh::{Mesh, MeshSampler};
use crate::error::{At, Result};
use crate::random::SplitMix64;

pub(super) type Vector = [f64; 3];

/// The classes of solids. Some differ in little: sphere and ellipsoid, torus and ring, cylinder, capsule
/// and (hexagonal) prism, cone, frustum and pyramid.
pub(super) const NAMES: [&str; 12] = [
    "sphere",
    "ellipsoid",
    "torus",
    "ring",
    "box",
    "bracket",
    "cylinder",
    "capsule",
    "prism",
    "cone",
    "frustum",
    "pyramid",
];

/// A closed surface of about the size of the unit sphere.
#[derive(Debug)]
pub(super) enum Surface {
    /// A unit sphere, stretched.
    Ball { axes: Vector },
    /// A ring of radius 1 around the z axis.
    Torus { tube: f64 },
    /// Radius 1 at the bottom, `top` at the height: a cone (0), a cylinder (1), or in between.
    Frustum { top: f64, height: f64 },
    /// A cylinder of radius 1 with half spheres on both ends.
    Capsule { height: f64 },
    /// Flat faces.
    Faces(MeshSampler),
}

impl Surface {
    /// A solid of this class (an index into [`NAMES`]) with proportions drawn at random.
    pub fn new(class: usize, random: &mut SplitMix64) -> Result<Self> {
        Ok(match NAMES[class] {
            "sphere" => Self::Ball { axes: [1.0; 3] },
            "ellipsoid" => {
                Self::Ball { axes: [1.0, random.within(0.7, 1.0), random.within(0.55, 0.8)] }
            }
            "torus" => Self::Torus { tube: random.within(0.3, 0.5) },
            "ring" => Self::Torus { tube: random.within(0.15, 0.32) },
            "box" => {
                let (width, height) = (random.within(0.5, 1.0), random.within(0.5, 1.5));
                let outline = [[-1.0, -width], [1.0, -width], [1.0, width], [-1.0, width]];
                Self::Faces(prism(&outline, height)?)
            }
            "bracket" => {
                let (thick, height) = (random.within(0.4, 0.9), random.within(0.5, 1.5));
                let inner = thick - 1.0;
                // From the inner corner all others can be seen, as the triangles need it.
                let outline = [
                    [inner, inner],
                    [inner, 1.0],
                    [-1.0, 1.0],
                    [-1.0, -1.0],
                    [1.0, -1.0],
                    [1.0, inner],
                ];
                Self::Faces(prism(&outline, height)?)
            }
            "cylinder" => Self::Frustum { top: 1.0, height: random.within(1.0, 3.0) },
            "capsule" => Self::Capsule { height: random.within(0.4, 1.5) },
            "prism" => {
                let high = 0.75f64.sqrt();
                let outline = [
                    [1.0, 0.0],
                    [0.5, high],
                    [-0.5, high],
                    [-1.0, 0.0],
                    [-0.5, -high],
                    [0.5, -high],
                ];
                Self::Faces(prism(&outline, random.within(1.0, 3.0))?)
            }
            "cone" => Self::Frustum { top: 0.0, height: random.within(1.0, 2.5) },
            "frustum" => {
                Self::Frustum { top: random.within(0.25, 0.7), height: random.within(0.8, 2.0) }
            }
            _ => Self::Faces(pyramid(random.within(1.0, 2.5))?),
        })
    }

    /// A point of the surface, every piece of it being as likely as it is large (before a stretch).
    pub fn point(&self, random: &mut SplitMix64) -> Vector {
        match self {
            Self::Ball { axes } => {
                let place = on_sphere(random);
                [0, 1, 2].map(|axis| place[axis] * axes[axis])
            }
            Self::Torus { tube } => {
                let [x, y] = on_circle(random);
                // More surface outside than inside.
                let [out, up] = loop {
                    let [out, up] = on_circle(random);
                    if random.chance((1.0 + tube * out) / (1.0 + tube)) {
                        break [out, up];
                    }
                };
                let far = 1.0 + tube * out;
                [far * x, far * y, tube * up]
            }
            Self::Frustum { top, height } => frustum(*top, *height, random),
            Self::Capsule { height } => match random.chance(height / (height + 2.0)) {
                true => {
                    let [x, y] = on_circle(random);
                    [x, y, height * (random.unit() - 0.5)]
                }
                false => {
                    let [x, y, z] = on_sphere(random);
                    [x, y, z + 0.5 * height.copysign(z)]
                }
            },
            Self::Faces(sampler) => sampler.point(random),
        }
    }
}

fn frustum(top: f64, height: f64, random: &mut SplitMix64) -> Vector {
    let slant = ((1.0 - top) * (1.0 - top) + height * height).sqrt();
    let (bottom, lid, side) = (PI, PI * top * top, PI * (1.0 + top) * slant);
    let place = random.unit() * (bottom + lid + side);
    let [x, y] = on_circle(random);
    let (far, up) = if place < bottom {
        (random.unit().sqrt(), 0.0)
    } else if place < bottom + lid {
        (top * random.unit().sqrt(), 1.0)
    } else {
        // More surface where it is wide.
        loop {
            let up = random.unit();
            let far = 1.0 + (top - 1.0) * up;
            if random.chance(far) {
                break (far, up);
            }
        }
    };
    [far * x, far * y, height * (up - 0.5)]
}

/// A point of the unit circle.
pub(super) fn on_circle(random: &mut SplitMix64) -> [f64; 2] {
    loop {
        let [x, y] = [(); 2].map(|()| random.within(-1.0, 1.0));
        let square = x * x + y * y;
        if square <= 1.0 && square > 1e-6 {
            let scale = 1.0 / square.sqrt();
            return [x * scale, y * scale];
        }
    }
}

/// A point of the unit sphere.
pub(super) fn on_sphere(random: &mut SplitMix64) -> Vector {
    loop {
        let [x, y, z] = [(); 3].map(|()| random.within(-1.0, 1.0));
        let square = x * x + y * y + z * z;
        if square <= 1.0 && square > 1e-6 {
            let scale = 1.0 / square.sqrt();
            return [x * scale, y * scale, z * scale];
        }
    }
}

/// The solid over an outline, all of whose corners can be seen from the first.
fn prism(outline: &[[f64; 2]], height: f64) -> Result<MeshSampler> {
    let count = outline.len() as u32;
    let level =
        |z: f64| outline.iter().map(move |[x, y]| -> Point { [*x as f32, *y as f32, z as f32] });
    let vertices = level(-0.5 * height).chain(level(0.5 * height)).collect();
    let (bottom, top): (Vec<u32>, Vec<u32>) = ((0..count).collect(), (count..2 * count).collect());
    let side = |corner: u32| {
        let next = (corner + 1) % count;
        [corner, next, next + count, corner + count]
    };
    let sides: Vec<[u32; 4]> = (0..count).map(side).collect();
    let faces: Vec<&[u32]> =
        [&bottom[..], &top].into_iter().chain(sides.iter().map(|side| &side[..])).collect();
    let at = At::file("prism");
    Mesh::new(vertices, &faces, &at)?.sampler(&at)
}

/// A pyramid over a square.
fn pyramid(height: f64) -> Result<MeshSampler> {
    let [low, high] = [-0.5 * height, 0.5 * height].map(|z| z as f32);
    let vertices = vec![
        [-1.0, -1.0, low],
        [1.0, -1.0, low],
        [1.0, 1.0, low],
        [-1.0, 1.0, low],
        [0.0, 0.0, high],
    ];
    let faces: [&[u32]; 5] = [&[0, 1, 2, 3], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4]];
    let at = At::file("pyramid");
    Mesh::new(vertices, &faces, &at)?.sampler(&at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(surface: &Surface) -> Vec<Vector> {
        let mut random = SplitMix64::new(5);
        (0..20_000).map(|_| surface.point(&mut random)).collect()
    }

    /// Share of the points for which something is true.
    fn share(points: &[Vector], is: impl Fn(&Vector) -> bool) -> f64 {
        points.iter().filter(|point| is(point)).count() as f64 / points.len() as f64
    }

    #[test]
    fn points_lie_on_the_surface() {
        for point in drawn(&Surface::Torus { tube: 0.3 }) {
            let ring = (point[0] * point[0] + point[1] * point[1]).sqrt() - 1.0;
            assert!(((ring * ring + point[2] * point[2]).sqrt() - 0.3).abs() < 1e-9);
        }
        for [x, y, z] in drawn(&Surface::Capsule { height: 1.0 }) {
            let beyond = (z.abs() - 0.5).max(0.0);
            assert!(((x * x + y * y + beyond * beyond).sqrt() - 1.0).abs() < 1e-9);
        }
        for [x, y, z] in drawn(&Surface::Frustum { top: 0.5, height: 2.0 }) {
            let (far, wall) = ((x * x + y * y).sqrt(), 1.0 - 0.25 * (z + 1.0));
            assert!((far - wall).abs() < 1e-9 || z.abs() == 1.0 && far <= wall + 1e-9);
        }
    }

    #[test]
    fn points_are_as_dense_everywhere() {
        // The outer half of a torus has (1 + 2 tube / pi) / 2 of its surface.
        let torus = drawn(&Surface::Torus { tube: 0.5 });
        let outer = share(&torus, |[x, y, _]| x * x + y * y > 1.0);
        assert!((outer - (0.5 + 0.5 / PI)).abs() < 0.01, "{outer}");
        // Archimedes: a slice of a sphere has the surface of its height.
        let ball = drawn(&Surface::Ball { axes: [1.0; 3] });
        let cap = share(&ball, |[_, _, z]| *z > 0.5);
        assert!((cap - 0.25).abs() < 0.01, "{cap}");
        // A capsule of radius and height 1: side 2 pi of 6 pi.
        let side = share(&drawn(&Surface::Capsule { height: 1.0 }), |[_, _, z]| z.abs() < 0.5);
        assert!((side - 1.0 / 3.0).abs() < 0.01, "{side}");
        // A cone with radius and height 1: base 1 : side sqrt 2, a quarter of which is in the upper half.
        let cone = drawn(&Surface::Frustum { top: 0.0, height: 1.0 });
        let base = share(&cone, |[_, _, z]| *z == -0.5);
        assert!((base - 1.0 / (1.0 + 2f64.sqrt())).abs() < 0.01, "{base}");
        let upper = share(&cone, |[_, _, z]| *z > 0.0) / (1.0 - base);
        assert!((upper - 0.25).abs() < 0.02, "{upper}");
        // A cylinder with radius and height 1: lid pi of 4 pi.
        let lid = share(&drawn(&Surface::Frustum { top: 1.0, height: 1.0 }), |[_, _, z]| *z == 0.5);
        assert!((lid - 0.25).abs() < 0.01, "{lid}");
    }

    #[test]
    fn every_class_can_be_made() {
        for class in 0..NAMES.len() {
            let points = drawn(&Surface::new(class, &mut SplitMix64::new(class as u64)).unwrap());
            let far = points.iter().flatten().fold(0.0f64, |far, value| far.max(value.abs()));
            assert!((0.8..2.0).contains(&far), "{}: {far}", NAMES[class]);
        }
    }

    #[test]
    fn a_bracket_has_nothing_in_its_inner_corner() {
        let at = NAMES.iter().position(|name| *name == "bracket").unwrap();
        let points = drawn(&Surface::new(at, &mut SplitMix64::new(0)).unwrap());
        assert_eq!(share(&points, |[x, y, _]| *x > 0.0 && *y > 0.0), 0.0);
        assert!(share(&points, |[x, y, _]| *x > 0.0 && *y < 0.0) > 0.1);
    }
}
