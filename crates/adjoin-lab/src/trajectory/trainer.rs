//! Training of one seed.

use super::{
    ChooseEpoch, Forecaster, OptimiserKind, SceneBatch, Scores, Tally, Trainable,
    TrajectoryTrainConfig,
};
use crate::{Error, Result, mean_weights::MeanWeights};
use adjoin::{Key, Pass};
use adjoin_data::trajectory::{Scene, TrajectoryDataset};
use burn::{
    grad_clipping::GradientClippingConfig,
    module::list_param_ids,
    optim::{AdamConfig, GradientsParams, ModuleOptimizer, SgdConfig},
    tensor::{Device, Tensor, TensorData},
};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Most scenes that are evaluated at once, and most pairs of agents in all their frames.
const SCENES_AT_ONCE: usize = 256;
const PAIRS_AT_ONCE: usize = 16_000_000;

/// One epoch of a seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryEpoch {
    /// The epoch, from 1.
    pub epoch: usize,
    /// Mean training loss over its steps.
    pub loss: f64,
    /// Validation loss after it.
    pub valid_loss: f64,
    /// Validation errors after it.
    pub valid: Scores,
    /// Time of the training steps.
    pub seconds: f64,
}

impl TrajectoryEpoch {
    /// What validation minimises.
    fn criterion(&self, choose_by: ChooseEpoch) -> f64 {
        match choose_by {
            ChooseEpoch::Loss => self.valid_loss,
            ChooseEpoch::Displacement => self.valid.per_agent.ade,
        }
    }
}

/// The best epoch so far, chosen by validation alone.
#[derive(Clone, Debug)]
pub struct TrajectoryBest<M> {
    /// What was seen of the epoch.
    pub epoch: TrajectoryEpoch,
    /// The model of that epoch, without autodiff. A clone would not do: clones share running
    /// statistics, which training moves on.
    pub model: M,
}

/// Trains one model with one seed, an epoch at a time. It holds training and validation scenes; there
/// is no test scene it could look at.
pub struct TrajectoryTrainer<'a, M> {
    pub(super) config: &'a TrajectoryTrainConfig,
    scenes: &'a [Scene],
    /// Of every training scene, what the model makes of it whatever is learned.
    constants: Option<Vec<Vec<f32>>>,
    valid_scenes: &'a [Scene],
    valid: Vec<SceneBatch>,
    lengths: [usize; 2],
    pub(super) seed: u64,
    device: Device,
    pub(super) model: M,
    /// What is evaluated, if it is not the model itself.
    pub(super) mean: Option<MeanWeights>,
    /// Of the network and of the learner, which may have different rates.
    pub(super) optimisers: [ModuleOptimizer; 2],
    pub(super) epoch: usize,
    pub(super) steps: u64,
    pub(super) best: Option<TrajectoryBest<M>>,
    pub(super) step_time: Duration,
}

impl<'a, M: Trainable> TrajectoryTrainer<'a, M> {
    /// A fresh run of a model.
    ///
    /// # Errors
    /// If there is nothing to train or to choose with, or a setting is out of range.
    pub fn new(
        config: &'a TrajectoryTrainConfig,
        dataset: &'a TrajectoryDataset,
        model: M,
        seed: u64,
        device: &Device,
    ) -> Result<Self> {
        config.check()?;
        if dataset.train.is_empty() || dataset.valid.is_empty() {
            let what = "there must be scenes to train and to validate with".into();
            return Err(Error::Config { place: dataset.name.clone(), what });
        }
        let lengths = [dataset.observed, dataset.predicted];
        let mut valid = batches(&dataset.valid, lengths, device)?;
        let fixed = model.valid();
        for batch in &mut valid {
            batch.constants = fixed.constants(batch)?;
        }
        Ok(Self {
            config,
            constants: match config.turn {
                true => None,
                false => constants(&fixed, &dataset.train, lengths, device)?,
            },
            scenes: &dataset.train,
            valid_scenes: &dataset.valid,
            valid,
            lengths,
            seed,
            device: device.clone(),
            mean: MeanWeights::wanted(config.average, 0, &model),
            model,
            optimisers: [optimiser(config), optimiser(config)],
            epoch: 0,
            steps: 0,
            best: None,
            step_time: Duration::ZERO,
        })
    }

