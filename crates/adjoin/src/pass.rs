//! What a forward pass needs to know: training or not, and where its randomness comes from.

use crate::kernels::random::Key;

/// Children from here on are those of [`Pass::next`].
const FIRST_FRESH: u64 = 1 << 63;

/// One forward pass through one layer, learner or network.
///
/// Randomness is explicit: a pass carries a [`Key`], every user of random numbers takes a child of
/// it, and the same (seed, step) gives the same numbers on any machine with any number of threads.
///
/// A pass is used up by what it is given to, because a second layer with the same pass would repeat
/// the random numbers of the first. For several layers take [`child`](Self::child), which numbers the
/// streams, or [`next`](Self::next), which counts by itself:
///
/// ```
/// # use adjoin::{Adjacency, Features, Pass, conv::{Conv, Gat}};
/// # use burn::tensor::Tensor;
/// fn forward(
///     first: &Gat, second: &Gat, x: &Features, graph: &Adjacency, pass: Pass,
/// ) -> adjoin::Result<Tensor<2>> {
///     let hidden = first.forward(x, graph, pass.child(0))?;
///     second.forward(&hidden.into(), graph, pass.child(1))
/// }
/// ```
///
/// One pass for two layers does not compile:
///
/// ```compile_fail,E0382
/// # use adjoin::{Adjacency, Features, Pass, conv::{Conv, Gat}};
/// # use burn::tensor::Tensor;
/// fn forward(
///     first: &Gat, second: &Gat, x: &Features, graph: &Adjacency, pass: Pass,
/// ) -> adjoin::Result<Tensor<2>> {
///     let hidden = first.forward(x, graph, pass)?;
///     second.forward(&hidden.into(), graph, pass)
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Pass {
    dropout: bool,
    noise: bool,
    key: Key,
    /// How many children [`next`](Self::next) has given.
    given: u64,
}

impl Pass {
    fn new(dropout: bool, noise: bool, key: Key) -> Self {
        Self { dropout, noise, key, given: 0 }
    }

    /// A training step: dropout and noise are on.
    pub fn train(seed: u64, step: u64) -> Self {
        Self::new(true, true, Key::new(seed).child(step))
    }

    /// Evaluation: deterministic, no dropout, no noise.
    pub fn evaluate() -> Self {
        Self::new(false, false, Key::new(0))
    }

    /// A draw from the learned distribution over graphs: noise without dropout.
    pub fn sample(seed: u64, draw: u64) -> Self {
        Self::new(false, true, Key::new(seed).child(draw))
    }

    /// The same kind of pass with independent randomness, the same for the same number; numbers
    /// below 2^63 are free to use.
    #[must_use]
    pub fn child(&self, index: u64) -> Self {
        Self::new(self.dropout, self.noise, self.key.child(index))
    }

    /// The same kind of pass with randomness that no other call has given.
    #[must_use]
    #[allow(clippy::should_implement_trait)] // passes are not items of a sequence
    pub fn next(&mut self) -> Self {
        self.given += 1;
        self.child(FIRST_FRESH + self.given - 1)
    }

    /// This pass once more, where it only says what kind it is or its numbers are not drawn twice.
    pub(crate) fn same(&self) -> Self {
        Self::new(self.dropout, self.noise, self.key)
    }

    /// Whether dropout is on.
    pub fn has_dropout(&self) -> bool {
        self.dropout
    }

    /// Whether the noise of generators is on.
    pub fn has_noise(&self) -> bool {
        self.noise
    }

    /// The stream of random numbers of this pass.
    pub fn key(&self) -> Key {
        self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_and_fresh_passes_repeat_nothing() {
        let mut pass = Pass::train(1, 2);
        let fresh = [pass.next(), pass.next(), pass.next()];
        let numbered = [pass.child(0), pass.child(1), pass.same(), pass.child(0).next()];
        let all: Vec<Key> = fresh.iter().chain(&numbered).map(Pass::key).collect();
        for (at, key) in all.iter().enumerate() {
            assert!(!all[..at].contains(key), "{at}");
        }
        assert_eq!(pass.child(3), Pass::train(1, 2).child(3));
        assert!(fresh.iter().all(|pass| pass.has_dropout() && pass.has_noise()));
        let mut again = Pass::train(1, 2);
        assert_eq!(again.next(), fresh[0]);
    }
}
