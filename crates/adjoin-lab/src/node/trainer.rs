//! Full-batch training of one seed.

use super::{Evaluation, Guide, NodeData, NodeModel};
use crate::{
    AnyLearner, ChooseBy, Config, Error, Result,
    labels::{Scorer, TrainingLabels},
    mean_weights::MeanWeights,
    record::EpochRecord,
};
use adjoin::{
    LearnedGraph, Pass, Prepared,
    conv::{Backbone, BackboneKind},
    loss::{self, Baseline, TrainingPairs},
};
use burn::{
    module::{Module, ParamGroup},
    optim::{AdamConfig, GradientsParams, ModuleOptimizer, decay::WeightDecayConfig},
    tensor::{Device, Int, Tensor, TensorData, activation::log_softmax},
};
use std::time::{Duration, Instant};

/// The best epoch so far, chosen by validation alone.
#[derive(Clone, Debug)]
pub struct Best {
    /// The epoch, from 1.
    pub epoch: usize,
    /// Its validation accuracy.
    pub accuracy: f64,
    /// Its validation loss.
    pub loss: f64,
    /// The model of that epoch.
    pub model: NodeModel,
    /// What it predicts.
    pub evaluation: Evaluation,
}

/// Trains one model with one seed, an epoch at a time.
///
/// It holds training labels and a validation scorer; there is no test label it could look at.
pub struct Trainer<'a> {
    pub(super) config: &'a Config,
    pub(super) data: &'a NodeData,
    labels: &'a TrainingLabels,
    validation: &'a Scorer,
    pub(super) seed: u64,
    pub(super) model: NodeModel,
    /// What is evaluated, if it is not the model itself.
    pub(super) mean: Option<MeanWeights>,
    pub(super) optimisers: Optimisers,
    pub(super) epoch: usize,
    pub(super) best: Option<Best>,
    pub(super) step_time: Duration,
    pub(super) prepared: Prepared,
    /// Running rewards of the training nodes, for learners that learn from rewards.
    pub(super) baseline: Baseline,
    training_rows: Tensor<1, Int>,
    training_classes: Tensor<2, Int>,
    pairs: Option<TrainingPairs>,
}

/// Adam for the network and for the learner, which may have different rates.
pub(super) struct Optimisers {
    pub(super) backbone: ModuleOptimizer,
    pub(super) learner: ModuleOptimizer,
}

impl Optimisers {
    pub(super) fn new(config: &Config) -> Self {
        let adam = |decay: f64| {
            let decay = (decay > 0.0).then(|| WeightDecayConfig::new(decay as f32));
            AdamConfig::new().with_epsilon(1e-8).with_weight_decay(decay)
        };
        let train = &config.train;
        // The first layer of a stack; of GCNII the maps in and out, as published.
        let first = ParamGroup::from_any_predicates(match config.backbone.kind {
            BackboneKind::Gcnii => vec!["first.", "last."],
            _ => vec!["layers.0."],
        });
        let backbone = adam(train.rest_decay).init();
        Self {
            backbone: backbone.with_group(first, adam(train.first_decay).build(), None),
            learner: adam(train.learner_decay).init(),
        }
    }
}

impl<'a> Trainer<'a> {
    /// A fresh run.
    ///
    /// # Errors
    /// If a setting is out of range or does not fit the data.
    pub fn new(
        config: &'a Config,
        data: &'a NodeData,
        labels: &'a TrainingLabels,
        validation: &'a Scorer,
        seed: u64,
        device: &Device,
    ) -> Result<Self> {
        config.train.check()?;
        let model = NodeModel::new(config, data, seed, &device.clone().autodiff())?;
        let prepared = model.prepare(data)?;
        let count = labels.nodes().len();
        let ints = |values: &[u32]| values.iter().map(|&v| i64::from(v)).collect::<Vec<i64>>();
        let rows = TensorData::new(ints(labels.nodes()), [count]);
        let classes = TensorData::new(ints(labels.classes()), [count, 1]);
        let intermediate =
            config.train.intermediate > 0.0 && matches!(model.learner, AnyLearner::Dgg(_));
        let pairs = match intermediate {
            true => {
                let (nodes, classes) = (labels.nodes(), labels.classes());
                Some(TrainingPairs::new(data.batch.nodes(), nodes, classes, None)?)
            }
            false => None,
        };
        Ok(Self {
            mean: MeanWeights::wanted(config.train.average, 0, &model),
            optimisers: Optimisers::new(config),
            training_rows: Tensor::from_data(rows, device),
            training_classes: Tensor::from_data(classes, device),
            config,
            data,
            labels,
            validation,
            seed,
            model,
            epoch: 0,
            best: None,
            step_time: Duration::ZERO,
            prepared,
            baseline: Baseline::per_node(count),
            pairs,
        })
    }

