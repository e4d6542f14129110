//! Splits by name: the words a user writes after `--split`, and how each is made.

use std::fmt;
use std::str::FromStr;

use crate::dataset::NodeDataset;
use crate::error::{Error, Result};
use crate::random::SplitMix64;
use crate::split::Split;

const FORMS: &str = "write one of: public, given, fixed:0 ... fixed:9, random:SEED, planetoid:SEED, \
                     develop:SEED, stratified:0.6/0.2/0.2[:SEED], ratio:0.6/0.2/0.2[:SEED], \
                     train+half-val[:OTHER SPLIT]";
const TRAIN_PER_CLASS: usize = 20;
const VALID_PER_CLASS: usize = 30;
const DEVELOP_VALID: usize = 400;

/// A way to get a [`Split`] of a dataset. Written and parsed as in the first column:
///
/// | text | meaning |
/// |---|---|
/// | `public`, `given`, `fixed:3`, any other name | a split that came with the data |
/// | `random:SEED` | 20 nodes a class train, 30 a class validate, all others test (Shchur et al. 2018) |
/// | `planetoid:SEED` | 20 nodes a class train, 500 validate, 1000 test, at random |
/// | `develop:SEED` | to develop on: 20 nodes a class train, 400 validate, all others test, none of them a test node of the first split that came with the data |
/// | `stratified:A/B/C[:SEED]` | these fractions of the labelled nodes of every class, at least one of each class to train; seed 0 if not given |
/// | `ratio:A/B/C[:SEED]` | these fractions of all labelled nodes, whatever their class; seed 0 if not given |
/// | `train+half-val[:SPLIT]` | half of the validation nodes of SPLIT (or of the first split that came with the data) join the training nodes |
///
/// Only nodes with a known label are drawn. The same text always gives the same nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitSpec {
    /// One that came with the data.
    Stored(String),
    /// 20 a class, 30 a class, the rest.
    Random {
        /// Seed of the shuffle.
        seed: u64,
    },
    /// 20 a class, 500, 1000.
    Planetoid {
        /// Seed of the shuffle.
        seed: u64,
    },
    /// 20 a class, 400, the rest, without the test nodes of the first split that came with the data.
    Develop {
        /// Seed of the shuffle.
        seed: u64,
    },
    /// Fractions of the labelled nodes, of every class alike or of all of them.
    Ratio {
        /// Whether of every class alike.
        stratified: bool,
        /// Fraction that trains.
        train: f64,
        /// Fraction that validates.
        valid: f64,
        /// Fraction that tests.
        test: f64,
        /// Seed of the shuffle.
        seed: u64,
    },
    /// Half of the validation nodes join the training nodes of another split.
    HalfValidation(Option<Box<SplitSpec>>),
}

impl NodeDataset {
    /// The split a [`SplitSpec`] asks for.
    pub fn split(&self, spec: &SplitSpec) -> Result<Split> {
        spec.make(self)
    }

    /// The split to use when none is asked for: the first that came with the data, else
    /// `stratified:0.6/0.2/0.2:0`.
    pub fn default_split(&self) -> Result<Split> {
        if let Some(split) = self.splits.first() {
            return Ok(split.clone());
        }
        let (train, valid, test) = (0.6, 0.2, 0.2);
        SplitSpec::Ratio { stratified: true, train, valid, test, seed: 0 }.make(self)
    }
}

impl SplitSpec {
    /// Makes the split for a dataset, or takes the one of this name that came with it: a file may hold
    /// splits that were drawn by other means.
    pub fn make(&self, dataset: &NodeDataset) -> Result<Split> {
        let name = self.to_string();
        if let Some(stored) = dataset.splits.iter().find(|split| split.name == name) {
            return Ok(stored.clone());
        }
        match self {
            Self::Stored(_) => Err(self.not_stored(dataset)),
            Self::Random { seed } => self.random(dataset, *seed),
            Self::Planetoid { seed } => self.planetoid(dataset, *seed),
            Self::Develop { seed } => self.develop(dataset, *seed),
            Self::Ratio { stratified, train, valid, test, seed } => {
                self.ratio(dataset, [*train, *valid, *test], *stratified, *seed)
            }
            Self::HalfValidation(base) => {
                let base = match base {
                    Some(base) => base.make(dataset)?,
                    None => self.first(dataset, "name one: train+half-val:random:0")?.clone(),
                };
                base.with_half_validation(self.to_string())
            }
        }
    }

