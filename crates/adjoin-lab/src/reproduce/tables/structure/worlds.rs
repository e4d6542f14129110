//! The graphs of the table: clean, damaged, poisoned, misleading, missing and made up.

use crate::{
    Result,
    reproduce::{Options, tables::source},
    task::Task,
    tasks::{Node, node::SplitGraph},
};
use adjoin_data::{PlantedConfig, add_wrong_edges, planted};

/// What a graph is in the table for; it decides which rows it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Good neighbours and their number are known.
    Planted,
    /// Wrong edges were added at random, or by an attack.
    Damaged,
    /// As it is: the better of network and perceptron is what must not be missed.
    Whole,
    /// Features alone.
    Missing,
}

/// Where the data of a replicate comes from.
#[derive(Clone, Copy)]
enum Origin {
    /// Drawn with the seed of the replicate.
    Planted,
    /// Cora with so many wrong edges per edge, drawn with the seed.
    Wrong(f64),
    /// The public split, another seed of the network.
    Public(&'static str),
    /// The one split there is, another seed of the network.
    Seeds(&'static str),
    /// The stored split of the replicate's number.
    Splits(&'static str),
    /// 20 training nodes a class, drawn with the seed.
    Random(&'static str),
}

/// A graph with its replicates.
pub struct World {
    pub name: &'static str,
    pub group: Group,
    origin: Origin,
    /// Most replicates.
    pub most: usize,
    /// Networks beside GCN.
    pub others: &'static [&'static str],
}

const fn world(name: &'static str, group: Group, origin: Origin) -> World {
    let most = match origin {
        Origin::Wrong(_) => 5,
        _ => 10,
    };
    let others: &[&str] = match (group, origin) {
        (Group::Whole, Origin::Public(_)) => &["sage", "gat", "gcnii"],
        (Group::Whole, _) | (_, Origin::Wrong(_)) => &["sage"],
        _ => &[],
    };
    World { name, group, origin, most, others }
}

use Group::{Damaged, Missing, Planted, Whole};

/// All graphs.
pub const WORLDS: [World; 28] = [
    world("planted", Planted, Origin::Planted),
    world("cora-wrong-0.25", Damaged, Origin::Wrong(0.25)),
    world("cora-wrong-0.5", Damaged, Origin::Wrong(0.5)),
    world("cora-wrong-1", Damaged, Origin::Wrong(1.0)),
    world("cora_metattack_0", Damaged, Origin::Seeds("cora_metattack_0")),
    world("cora_metattack_0.05", Damaged, Origin::Seeds("cora_metattack_0.05")),
    world("cora_metattack_0.15", Damaged, Origin::Seeds("cora_metattack_0.15")),
    world("cora_metattack_0.25", Damaged, Origin::Seeds("cora_metattack_0.25")),
    world("citeseer_metattack_0", Damaged, Origin::Seeds("citeseer_metattack_0")),
    world("citeseer_metattack_0.05", Damaged, Origin::Seeds("citeseer_metattack_0.05")),
    world("citeseer_metattack_0.15", Damaged, Origin::Seeds("citeseer_metattack_0.15")),
    world("citeseer_metattack_0.25", Damaged, Origin::Seeds("citeseer_metattack_0.25")),
    world("cora", Whole, Origin::Public("cora")),
    world("citeseer", Whole, Origin::Public("citeseer")),
    world("pubmed", Whole, Origin::Public("pubmed")),
    world("amazon_photo", Whole, Origin::Random("amazon_photo")),
    world("amazon_cs", Whole, Origin::Random("amazon_cs")),
    world("actor", Whole, Origin::Splits("actor")),
    world("cornell", Whole, Origin::Splits("cornell")),
    world("chameleon_filtered", Whole, Origin::Splits("chameleon_filtered")),
    world("squirrel_filtered", Whole, Origin::Splits("squirrel_filtered")),
    world("minesweeper", Whole, Origin::Splits("minesweeper")),
    world("blogcatalog", Whole, Origin::Random("blogcatalog")),
    world("flickr", Whole, Origin::Random("flickr")),
    world("wordnet", Whole, Origin::Seeds("wordnet")),
    world("cora-no-graph", Missing, Origin::Public("cora")),
    world("citeseer-no-graph", Missing, Origin::Public("citeseer")),
    world("pubmed-no-graph", Missing, Origin::Public("pubmed")),
];

impl World {
    /// Whether the data can be had.
    pub fn check(&self, options: &Options) -> Result<()> {
        match self.origin {
            Origin::Planted => Ok(()),
            _ => self.data(0, options).map(|_| ()),
        }
    }

    /// The data of a replicate.
    pub fn data(&self, seed: u64, options: &Options) -> Result<SplitGraph> {
        let load = |name: &str, split: Option<String>| {
            let mut source = source(name, split.as_deref(), &options.locations);
            source.no_graph = self.group == Group::Missing;
            Node::load(&source)
        };
        match self.origin {
            Origin::Planted => {
                let dataset = planted(&PlantedConfig { seed, ..PlantedConfig::default() })?;
                let split = dataset.default_split()?;
                Ok(SplitGraph { dataset, split })
            }
            Origin::Wrong(fraction) => {
                let SplitGraph { dataset, split } = load("cora", Some("public".into()))?;
                let (dataset, _) = add_wrong_edges(&dataset, fraction, seed)?;
                Ok(SplitGraph { dataset, split })
            }
            Origin::Public(name) => load(name, Some("public".into())),
            Origin::Seeds(name) => load(name, None),
            Origin::Splits(name) => load(name, Some(format!("fixed:{}", seed % 10))),
            Origin::Random(name) => load(name, Some(format!("random:{seed}"))),
        }
    }
}