    /// Hands over a network that was trained before: its beliefs guide a learner that wants them, and
    /// training goes on from its weights if that is asked for. `student` is told of the epochs in which a
    /// student of that network is taught, where the learner looks at one, and of how many.
    ///
    /// # Errors
    /// If data and network do not fit.
    pub fn guided_by(&mut self, guide: Backbone, student: impl Fn(usize, usize)) -> Result<()> {
        if self.config.train.from_guide {
            self.model.backbone = guide.clone();
        }
        let network = Guide::Network(guide);
        self.model.guide = match self.model.guide.take() {
            None => None,
            Some(Guide::Network(_)) => Some(network),
            Some(Guide::Student(pupil)) => {
                let beliefs = network.beliefs(self.data)?;
                Some(Guide::Student(pupil.taught(self.data, &beliefs, self.seed, student)?))
            }
        };
        self.prepared.beliefs = self.model.beliefs(self.data)?;
        self.mean = MeanWeights::wanted(self.config.train.average, 0, &self.model);
        Ok(())
    }

    /// Whether the epochs or the patience are used up.
    pub fn is_finished(&self) -> bool {
        let train = &self.config.train;
        let waited = self.epoch - self.best.as_ref().map_or(0, |best| best.epoch);
        self.epoch >= train.epochs
            || (train.patience > 0 && waited >= train.patience.max(train.warm_up + 1))
    }

    /// The best epoch so far.
    pub fn best(&self) -> Option<&Best> {
        self.best.as_ref()
    }

    /// Time spent in training steps, evaluation left out.
    pub fn step_time(&self) -> Duration {
        self.step_time
    }

    /// Epochs done.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// One step of training and one look at the validation nodes.
    ///
    /// # Errors
    /// If the loss or an output stops being a number.
    pub fn step(&mut self) -> Result<EpochRecord> {
        let started = Instant::now();
        let loss = self.train_step()?;
        self.step_time += started.elapsed();
        self.epoch += 1;
        let model = self.evaluated();
        let evaluation = model.valid().evaluate(self.data, &self.prepared, self.warm_up())?;
        let classes = self.data.classes;
        let valid = self.validation.accuracy(&evaluation.predicted);
        let valid_loss = self.validation.cross_entropy(&evaluation.log_probabilities, classes);
        self.finite("validation loss", valid_loss)?;
        let train = {
            let right =
                |(node, class): &(&u32, &u32)| evaluation.predicted[**node as usize] == **class;
            let pairs = self.labels.nodes().iter().zip(self.labels.classes());
            pairs.filter(right).count() as f64 / self.labels.nodes().len().max(1) as f64
        };
        let degrees = evaluation.graph.degrees.as_ref().map(mean_and_deviation);
        let better = self.best.as_ref().is_none_or(|best| match self.config.train.choose_by {
            ChooseBy::Accuracy => {
                valid > best.accuracy || (valid == best.accuracy && valid_loss < best.loss)
            }
            ChooseBy::Loss => valid_loss < best.loss,
        });
        if better {
            self.best = Some(Best {
                epoch: self.epoch,
                accuracy: valid,
                loss: valid_loss,
                model,
                evaluation,
            });
        }
        Ok(EpochRecord {
            epoch: self.epoch,
            loss,
            train,
            valid,
            mean_degree: degrees.map(|(mean, _)| mean),
            std_degree: degrees.map(|(_, deviation)| deviation),
            degrees: Vec::new(),
        })
    }

    /// The model that validation looks at: with the mean of its weights, if training keeps one.
    pub(super) fn evaluated(&self) -> NodeModel {
        match &self.mean {
            Some(mean) => mean.fill(self.model.clone()),
            None => self.model.clone(),
        }
    }

    fn warm_up(&self) -> bool {
        self.epoch < self.config.train.warm_up
    }

