//! Settings of DAG-Net.

use serde::{Deserialize, Serialize};

/// How the goals of an agent and those that others tell it of are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blend {
    /// `softmax([s, attended] W + b)`, as published. W has `2 cells^2` entries.
    #[default]
    Dense,
    /// `softmax(l + c attended)` with the logits l of the agent's own goals and one number c per cell:
    /// starts from the agent's own goals, and costs next to nothing.
    Residual,
}

/// Settings of a [`DagNet`](super::DagNet).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DagNetConfig {
    /// Width of hidden layers and of the recurrent state.
    pub width: usize,
    /// Width of the latent variable.
    pub latent: usize,
    /// Heads of attention.
    pub heads: usize,
    /// Width of a head.
    pub head_width: usize,
    /// How goals are joined.
    pub blend: Blend,
    /// Compute what the public code computes, quirks included (see [`DagNet`](super::DagNet)).
    pub faithful: bool,
}

impl Default for DagNetConfig {
    fn default() -> Self {
        let (width, latent, heads, head_width) = (64, 32, 4, 8);
        Self { width, latent, heads, head_width, blend: Blend::Dense, faithful: false }
    }
}