    /// Whether the epochs are used up.
    pub fn is_finished(&self) -> bool {
        self.epoch >= self.config.epochs
    }

    /// The best epoch so far.
    pub fn best(&self) -> Option<&TrajectoryBest<M>> {
        self.best.as_ref()
    }

    /// Epochs done.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// Time spent in training steps, evaluation left out.
    pub fn step_time(&self) -> Duration {
        self.step_time
    }

    /// One epoch of training and one look at the validation scenes.
    ///
    /// # Errors
    /// If the loss stops being a number.
    pub fn step(&mut self) -> Result<TrajectoryEpoch> {
        self.model.begin_epoch(self.epoch);
        let started = Instant::now();
        let order = Key::new(self.seed).child(0x5f).child(self.epoch as u64);
        let order = order.permutation(self.scenes.len());
        let mut losses = 0.0;
        for members in order.chunks(self.config.batch) {
            losses += self.train_step(members)? * members.len() as f64;
        }
        let elapsed = started.elapsed();
        self.step_time += elapsed;
        self.epoch += 1;
        let model = self.evaluated();
        let mut valid_loss = 0.0;
        for batch in &self.valid {
            let loss = model.loss(batch, Pass::evaluate())?.into_scalar::<f64>();
            valid_loss += loss * batch.scenes.graphs() as f64;
        }
        valid_loss /= self.valid_scenes.len() as f64;
        self.finite("validation loss", valid_loss)?;
        let valid = score(
            &model,
            self.valid_scenes,
            &self.valid,
            self.config.samples,
            validation_key(self.seed),
        )?;
        let record = TrajectoryEpoch {
            epoch: self.epoch,
            loss: losses / self.scenes.len() as f64,
            valid_loss,
            valid,
            seconds: elapsed.as_secs_f64(),
        };
        let criterion = |epoch: &TrajectoryEpoch| epoch.criterion(self.config.choose_by);
        if self.best.as_ref().is_none_or(|best| criterion(&record) < criterion(&best.epoch)) {
            self.best = Some(TrajectoryBest { epoch: record, model });
        }
        Ok(record)
    }

    /// The model as validation, tests and predictions use it, without autodiff.
    pub(super) fn evaluated(&self) -> M {
        let model = self.model.valid();
        match &self.mean {
            Some(mean) => mean.fill(model),
            None => model,
        }
    }

    fn train_step(&mut self, members: &[u32]) -> Result<f64> {
        let turned: Vec<Scene> = match self.config.turn {
            true => members.iter().map(|&at| self.turned(at)).collect(),
            false => Vec::new(),
        };
        let scenes: Vec<&Scene> = match self.config.turn {
            true => turned.iter().collect(),
            false => members.iter().map(|&at| &self.scenes[at as usize]).collect(),
        };
        let mut batch = SceneBatch::new(&scenes, self.lengths, &self.device)?;
        batch.constants = self.constants.as_ref().map(|all| {
            let rows: Vec<f32> =
                members.iter().flat_map(|&at| &all[at as usize]).copied().collect();
            let shape = [batch.nodes(), rows.len() / batch.nodes().max(1)];
            Tensor::from_data(TensorData::new(rows, shape), &self.device)
        });
        let loss = self.model.loss(&batch, Pass::train(self.seed, self.steps))?;
        let factor = self.config.factor(self.steps, self.epoch);
        self.steps += 1;
        let value = loss.clone().into_scalar::<f64>();
        self.finite("training loss", value)?;
        let mut grads = loss.backward();
        let learner = self.model.learner_parameters();
        let (learners, others): (Vec<_>, Vec<_>) =
            list_param_ids(&self.model).into_iter().partition(|id| learner.contains(id));
        let TrajectoryTrainConfig { rate, learner_rate, .. } = *self.config;
        let parts = [(others, rate), (learners, learner_rate)];
        for ((ids, rate), optimiser) in parts.into_iter().zip(&mut self.optimisers) {
            let grads = GradientsParams::from_params(&mut grads, &self.model, &ids);
            self.model = optimiser.step(rate * factor, self.model.clone(), grads);
        }
        if let Some(mean) = &mut self.mean {
            mean.follow(&self.model);
        }
        Ok(value)
    }