    fn train_step(&mut self) -> Result<f64> {
        let train = &self.config.train;
        let pass = Pass::train(self.seed, self.epoch as u64);
        let samples = train.samples.max(1);
        let draws = self.model.forward(self.data, &self.prepared, pass, samples, self.warm_up())?;
        let (graphs, logits): (Vec<_>, Vec<_>) = draws.into_iter().unzip();
        let mut loss = self.task_loss(&logits);
        if train.consistency > 0.0 {
            loss = loss + loss::consistency(&logits, train.temperature)? * train.consistency;
        }
        if let Some(structure) = self.structure_loss(&graphs, pass)? {
            loss = loss + structure;
        }
        if train.reinforced > 0.0 && matches!(self.model.learner, AnyLearner::Dgm(_)) {
            for (graph, logits) in graphs.iter().zip(&logits) {
                if let Some(reinforced) = self.reinforced_loss(graph, logits)? {
                    loss = loss + reinforced * (train.reinforced / samples as f64);
                }
            }
        }
        let value = loss.clone().into_scalar::<f64>();
        self.finite("training loss", value)?;
        let mut grads = loss.backward();
        let rate = train.rate * if train.from_guide { train.rate_from_guide } else { 1.0 };
        let NodeModel { learner, backbone, guide, sureness } = self.model.clone();
        let learner_grads = GradientsParams::from_module(&mut grads, &learner);
        let backbone_grads = GradientsParams::from_module(&mut grads, &backbone);
        self.model = NodeModel {
            learner: self.optimisers.learner.step(train.learner_rate, learner, learner_grads),
            backbone: self.optimisers.backbone.step(rate, backbone, backbone_grads),
            guide,
            sureness,
        };
        if let Some(mean) = &mut self.mean {
            mean.follow(&self.model);
        }
        Ok(value)
    }

    /// Mean cross-entropy of the training nodes over the draws.
    fn task_loss(&self, logits: &[Tensor<2>]) -> Tensor<1> {
        let one = |logits: &Tensor<2>| {
            let rows = logits.clone().select(0, self.training_rows.clone());
            log_softmax(rows, 1).gather(1, self.training_classes.clone()).mean().neg()
        };
        let count = logits.len() as f64;
        let first = one(&logits[0]);
        logits[1..].iter().fold(first, |sum, logits| sum + one(logits)) / count
    }

    /// What the draw was worth to the training nodes: 1 for a right answer, 0 for a wrong one.
    fn reinforced_loss(
        &mut self,
        graph: &LearnedGraph,
        logits: &Tensor<2>,
    ) -> Result<Option<Tensor<1>>> {
        let Some(scores) = &graph.scores else { return Ok(None) };
        let rows = logits.clone().detach().select(0, self.training_rows.clone());
        let right = rows.argmax(1).equal(self.training_classes.clone());
        let rewards: Vec<f64> = right.into_data().iter::<bool>().map(f64::from).collect();
        let advantages = self.baseline.advantages(&rewards)?;
        Ok(Some(loss::reinforce(scores, self.labels.nodes(), &advantages)?))
    }

    /// Losses on the learned graph itself, of the first draw.
    fn structure_loss(&self, graphs: &[LearnedGraph], pass: Pass) -> Result<Option<Tensor<1>>> {
        let train = &self.config.train;
        let mut terms: Vec<Tensor<1>> = Vec::new();
        let weight = train.intermediate * loss::anneal(self.epoch, train.intermediate_until);
        let graph = &graphs[0];
        if let (Some(pairs), AnyLearner::Dgg(dgg), Some(latent)) =
            (&self.pairs, &self.model.learner, &graph.latent)
            && weight > 0.0
        {
            let scores = dgg.log_scores(latent, pairs.pairs(), Some(&self.data.graph))?;
            terms.push(pairs.loss(&scores)? * weight);
        }
        if train.low_rank > 0.0 {
            let key = pass.key().child(3);
            terms.push(loss::low_rank(&graph.adjacency, train.rank, key)? * train.low_rank);
        }
        if train.sparsity > 0.0 {
            terms.push(loss::sparsity(&graph.adjacency) * train.sparsity);
        }
        Ok(terms.into_iter().reduce(|a, b| a + b))
    }

    fn finite(&self, stage: &'static str, value: f64) -> Result<()> {
        if value.is_finite() {
            return Ok(());
        }
        Err(Error::NotFinite { stage, value, epoch: self.epoch, seed: self.seed })
    }
}

