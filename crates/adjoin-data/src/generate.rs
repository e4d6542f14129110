//! Made-up citation graphs, and wrong edges for real ones.

use std::collections::HashSet;

use crate::dataset::NodeDataset;
use crate::edges::simplify;
use crate::error::{Error, Result};
use crate::features::Features;
use crate::marks::EdgeMarks;
use crate::random::SplitMix64;
use crate::split_spec::SplitSpec;

/// Settings of [`citation_like`].
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorConfig {
    /// Number of papers.
    pub nodes: usize,
    /// Number of topics.
    pub classes: usize,
    /// Number of words.
    pub features: usize,
    /// Mean number of edges at a node.
    pub degree: f64,
    /// Probability that a citation stays within the topic, 0 to 1.
    pub homophily: f64,
    /// Probability that a word is drawn from all words instead of the topic's own, 0 to 1.
    pub feature_noise: f64,
    /// Wrong edges added afterwards, as a fraction of the edges (see [`add_wrong_edges`]).
    pub wrong_edges: f64,
    /// The same seed gives the same graph, everywhere and for ever.
    pub seed: u64,
}

impl Default for GeneratorConfig {
    /// About the size, density and difficulty of Cora.
    fn default() -> Self {
        Self {
            nodes: 2000,
            classes: 7,
            features: 700,
            degree: 4.0,
            homophily: 0.8,
            feature_noise: 0.7,
            wrong_edges: 0.0,
            seed: 0,
        }
    }
}

impl GeneratorConfig {
    fn check(&self) -> Result<()> {
        let wrong = |setting, what: String, help: &str| {
            Err(Error::Setting { setting, what, help: help.into() })
        };
        if self.classes < 1 || self.nodes < 2 * self.classes || self.nodes > 10_000_000 {
            let what = format!("{} nodes in {} classes", self.nodes, self.classes);
            return wrong("nodes", what, "give at least two nodes a class and at most ten million");
        }
        if self.features < self.classes || self.features > 1_000_000 {
            let what = format!("{} features for {} classes", self.features, self.classes);
            return wrong("features", what, "give at least one a class and at most a million");
        }
        // Half the nodes of a class keeps the draw for a new neighbour from running dry.
        let most = (self.nodes / self.classes) as f64 / 2.0;
        if !(self.degree >= 0.0 && self.degree <= most) {
            return wrong(
                "degree",
                format!("{} is not within 0 and {most}", self.degree),
                "lower it",
            );
        }
        for (setting, value) in
            [("homophily", self.homophily), ("feature_noise", self.feature_noise)]
        {
            if !(0.0..=1.0).contains(&value) {
                return wrong(setting, format!("{value} is not a probability"), "give 0 to 1");
            }
        }
        Ok(())
    }
}

/// A citation-like graph: papers appear one after the other, each cites earlier ones, mostly of its
/// topic and more often those already cited; words come from the topic or from anywhere.
///
/// The features are a 0/1 bag of words (sparse); word `w` belongs to topic `w % classes`. The default
/// split is stored with it.
pub fn citation_like(config: &GeneratorConfig) -> Result<NodeDataset> {
    config.check()?;
    let mut random = SplitMix64::new(config.seed);
    // Balanced classes in random order, so that neither node number nor age tells the class.
    let mut labels: Vec<u32> =
        (0..config.nodes).map(|node| (node % config.classes) as u32).collect();
    random.shuffle(&mut labels);
    let edges = cite(config, &labels, &mut random);
    let rows = labels.iter().map(|label| write(config, *label as usize, &mut random)).collect();
    let features = Features::from_rows(config.features, rows).ok_or(Error::Setting {
        setting: "features",
        what: "more words in all than can be counted".into(),
        help: "make the graph smaller".into(),
    })?;
    let mut dataset = NodeDataset {
        name: "citation-like".into(),
        features,
        missing: None,
        feature_names: Vec::new(),
        edges,
        weights: None,
        marks: EdgeMarks::default(),
        labels,
        class_names: (0..config.classes).map(|class| format!("topic {class}")).collect(),
        node_ids: Vec::new(),
        splits: Vec::new(),
    };
    // As published for citation graphs, where every class is large enough.
    let usual = SplitSpec::Random { seed: 0 }.make(&dataset).or_else(|_| dataset.default_split());
    dataset.splits.extend(usual.ok());
    if config.wrong_edges != 0.0 {
        let name = dataset.name.clone();
        dataset = add_wrong_edges(&dataset, config.wrong_edges, config.seed)?.0;
        dataset.name = name;
    }
    dataset.validate()?;
    Ok(dataset)
}

