//! Damage to point clouds, in the kinds and levels of ModelNet-C (Ren et al., 2022).

use std::fmt;
use std::str::FromStr;

use super::cloud::{Cloud, Point, PointDataset};
use crate::error::{Error, Result};
use crate::random::SplitMix64;
use crate::split::Split;

/// A kind of damage. With level `l` from 1 to 5 and a cloud of `n` points in the unit sphere:
///
/// | kind | what happens |
/// |---|---|
/// | `jitter` | every coordinate moves by normal noise of deviation `0.01 l` |
/// | `drop-global` | a share `0.125 (l + 1)` of the points goes, any of them |
/// | `drop-local` | `100 l n / 1024` points go, in 1 to 8 places: the nearest to a point each |
/// | `add-global` | `10 l` points come, anywhere in the unit sphere |
/// | `add-local` | `100 l n / 1024` points come, in 1 to 8 places: normal around a point, deviation 0.075 to 0.125 |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Noise on all points.
    Jitter,
    /// Points missing everywhere.
    DropGlobal,
    /// Points missing in places.
    DropLocal,
    /// Outliers everywhere.
    AddGlobal,
    /// Outliers in places.
    AddLocal,
}

impl Damage {
    /// All kinds with their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("jitter", Self::Jitter),
        ("drop-global", Self::DropGlobal),
        ("drop-local", Self::DropLocal),
        ("add-global", Self::AddGlobal),
        ("add-local", Self::AddLocal),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for Damage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, kind)| kind).ok_or_else(|| Error::Setting {
            setting: "damage",
            what: format!("`{text}` is not a kind of damage"),
            help: format!("write one of: {}", Self::ALL.map(|(name, _)| name).join(", ")),
        })
    }
}

/// How clouds were damaged; written as `jitter:3:0` (kind, level, seed).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corruption {
    /// The kind.
    pub damage: Damage,
    /// How much, 1 to 5.
    pub level: u8,
    /// The same seed gives the same clouds.
    pub seed: u64,
}

impl fmt::Display for Corruption {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.damage.name(), self.level, self.seed)
    }
}

impl FromStr for Corruption {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::Setting {
            setting: "corruption",
            what: format!("`{text}` is no kind, level and seed"),
            help: "write for example jitter:3:0".into(),
        };
        let parts: Vec<&str> = text.trim().split(':').collect();
        let [damage, level, seed] = parts[..] else { return Err(wrong()) };
        let level = level.parse().map_err(|_| wrong())?;
        let made =
            Self { damage: damage.parse()?, level, seed: seed.parse().map_err(|_| wrong())? };
        made.check()?;
        Ok(made)
    }
}

/// Most places in which points come or go.
const PLACES: usize = 8;

impl Corruption {
    fn check(&self) -> Result<()> {
        match self.level {
            1..=5 => Ok(()),
            level => Err(Error::Setting {
                setting: "level",
                what: format!("{level} is not a level"),
                help: "give 1 to 5".into(),
            }),
        }
    }

    /// One damaged cloud; `number` tells the clouds of a dataset apart. At least one point stays.
    pub fn apply(&self, points: &[Point], number: u64) -> Vec<Point> {
        let mut random = SplitMix64::keyed(self.seed, number);
        let level = usize::from(self.level);
        let local = (100 * level * points.len() + 512) / 1024;
        match self.damage {
            Damage::Jitter => {
                let deviation = 0.01 * level as f64;
                points.iter().map(|point| moved(point, deviation, &mut random)).collect()
            }
            Damage::DropGlobal => {
                let mut kept = points.to_vec();
                random.shuffle(&mut kept);
                let dropped = points.len() * (level + 1) / 8;
                kept.truncate((points.len() - dropped).max(1));
                kept
            }
            Damage::DropLocal => {
                let mut kept = points.to_vec();
                for count in shares(local.min(points.len().saturating_sub(1)), &mut random) {
                    let centre = kept[random.below(kept.len())];
                    // A stable sort: points at the same distance keep their order.
                    kept.sort_by(|a, b| square(a, &centre).total_cmp(&square(b, &centre)));
                    kept.drain(..count);
                }
                kept
            }
            Damage::AddGlobal => {
                let mut all = points.to_vec();
                all.extend((0..10 * level).map(|_| in_sphere(&mut random)));
                all
            }
            Damage::AddLocal => {
                let mut all = points.to_vec();
                for count in shares(local, &mut random) {
                    let centre = points[random.below(points.len())];
                    let deviation = random.within(0.075, 0.125);
                    all.extend((0..count).map(|_| moved(&centre, deviation, &mut random)));
                }
                all
            }
        }
    }
}

/// Divides a number at random among 1 to [`PLACES`] places; none of them gets nothing.
fn shares(total: usize, random: &mut SplitMix64) -> Vec<usize> {
    let places = (1 + random.below(PLACES)).min(total);
    let mut counts = vec![1; places];
    for _ in places..total {
        counts[random.below(places)] += 1;
    }
    counts
}

fn moved(point: &Point, deviation: f64, random: &mut SplitMix64) -> Point {
    point.map(|value| (f64::from(value) + deviation * random.bell()) as f32)
}

fn square(a: &Point, b: &Point) -> f64 {
    (0..3).map(|axis| (f64::from(a[axis]) - f64::from(b[axis])).powi(2)).sum()
}