    /// A training scene, turned around the origin and mirrored as chance has it in this epoch.
    fn turned(&self, at: u32) -> Scene {
        let key = Key::new(self.seed).child(0x7412).child(self.epoch as u64).child(u64::from(at));
        let (sin, cos) = (std::f64::consts::TAU * key.uniform(0)).sin_cos();
        let side = if key.uniform(1) < 0.5 { -1.0 } else { 1.0 };
        let mut scene = self.scenes[at as usize].clone();
        for place in &mut scene.positions {
            let [x, y] = [f64::from(place[0]) * side, f64::from(place[1])];
            *place = [(cos * x - sin * y) as f32, (sin * x + cos * y) as f32];
        }
        scene
    }

    fn finite(&self, stage: &'static str, value: f64) -> Result<()> {
        if value.is_finite() {
            return Ok(());
        }
        Err(Error::NotFinite { stage, value, epoch: self.epoch, seed: self.seed })
    }
}

pub(super) fn optimiser(config: &TrajectoryTrainConfig) -> ModuleOptimizer {
    let clip = (config.clip > 0.0).then_some(GradientClippingConfig::Norm(config.clip as f32));
    match config.optimiser {
        OptimiserKind::Sgd => SgdConfig::new().with_gradient_clipping(clip).init(),
        OptimiserKind::Adam => AdamConfig::new().with_epsilon(1e-8).with_grad_clipping(clip).init(),
    }
}

/// Where the samples of a seed on validation scenes are drawn from.
pub(super) fn validation_key(seed: u64) -> Key {
    Key::new(seed).child(0xade)
}

/// What a model without autodiff makes of every scene whatever is learned; nothing if it learns its graphs.
fn constants<M: Trainable>(
    model: &M,
    scenes: &[Scene],
    lengths: [usize; 2],
    device: &Device,
) -> Result<Option<Vec<Vec<f32>>>> {
    let mut all = Vec::new();
    for scenes in groups(scenes, lengths[0]) {
        let scenes: Vec<&Scene> = scenes.iter().collect();
        let batch = SceneBatch::new(&scenes, lengths, device)?;
        let Some(rows) = model.constants(&batch)? else { return Ok(None) };
        let width = rows.dims()[1];
        let rows: Vec<f32> = rows.into_data().convert::<f32>().iter::<f32>().collect();
        let of_scene = |scene: std::ops::Range<usize>| {
            let [first, end] = [scene.start, scene.end].map(|at| at * batch.observed * width);
            rows[first..end].to_vec()
        };
        all.extend(batch.scenes.ranges().map(of_scene));
    }
    Ok(Some(all))
}

/// Scenes in batches, in their order.
pub(super) fn batches(
    scenes: &[Scene],
    lengths: [usize; 2],
    device: &Device,
) -> Result<Vec<SceneBatch>> {
    let some = |scenes: &[Scene]| {
        let scenes: Vec<&Scene> = scenes.iter().collect();
        SceneBatch::new(&scenes, lengths, device)
    };
    groups(scenes, lengths[0]).into_iter().map(some).collect()
}

/// Scenes in groups that are evaluated at once; those with many agents in fewer scenes.
pub(super) fn groups(scenes: &[Scene], observed: usize) -> Vec<&[Scene]> {
    let (mut groups, mut rest) = (Vec::new(), scenes);
    while !rest.is_empty() {
        let mut pairs = 0;
        let fits = |scene: &&Scene| {
            pairs += scene.agents.len().pow(2) * observed;
            pairs <= PAIRS_AT_ONCE
        };
        let count = rest.iter().take(SCENES_AT_ONCE).take_while(fits).count().max(1);
        let (group, after) = rest.split_at(count);
        groups.push(group);
        rest = after;
    }
    groups
}

/// Errors of a model without autodiff on scenes that were put into batches.
pub(super) fn score(
    model: &dyn Forecaster,
    scenes: &[Scene],
    batches: &[SceneBatch],
    samples: usize,
    key: Key,
) -> Result<Scores> {
    let mut tally = Tally::default();
    let mut scenes = scenes.iter();
    for (at, batch) in batches.iter().enumerate() {
        let forecasts = model.forecast(batch, samples, key.child(at as u64))?;
        for (forecast, scene) in forecasts.iter().zip(scenes.by_ref()) {
            tally.add(scene, forecast);
        }
    }
    Ok(tally.scores())
}
