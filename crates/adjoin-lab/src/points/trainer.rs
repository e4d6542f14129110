//! Training of one seed.

use super::{
    CloudBatch, CloudPrediction, PointModel, PointOutput, PointsConfig, PointsEvaluation,
    PointsTrainConfig,
    batch::{device, groups},
    evaluation::predictions,
    experiment::chosen,
};
use crate::{AnyLearner, Error, Result, record::EpochRecord};
use adjoin::{
    Key, Pass,
    loss::{self, Baseline},
};
use adjoin_data::points::{Cloud, PointDataset};
use burn::{
    module::Module,
    optim::{
        AdamConfig, GradientsParams, ModuleOptimizer, SgdConfig, decay::WeightDecayConfig,
        momentum::MomentumConfig,
    },
    tensor::{Tensor, TensorData, activation::log_softmax},
};
use std::time::{Duration, Instant};

/// The best epoch so far, chosen by validation alone.
#[derive(Clone, Debug)]
pub struct PointsBest {
    /// The epoch, from 1.
    pub epoch: usize,
    /// Its validation accuracy.
    pub accuracy: f64,
    /// Its validation loss.
    pub loss: f64,
    /// The model of that epoch, without autodiff. A clone would not do: clones share running
    /// statistics, which training moves on.
    pub model: PointModel,
}

/// Trains one model with one seed, an epoch at a time. It holds training and validation clouds; there is
/// no test cloud it could look at.
pub struct PointsTrainer<'a> {
    pub(super) config: &'a PointsConfig,
    train: Vec<&'a Cloud>,
    valid: Vec<&'a Cloud>,
    pub(super) seed: u64,
    pub(super) model: PointModel,
    pub(super) optimisers: Optimisers,
    pub(super) epoch: usize,
    pub(super) steps: u64,
    pub(super) best: Option<PointsBest>,
    pub(super) step_time: Duration,
    /// Running share of right answers, for learners that learn from them.
    pub(super) baseline: Baseline,
}

/// SGD for the network, Adam for the learners.
pub(super) struct Optimisers {
    pub network: ModuleOptimizer,
    pub learners: ModuleOptimizer,
}

impl Optimisers {
    pub fn new(train: &PointsTrainConfig) -> Self {
        let decay = |decay: f64| (decay > 0.0).then(|| WeightDecayConfig::new(decay as f32));
        let momentum = MomentumConfig::new().with_momentum(train.momentum).with_dampening(0.0);
        let momentum = (train.momentum > 0.0).then_some(momentum);
        let sgd = SgdConfig::new().with_momentum(momentum).with_weight_decay(decay(train.decay));
        let adam = AdamConfig::new().with_epsilon(1e-8);
        let adam = adam.with_weight_decay(decay(train.learner_decay));
        Self { network: sgd.init(), learners: adam.init() }
    }
}

impl<'a> PointsTrainer<'a> {
    /// A fresh run.
    ///
    /// # Errors
    /// If a setting is out of range, or there is nothing to train or to choose with.
    pub fn new(config: &'a PointsConfig, dataset: &'a PointDataset, seed: u64) -> Result<Self> {
        config.train.check()?;
        let [train, valid] =
            [&dataset.split.train, &dataset.split.valid].map(|part| chosen(dataset, part));
        if train.len() < 2 || valid.is_empty() {
            let what = "there must be two clouds to train and one to validate with".into();
            return Err(Error::Config { place: dataset.name.clone(), what });
        }
        let classes = dataset.classes();
        Ok(Self {
            config,
            train,
            valid,
            seed,
            model: PointModel::new(config, classes, seed, &device().autodiff())?,
            optimisers: Optimisers::new(&config.train),
            epoch: 0,
            steps: 0,
            best: None,
            step_time: Duration::ZERO,
            baseline: Baseline::shared(),
        })
    }

    /// Whether the epochs are used up.
    pub fn is_finished(&self) -> bool {
        self.epoch >= self.config.train.epochs
    }

    /// The best epoch so far.
    pub fn best(&self) -> Option<&PointsBest> {
        self.best.as_ref()
    }

    /// Epochs done.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// Training steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Time spent in training steps, evaluation left out.
    pub fn step_time(&self) -> Duration {
        self.step_time
    }

