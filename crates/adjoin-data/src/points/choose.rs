//! Fewer points of every shape, fewer shapes of every class, and which shapes are for what.

use super::cloud::{Cloud, Point, PointDataset};
use crate::error::{Error, Result};
use crate::random::SplitMix64;
use crate::split::Split;

/// Which points of a cloud to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// The first ones, as DGCNN does.
    First,
    /// Any, each at most once.
    Random {
        /// Seed of the draw.
        seed: u64,
    },
    /// Each the farthest from those before it; the first is drawn. Takes time proportional to the
    /// number of points times the number kept.
    Farthest {
        /// Seed of the first point.
        seed: u64,
    },
}

impl Sampling {
    /// `count` of the points, or `None` when there are fewer. `number` tells the clouds of a dataset
    /// apart, so that they are not all drawn alike.
    pub fn choose(&self, points: &[Point], count: usize, number: u64) -> Option<Vec<Point>> {
        if points.len() < count {
            return None;
        }
        match *self {
            Self::First => Some(points[..count].to_vec()),
            Self::Random { seed } => {
                let mut shuffled = points.to_vec();
                SplitMix64::keyed(seed, number).shuffle(&mut shuffled);
                shuffled.truncate(count);
                Some(shuffled)
            }
            Self::Farthest { seed } => {
                let first = SplitMix64::keyed(seed, number).below(points.len());
                Some(farthest(points, count, first))
            }
        }
    }
}

fn farthest(points: &[Point], count: usize, first: usize) -> Vec<Point> {
    let mut gaps = vec![f32::INFINITY; points.len()];
    let mut chosen = Vec::with_capacity(count);
    let mut next = first;
    while chosen.len() < count {
        let newest = points[next];
        chosen.push(newest);
        // Below every distance, so that no point is taken twice although another may be at its place.
        gaps[next] = -1.0;
        let mut widest = f32::NEG_INFINITY;
        for (at, (gap, point)) in gaps.iter_mut().zip(points).enumerate() {
            let [x, y, z] = [0, 1, 2].map(|axis| point[axis] - newest[axis]);
            *gap = gap.min(x * x + y * y + z * z);
            if *gap > widest {
                (widest, next) = (*gap, at);
            }
        }
    }
    chosen
}

impl PointDataset {
    /// The same shapes with `count` points each. A shape with fewer is an error that names it.
    pub fn with_points(mut self, count: usize, sampling: Sampling) -> Result<Self> {
        if count == 0 {
            let what = "a shape of no points".into();
            return Err(Error::Setting { setting: "points", what, help: "give 1 or more".into() });
        }
        for (number, cloud) in self.clouds.iter_mut().enumerate() {
            let Cloud { name, points, .. } = cloud;
            match sampling.choose(points, count, number as u64) {
                Some(chosen) => *points = chosen,
                None => {
                    return Err(Error::Invalid {
                        dataset: self.name,
                        field: "points",
                        what: format!("shape `{name}` has {} of {count} points", points.len()),
                        help: "ask for fewer points, or leave the shape out".into(),
                    });
                }
            }
        }
        Ok(self)
    }

    /// At most so many shapes of every class for training, validation and testing, drawn by seed. The
    /// draw for a number contains the draws for smaller ones. The others are forgotten.
    pub fn subset(mut self, per_class: [usize; 3], seed: u64) -> Result<Self> {
        let [train, valid, test] = [0, 1, 2].map(|part| {
            let (name, shapes) = self.parts()[part];
            let groups = by_class(&self.clouds, shapes, seed, name);
            groups.into_iter().flat_map(|group| group.into_iter().take(per_class[part])).collect()
        });
        let counts = per_class.map(|count| match count {
            usize::MAX => "all".into(),
            count => count.to_string(),
        });
        let name = format!("{}+subset:{}:{seed}", self.split.name, counts.join("/"));
        let kept = Split::new(name, train, valid, test)?;
        // Shapes keep their order, so the sorted parts stay sorted when they are numbered anew.
        let mut new_number = vec![None; self.clouds.len()];
        let mut all: Vec<u32> = [&kept.train[..], &kept.valid, &kept.test].concat();
        all.sort_unstable();
        for (new, old) in all.iter().enumerate() {
            new_number[*old as usize] = Some(new as u32);
        }
        let renumbered =
            |part: &[u32]| part.iter().filter_map(|old| new_number[*old as usize]).collect();
        self.split = Split {
            train: renumbered(&kept.train),
            valid: renumbered(&kept.valid),
            test: renumbered(&kept.test),
            name: kept.name,
        };
        let mut number = new_number.iter();
        self.clouds.retain(|_| number.next().is_some_and(Option::is_some));
        self.validate()?;
        Ok(self)
    }

