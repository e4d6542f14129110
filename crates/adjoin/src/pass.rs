//! What a forward pass needs to know: training or not, and where its randomness comes from.

use crate::kernels::random::Key;

/// One forward pass through learners and convolutions.
///
/// Randomness is explicit: a pass carries a [`Key`], every user of random numbers takes a
/// [`child`](Self::child) of it, and the same (seed, step) gives the same numbers on any machine
/// with any number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    dropout: bool,
    noise: bool,
    key: Key,
}

impl Pass {
    /// A training step: dropout and noise are on.
    pub fn train(seed: u64, step: u64) -> Self {
        Self { dropout: true, noise: true, key: Key::new(seed).child(step) }
    }

    /// Evaluation: deterministic, no dropout, no noise.
    pub fn evaluate() -> Self {
        Self { dropout: false, noise: false, key: Key::new(0) }
    }

    /// A draw from the learned distribution over graphs: noise without dropout.
    pub fn sample(seed: u64, draw: u64) -> Self {
        Self { dropout: false, noise: true, key: Key::new(seed).child(draw) }
    }

    /// The same kind of pass with independent randomness.
    #[must_use]
    pub fn child(self, index: u64) -> Self {
        Self { key: self.key.child(index), ..self }
    }

    /// Whether dropout is on.
    pub fn has_dropout(self) -> bool {
        self.dropout
    }

    /// Whether the noise of generators is on.
    pub fn has_noise(self) -> bool {
        self.noise
    }

    /// The stream of random numbers of this pass.
    pub fn key(self) -> Key {
        self.key
    }
}