    /// The first split that came with the data.
    fn first<'a>(&self, dataset: &'a NodeDataset, help: &str) -> Result<&'a Split> {
        let missing = || format!("dataset `{}` came without a split", dataset.name);
        dataset.splits.first().ok_or_else(|| self.error(missing(), help))
    }

    fn not_stored(&self, dataset: &NodeDataset) -> Error {
        let names: Vec<&str> = dataset.splits.iter().map(|split| split.name.as_str()).collect();
        let there = if names.is_empty() { "none".into() } else { names.join(", ") };
        let what =
            format!("dataset `{}` has no split of this name (it has: {there})", dataset.name);
        self.error(what, FORMS)
    }

    /// Takes `TRAIN_PER_CLASS` (+ `more`) nodes of every class from shuffled nodes: (training nodes, the
    /// next `more` of each class, the rest in shuffled order).
    fn per_class(
        &self,
        dataset: &NodeDataset,
        nodes: Vec<u32>,
        more: usize,
    ) -> Result<(Vec<u32>, Vec<u32>, Vec<u32>)> {
        let mut taken = vec![0; dataset.classes()];
        let (mut train, mut valid, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for node in nodes {
            let Some(count) = dataset.label(node).and_then(|label| taken.get_mut(label as usize))
            else {
                continue;
            };
            *count += 1;
            match *count {
                n if n <= TRAIN_PER_CLASS => train.push(node),
                n if n <= TRAIN_PER_CLASS + more => valid.push(node),
                _ => rest.push(node),
            }
        }
        if train.is_empty() {
            return Err(self.error("no node has a label", "label some nodes"));
        }
        match taken.iter().position(|count| *count < TRAIN_PER_CLASS + more) {
            None => Ok((train, valid, rest)),
            Some(class) => Err(self.error(
                format!(
                    "class `{}` has {} labelled nodes, but {} are needed of every class",
                    dataset.class_names.get(class).map_or("?", String::as_str),
                    taken[class],
                    TRAIN_PER_CLASS + more
                ),
                "use a split by fractions: stratified:0.6/0.2/0.2",
            )),
        }
    }

    fn random(&self, dataset: &NodeDataset, seed: u64) -> Result<Split> {
        let (train, valid, test) =
            self.per_class(dataset, shuffled(dataset, seed), VALID_PER_CLASS)?;
        Split::new(self.to_string(), train, valid, test)
    }

    fn planetoid(&self, dataset: &NodeDataset, seed: u64) -> Result<Split> {
        let (train, _, rest) = self.per_class(dataset, shuffled(dataset, seed), 0)?;
        match (rest.get(..500), rest.get(500..1500)) {
            (Some(valid), Some(test)) => {
                Split::new(self.to_string(), train, valid.to_vec(), test.to_vec())
            }
            _ => Err(self.error(
                format!(
                    "only {} labelled nodes are left after training, 1500 are needed",
                    rest.len()
                ),
                "use random:SEED or stratified:0.6/0.2/0.2",
            )),
        }
    }

    fn develop(&self, dataset: &NodeDataset, seed: u64) -> Result<Split> {
        let spared = &self.first(dataset, "use random:SEED: there is no test part to spare")?.test;
        let mut nodes = shuffled(dataset, seed);
        nodes.retain(|node| spared.binary_search(node).is_err());
        let (train, _, mut valid) = self.per_class(dataset, nodes, 0)?;
        if valid.len() <= DEVELOP_VALID {
            let what = format!("only {} nodes are left after training and testing", valid.len());
            return Err(self.error(what, "more than 400 are needed; use stratified:0.6/0.2/0.2"));
        }
        let judge = valid.split_off(DEVELOP_VALID);
        Split::new(self.to_string(), train, valid, judge)
    }

    fn ratio(
        &self,
        dataset: &NodeDataset,
        parts: [f64; 3],
        stratified: bool,
        seed: u64,
    ) -> Result<Split> {
        check_ratio(&self.to_string(), parts)?;
        let mut nodes = shuffled(dataset, seed);
        if stratified {
            mix_classes(dataset, &mut nodes);
        }
        let share = |part: f64| (part * nodes.len() as f64).round() as usize;
        let first = share(parts[0]).min(nodes.len());
        let second = (first + share(parts[1])).min(nodes.len());
        let third = (second + share(parts[2])).min(nodes.len());
        if first == 0 || second == first || third == second {
            return Err(self.error(
                format!("of {} labelled nodes a part would get none", nodes.len()),
                "label more nodes or give the part a larger fraction",
            ));
        }
        Split::new(
            self.to_string(),
            nodes[..first].to_vec(),
            nodes[first..second].to_vec(),
            nodes[second..third].to_vec(),
        )
    }

    fn error(&self, what: impl Into<String>, help: &str) -> Error {
        Error::Split { spec: self.to_string(), what: what.into(), help: help.into() }
    }
}

impl fmt::Display for SplitSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored(name) => write!(out, "{name}"),
            Self::Random { seed } => write!(out, "random:{seed}"),
            Self::Planetoid { seed } => write!(out, "planetoid:{seed}"),
            Self::Develop { seed } => write!(out, "develop:{seed}"),
            Self::Ratio { stratified, train, valid, test, seed } => {
                let name = if *stratified { "stratified" } else { "ratio" };
                write!(out, "{name}:{train}/{valid}/{test}:{seed}")
            }
            Self::HalfValidation(None) => write!(out, "train+half-val"),
            Self::HalfValidation(Some(base)) => write!(out, "train+half-val:{base}"),
        }
    }
}

