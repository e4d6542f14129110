//! Networks trained on the input graph, or on random parts of it, shared by the learners of a run.

use super::Outcome;
use crate::{Config, LearnerConfig};
use adjoin::conv::Backbone;
use adjoin_data::{NodeDataset, Split};
use std::time::Duration;

/// What training without a learned graph has given so far. A learner that wants a guide of the same settings, data and
/// seed takes it from here instead of training it once more; the weights are the same, to the bit.
#[derive(Debug, Default)]
pub struct Guides {
    kept: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    config: Config,
    fingerprint: String,
    split: String,
    seed: u64,
    network: Backbone,
    elapsed: Duration,
}

impl Guides {
    /// Keeps the networks of an experiment if nothing is learned of the graph, and nothing has guided them.
    pub fn keep(&mut self, config: &Config, outcome: &Outcome) {
        let given = matches!(config.learner, LearnerConfig::None | LearnerConfig::Dropedge(_));
        if !given || config.wants_guide() {
            return;
        }
        let record = &outcome.record;
        for (seed, best) in record.seeds.iter().zip(&outcome.best) {
            self.kept.push(Kept {
                config: config.as_guide(),
                fingerprint: record.fingerprint.clone(),
                split: record.split_hash.clone(),
                seed: seed.seed,
                network: best.model.backbone.clone(),
                elapsed: Duration::from_secs_f64(seed.seconds),
            });
        }
    }

    /// The network of these settings, data and seed, and the time its training took.
    pub(super) fn find(
        &self,
        config: &Config,
        dataset: &NodeDataset,
        split: &Split,
        seed: u64,
    ) -> Option<(Backbone, Duration)> {
        // Hashes last: of large data they take a while.
        let fits = |kept: &&Kept| {
            kept.seed == seed
                && kept.config == *config
                && kept.split == split.hash()
                && kept.fingerprint == dataset.fingerprint()
        };
        self.kept.iter().find(fits).map(|kept| (kept.network.clone(), kept.elapsed))
    }
}
