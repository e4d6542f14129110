//! Made-up shapes: simple solids in random poses, measured badly.

use super::cloud::{Cloud, Point, PointDataset, unit_sphere};
use super::solids::{NAMES, Surface, Vector, on_circle, on_sphere};
use crate::error::{Error, Result};
use crate::random::SplitMix64;
use crate::split::Split;

/// How shapes are turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pose {
    /// Not at all: the axis of every solid is z.
    Fixed,
    /// About the z axis, as things that stand on a floor.
    Upright,
    /// In every direction.
    Any,
}

/// Settings of [`shapes()`]. Lengths are in units of the solid, which has a radius of about 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapesConfig {
    /// Shapes of each of the twelve classes: 70 % for training, 10 % for validation, the rest for
    /// testing.
    pub per_class: usize,
    /// Points of every shape.
    pub points: usize,
    /// How shapes are turned.
    pub pose: Pose,
    /// Every axis is made longer or shorter by up to this share.
    pub stretch: f64,
    /// Deviation of the measured from the true place.
    pub noise: f64,
    /// Largest share by which points are rarer on one side than on the other.
    pub unevenness: f64,
    /// Largest radius of the hole around a point of the surface, in which there is nothing.
    pub hole: f64,
    /// Share of the points that are anywhere in the ball around the shape.
    pub outliers: f64,
    /// The same seed gives the same shapes, everywhere and for ever.
    pub seed: u64,
}

impl Default for ShapesConfig {
    fn default() -> Self {
        Self {
            per_class: 50,
            points: 1024,
            pose: Pose::Upright,
            stretch: 0.15,
            noise: 0.02,
            unevenness: 0.6,
            hole: 0.6,
            outliers: 0.02,
            seed: 0,
        }
    }
}

impl ShapesConfig {
    fn check(&self) -> Result<()> {
        let wrong = |setting, what: String, help: &str| {
            Err(Error::Setting { setting, what, help: help.into() })
        };
        if !(10..=100_000).contains(&self.per_class) {
            let help = "give 10 to a hundred thousand, so that every part has some";
            return wrong("per_class", format!("{} shapes", self.per_class), help);
        }
        if !(1..=1 << 20).contains(&self.points) {
            return wrong("points", format!("{} points", self.points), "give 1 to a million");
        }
        if self.per_class * NAMES.len() * self.points > 1 << 28 {
            let what = format!("{} shapes of {} points", self.per_class, self.points);
            return wrong("points", what, "ask for fewer shapes or points");
        }
        let ranges = [
            ("stretch", self.stretch, 0.9),
            ("noise", self.noise, 10.0),
            ("unevenness", self.unevenness, 1.0),
            ("hole", self.hole, 1.0),
            ("outliers", self.outliers, 1.0),
        ];
        for (setting, value, most) in ranges {
            if !(0.0..=most).contains(&value) {
                let help = format!("give 0 to {most}");
                return wrong(setting, format!("{value} is out of range"), &help);
            }
        }
        Ok(())
    }
}

/// Clouds of points of twelve kinds of solids, some of which are hard to tell apart.
///
/// A shape is drawn in this order: proportions of the solid; a stretch of its axes; a pose; points of
/// the surface, rarer towards one side and missing around one place; noise; outliers. Then it is moved
/// and scaled ([`unit_sphere`]). Ranges of the proportions overlap once stretched (a long sphere is an
/// ellipsoid), and what tells two classes apart may be in the hole, so some shapes
/// cannot be told apart for certain.
pub fn shapes(config: &ShapesConfig) -> Result<PointDataset> {
    config.check()?;
    let count = config.per_class * NAMES.len();
    let clouds: Vec<Cloud> =
        (0..count).map(|number| shape(config, number)).collect::<Result<_>>()?;
    // One of each class after the other, so whole rounds keep the parts balanced.
    let trained = config.per_class * 7 / 10 * NAMES.len();
    let chosen = trained + config.per_class / 10 * NAMES.len();
    let range = |from: usize, to: usize| (from as u32..to as u32).collect();
    let split =
        Split::new("generated", range(0, trained), range(trained, chosen), range(chosen, count))?;
    let class_names = NAMES.map(String::from).to_vec();
    let dataset =
        PointDataset { name: "shapes".into(), class_names, clouds, split, corruption: None };
    dataset.validate()?;
    Ok(dataset)
}

