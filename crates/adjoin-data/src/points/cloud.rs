//! A cloud of points with a class, and the clouds of a dataset.

use sha2::{Digest, Sha256};

use super::corrupt::Corruption;
use crate::error::{Error, Result};
use crate::split::{Split, hex};

/// A point in space.
pub type Point = [f32; 3];

/// The points of one shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloud {
    /// The model or file, for people.
    pub name: String,
    /// Its class, an index into [`PointDataset::class_names`].
    pub class: u32,
    /// The points, in no order that means anything; a point may be there more than once.
    pub points: Vec<Point>,
}

/// Shapes to be classified. They need not all have the same number of points.
#[derive(Clone, Debug, PartialEq)]
pub struct PointDataset {
    /// Its name.
    pub name: String,
    /// Names of the classes, in the order of their numbers.
    pub class_names: Vec<String>,
    /// All shapes.
    pub clouds: Vec<Cloud>,
    /// Which shapes train, choose and judge: indices into [`PointDataset::clouds`].
    pub split: Split,
    /// How the clouds were damaged. Such clouds are all for testing, are not scaled when they are read, and are
    /// used with all their points.
    pub corruption: Option<Corruption>,
}

impl PointDataset {
    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.class_names.len()
    }

    /// The shapes of the three parts, with the names of the parts.
    pub fn parts(&self) -> [(&'static str, &[u32]); 3] {
        let Split { train, valid, test, .. } = &self.split;
        [("train", train), ("valid", valid), ("test", test)]
    }

    /// Fewest and most points of a shape; zeros when there is none.
    pub fn points(&self) -> [usize; 2] {
        let counts = || self.clouds.iter().map(|cloud| cloud.points.len());
        [counts().min().unwrap_or(0), counts().max().unwrap_or(0)]
    }

    /// Sixteen hex digits that tell two datasets apart by points, classes and parts (not by names): for
    /// results and checkpoints.
    pub fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(b"adjoin points 1");
        hasher.update((self.classes() as u64).to_le_bytes());
        hasher.update((self.clouds.len() as u64).to_le_bytes());
        let mut bytes = Vec::new();
        for cloud in &self.clouds {
            bytes.clear();
            bytes.extend(cloud.class.to_le_bytes());
            bytes.extend((cloud.points.len() as u64).to_le_bytes());
            bytes.extend(cloud.points.iter().flatten().flat_map(|value| value.to_le_bytes()));
            hasher.update(&bytes);
        }
        for (_, shapes) in self.parts() {
            hasher.update((shapes.len() as u64).to_le_bytes());
            shapes.iter().for_each(|shape| hasher.update(shape.to_le_bytes()));
        }
        hex(&hasher.finalize()[..8])
    }

    /// Checks that every part has shapes, no shape is in two, and every shape has points at finite
    /// places and a class that exists. Every loader here calls it, so it matters for datasets put
    /// together by hand.
    pub fn validate(&self) -> Result<()> {
        let wrong = |field, what: String, help: &str| {
            Err(Error::Invalid { dataset: self.name.clone(), field, what, help: help.into() })
        };
        for cloud in &self.clouds {
            let Cloud { name, class, points } = cloud;
            if *class as usize >= self.classes() {
                let what = format!("shape `{name}` has class {class} of only {}", self.classes());
                return wrong("classes", what, "classes are counted from 0");
            }
            if points.is_empty() {
                let what = format!("shape `{name}` has none");
                return wrong("points", what, "give it some or leave it out");
            }
            if !points.iter().flatten().all(|value| value.is_finite()) {
                let what = format!("shape `{name}` has a place that is not finite");
                return wrong("points", what, "correct or remove it");
            }
        }
        let mut part_of = vec![""; self.clouds.len()];
        for (part, shapes) in self.parts() {
            // Of damaged clouds there are none to train with.
            if shapes.is_empty() && (part == "test" || self.corruption.is_none()) {
                return wrong(part, "no shape".into(), "give more shapes, or this part a share");
            }
            for shape in shapes {
                match part_of.get_mut(*shape as usize) {
                    None => {
                        let what = format!("shape {shape} of only {}", self.clouds.len());
                        return wrong(part, what, "shapes are counted from 0");
                    }
                    Some(before) if !before.is_empty() => {
                        let what = format!("shape {shape} is also in {before}");
                        return wrong(part, what, "a shape may be in one part only, once");
                    }
                    Some(before) => *before = part,
                }
            }
        }
        Ok(())
    }
}