    /// The shapes of some classes, in the order of the names; parts stay as they are. A class that is not there is
    /// an error that names it.
    pub fn with_classes(mut self, names: &[&str]) -> Result<Self> {
        let mut new_class = vec![None; self.classes()];
        for (new, name) in names.iter().enumerate() {
            let Some(old) = self.class_names.iter().position(|known| known == name) else {
                return Err(Error::Invalid {
                    dataset: self.name,
                    field: "classes",
                    what: format!("there is no class `{name}`"),
                    help: "get the files again, or name other classes".into(),
                });
            };
            new_class[old] = Some(new as u32);
        }
        let class = |shape: u32| new_class[self.clouds[shape as usize].class as usize];
        let mut count = 0;
        let numbers: Vec<Option<u32>> = (0..self.clouds.len() as u32)
            .map(|shape| {
                class(shape).map(|_| {
                    count += 1;
                    count - 1
                })
            })
            .collect();
        let part = |part: &[u32]| part.iter().filter_map(|&old| numbers[old as usize]).collect();
        let Split { train, valid, test, name } = &self.split;
        self.split = Split::new(name.clone(), part(train), part(valid), part(test))?;
        let clouds = self.clouds.into_iter().filter_map(|cloud| {
            let class = new_class[cloud.class as usize]?;
            Some(Cloud { class, ..cloud })
        });
        self.clouds = clouds.collect();
        self.class_names = names.iter().map(|name| name.to_string()).collect();
        self.validate()?;
        Ok(self)
    }

    /// At most `count` shapes of every class for training, and a quarter as many for validation and testing.
    pub fn quick(self, count: usize) -> Result<Self> {
        let fewer = count.div_ceil(4);
        self.subset([count, fewer, fewer], 0)
    }

    /// Takes `share` of the shapes of every class out of training (and what was for validation before)
    /// for validation, drawn by seed. The name of the split becomes `NAME+valid:SHARE:SEED`.
    pub fn with_validation(mut self, share: f64, seed: u64) -> Result<Self> {
        check_share("valid", share)?;
        let base = self.split.name.split("+valid:").next().unwrap_or_default();
        let name = format!("{base}+valid:{share}:{seed}");
        let pool = [&self.split.train[..], &self.split.valid].concat();
        let (train, valid) = hold_out(&self.clouds, &pool, share, seed, "valid");
        self.split = Split::new(name, train, valid, self.split.test)?;
        Ok(self)
    }
}

/// Parts of clouds that came without: these shares of every class for validation and testing, the rest
/// for training. The split is called `stratified:TRAIN/VALID/TEST:SEED`.
pub(super) fn stratified(clouds: &[Cloud], valid: f64, test: f64, seed: u64) -> Result<Split> {
    check_share("valid", valid)?;
    check_share("test", test)?;
    check_share("valid", valid + test)?;
    let all: Vec<u32> = (0..clouds.len() as u32).collect();
    let (others, tested) = hold_out(clouds, &all, test, seed, "test");
    let (train, chosen) = hold_out(clouds, &others, valid / (1.0 - test), seed, "valid");
    // Rounded, because 1 - 0.1 - 0.2 is not quite 0.7 in binary.
    let rest = ((1.0 - valid - test) * 1e6).round() / 1e6;
    let name = format!("stratified:{rest}/{valid}/{test}:{seed}");
    Split::new(name, train, chosen, tested)
}

