//! What comes of a pass in which a learner drives a network, and what a learner says of its training.

use super::LearnedGraph;
use crate::{Error, Result};
use burn::tensor::{Tensor, activation::log_softmax};

/// One run of the network on one graph.
#[derive(Clone, Debug)]
pub struct Draw {
    /// The graph, or, of methods that have none, the given edges with the weights they got: what
    /// reports and exports show.
    pub graph: LearnedGraph,
    /// Output of the network, `[nodes, classes]`.
    pub logits: Tensor<2>,
    /// Its share in the loss.
    pub share: f64,
    /// Logarithm of its weight in a bound, `[1]`; see [`Reading::Bound`].
    pub log_weight: Option<Tensor<1>>,
}

/// How draws become a loss and a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Loss: the sum of `share * CE(logits)`. Prediction: softmax of the mean logits.
    MeanOfLosses,
    /// Loss: `CE(mean logits)`. Prediction: softmax of the mean logits.
    LossOfMean,
    /// Loss: the sum of `share * CE(logits)`. Prediction: softmax of the last draw's logits.
    Last,
    /// Loss: `-mean_i log mean_s exp(log p_s(y_i) + log_weight_s)`, i over training nodes, s over
    /// draws. Prediction: the mean of the draws' probabilities.
    Bound,
}

/// The result of one pass.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The runs of the network, at least one.
    pub draws: Vec<Draw>,
    /// How to read them.
    pub reading: Reading,
    /// Terms that the learner adds to the loss, by name; already weighted, `[1]` each.
    pub terms: Vec<(&'static str, Tensor<1>)>,
}

impl Outcome {
    /// Log-probabilities of the classes, `[nodes, classes]`, by the [`reading`](Self::reading).
    ///
    /// # Errors
    /// If there are no draws.
    pub fn prediction(&self) -> Result<Tensor<2>> {
        let (Some(first), Some(last)) = (self.draws.first(), self.draws.last()) else {
            return Err(Error::shape("outcome: number of draws", "at least 1", 0));
        };
        let share = 1.0 / self.draws.len() as f64;
        let others = &self.draws[1..];
        Ok(match self.reading {
            Reading::MeanOfLosses | Reading::LossOfMean => {
                let sum = |sum: Tensor<2>, draw: &Draw| sum + draw.logits.clone();
                log_softmax(others.iter().fold(first.logits.clone(), sum) * share, 1)
            }
            Reading::Last => log_softmax(last.logits.clone(), 1),
            Reading::Bound => {
                let each: Vec<Tensor<2>> =
                    self.draws.iter().map(|draw| log_softmax(draw.logits.clone(), 1)).collect();
                // The largest is taken out: of nodes that all draws are sure about, nothing is lost.
                let largest = |best: Tensor<2>, other: &Tensor<2>| best.max_pair(other.clone());
                let top = each[1..].iter().fold(each[0].clone(), largest);
                let of = |log_p: &Tensor<2>| (log_p.clone() - top.clone()).exp();
                let sum = each[1..].iter().fold(of(&each[0]), |sum, log_p| sum + of(log_p));
                (sum * share).log() + top
            }
        })
    }
}

/// What takes part in a step of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The loss of the task is in the loss.
    pub task: bool,
    /// The network is stepped.
    pub network: bool,
    /// The learner is stepped.
    pub learner: bool,
}

impl Stage {
    /// Everything takes part.
    pub const ALL: Self = Self { task: true, network: true, learner: true };
}

/// Training in two loops: the network is trained from fresh weights in the inner one, the learner gets a
/// step through it every so often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outer {
    /// Inner steps between two steps of the learner.
    pub every: usize,
    /// Inner steps that the gradient of the learner goes back through.
    pub unroll: usize,
    /// Learning rate of the learner.
    pub rate: f64,
    /// What is left of that rate after every round.
    pub decay: f64,
    /// Most inner steps of a round.
    pub most_inner: usize,
    /// Inner steps without a better inner loss before a round ends.
    pub inner_patience: usize,
    /// Most rounds, each from fresh weights.
    pub rounds: usize,
    /// Rounds without a better validation loss before training ends.
    pub patience: usize,
}