fn mean_and_deviation(values: &Tensor<1>) -> (f64, f64) {
    let values = values.to_data().convert::<f64>();
    let values: Vec<f64> = values.iter::<f64>().collect();
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{labels::SplitLabels, presets};
    use adjoin_data::{GeneratorConfig, citation_like};
    use burn::module::{ModuleVisitor, Param};

    /// Sums of squares of all matrices of a network, in the order it holds them.
    #[derive(Default)]
    struct Norms(Vec<f64>);

    impl ModuleVisitor for Norms {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            if D == 2 {
                self.0.push(param.val().square().sum().into_scalar::<f64>());
            }
        }
    }

    fn world(nodes: usize) -> (NodeData, SplitLabels, Device) {
        let dataset = citation_like(&GeneratorConfig { nodes, ..Default::default() }).unwrap();
        let split = dataset.split(&"ratio:0.4/0.3/0.3".parse().unwrap()).unwrap();
        let device = Device::default();
        let data = NodeData::new(&dataset, true, &device).unwrap();
        (data, SplitLabels::new(&dataset, &split).unwrap(), device)
    }

    fn norms(backbone: &str, settings: &[&str]) -> Vec<f64> {
        let config = presets::config("my-own", backbone, "none").unwrap();
        let config = config.with_settings(settings.iter().copied()).unwrap();
        let config = config.with_settings(["backbone.layers=2", "backbone.dropout=0"]).unwrap();
        let (data, labels, device) = world(300);
        let mut trainer =
            Trainer::new(&config, &data, &labels.training, &labels.validation, 1, &device).unwrap();
        for _ in 0..30 {
            trainer.step().unwrap();
        }
        weights(&trainer.model.backbone)
    }

    fn weights(network: &Backbone) -> Vec<f64> {
        let mut norms = Norms::default();
        network.visit(&mut norms);
        norms.0
    }

    #[test]
    fn mean_weights_are_evaluated_and_not_trained() {
        let (data, labels, device) = world(60);
        let SplitLabels { training, validation, .. } = &labels;
        let [plain, mean] = [0.0, 0.9].map(|average| {
            let mut config = presets::config("my-own", "gcn", "none").unwrap();
            config.train.average = average;
            let mut trainer =
                Trainer::new(&config, &data, training, validation, 1, &device).unwrap();
            let losses = [0; 3].map(|_| trainer.step().unwrap().loss);
            (losses, weights(&trainer.model.backbone), weights(&trainer.evaluated().backbone))
        });
        assert_eq!((&plain.0, &plain.1, &plain.1), (&mean.0, &mean.1, &plain.2));
        assert_ne!(mean.1, mean.2);
    }

    #[test]
    fn training_goes_on_from_the_guide_if_that_is_asked_for() {
        let (data, labels, device) = world(60);
        for (learner, from_guide) in
            [("none", true), ("none", false), ("dgg", true), ("dgg", false)]
        {
            let mut config = presets::config("my-own", "gcn", learner).unwrap();
            config.train.from_guide = from_guide;
            config.train.rate_from_guide = 0.0;
            let guide = NodeModel::new(&config, &data, 9, &device.clone().autodiff()).unwrap();
            let mut trainer =
                Trainer::new(&config, &data, &labels.training, &labels.validation, 1, &device)
                    .unwrap();
            trainer.guided_by(guide.backbone.clone(), |_, _| ()).unwrap();
            let before = weights(&trainer.model.backbone);
            assert_eq!(before == weights(&guide.backbone), from_guide, "{learner}");
            assert_eq!(trainer.prepared.beliefs.is_some(), learner == "dgg");
            // Its rate then is another one: here 0, with which it stays where it is.
            trainer.step().unwrap();
            assert_eq!(before == weights(&trainer.model.backbone), from_guide, "{learner}");
        }
    }

    #[test]
    fn the_learner_sees_beliefs_as_sure_as_asked_for() {
        let (data, labels, device) = world(60);
        let mut config = presets::config("my-own", "gcn", "dgg").unwrap();
        for sureness in [0.0, 0.9] {
            config.train.sureness = sureness;
            let SplitLabels { training, validation, .. } = &labels;
            let trainer = Trainer::new(&config, &data, training, validation, 1, &device).unwrap();
            let beliefs = trainer.prepared.beliefs.unwrap();
            let largest = beliefs.max_dim(1).mean().into_scalar::<f64>();
            assert_eq!((largest - 0.9).abs() < 1e-3, sureness > 0.0, "{largest}");
        }
    }

    /// Decay that silently reaches no layer would only show as a worse result.
    #[test]
    fn decay_reaches_the_layers_it_is_for_and_no_others() {
        for backbone in ["gcn", "sage", "gat", "gcnii"] {
            let first = norms(backbone, &["train.first_decay=1.0", "train.rest_decay=0.0"]);
            let rest = norms(backbone, &["train.first_decay=0.0", "train.rest_decay=1.0"]);
            // GCNII decays the maps in and out as "first", the convolutions between as "rest".
            let is_first = |at: usize| match backbone {
                "gcnii" => at == 0 || at + 1 == first.len(),
                _ => at == 0,
            };
            for at in [0, first.len() - 1].into_iter().chain((backbone == "gcnii").then_some(1)) {
                let (decayed, kept) = if is_first(at) { (&first, &rest) } else { (&rest, &first) };
                assert!(decayed[at] < 0.5 * kept[at], "{backbone} {at}: {decayed:?} {kept:?}");
            }
        }
    }
}