/// Moves the mean of the points to the origin and the farthest of them to distance 1, as is usual for
/// ModelNet40. Points that are all the same stay at the origin.
pub fn unit_sphere(points: &mut [Point]) {
    let share = 1.0 / points.len().max(1) as f64;
    let mean = [0, 1, 2]
        .map(|axis| points.iter().map(|point| f64::from(point[axis])).sum::<f64>() * share);
    let centred = |point: &Point| [0, 1, 2].map(|axis| f64::from(point[axis]) - mean[axis]);
    let norm = |[x, y, z]: [f64; 3]| (x * x + y * y + z * z).sqrt();
    let farthest = points.iter().map(|point| norm(centred(point))).fold(0.0, f64::max);
    let scale = if farthest > 0.0 { 1.0 / farthest } else { 0.0 };
    for point in points {
        *point = centred(point).map(|value| (value * scale) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn small() -> PointDataset {
        let cloud = |x: f32| Cloud {
            name: format!("c {x}"),
            class: u32::from(x > 0.5),
            points: vec![[x, 0.0, 0.0], [0.0, x, 0.0]],
        };
        PointDataset {
            name: "small".into(),
            class_names: vec!["low".into(), "high".into()],
            clouds: [0.0, 1.0, 2.0].map(cloud).to_vec(),
            split: Split::new("s", vec![0], vec![1], vec![2]).unwrap(),
            corruption: None,
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        small().validate().unwrap();
        let error = |change: fn(&mut PointDataset)| {
            let mut dataset = small();
            change(&mut dataset);
            dataset.validate().unwrap_err().to_string()
        };
        assert!(error(|d| d.clouds[2].class = 2).contains("shape `c 2` has class 2 of only 2"));
        assert!(error(|d| d.clouds[1].points.clear()).contains("shape `c 1` has none"));
        assert!(error(|d| d.clouds[0].points[1][2] = f32::NAN).contains("`c 0` has a place"));
        assert!(error(|d| d.split.valid.clear()).contains("valid: no shape"));
        assert!(error(|d| d.split.test = vec![3]).contains("test: shape 3 of only 3"));
        assert!(error(|d| d.split.test = vec![0]).contains("test: shape 0 is also in train"));
    }

    #[test]
    fn the_fingerprint_sees_points_classes_and_parts_but_not_names() {
        let (first, mut other) = (small().fingerprint(), small());
        other.name = "other".into();
        other.clouds[0].name = "t".into();
        other.split.name = "u".into();
        assert_eq!(other.fingerprint(), first);
        let changes: [fn(&mut PointDataset); 3] = [
            |d| d.clouds[0].class = 1,
            |d| d.clouds[0].points[0][2] = 0.5,
            |d| std::mem::swap(&mut d.split.valid, &mut d.split.test),
        ];
        for change in changes {
            let mut other = small();
            change(&mut other);
            assert_ne!(other.fingerprint(), first);
        }
    }

    #[test]
    fn clouds_are_centred_and_scaled() {
        let mut points = vec![[5.0, 1.0, 1.0], [9.0, 1.0, 1.0], [7.0, 1.0, 1.0]];
        unit_sphere(&mut points);
        assert_eq!(points, [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]]);
        let mut same = vec![[3.0; 3]; 4];
        unit_sphere(&mut same);
        assert_eq!(same, [[0.0; 3]; 4]);
        let mut far = vec![[f32::MAX, 0.0, 0.0], [-f32::MAX, 0.0, 0.0]];
        unit_sphere(&mut far);
        assert_eq!(far, [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]);
        unit_sphere(&mut []);
    }
}
