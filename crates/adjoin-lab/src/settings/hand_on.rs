//! Which features are handed to a network with its graph.

use adjoin::{learner::LearnerConfig, nn::EncoderConfig};
use serde::{Deserialize, Serialize};

/// Which features x^ are handed to the network with its graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandOn {
    /// None, unless the learner's own setting `hand_on` asks for it.
    #[default]
    Never,
    /// Those that the generator makes its graph of, as its paper has it; other learners hand on none.
    Generated,
    /// The same with a generator; with any other learner those of an encoder of the same form, which does nothing
    /// else: what a graph is worth shows when all of them come with features.
    Always,
}

/// Where features that are handed on come from, and their width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// There are none.
    Nothing,
    /// From the learner, with its graph.
    Latent(usize),
    /// From an encoder of their own.
    Encoded(usize),
}

impl HandOn {
    /// What is handed on beside the graphs of a learner.
    pub fn of(self, learner: &LearnerConfig) -> Handed {
        match (self, learner.latent_width(), learner.network_inputs()) {
            (Self::Never, _, Some(width)) => Handed::Latent(width),
            (Self::Generated | Self::Always, Some(width), _) => Handed::Latent(width),
            (Self::Always, None, _) => Handed::Encoded(Self::encoder().width),
            (Self::Never | Self::Generated, ..) => Handed::Nothing,
        }
    }

    /// The encoder of features that come from no generator.
    pub fn encoder() -> EncoderConfig {
        EncoderConfig { width: 16, dropout: 0.0, ..EncoderConfig::default() }
    }
}

impl Handed {
    /// The width, if there is any.
    pub fn width(self) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Latent(width) | Self::Encoded(width) => Some(width),
        }
    }
}