    /// One epoch of training and one look at the validation clouds.
    ///
    /// # Errors
    /// If the loss stops being a number.
    pub fn step(&mut self) -> Result<EpochRecord> {
        let started = Instant::now();
        self.model.warming_up = self.epoch < self.config.train.warm_up_epochs();
        let order = Key::new(self.seed).child(0x5f).child(self.epoch as u64);
        let order = order.permutation(self.train.len());
        let (mut losses, mut right) = (0.0, 0);
        let groups: Vec<_> = groups(order.len(), self.config.train.batch).collect();
        for (at, group) in groups.iter().enumerate() {
            let clouds: Vec<&Cloud> =
                order[group.clone()].iter().map(|&at| self.train[at as usize]).collect();
            let epochs = self.epoch as f64 + at as f64 / groups.len() as f64;
            let (loss, correct) =
                self.train_step(&clouds, epochs / self.config.train.epochs as f64)?;
            losses += loss * clouds.len() as f64;
            right += correct;
        }
        self.step_time += started.elapsed();
        self.epoch += 1;
        let model = self.model.valid();
        let found = PointsEvaluation::of(&model, &self.valid, self.config.points)?;
        let accuracy = found.accuracy();
        self.finite("validation loss", found.loss)?;
        let better = self.best.as_ref().is_none_or(|best| {
            // The first epoch with the learners takes the place of all without them.
            let joined = !self.model.warming_up && best.epoch <= self.config.train.warm_up_epochs();
            let ahead = accuracy > best.accuracy;
            joined || ahead || (accuracy == best.accuracy && found.loss < best.loss)
        });
        if better {
            let (epoch, loss) = (self.epoch, found.loss);
            self.best = Some(PointsBest { epoch, accuracy, loss, model });
        }
        let count = self.train.len() as f64;
        Ok(EpochRecord {
            epoch: self.epoch,
            loss: losses / count,
            train: right as f64 / count,
            valid: accuracy,
            mean_degree: Some(found.degree.mean),
            std_degree: Some(found.degree.deviation),
            degrees: found.degrees,
        })
    }

    /// One step on some clouds; gives the loss and how many were classified right.
    pub(super) fn train_step(&mut self, clouds: &[&Cloud], done: f64) -> Result<(f64, usize)> {
        let train = &self.config.train;
        let pass = Pass::train(self.seed, self.steps);
        let key = pass.key().child(0xa6);
        let batch = CloudBatch::augmented(
            clouds.iter().copied(),
            self.config.points,
            train.augmentation(),
            key,
            &device(),
        );
        self.steps += 1;
        let output = self.model.forward(&batch, pass)?;
        let classes: Vec<u32> = clouds.iter().map(|cloud| cloud.class).collect();
        let mut loss = smoothed_cross_entropy(&output.logits, &classes, train.smoothing);
        let right: Vec<bool> =
            predictions(&output.logits, &classes).iter().map(CloudPrediction::is_right).collect();
        let hard = matches!(self.model.learners.first(), Some(AnyLearner::Dgm(_)));
        if hard && train.reinforced > 0.0 {
            loss = loss + self.reinforced(&batch, &output, &right)? * train.reinforced;
        }
        let value = loss.clone().into_scalar::<f64>();
        self.finite("training loss", value)?;
        let mut grads = loss.backward();
        let PointModel { learners, network, warming_up } = self.model.clone();
        let factor = train.factor(done);
        let learner_grads = GradientsParams::from_module(&mut grads, &learners);
        let network_grads = GradientsParams::from_module(&mut grads, &network);
        let Optimisers { network: sgd, learners: adam } = &mut self.optimisers;
        self.model = PointModel {
            learners: adam.step(train.learner_rate * factor, learners, learner_grads),
            network: sgd.step(train.rate * factor, network, network_grads),
            warming_up,
        };
        Ok((value, right.iter().filter(|right| **right).count()))
    }

    /// What the draws were worth: all points of a cloud, in all layers, share whether it was classified
    /// right.
    fn reinforced(
        &mut self,
        batch: &CloudBatch,
        output: &PointOutput,
        right: &[bool],
    ) -> Result<Tensor<1>> {
        let rewards: Vec<f64> = right.iter().map(|&right| f64::from(right)).collect();
        let of_clouds = self.baseline.advantages(&rewards)?;
        let graph_of = batch.clouds.graph_of_nodes();
        let advantages: Vec<f64> =
            graph_of.iter().map(|&cloud| of_clouds[cloud as usize]).collect();
        let nodes: Vec<u32> = (0..graph_of.len() as u32).collect();
        let share = 1.0 / output.scores.len().max(1) as f64;
        let mut sum = Tensor::zeros([1], &output.logits.device());
        for scores in &output.scores {
            sum = sum + loss::reinforce(scores, &nodes, &advantages)? * share;
        }
        Ok(sum)
    }

    fn finite(&self, stage: &'static str, value: f64) -> Result<()> {
        if value.is_finite() {
            return Ok(());
        }
        Err(Error::NotFinite { stage, value, epoch: self.epoch, seed: self.seed })
    }
}

/// Mean of `-sum_c t_c log p_c` over the rows of `logits` `[rows, classes]`, the target `t` giving
/// `1 - smoothing` to the true class and the rest to the others in equal parts.
pub fn smoothed_cross_entropy(logits: &Tensor<2>, classes: &[u32], smoothing: f64) -> Tensor<1> {
    let [rows, count] = logits.dims();
    let other = if count > 1 { smoothing / (count - 1) as f64 } else { 0.0 };
    let mut targets = vec![-other / rows.max(1) as f64; rows * count];
    for (row, &class) in classes.iter().enumerate() {
        targets[row * count + class as usize] =
            -(1.0 - other * (count - 1) as f64) / rows.max(1) as f64;
    }
    let data = TensorData::new(targets, [rows, count]);
    let targets = Tensor::<2>::from_data(data, (&logits.device(), logits.dtype()));
    (log_softmax(logits.clone(), 1) * targets).sum()
}
