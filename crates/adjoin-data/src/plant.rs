//! Made-up graphs in which the good neighbours of every node, and their number, are known.

use std::collections::HashSet;

use crate::dataset::NodeDataset;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::marks::EdgeMarks;
use crate::random::SplitMix64;
use crate::split_spec::SplitSpec;

/// Probability that a node gets no good neighbour at all.
const NONE_GOOD: f64 = 0.08;
/// Rounds in which ends without a partner are paired again.
const ROUNDS: usize = 50;

/// Settings of [`planted`].
#[derive(Debug, Clone, PartialEq)]
pub struct PlantedConfig {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of classes.
    pub classes: usize,
    /// Number of features.
    pub features: usize,
    /// Standard deviation of a feature around its class prototype, whose entries have deviation 1.
    pub noise: f64,
    /// Most good neighbours of a node.
    pub max_good: usize,
    /// Most bad neighbours of a node.
    pub max_bad: usize,
    /// Whether bad neighbours make up for missing good ones, so that all degrees are about the same;
    /// otherwise the two numbers are independent, and degrees rise with the good ones.
    pub even_degrees: bool,
    /// The same seed gives the same graph, everywhere and for ever.
    pub seed: u64,
}

impl Default for PlantedConfig {
    /// Features alone classify about two thirds of the nodes.
    fn default() -> Self {
        Self {
            nodes: 1500,
            classes: 5,
            features: 32,
            noise: 3.2,
            max_good: 30,
            max_bad: 30,
            even_degrees: false,
            seed: 0,
        }
    }
}

impl PlantedConfig {
    fn check(&self) -> Result<()> {
        let wrong = |setting, what: String, help: &str| {
            Err(Error::Setting { setting, what, help: help.into() })
        };
        if self.classes < 2 || self.nodes > 10_000_000 {
            let what = format!("{} nodes in {} classes", self.nodes, self.classes);
            return wrong("nodes", what, "give at least two classes and at most ten million nodes");
        }
        // Twice as many nodes as neighbours keeps the draw for a partner from running dry.
        let most = self.nodes / self.classes / 2;
        for (setting, value) in [("max_good", self.max_good), ("max_bad", self.max_bad)] {
            if value > most {
                let what = format!("{value} of {} nodes a class", self.nodes / self.classes);
                return wrong(setting, what, "give at most half of the nodes of a class");
            }
        }
        if self.features == 0 || self.features > 1_000_000 {
            let what = format!("{} features", self.features);
            return wrong("features", what, "give at least one and at most a million");
        }
        if !(0.0..=1e6).contains(&self.noise) {
            return wrong("noise", format!("{} is not within 0 and 1e6", self.noise), "lower it");
        }
        Ok(())
    }
}

