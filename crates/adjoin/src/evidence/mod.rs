//! Pair evidence: how likely a candidate is a good neighbour, learned from held-out training labels.
//!
//! The loss of a network that has fitted its training nodes says nothing about their neighbours. Labels that
//! a model has *not* seen do. So the training labels are cut into folds, maps are fitted without one fold at
//! a time, and the labels of that fold teach which pairs are of one class.
//!
//! | file | what |
//! |---|---|
//! | `space` | features in few dimensions |
//! | `scene` | what labels do not change: neighbours in features, the given graph |
//! | `views` | class probabilities of nodes, out of fold |
//! | `compatibility` | which classes good neighbours have |
//! | `pairs` | from two nodes to log-odds |
//! | `judge` | the stages that lead from views to candidates |
//! | `fitting` | views and pairs fitted to labels |
//! | `model` | all of it, kept and applied |
//! | `minimise` | the fits |

mod compatibility;
mod fitting;
mod judge;
mod minimise;
mod model;
mod pairs;
mod scene;
mod space;
mod views;

pub use crate::graph::{CandidatePart, Evidence};
pub use model::EvidenceModel;

use crate::{Error, Result, kernels::random::Key};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

/// Settings of the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceConfig {
    /// Folds of the training labels; fewer where there are few labels.
    pub folds: usize,
    /// Dimensions of the space that features are compared in.
    pub rank: usize,
    /// Feature neighbours of a node that become candidates.
    pub neighbours: usize,
    /// Nodes that become candidates because random walks over good edges visit them most; may be 0.
    pub walks: usize,
    /// Propagation steps of the views over given edges.
    pub hops: usize,
    /// Weight of a node itself when a view propagates over weighted edges.
    pub self_weight: f64,
    /// A view must be this sure of a class to stand in for a label.
    pub confidence: f64,
    /// Learn which classes the given edges join; otherwise good neighbours are of the same class.
    pub compatibility: bool,
}

impl Default for EvidenceConfig {
    fn default() -> Self {
        Self {
            folds: 5,
            rank: 128,
            neighbours: 20,
            walks: 16,
            hops: 2,
            self_weight: 0.5,
            confidence: 0.7,
            compatibility: true,
        }
    }
}

impl EvidenceConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn check(&self) -> Result<()> {
        let setting = |name, value: f64, expected, holds: bool| {
            let value = value.to_string();
            if holds { Ok(()) } else { Err(Error::Setting { name, value, expected }) }
        };
        let least = |name, value: usize, least: usize, expected| {
            setting(name, value as f64, expected, value >= least)
        };
        least("evidence.folds", self.folds, 2, "must be at least 2")?;
        least("evidence.rank", self.rank, 1, "must be at least 1")?;
        least("evidence.neighbours", self.neighbours, 1, "must be at least 1")?;
        setting(
            "evidence.self_weight",
            self.self_weight,
            "must be above 0",
            self.self_weight > 0.0 && self.self_weight.is_finite(),
        )?;
        setting(
            "evidence.confidence",
            self.confidence,
            "must be in [0, 1)",
            (0.0..1.0).contains(&self.confidence),
        )
    }

    /// Evidence that knows nothing yet, for features of width `features` and `classes` classes. Nothing is
    /// drawn from `key`; see [`EvidenceModel::fit`].
    ///
    /// # Errors
    /// Names the setting that is out of range.
    pub fn init(
        &self,
        features: usize,
        classes: usize,
        _key: Key,
        device: &Device,
    ) -> Result<EvidenceModel> {
        self.check()?;
        EvidenceModel::blank(self, features, classes, device)
    }
}