fn cite(config: &GeneratorConfig, labels: &[u32], random: &mut SplitMix64) -> Vec<(u32, u32)> {
    // One ticket for being there and one for each citation: drawing a ticket prefers the well-known.
    let mut tickets: Vec<Vec<u32>> = vec![Vec::new(); config.classes];
    let mut edges = Vec::new();
    // A little more than asked for, to make up for the first papers, which find nobody to cite.
    let citations = config.degree / 2.0;
    for (node, label) in labels.iter().enumerate() {
        let extra = random.chance(citations.fract());
        let mut cited: Vec<u32> = Vec::new();
        for _ in 0..citations as usize + usize::from(extra) {
            let own = config.classes == 1 || random.chance(config.homophily);
            let class = match own {
                true => *label as usize,
                false => (*label as usize + 1 + random.below(config.classes - 1)) % config.classes,
            };
            // A few tries for one not cited yet; the earliest papers may not find any.
            for _ in 0..20 {
                let Some(&other) = tickets[class].get(random.below(tickets[class].len())) else {
                    break;
                };
                if !cited.contains(&other) {
                    cited.push(other);
                    tickets[class].push(other);
                    break;
                }
            }
        }
        edges.extend(cited.into_iter().map(|other| (other, node as u32)));
        tickets[*label as usize].push(node as u32);
    }
    simplify(edges)
}

fn write(config: &GeneratorConfig, class: usize, random: &mut SplitMix64) -> Vec<(u32, f32)> {
    let mean = (config.features / 80).max(6);
    let length = mean / 2 + random.below(mean + 1);
    let own_words = (config.features - class).div_ceil(config.classes);
    let mut words: Vec<u32> = (0..length)
        .map(|_| match random.chance(config.feature_noise) {
            true => random.below(config.features) as u32,
            false => (class + config.classes * random.below(own_words)) as u32,
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    words.into_iter().map(|word| (word, 1.0)).collect()
}

/// Adds `fraction` times as many edges as there are, each new and between two nodes of different known
/// classes. Returns the new dataset, in which they are marked as injected, and the edges added, for
/// telling later whether a learner found them out. Weights, if there are any, are copied from edges drawn at random.
///
/// This looks at all labels, those of test nodes too: it damages data for a study, and nothing that
/// learns may use it.
pub fn add_wrong_edges(
    dataset: &NodeDataset,
    fraction: f64,
    seed: u64,
) -> Result<(NodeDataset, Vec<(u32, u32)>)> {
    let wrong = |what: String, help: &str| Error::Setting {
        setting: "wrong_edges",
        what,
        help: help.into(),
    };
    if !(0.0..=100.0).contains(&fraction) {
        return Err(wrong(format!("{fraction} is not within 0 and 100"), "0.5 adds half as many"));
    }
    let count = (fraction * dataset.edges.len() as f64).round() as usize;
    let known: Vec<u32> =
        (0..dataset.nodes() as u32).filter(|node| dataset.label(*node).is_some()).collect();
    let mut random = SplitMix64::new(seed);
    let mut taken: HashSet<(u32, u32)> = dataset.edges.iter().copied().collect();
    let mut added = Vec::with_capacity(count);
    let mut tries = 100 * count + 1000;
    while added.len() < count {
        if tries == 0 || known.is_empty() {
            let what = format!("{count} edges were asked for but only {} found room", added.len());
            return Err(wrong(what, "ask for fewer: the graph is nearly full"));
        }
        tries -= 1;
        let (u, v) = (known[random.below(known.len())], known[random.below(known.len())]);
        let edge = (u.min(v), u.max(v));
        if dataset.label(u) != dataset.label(v) && taken.insert(edge) {
            added.push(edge);
        }
    }
    let mut changed = dataset.clone();
    changed.name = format!("{}+wrong:{fraction}:{seed}", dataset.name);
    let all: Vec<(u32, u32)> = dataset.edges.iter().chain(&added).copied().collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_unstable_by_key(|at| all[*at]);
    let old = dataset.edges.len();
    changed.edges = arranged(&all, &order);
    changed.weights = dataset.weights.as_ref().map(|weights| {
        let drawn = added.iter().map(|_| weights[random.below(weights.len())]);
        let weights: Vec<f32> = weights.iter().copied().chain(drawn).collect();
        arranged(&weights, &order)
    });
    let marks = |known: &Option<Vec<bool>>, new: bool| {
        let mut marks = known.clone().unwrap_or_else(|| vec![false; old]);
        marks.resize(all.len(), new);
        arranged(&marks, &order)
    };
    changed.marks = EdgeMarks {
        planted: dataset.marks.planted.as_ref().map(|_| marks(&dataset.marks.planted, false)),
        injected: Some(marks(&dataset.marks.injected, true)),
    };
    added.sort_unstable();
    Ok((changed, added))
}

/// Marks the edges of an attacked graph that the graph before the attack lacks as injected. Both must have the
/// same nodes in the same order. As with [`add_wrong_edges`], nothing that learns may use the marks.
pub fn mark_injected(dataset: &NodeDataset, clean: &NodeDataset) -> Result<NodeDataset> {
    if dataset.labels != clean.labels {
        return Err(Error::Setting {
            setting: "clean",
            what: format!("`{}` and `{}` differ in their nodes", dataset.name, clean.name),
            help: "give the same graph before the attack".into(),
        });
    }
    let injected = |edge: &(u32, u32)| clean.edges.binary_search(edge).is_err();
    let mut marked = dataset.clone();
    marked.marks.injected = Some(dataset.edges.iter().map(injected).collect());
    Ok(marked)
}

/// Values in another order.
fn arranged<T: Copy>(values: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|at| values[*at]).collect()
}