fn check_share(setting: &'static str, share: f64) -> Result<()> {
    if share > 0.0 && share < 1.0 {
        return Ok(());
    }
    let what = format!("{share} is not a share of the shapes");
    let help = "give more than 0, and less than 1 together".into();
    Err(Error::Setting { setting, what, help })
}

/// Divides shapes into those that stay and `share` of every class that is held out: at least one where
/// there are two, and never all.
fn hold_out(
    clouds: &[Cloud],
    shapes: &[u32],
    share: f64,
    seed: u64,
    purpose: &str,
) -> (Vec<u32>, Vec<u32>) {
    let (mut stay, mut held) = (Vec::new(), Vec::new());
    for mut group in by_class(clouds, shapes, seed, purpose) {
        let most = group.len().saturating_sub(1);
        let count = (share * group.len() as f64).round() as usize;
        stay.extend(group.split_off(count.max(1).min(most)));
        held.extend(group);
    }
    (stay, held)
}

/// The shapes of each class in an order that depends on the seed, the purpose and the class.
fn by_class(clouds: &[Cloud], shapes: &[u32], seed: u64, purpose: &str) -> Vec<Vec<u32>> {
    let classes = clouds.iter().map(|cloud| cloud.class as usize + 1).max().unwrap_or(0);
    let mut groups = vec![Vec::new(); classes];
    let mut sorted = shapes.to_vec();
    sorted.sort_unstable();
    for shape in sorted {
        groups[clouds[shape as usize].class as usize].push(shape);
    }
    // A different draw for every purpose, or the shapes first held out would be the ones drawn next.
    let purpose = purpose.bytes().fold(0u64, |all, byte| all << 8 | u64::from(byte));
    for (class, group) in groups.iter_mut().enumerate() {
        SplitMix64::keyed(seed ^ purpose, class as u64).shuffle(group);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `counts[c]` shapes of class `c`, all for training but the last one of each, for testing.
    fn dataset(counts: &[usize]) -> PointDataset {
        let (mut clouds, mut train, mut test) = (Vec::new(), Vec::new(), Vec::new());
        for (class, count) in counts.iter().enumerate() {
            for place in 0..*count {
                let part = if place + 1 < *count { &mut train } else { &mut test };
                part.push(clouds.len() as u32);
                let points = (0..8).map(|at| [at as f32, clouds.len() as f32, 0.0]).collect();
                let name = format!("{class} {place}");
                clouds.push(Cloud { name, class: class as u32, points });
            }
        }
        let class_names = (0..counts.len()).map(|class| class.to_string()).collect();
        let split = Split::new("official", train, vec![], test).unwrap();
        PointDataset { name: "d".into(), class_names, clouds, split, corruption: None }
    }

    fn of_class(dataset: &PointDataset, part: usize, class: u32) -> usize {
        let shapes = dataset.parts()[part].1;
        shapes.iter().filter(|shape| dataset.clouds[**shape as usize].class == class).count()
    }

    #[test]
    fn validation_is_stratified_named_and_can_be_chosen_anew() {
        let first = dataset(&[21, 3, 102]).with_validation(0.1, 0).unwrap();
        first.validate().unwrap();
        assert_eq!([0, 1, 2].map(|class| of_class(&first, 1, class)), [2, 1, 10]);
        assert_eq!(first.split.name, "official+valid:0.1:0");
        let same = first.clone().with_validation(0.2, 7).unwrap().with_validation(0.1, 0).unwrap();
        assert_eq!(same, first);
        assert_ne!(first.clone().with_validation(0.1, 1).unwrap().split.valid, first.split.valid);
        assert_eq!(first.split.hash(), FROZEN);
        for share in [0.0, 1.0, f64::NAN] {
            let error = dataset(&[9, 9]).with_validation(share, 0).unwrap_err().to_string();
            assert!(error.contains("`valid`"), "{error}");
        }
    }

    /// Results are published with such digits: they must not change.
    const FROZEN: &str = "eb0292125659f715";

    #[test]
    fn parts_by_share_hold_every_class() {
        let clouds = dataset(&[10, 20, 3]).clouds;
        let split = stratified(&clouds, 0.1, 0.2, 0).unwrap();
        assert_eq!([&split.train, &split.valid, &split.test].map(Vec::len), [22, 4, 7]);
        assert_eq!(split.name, "stratified:0.7/0.1/0.2:0");
        assert!(stratified(&clouds, 0.5, 0.5, 0).is_err());
        assert!(stratified(&clouds, f64::NAN, 0.5, 0).is_err());
    }

    #[test]
    fn a_subset_is_stratified_and_contains_smaller_ones() {
        let whole = dataset(&[30, 20, 12]).with_validation(0.2, 0).unwrap();
        let names = |d: &PointDataset| {
            d.clouds.iter().map(|cloud| cloud.name.clone()).collect::<Vec<String>>()
        };
        let five = whole.clone().subset([5, 2, usize::MAX], 3).unwrap();
        for class in 0..3 {
            assert_eq!([0, 1, 2].map(|part| of_class(&five, part, class)), [5, 2, 1]);
        }
        assert_eq!(five.clouds.len(), 24);
        assert_eq!(five.split.name, "official+valid:0.2:0+subset:5/2/all:3");
        let three = whole.clone().subset([3, 1, 1], 3).unwrap();
        assert!(names(&three).iter().all(|name| names(&five).contains(name)));
        // A shape stays in its part.
        for (part, (_, shapes)) in five.parts().into_iter().enumerate() {
            for shape in shapes {
                let name = &five.clouds[*shape as usize].name;
                let old = names(&whole).iter().position(|other| other == name).unwrap() as u32;
                assert!(whole.parts()[part].1.contains(&old), "{name}");
            }
        }
        let error = whole.subset([0, 1, 1], 0).unwrap_err().to_string();
        assert!(error.contains("train: no shape"), "{error}");
    }

    #[test]
    fn points_are_chosen_in_three_ways() {
        let whole = dataset(&[2, 2]);
        let first = whole.clone().with_points(3, Sampling::First).unwrap();
        assert_eq!(first.clouds[1].points, [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [2.0, 1.0, 0.0]]);
        let random = whole.clone().with_points(8, Sampling::Random { seed: 1 }).unwrap();
        let order = |number: usize| random.clouds[number].points.iter().map(|point| point[0] as u8);
        let mut sorted: Vec<u8> = order(0).collect();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(order(0).ne(0..8) && order(0).ne(order(1)));
        let error = whole.clone().with_points(9, Sampling::First).unwrap_err().to_string();
        assert!(error.contains("shape `0 0` has 8 of 9 points"), "{error}");
        assert!(whole.with_points(0, Sampling::First).is_err());
    }

    #[test]
    fn the_farthest_points_spread_and_repeated_ones_come_last() {
        let line = [0.0, 0.0, 1.0, 2.0, 8.0].map(|x| [x, 0.0, 0.0]);
        let xs = |points: &[Point]| points.iter().map(|point| point[0]).collect::<Vec<f32>>();
        assert_eq!(xs(&farthest(&line, 5, 0)), [0.0, 8.0, 2.0, 1.0, 0.0]);
        assert_eq!(xs(&farthest(&line, 2, 3)), [2.0, 8.0]);
        let same = [[1.0; 3]; 4];
        let chosen = Sampling::Farthest { seed: 0 }.choose(&same, 4, 0).unwrap();
        assert_eq!(chosen, same);
        assert_eq!(Sampling::Farthest { seed: 0 }.choose(&same, 5, 0), None);
        assert_eq!(Sampling::Farthest { seed: 0 }.choose(&[], 0, 0), Some(vec![]));
    }
}