/// Tries to find a point outside of the hole before one inside is taken.
const TRIES: usize = 100;

/// A shape depends on the seed and its number only.
fn shape(config: &ShapesConfig, number: usize) -> Result<Cloud> {
    let mut random = SplitMix64::keyed(config.seed, number as u64);
    let class = number % NAMES.len();
    let surface = Surface::new(class, &mut random)?;
    let stretch = [(); 3].map(|()| 1.0 + random.within(-config.stretch, config.stretch));
    let turn = rotation(config.pose, &mut random);
    let true_point = |random: &mut SplitMix64| {
        let point = surface.point(random);
        let point: Vector = [0, 1, 2].map(|axis| point[axis] * stretch[axis]);
        turn.map(|row| dot(row, point))
    };
    let side = on_sphere(&mut random);
    let rarer = config.unevenness * random.unit();
    let (centre, radius) = (true_point(&mut random), config.hole * random.unit());
    let mut points: Vec<Point> = Vec::with_capacity(config.points);
    for _ in 0..config.points {
        let mut point = true_point(&mut random);
        for _ in 0..TRIES {
            let away = [0, 1, 2].map(|axis| point[axis] - centre[axis]);
            // From 0 on the full side to 1 on the other; solids reach a little beyond 1.
            let towards = (0.5 + 0.5 * dot(side, point)).clamp(0.0, 1.0);
            if dot(away, away) >= radius * radius && random.chance(1.0 - rarer * towards) {
                break;
            }
            point = true_point(&mut random);
        }
        points.push(point.map(|value| (value + config.noise * random.bell()) as f32));
    }
    unit_sphere(&mut points);
    for point in &mut points {
        if random.chance(config.outliers) {
            *point = in_ball(&mut random).map(|value| value as f32);
        }
    }
    unit_sphere(&mut points);
    Ok(Cloud { name: format!("{} {number}", NAMES[class]), class: class as u32, points })
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn in_ball(random: &mut SplitMix64) -> Vector {
    loop {
        let point = [(); 3].map(|()| random.within(-1.0, 1.0));
        if dot(point, point) <= 1.0 {
            return point;
        }
    }
}

/// The rows of a rotation, each as likely as any other.
fn rotation(pose: Pose, random: &mut SplitMix64) -> [Vector; 3] {
    // A unit quaternion (w, x, y, z): two directions in the plane, mixed (Marsaglia 1972).
    let [w, x, y, z] = match pose {
        Pose::Fixed => [1.0, 0.0, 0.0, 0.0],
        Pose::Upright => {
            let [w, z] = on_circle(random);
            [w, 0.0, 0.0, z]
        }
        Pose::Any => {
            let ([a, b], [c, d], mix) = (on_circle(random), on_circle(random), random.unit());
            let (first, second) = (mix.sqrt(), (1.0 - mix).sqrt());
            [a * first, b * first, c * second, d * second]
        }
    };
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shapes_are_the_same_for_ever() {
        let first = shapes(&ShapesConfig::default()).unwrap();
        assert_eq!(first.fingerprint(), FROZEN);
        assert_eq!(first.parts().map(|(_, shapes)| shapes.len()), [420, 60, 120]);
        assert_eq!(first.points(), [1024, 1024]);
        for (part, shapes) in first.parts() {
            let mut counts = [0; NAMES.len()];
            shapes.iter().for_each(|at| counts[first.clouds[*at as usize].class as usize] += 1);
            assert_eq!(counts, [shapes.len() / NAMES.len(); NAMES.len()], "{part}");
        }
        let small = |seed| ShapesConfig { per_class: 10, points: 16, seed, ..Default::default() };
        let (a, b) = (shapes(&small(0)).unwrap(), shapes(&small(1)).unwrap());
        assert_ne!(a.fingerprint(), b.fingerprint());
        let more = shapes(&ShapesConfig { per_class: 20, ..small(0) }).unwrap();
        assert_eq!(more.clouds[..a.clouds.len()], a.clouds[..]);
    }

    /// Results of examples and tests rest on it.
    const FROZEN: &str = "d8706286cfe5e611";

    fn clean() -> ShapesConfig {
        ShapesConfig {
            per_class: 10,
            points: 256,
            pose: Pose::Fixed,
            stretch: 0.0,
            noise: 0.0,
            unevenness: 0.0,
            hole: 0.0,
            outliers: 0.0,
            seed: 0,
        }
    }

    /// Largest and mean distance from the unit sphere of the points of the first shape, a sphere.
    fn off_sphere(config: &ShapesConfig) -> [f64; 2] {
        let cloud = shape(config, 0).unwrap();
        let off = |point: &Point| {
            let point = point.map(f64::from);
            (1.0 - dot(point, point).sqrt()).abs()
        };
        let all = || cloud.points.iter().map(off);
        [all().fold(0.0, f64::max), all().sum::<f64>() / config.points as f64]
    }

    #[test]
    fn every_setting_has_its_effect() {
        // The mean of few points is not quite the centre.
        let [most, mean] = off_sphere(&clean());
        assert!(most < 0.3 && mean < 0.15, "{most} {mean}");
        let spread = |change: fn(&mut ShapesConfig)| {
            let mut config = ShapesConfig { points: 4000, ..clean() };
            change(&mut config);
            off_sphere(&config)[1]
        };
        let plain = spread(|_| ());
        assert!(plain < 0.03, "{plain}");
        assert!(spread(|c| c.noise = 0.1) > plain + 0.05);
        assert!(spread(|c| c.outliers = 0.5) > plain + 0.05);
        assert!(spread(|c| c.stretch = 0.5) > plain + 0.02);
        assert!(spread(|c| c.unevenness = 1.0) > plain + 0.02);
        assert!(spread(|c| c.hole = 1.0) > plain + 0.02);
    }

    #[test]
    fn poses_turn_and_do_not_distort() {
        let mut random = SplitMix64::new(3);
        for pose in [Pose::Fixed, Pose::Upright, Pose::Any] {
            for _ in 0..100 {
                let rows = rotation(pose, &mut random);
                for (a, row) in rows.iter().enumerate() {
                    for (b, other) in rows.iter().enumerate() {
                        let expected = f64::from(u8::from(a == b));
                        assert!((dot(*row, *other) - expected).abs() < 1e-12);
                    }
                }
                let up = rows[2][2];
                assert!((up - 1.0).abs() < 1e-12 || pose == Pose::Any);
            }
        }
        // The z axis goes everywhere, all heights being equally likely.
        let ups = (0..9000).map(|_| rotation(Pose::Any, &mut random)[2][2]);
        let mut thirds = [0; 3];
        ups.for_each(|up| thirds[((up + 1.0) * 1.5).min(2.0) as usize] += 1);
        assert!(thirds.iter().all(|count| (2850..3150).contains(count)), "{thirds:?}");
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let default = ShapesConfig::default;
        for (setting, config) in [
            ("per_class", ShapesConfig { per_class: 9, ..default() }),
            ("points", ShapesConfig { points: 0, ..default() }),
            ("points", ShapesConfig { points: 1 << 20, ..default() }),
            ("points", ShapesConfig { points: usize::MAX, ..default() }),
            ("stretch", ShapesConfig { stretch: 1.0, ..default() }),
            ("noise", ShapesConfig { noise: f64::NAN, ..default() }),
            ("unevenness", ShapesConfig { unevenness: -0.1, ..default() }),
            ("hole", ShapesConfig { hole: 2.0, ..default() }),
            ("outliers", ShapesConfig { outliers: 1.5, ..default() }),
        ] {
            let error = shapes(&config).unwrap_err().to_string();
            assert!(error.contains(&format!("`{setting}`")), "{error}");
        }
    }
}
