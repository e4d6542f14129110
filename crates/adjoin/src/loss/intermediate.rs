//! The intermediate loss (DGG*): edges within a class, none between classes.

use crate::{
    Error, Result,
    topology::{Csr, SelfLoops},
};
use burn::tensor::{Tensor, TensorData};
use std::collections::HashMap;

/// Scores are kept this far from 1, so that the logarithm of `1 - p` stays finite.
const MARGIN: f64 = 1e-6;

/// Pairs of training nodes, and whether the two belong to one class.
///
/// Built from training nodes and their labels only: there is no way to give it another label.
#[derive(Clone, Debug)]
pub struct TrainingPairs {
    pairs: Csr,
    same: Vec<bool>,
}

impl TrainingPairs {
    /// All ordered pairs of distinct training nodes, or those of them that are also in `within`: learners that
    /// score candidates alone name them in [`GraphLearner::scored_pairs`](crate::nn::GraphLearner::scored_pairs).
    ///
    /// `labels[n]` is the class of node `training[n]`; `nodes` is the size of the graph.
    ///
    /// # Errors
    /// If a training node does not exist or has no label.
    pub fn new(
        nodes: usize,
        training: &[u32],
        labels: &[u32],
        within: Option<&Csr>,
    ) -> Result<Self> {
        if training.len() != labels.len() {
            return Err(Error::shape("labels of training nodes", training.len(), labels.len()));
        }
        if let Some(entry) = training.iter().position(|&i| i as usize >= nodes) {
            let node = training[entry] as usize;
            let (rows, columns) = (nodes, nodes);
            return Err(Error::NodeOutOfRange { entry, row: node, column: node, rows, columns });
        }
        if let Some(within) = within {
            within.same_shape("training pairs", &Csr::empty(nodes, nodes))?;
        }
        let class: HashMap<u32, u32> =
            training.iter().copied().zip(labels.iter().copied()).collect();
        let all = training.iter().flat_map(|&i| training.iter().map(move |&j| (i, j)));
        let pairs = match within {
            None => Csr::from_edges(nodes, nodes, all, SelfLoops::Drop)?,
            Some(within) => {
                within.filter(|_, i, j| i != j && class.contains_key(&i) && class.contains_key(&j))
            }
        };
        let same = pairs.iter().map(|(i, j)| class[&i] == class[&j]).collect();
        Ok(Self { pairs, same })
    }

    /// The pairs whose scores [`loss`](Self::loss) wants.
    pub fn pairs(&self) -> &Csr {
        &self.pairs
    }

    /// Class-balanced binary cross-entropy of the scores: pairs of one class should have `p = 1`,
    /// others `p = 0`, each kind with half of the total weight. Gradients flow to `log_scores`
    /// `[pairs]`.
    ///
    /// # Errors
    /// If the number of scores is not the number of pairs.
    pub fn loss(&self, log_scores: &Tensor<1>) -> Result<Tensor<1>> {
        if log_scores.dims() != [self.same.len()] {
            return Err(Error::shape("intermediate loss", [self.same.len()], log_scores.dims()));
        }
        let positives = self.same.iter().filter(|&&same| same).count();
        let negatives = self.same.len() - positives;
        let weights = |of: bool, count: usize| {
            let share = if count == 0 { 0.0 } else { 0.5 / count as f64 };
            let values: Vec<f64> =
                self.same.iter().map(|&same| if same == of { share } else { 0.0 }).collect();
            let options = (&log_scores.device(), log_scores.dtype());
            Tensor::<1>::from_data(TensorData::new(values, [self.same.len()]), options)
        };
        let log_p = log_scores.clone();
        // log(1 - p), with p kept below 1.
        let log_rest = (log_p.clone().clamp_max(-MARGIN).exp().neg() + 1.0).log();
        let total = log_p * weights(true, positives) + log_rest * weights(false, negatives);
        Ok(super::total(total).neg())
    }
}

/// A weight that falls linearly from 1 at epoch 0 to 0 at epoch `until`.
pub fn anneal(epoch: usize, until: usize) -> f64 {
    if until == 0 { 0.0 } else { (1.0 - epoch as f64 / until as f64).max(0.0) }
}