impl FromStr for SplitSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: String| Error::Split { spec: text.into(), what, help: FORMS.into() };
        let seed = |digits: &str| {
            digits
                .parse::<u64>()
                .map_err(|_| wrong(format!("the seed `{digits}` is not a whole number")))
        };
        let (head, rest) = match text.split_once(':') {
            Some((head, rest)) => (head, Some(rest)),
            None => (text, None),
        };
        match (head, rest) {
            ("random", Some(rest)) => Ok(Self::Random { seed: seed(rest)? }),
            ("planetoid", Some(rest)) => Ok(Self::Planetoid { seed: seed(rest)? }),
            ("develop", Some(rest)) => Ok(Self::Develop { seed: seed(rest)? }),
            ("random" | "planetoid" | "develop" | "stratified" | "ratio" | "fixed", None) => {
                Err(wrong(format!("`{head}` needs something after a colon")))
            }
            ("fixed", Some(rest)) => {
                seed(rest).map(|number| Self::Stored(format!("fixed:{number}")))
            }
            ("ratio" | "stratified", Some(rest)) => {
                let (parts, digits) = rest.split_once(':').unwrap_or((rest, "0"));
                let numbers: Vec<f64> =
                    parts.split('/').map_while(|part| part.parse().ok()).collect();
                let [train, valid, test] = numbers[..] else {
                    return Err(wrong(format!("`{parts}` is not three numbers with `/` between")));
                };
                check_ratio(text, [train, valid, test])?;
                let stratified = head == "stratified";
                Ok(Self::Ratio { stratified, train, valid, test, seed: seed(digits)? })
            }
            ("train+half-val", None) => Ok(Self::HalfValidation(None)),
            ("train+half-val", Some(rest)) => match rest.parse()? {
                Self::HalfValidation(_) => Err(wrong("it can be applied only once".into())),
                base => Ok(Self::HalfValidation(Some(Box::new(base)))),
            },
            (name, None) if is_name(name) => Ok(Self::Stored(name.into())),
            _ => Err(wrong("this is not a split".into())),
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

/// Names that a split stored in a file may have: plain ones, and those of splits made here, spelled as
/// here, so that a user can ask for every stored split by its name.
pub(crate) fn is_split_name(name: &str) -> bool {
    name.parse::<SplitSpec>().is_ok_and(|spec| spec.to_string() == name)
}

fn check_ratio(spec: &str, parts: [f64; 3]) -> Result<()> {
    let sum: f64 = parts.iter().sum();
    // The slack lets 0.48/0.32/0.2 pass, whose binary sum is not exactly one.
    if parts.iter().all(|part| part.is_finite() && *part > 0.0) && sum <= 1.0 + 1e-9 {
        return Ok(());
    }
    Err(Error::Split {
        spec: spec.into(),
        what: "the three fractions must each be above 0 and together at most 1".into(),
        help: "for example stratified:0.6/0.2/0.2, or ratio:0.6/0.2/0.2".into(),
    })
}

/// Sorts nodes so that any stretch of them holds about the same share of every class: node `i` of the `n` of a
/// class goes to the place `(i + 1/2) / n` of the whole. The first node of a class comes first, so that even a
/// class of one node is trained with.
fn mix_classes(dataset: &NodeDataset, nodes: &mut [u32]) {
    let class = |node: u32| dataset.label(node).unwrap_or(0) as usize;
    let classes = nodes.iter().map(|node| class(*node) + 1).max().unwrap_or(0);
    let mut sizes = vec![0u32; classes];
    nodes.iter().for_each(|node| sizes[class(*node)] += 1);
    let mut met = vec![0u32; sizes.len()];
    let mut place = vec![0f64; dataset.nodes()];
    for &node in nodes.iter() {
        let (met, size) = (&mut met[class(node)], sizes[class(node)]);
        place[node as usize] = match *met {
            0 => 0.0,
            earlier => (f64::from(earlier) + 0.5) / f64::from(size),
        };
        *met += 1;
    }
    // Stable: what has the same place stays in the order of the seed.
    nodes.sort_by(|a, b| place[*a as usize].total_cmp(&place[*b as usize]));
}

/// All nodes with a known label, in an order that depends on the seed alone.
fn shuffled(dataset: &NodeDataset, seed: u64) -> Vec<u32> {
    let mut nodes: Vec<u32> =
        (0..dataset.nodes() as u32).filter(|node| dataset.label(*node).is_some()).collect();
    SplitMix64::new(seed).shuffle(&mut nodes);
    nodes
}
