//! The loss of a step: the task's, that of consistency, and those on the learned graph.

use super::{NodeConfig, NodeData, labels::TrainingLabels};
use crate::Result;
use adjoin::{
    GraphLearner, Key, LearnedGraph, Prepared,
    loss::{self, Baseline, TrainingPairs},
    nn::{Draw, Outcome, Progress, Reading},
};
use burn::tensor::{Tensor, activation::log_softmax};

/// What a learner of a step looks at.
pub(super) struct Terms<'a, L> {
    pub learner: &'a L,
    pub config: &'a NodeConfig,
    pub data: &'a NodeData,
    pub labels: &'a TrainingLabels,
    pub at: Progress,
}

impl<L: GraphLearner> Terms<'_, L> {
    /// The whole loss of a step, `[1]`.
    pub fn total(&self, outcome: &Outcome, key: Key, rewards: &mut Baseline) -> Result<Tensor<1>> {
        let (draws, train) = (&self.config.draws, &self.config.train);
        let logits: Vec<Tensor<2>> = outcome.draws.iter().map(|draw| draw.logits.clone()).collect();
        let mut terms = Vec::new();
        if self.learner.stage(self.at).task {
            terms.push(self.task(outcome));
        }
        if draws.consistency > 0.0 {
            terms.push(loss::consistency(&logits, draws.temperature)? * draws.consistency);
        }
        // Of the first draw.
        if let Some(draw) = outcome.draws.first() {
            terms.extend(self.on_graph(&draw.graph, key)?);
        }
        if train.reinforce > 0.0 && self.learner.is_rewarded() {
            let share = train.reinforce / outcome.draws.len().max(1) as f64;
            for draw in &outcome.draws {
                terms
                    .extend(self.reinforce(&draw.graph, &draw.logits, rewards)?.map(|t| t * share));
            }
        }
        terms.extend(outcome.terms.iter().map(|(_, term)| term.clone()));
        let zero = || Tensor::zeros([1], &self.data.features.device());
        Ok(terms.into_iter().reduce(|a, b| a + b).unwrap_or_else(zero))
    }

    /// Cross-entropy of the training nodes, by the reading of the draws.
    fn task(&self, outcome: &Outcome) -> Tensor<1> {
        let labels = self.labels;
        let log_likelihoods = |logits: &Tensor<2>| {
            let rows = logits.clone().select(0, labels.rows.clone());
            log_softmax(rows, 1).gather(1, labels.targets.clone())
        };
        let one = |logits: &Tensor<2>| log_likelihoods(logits).mean().neg();
        let draws = &outcome.draws;
        let count = draws.len() as f64;
        match outcome.reading {
            Reading::LossOfMean => {
                let sum =
                    draws[1..].iter().fold(draws[0].logits.clone(), |s, d| s + d.logits.clone());
                one(&(sum / count))
            }
            Reading::MeanOfLosses | Reading::Last => {
                // Equal shares are divided by once: their sum is not rounded share by share.
                let equal = draws.iter().all(|draw| draw.share == draws[0].share);
                let total = draws[0].share * count;
                let part = |draw: &Draw| match equal {
                    true => one(&draw.logits),
                    false => one(&draw.logits) * draw.share,
                };
                let sum = draws[1..].iter().fold(part(&draws[0]), |sum, draw| sum + part(draw));
                match equal {
                    true if total == 1.0 => sum / count,
                    true => sum * draws[0].share,
                    false => sum,
                }
            }
            Reading::Bound => {
                let weighted = draws.iter().map(|draw| {
                    let own = log_likelihoods(&draw.logits);
                    match &draw.log_weight {
                        Some(weight) => own + weight.clone().unsqueeze(),
                        None => own,
                    }
                });
                let all = Tensor::cat(weighted.collect(), 1);
                let top = all.clone().max_dim(1).detach();
                let inner = (all - top.clone()).exp().mean_dim(1).log() + top;
                inner.mean().neg()
            }
        }
    }

    /// What a draw was worth to the training nodes: 1 for a right answer, 0 for a wrong one.
    fn reinforce(
        &self,
        graph: &LearnedGraph,
        logits: &Tensor<2>,
        rewards: &mut Baseline,
    ) -> Result<Option<Tensor<1>>> {
        let Some(scores) = &graph.scores else { return Ok(None) };
        let rows = logits.clone().detach().select(0, self.labels.rows.clone());
        let right = rows.argmax(1).equal(self.labels.targets.clone());
        let right: Vec<f64> = right.into_data().iter::<bool>().map(f64::from).collect();
        let advantages = rewards.advantages(&right)?;
        Ok(Some(loss::reinforce(scores, self.labels.nodes(), &advantages)?))
    }

    /// Losses on the learned graph itself.
    fn on_graph(&self, graph: &LearnedGraph, key: Key) -> Result<Option<Tensor<1>>> {
        let config = &self.config.graph_loss;
        let mut terms: Vec<Tensor<1>> = Vec::new();
        let weight = config.intermediate * loss::anneal(self.at.epoch, config.intermediate_until);
        if weight > 0.0
            && let Some(scored) = self.intermediate(graph)?
        {
            terms.push(scored * weight);
        }
        if config.low_rank > 0.0 {
            let low_rank = loss::low_rank(&graph.adjacency, config.rank, key.child(3))?;
            terms.push(low_rank * config.low_rank);
        }
        if config.sparsity > 0.0 {
            terms.push(loss::sparsity(&graph.adjacency) * config.sparsity);
        }
        Ok(terms.into_iter().reduce(|a, b| a + b))
    }

    fn intermediate(&self, graph: &LearnedGraph) -> Result<Option<Tensor<1>>> {
        let prepared = Prepared::default();
        let input = self.data.input(&prepared);
        let nodes = self.data.batch.nodes();
        let within;
        let pairs: &TrainingPairs = match self.learner.scored_pairs(graph) {
            None => self.labels.pairs(nodes)?,
            // Scores that depend on the other candidates exist for candidates only.
            some => {
                let labels = (self.labels.nodes(), self.labels.classes());
                within = TrainingPairs::new(nodes, labels.0, labels.1, some)?;
                &within
            }
        };
        match self.learner.pair_scores(graph, pairs.pairs(), &input)? {
            Some(scores) => Ok(Some(pairs.loss(&scores)?)),
            None => Ok(None),
        }
    }
}
