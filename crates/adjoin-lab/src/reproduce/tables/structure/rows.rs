//! The rows of a graph: the plain network, simple rivals, the generator, and what is left when parts of it are not learned.

use super::worlds::Group;
use crate::{
    Result,
    settings::Layers,
    task::Task,
    tasks::{Node, node::NodeConfig},
};

/// A learner with settings. Where there are several, validation chooses for every replicate, as a user would.
pub struct Entry {
    pub name: &'static str,
    /// The network, if it is not that of the others.
    backbone: Option<&'static str>,
    learner: &'static str,
    variants: &'static [&'static [&'static str]],
    pub kind: Kind,
}

/// What a row is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The network on the given graph.
    Plain,
    /// The network without edges.
    Perceptron,
    /// A simple way to cope with a bad graph.
    Rival,
    /// The generator as it is shipped.
    Generator,
    /// The generator without the choice between graphs.
    Learned,
    /// The same with a part that is not learned.
    Control,
}

const ONE: &[&[&str]] = &[&[]];

/// The generator without its choice, and with a control.
macro_rules! control {
    ($name:literal, $control:literal) => {
        Entry {
            name: $name,
            backbone: None,
            learner: "dgg",
            variants: &[&[
                "learner.dgg.informed.choose=false",
                concat!("learner.dgg.informed.control=", $control),
            ]],
            kind: Kind::Control,
        }
    };
}

const fn entry(
    name: &'static str,
    variants: &'static [&'static [&'static str]],
    kind: Kind,
) -> Entry {
    Entry { name, backbone: None, learner: name, variants, kind }
}

/// All rows, in their order.
pub const ENTRIES: [Entry; 16] = [
    entry("none", ONE, Kind::Plain),
    Entry {
        name: "mlp",
        backbone: Some("mlp"),
        learner: "none",
        variants: ONE,
        kind: Kind::Perceptron,
    },
    entry("dropedge", ONE, Kind::Rival),
    entry(
        "self-weight",
        &[
            &["learner.self-weight.weight=0.5"],
            &["learner.self-weight.weight=1"],
            &["learner.self-weight.weight=2"],
            &["learner.self-weight.weight=4"],
            &["learner.self-weight.weight=8"],
        ],
        Kind::Rival,
    ),
    entry("jaccard", ONE, Kind::Rival),
    entry("svd", ONE, Kind::Rival),
    entry("gnnguard", ONE, Kind::Rival),
    entry(
        "knn",
        &[
            &["learner.knn.k=5"],
            &["learner.knn.k=10"],
            &["learner.knn.k=20"],
            &["learner.knn.k=50"],
        ],
        Kind::Rival,
    ),
    entry("dgg", ONE, Kind::Generator),
    Entry {
        name: "dgg-learned",
        backbone: None,
        learner: "dgg",
        variants: &[&["learner.dgg.informed.choose=false"]],
        kind: Kind::Learned,
    },
    control!("dgg-frozen", "frozen"),
    control!("dgg-evidence", "evidence"),
    control!("dgg-shuffled", "shuffled"),
    control!("dgg-even", "even"),
    control!("dgg-one-size", "one-size"),
    control!("dgg-same-fraction", "same-fraction"),
];

impl Entry {
    /// Whether a graph has this row; with other networks than GCN only what the regret needs.
    pub fn is_of(&self, group: Group, backbone: &str) -> bool {
        if backbone != "gcn" {
            return matches!(self.kind, Kind::Plain | Kind::Generator);
        }
        match (self.name, group) {
            ("none", Group::Missing) => false,
            ("none" | "mlp" | "dgg" | "dgg-learned" | "dgg-frozen", _) => true,
            ("dgg-shuffled", _) => group == Group::Planted,
            ("knn", _) => group == Group::Missing,
            ("dropedge" | "self-weight" | "jaccard" | "svd" | "gnnguard", _) => {
                group == Group::Damaged
            }
            _ => group != Group::Whole,
        }
    }

    /// The configurations of this row.
    pub fn layers(&self, backbone: &str) -> Result<Vec<Layers<NodeConfig>>> {
        let base = Node::named(self.backbone.unwrap_or(backbone), self.learner)?;
        let set = |settings: &&[&str]| {
            settings.iter().try_fold(base.clone(), |layers, setting| layers.set(setting))
        };
        self.variants.iter().map(set).collect()
    }
}
