//! Settings of DAG-Net, and of what surrounds it.

use super::GoalConfig;
use crate::settings::HandOn;
use adjoin::nets::dagnet::DagNetConfig;
use serde::{Deserialize, Serialize};

/// Reach of the published graph, in metres.
pub(super) const PUBLISHED_SIGMA: f64 = 1.2;

/// Settings of DAG-Net, and of what surrounds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DagConfig {
    /// The network itself.
    pub net: DagNetConfig,
    /// Goals.
    pub goals: GoalConfig,
    /// Weight of the goals in the loss.
    pub goal_weight: f64,
    /// Epochs over which the divergence of posterior and prior gets its full weight, linearly.
    pub kl_warmup: usize,
    /// Reach of the published graph `exp(-distance / sigma)`, in metres.
    pub sigma: f64,
    /// Standard deviation of the noise that is added in training to the steps the network sees, not to those
    /// it is to predict, in metres; published: 0. True steps tell nearly all of the next one, so that a network
    /// trained on them alone carries on as it moves, and drifts away when it runs on its own steps.
    pub jitter: f64,
    /// Features that come with the graph (see [`DagNet`](adjoin::nets::dagnet::DagNet)).
    pub hand_on: HandOn,
}

impl Default for DagConfig {
    fn default() -> Self {
        Self {
            net: DagNetConfig::default(),
            goals: GoalConfig::default(),
            goal_weight: 1.0,
            kl_warmup: 10,
            sigma: PUBLISHED_SIGMA,
            jitter: 0.0,
            hand_on: HandOn::Never,
        }
    }
}
