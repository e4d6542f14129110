//! Clouds of a mini-batch.

use adjoin::{Batch, Key};
use adjoin_data::points::{Cloud, Point};
use burn::tensor::{Device, Tensor, TensorCreationOptions, TensorData};
use serde::{Deserialize, Serialize};

/// Random changes to the clouds of a training step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Augmentation {
    /// Every axis by a factor in 2/3..3/2 and a shift in +-0.2, as published.
    pub scale: bool,
    /// Turned in any direction: for shapes that have no upright pose.
    pub rotate: bool,
}

impl Default for Augmentation {
    fn default() -> Self {
        Self { scale: true, rotate: false }
    }
}

/// Clouds as one block-diagonal batch.
#[derive(Clone, Debug)]
pub struct CloudBatch {
    /// Coordinates of all points, `[points, 3]`.
    pub points: Tensor<2>,
    /// Which points belong to which cloud.
    pub clouds: Batch,
}

impl CloudBatch {
    /// At most `points` points of every cloud, or all with 0: always the same ones.
    pub fn new<'a>(
        clouds: impl IntoIterator<Item = &'a Cloud>,
        points: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        // Not the first ones: files may have their points in an order.
        let choose = |cloud: &Cloud| chosen(&cloud.points, points, Key::new(0));
        Self::of_points(clouds.into_iter().map(choose), options)
    }

    /// As [`new`](Self::new), with points and changes drawn from `key`.
    pub fn augmented<'a>(
        clouds: impl IntoIterator<Item = &'a Cloud>,
        points: usize,
        augmentation: Augmentation,
        key: Key,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let change = |(at, cloud): (usize, &Cloud)| {
            let key = key.child(at as u64);
            let mut points = chosen(&cloud.points, points, key.child(0));
            augmentation.apply(&mut points, key.child(1));
            points
        };
        Self::of_points(clouds.into_iter().enumerate().map(change), options)
    }

    /// Clouds as they are.
    pub fn of_points(
        clouds: impl IntoIterator<Item = Vec<Point>>,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let (mut values, mut sizes): (Vec<f32>, _) = (Vec::new(), Vec::new());
        for cloud in clouds {
            sizes.push(cloud.len());
            values.extend(cloud.into_iter().flatten());
        }
        let shape = [values.len() / 3, 3];
        let points = Tensor::from_data(TensorData::new(values, shape), options);
        Self { points, clouds: Batch::of_sizes(sizes) }
    }
}

/// `count` of the points, or all of them, in the order of a permutation.
fn chosen(points: &[Point], count: usize, key: Key) -> Vec<Point> {
    if count == 0 || points.len() <= count {
        return points.to_vec();
    }
    let order = key.permutation(points.len());
    order[..count].iter().map(|&at| points[at as usize]).collect()
}

impl Augmentation {
    fn apply(self, points: &mut [Point], key: Key) {
        if self.rotate {
            let rotation = rotation(key.child(2));
            for point in points.iter_mut() {
                let old = *point;
                *point = rotation.map(|row| row[0] * old[0] + row[1] * old[1] + row[2] * old[2]);
            }
        }
        if self.scale {
            let between = |low: f64, high: f64, at| (low + (high - low) * key.uniform(at)) as f32;
            let factors = [0, 1, 2].map(|axis| between(2.0 / 3.0, 3.0 / 2.0, axis));
            let shifts = [3, 4, 5].map(|axis| between(-0.2, 0.2, axis));
            for point in points.iter_mut() {
                *point = [0, 1, 2].map(|axis| point[axis] * factors[axis] + shifts[axis]);
            }
        }
    }
}

/// A rotation, all of them equally likely: that of a random unit quaternion.
fn rotation(key: Key) -> [[f32; 3]; 3] {
    let q = [0, 1, 2, 3].map(|at| key.normal(at));
    let norm = q.iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-12);
    let [w, x, y, z] = q.map(|v| v / norm);
    let rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ];
    rows.map(|row| row.map(|value| value as f32))
}

/// Clouds in mini-batches of about equal size: `count` of them in groups of at most `most`.
pub(super) fn groups(count: usize, most: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let groups = count.div_ceil(most.max(1)).max(1);
    (0..groups).map(move |at| at * count / groups..(at + 1) * count / groups)
}

/// Where the clouds are while gradients are not wanted.
pub(super) fn device() -> Device {
    Device::flex()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(points: usize) -> Cloud {
        let place = |n: usize| [n as f32, 1.0 - n as f32, 0.5];
        Cloud { name: "c".into(), class: 0, points: (0..points).map(place).collect() }
    }

    #[test]
    fn groups_cover_everything_and_are_of_equal_size() {
        for (count, most) in [(10, 4), (9, 3), (1, 8), (33, 32), (5, 1)] {
            let all: Vec<_> = groups(count, most).collect();
            let sizes: Vec<usize> = all.iter().map(ExactSizeIterator::len).collect();
            assert_eq!((all[0].start, all[all.len() - 1].end), (0, count));
            assert!(sizes.iter().all(|size| *size <= most));
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
        }
    }

    #[test]
    fn evaluation_sees_the_same_points_and_training_others() {
        let clouds = [cloud(50), cloud(7)];
        let values =
            |batch: &CloudBatch| batch.points.to_data().iter::<f32>().collect::<Vec<f32>>();
        let first = CloudBatch::new(&clouds, 20, &device());
        assert_eq!(first.clouds.offsets(), [0, 20, 27]);
        assert_eq!(values(&first), values(&CloudBatch::new(&clouds, 20, &device())));
        let still = Augmentation { scale: false, rotate: false };
        let step = |key| CloudBatch::augmented(&clouds, 20, still, Key::new(key), &device());
        assert_ne!(values(&step(1)), values(&step(2)));
        assert_eq!(values(&step(1)), values(&step(1)));
        assert_eq!(values(&step(1))[60..], cloud(7).points.concat());
    }

    #[test]
    fn a_rotation_keeps_distances_and_a_scale_its_bounds() {
        let original = cloud(9).points;
        for seed in 0..20 {
            let mut turned = original.clone();
            Augmentation { scale: false, rotate: true }.apply(&mut turned, Key::new(seed));
            let length = |p: &Point, q: &Point| {
                (0..3).map(|axis| (p[axis] - q[axis]).powi(2)).sum::<f32>().sqrt()
            };
            for at in 1..9 {
                let (old, new) =
                    (length(&original[0], &original[at]), length(&turned[0], &turned[at]));
                assert!((old - new).abs() < 1e-4 * old, "{old} {new}");
            }
            let mut scaled = original.clone();
            Augmentation { scale: true, rotate: false }.apply(&mut scaled, Key::new(seed));
            for axis in 0..2 {
                let factor =
                    (scaled[8][axis] - scaled[0][axis]) / (original[8][axis] - original[0][axis]);
                assert!((0.66..1.51).contains(&factor), "{factor}");
            }
            // The first point is at 0 in x: there only the shift shows.
            assert!(scaled[0][0].abs() <= 0.2);
        }
    }
}