/// A graph whose good neighbours are known, for telling whether a learner finds which and how many.
///
/// Node `i` of class `c` has features `prototype[c] + noise`. It has `n_i` good neighbours of its own
/// class and `m_i` bad ones of other classes. `n_i` is 0 with probability 0.08, otherwise
/// `1 + floor(max_good * u^2)` with `u` uniform. `m_i` is uniform in `0..=max_bad` and independent of
/// `n_i`, or, with `even_degrees`, falls as `n_i` rises. Edges are undirected: ends are paired at random,
/// each pair once, and the few ends that find no partner are dropped. A node without good neighbours
/// stays without.
///
/// [`EdgeMarks::planted`] says which edges are good. A split of 20 % training, 20 % validation and 60 %
/// test nodes is stored with it.
pub fn planted(config: &PlantedConfig) -> Result<NodeDataset> {
    config.check()?;
    let PlantedConfig { nodes, classes, features, seed, .. } = *config;
    // Own generators: one setting does not change what the others draw.
    let part = |number| SplitMix64::keyed(seed, number);
    let mut labels: Vec<u32> = (0..nodes).map(|node| (node % classes) as u32).collect();
    part(0).shuffle(&mut labels);

    let good: Vec<usize> = wanted(nodes, &mut part(1), |random| match random.chance(NONE_GOOD) {
        true => 0,
        false => (1.0 + config.max_good as f64 * random.unit().powi(2)) as usize,
    });
    let good: Vec<usize> = good.into_iter().map(|number| number.min(config.max_good)).collect();
    let mut random = part(2);
    let bad: Vec<usize> = match config.even_degrees {
        false => wanted(nodes, &mut random, |random| random.below(config.max_bad + 1)),
        true => good.iter().map(|&number| config.filling(number, &mut random)).collect(),
    };
    let pairs = pair(&good, &mut part(3), |u, v| labels[u] == labels[v], &labels);
    let wrong = pair(&bad, &mut part(4), |u, v| labels[u] != labels[v], &[]);
    let mut marked: Vec<((u32, u32), bool)> = pairs.into_iter().map(|edge| (edge, true)).collect();
    marked.extend(wrong.into_iter().map(|edge| (edge, false)));
    marked.sort_unstable();

    let mut random = part(5);
    let prototypes: Vec<f64> = (0..classes * features).map(|_| random.bell()).collect();
    let mut random = part(6);
    let mut values = Vec::with_capacity(nodes * features);
    for &label in &labels {
        let start = label as usize * features;
        let prototype = &prototypes[start..start + features];
        values
            .extend(prototype.iter().map(|centre| (centre + config.noise * random.bell()) as f32));
    }
    let (edges, good): (Vec<_>, Vec<_>) = marked.into_iter().unzip();
    let mut dataset = NodeDataset {
        name: "planted".into(),
        features: Features::from_dense(nodes, features, values),
        missing: None,
        feature_names: (0..features).map(|column| format!("f{column}")).collect(),
        edges,
        weights: None,
        marks: EdgeMarks { planted: Some(good), injected: None },
        labels,
        class_names: (0..classes).map(|class| format!("class {class}")).collect(),
        node_ids: Vec::new(),
        splits: Vec::new(),
    };
    let split = SplitSpec::Ratio { stratified: false, train: 0.2, valid: 0.2, test: 0.6, seed };
    dataset.splits.push(dataset.split(&split)?);
    dataset.validate()?;
    Ok(dataset)
}

impl PlantedConfig {
    /// Bad neighbours that bring a node with so many good ones to about the degree of all others.
    fn filling(&self, good: usize, random: &mut SplitMix64) -> usize {
        let missing = 1.0 - good as f64 / self.max_good.max(1) as f64;
        // A little uneven, so that degrees are not a constant to divide by.
        let filled = self.max_bad as f64 * missing + random.within(-2.0, 3.0);
        (filled.max(0.0) as usize).min(self.max_bad)
    }
}

fn wanted(
    nodes: usize,
    random: &mut SplitMix64,
    draw: impl Fn(&mut SplitMix64) -> usize,
) -> Vec<usize> {
    (0..nodes).map(|_| draw(random)).collect()
}

/// Pairs the ends of nodes that want so many partners each, at random among those that `fit`, no pair
/// twice. Ends are shuffled and taken two by two; those that do not fit go into the next round. With
/// `groups`, only ends of one group meet.
fn pair(
    wanted: &[usize],
    random: &mut SplitMix64,
    fit: impl Fn(usize, usize) -> bool,
    groups: &[u32],
) -> Vec<(u32, u32)> {
    let ends = wanted.iter().enumerate();
    let mut ends: Vec<usize> =
        ends.flat_map(|(node, &number)| std::iter::repeat_n(node, number)).collect();
    let mut taken = HashSet::new();
    for _ in 0..ROUNDS {
        random.shuffle(&mut ends);
        // A stable sort keeps the order random within a group.
        ends.sort_by_key(|&node| groups.get(node));
        let mut left = Vec::new();
        let mut pairs = ends.chunks_exact(2);
        for pair in pairs.by_ref() {
            let (u, v) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            if u == v || !fit(u, v) || !taken.insert((u as u32, v as u32)) {
                left.extend([u, v]);
            }
        }
        left.extend(pairs.remainder());
        ends = left;
    }
    // The order of a hash set is not the same in every run.
    let mut pairs: Vec<(u32, u32)> = taken.into_iter().collect();
    pairs.sort_unstable();
    pairs
}