/// Uniform in the unit sphere: drawn in the cube around it until it is inside.
fn in_sphere(random: &mut SplitMix64) -> Point {
    loop {
        let point = [0; 3].map(|_| random.within(-1.0, 1.0) as f32);
        if square(&point, &[0.0; 3]) <= 1.0 {
            return point;
        }
    }
}

impl PointDataset {
    /// The test clouds, damaged, all of them to test with: training and validation stay clean, so they are
    /// left out.
    pub fn corrupted(self, corruption: Corruption) -> Result<Self> {
        corruption.check()?;
        let damaged = |(number, shape): (usize, &u32)| {
            let Cloud { name, class, points } = &self.clouds[*shape as usize];
            let points = corruption.apply(points, number as u64);
            Cloud { name: name.clone(), class: *class, points }
        };
        let clouds: Vec<Cloud> = self.split.test.iter().enumerate().map(damaged).collect();
        let dataset = Self {
            name: format!("{}+{corruption}", self.name),
            class_names: self.class_names,
            split: all_test(clouds.len())?,
            clouds,
            corruption: Some(corruption),
        };
        dataset.validate()?;
        Ok(dataset)
    }
}

/// All clouds are for testing.
pub(super) fn all_test(clouds: usize) -> Result<Split> {
    Split::new("test", Vec::new(), Vec::new(), (0..clouds as u32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sphere(count: usize) -> Vec<Point> {
        let mut random = SplitMix64::new(5);
        (0..count).map(|_| in_sphere(&mut random)).collect()
    }

    fn damaged(damage: Damage, level: u8, points: &[Point]) -> Vec<Point> {
        Corruption { damage, level, seed: 3 }.apply(points, 1)
    }

    #[test]
    fn numbers_of_points_are_those_published() {
        let points = sphere(1024);
        let counts = |damage| [1, 2, 3, 4, 5].map(|level| damaged(damage, level, &points).len());
        assert_eq!(counts(Damage::Jitter), [1024; 5]);
        assert_eq!(counts(Damage::DropGlobal), [768, 640, 512, 384, 256]);
        assert_eq!(counts(Damage::DropLocal), [924, 824, 724, 624, 524]);
        assert_eq!(counts(Damage::AddGlobal), [1034, 1044, 1054, 1064, 1074]);
        assert_eq!(counts(Damage::AddLocal), [1124, 1224, 1324, 1424, 1524]);
    }

    #[test]
    fn noise_has_its_deviation() {
        let points = sphere(1024);
        for level in [1, 5] {
            let moved = damaged(Damage::Jitter, level, &points);
            let sum: f64 = points.iter().zip(&moved).map(|(a, b)| square(a, b)).sum();
            let deviation = (sum / 3072.0).sqrt();
            assert!((deviation / (0.01 * f64::from(level)) - 1.0).abs() < 0.05, "{deviation}");
        }
    }

    #[test]
    fn what_is_dropped_was_there_and_what_is_added_comes_last() {
        let points = sphere(500);
        for damage in [Damage::DropGlobal, Damage::DropLocal] {
            let kept = damaged(damage, 3, &points);
            assert!(kept.iter().all(|point| points.contains(point)));
        }
        for damage in [Damage::AddGlobal, Damage::AddLocal] {
            assert_eq!(damaged(damage, 3, &points)[..500], points[..]);
        }
        let outliers = &damaged(Damage::AddGlobal, 5, &points)[500..];
        assert!(outliers.iter().all(|point| square(point, &[0.0; 3]) <= 1.0));
    }

    #[test]
    fn a_local_hole_is_a_ball() {
        // Twenty points go, in at most eight balls: one of a line leaves at most nine pieces.
        let line: Vec<Point> = (0..205).map(|at| [at as f32 / 205.0, 0.0, 0.0]).collect();
        let mut kept = damaged(Damage::DropLocal, 1, &line);
        assert_eq!(kept.len(), 185);
        kept.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let gaps = kept.windows(2).filter(|pair| pair[1][0] - pair[0][0] > 1.5 / 205.0).count();
        assert!(gaps <= 8, "{gaps} holes");
        let scattered = damaged(Damage::DropGlobal, 1, &line);
        assert!(scattered.len() < 185, "a quarter goes");
    }

    #[test]
    fn seeds_and_clouds_differ_and_small_clouds_survive() {
        let points = sphere(64);
        for (name, damage) in Damage::ALL {
            let first = Corruption { damage, level: 2, seed: 0 };
            assert_eq!(first.apply(&points, 0), first.apply(&points, 0));
            assert_ne!(first.apply(&points, 0), first.apply(&points, 1), "{name}");
            let other = Corruption { seed: 1, ..first };
            assert_ne!(first.apply(&points, 0), other.apply(&points, 0), "{name}");
            assert_eq!(first.to_string().parse::<Corruption>().unwrap(), first);
            for few in 1..4 {
                let strong = Corruption { level: 5, ..first };
                assert!(!strong.apply(&points[..few], 0).is_empty(), "{name}");
            }
        }
        for wrong in ["jitter:6:0", "jitter:0:0", "jitter:1", "dent:1:0", "jitter:1:x"] {
            assert!(wrong.parse::<Corruption>().is_err(), "{wrong}");
        }
    }
}
