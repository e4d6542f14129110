//! Scenes in parts, and in batches.

use super::{Forecaster, SceneBatch, Scores, Tally, TrajectoryModel};
use crate::{
    Error, Result,
    files::absolute,
    task::{Dataset, Items, Part, Purpose, Source},
};
use adjoin::Key;
use adjoin_data::{
    Locations,
    trajectory::{self, Scene, TableConfig, TrajectoryDataset},
};
use burn::{
    module::Module,
    tensor::{Device, Tensor, TensorData},
};
use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

/// Most scenes that are evaluated at once, and most pairs of agents in all their frames.
const SCENES_AT_ONCE: usize = 256;
const PAIRS_AT_ONCE: usize = 16_000_000;

/// Training scenes.
#[derive(Debug)]
pub struct TrainingScenes {
    dataset: Arc<TrajectoryDataset>,
    device: Device,
    /// Of every scene, what the network makes of it whatever is learned; worked out once.
    constants: OnceLock<Option<Vec<Vec<f32>>>>,
}

impl TrainingScenes {
    pub(super) fn new(dataset: &Arc<TrajectoryDataset>, device: &Device) -> Result<Self> {
        if dataset.train.is_empty() {
            let what = "there are no scenes to train with".into();
            return Err(Error::Config { place: dataset.name.clone(), what });
        }
        let (dataset, device) = (dataset.clone(), device.clone());
        Ok(Self { dataset, device, constants: OnceLock::new() })
    }

    /// Scenes of a step as they are, with what stays the same of them.
    pub(super) fn batch(&self, model: &TrajectoryModel, members: &[u32]) -> Result<SceneBatch> {
        let lengths = lengths(&self.dataset);
        let scenes: Vec<&Scene> =
            members.iter().map(|&at| &self.dataset.train[at as usize]).collect();
        let mut batch = SceneBatch::new(&scenes, lengths, &self.device)?;
        if self.constants.get().is_none() {
            let found = constants(&model.valid(), &self.dataset.train, lengths, &self.device)?;
            // Another seed may have been faster; it found the same.
            let _ = self.constants.set(found);
        }
        batch.constants = self.constants.get().and_then(Option::as_ref).map(|all| {
            let rows: Vec<f32> =
                members.iter().flat_map(|&at| &all[at as usize]).copied().collect();
            let shape = [batch.nodes(), rows.len() / batch.nodes().max(1)];
            Tensor::from_data(TensorData::new(rows, shape), &self.device)
        });
        Ok(batch)
    }

    /// Scenes of a step, each turned around the origin and mirrored as chance has it.
    pub(super) fn turned(&self, members: &[u32], key: Key) -> Result<SceneBatch> {
        let turn = |&at: &u32| {
            let key = key.child(u64::from(at));
            let (sin, cos) = (std::f64::consts::TAU * key.uniform(0)).sin_cos();
            let side = if key.uniform(1) < 0.5 { -1.0 } else { 1.0 };
            let mut scene = self.dataset.train[at as usize].clone();
            for position in &mut scene.positions {
                let [x, y] = [f64::from(position[0]) * side, f64::from(position[1])];
                *position = [(cos * x - sin * y) as f32, (sin * x + cos * y) as f32];
            }
            scene
        };
        let turned: Vec<Scene> = members.iter().map(turn).collect();
        SceneBatch::new(&turned.iter().collect::<Vec<_>>(), lengths(&self.dataset), &self.device)
    }
}

impl Items for TrainingScenes {
    fn batches(&self, size: usize, key: Key) -> Vec<Vec<u32>> {
        let order = key.permutation(self.dataset.train.len());
        order.chunks(size).map(<[u32]>::to_vec).collect()
    }
}

/// Held-out scenes, in batches.
#[derive(Debug)]
pub struct HeldScenes {
    dataset: Arc<TrajectoryDataset>,
    part: Part,
    samples: usize,
    batches: Vec<SceneBatch>,
    /// What the network makes of each batch whatever is learned; worked out once.
    constants: OnceLock<Vec<Option<Tensor<2>>>>,
}

impl HeldScenes {
    pub(super) fn new(
        dataset: &Arc<TrajectoryDataset>,
        part: Part,
        samples: usize,
    ) -> Result<Option<Self>> {
        let scenes = scenes_of(dataset, part);
        if scenes.is_empty() {
            return Ok(None);
        }
        let batches = batches(scenes, lengths(dataset), &Device::flex())?;
        let (dataset, constants) = (dataset.clone(), OnceLock::new());
        Ok(Some(Self { dataset, part, samples, batches, constants }))
    }

    /// The batches, with what stays the same of them.
    pub(super) fn batches(&self, model: &TrajectoryModel) -> Result<Vec<SceneBatch>> {
        if self.constants.get().is_none() {
            let found = self.batches.iter().map(|batch| model.constants(batch));
            let _ = self.constants.set(found.collect::<Result<_>>()?);
        }
        let constants = self.constants.get().into_iter().flatten();
        let joined = self
            .batches
            .iter()
            .zip(constants)
            .map(|(batch, constants)| SceneBatch { constants: constants.clone(), ..batch.clone() });
        Ok(joined.collect())
    }

    /// How many scenes there are.
    pub(super) fn count(&self) -> usize {
        scenes_of(&self.dataset, self.part).len()
    }

    /// Errors of a model on the batches.
    pub(super) fn score(
        &self,
        model: &dyn Forecaster,
        batches: &[SceneBatch],
        seed: u64,
    ) -> Result<Scores> {
        let scenes = scenes_of(&self.dataset, self.part);
        score(model, scenes, batches, self.samples, key_of(self.part, seed))
    }
}

/// Where the samples of a seed on held-out scenes are drawn from.
pub(super) fn key_of(part: Part, seed: u64) -> Key {
    Key::new(seed).child(match part {
        Part::Validation => 0xade,
        Part::Test => 0x7e57,
    })
}

fn scenes_of(dataset: &TrajectoryDataset, part: Part) -> &[Scene] {
    match part {
        Part::Validation => &dataset.valid,
        Part::Test => &dataset.test,
    }
}

/// Steps that are seen and predicted.
pub(super) fn lengths(dataset: &TrajectoryDataset) -> [usize; 2] {
    [dataset.observed, dataset.predicted]
}

/// What a model without autodiff makes of every scene whatever is learned; nothing if it learns its graphs.
fn constants(
    model: &TrajectoryModel,
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
fn batches(scenes: &[Scene], lengths: [usize; 2], device: &Device) -> Result<Vec<SceneBatch>> {
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

/// Errors of a model without autodiff on scenes, with sampled paths drawn from `key`.
pub fn evaluate(
    model: &dyn Forecaster,
    scenes: &[Scene],
    lengths: [usize; 2],
    samples: usize,
    key: Key,
) -> Result<Scores> {
    score(model, scenes, &batches(scenes, lengths, &Device::flex())?, samples, key)
}

fn score(
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

/// Reads scenes.
pub(super) fn load(source: &Source) -> Result<Arc<TrajectoryDataset>> {
    refuse(source)?;
    let known = trajectory::find(&source.name).is_ok();
    if source.split.is_some() && known {
        let what =
            "divides your own recordings; datasets with a name come with their scenes divided";
        return Err(Error::Config { place: "--split".into(), what: what.into() });
    }
    let table = match &source.split {
        Some(split) => split.parse().map_err(|error: adjoin_data::Error| Error::Config {
            place: format!("--split {split}"),
            what: error.to_string(),
        })?,
        None => TableConfig::default(),
    };
    let locations = Locations::from_environment(source.data_dir.clone());
    Ok(Arc::new(trajectory::load_with(&source.name, &locations, &table)?))
}

/// Reads other scenes for a model that sees and predicts so many steps.
pub(super) fn load_other(
    source: &Source,
    [observed, predicted]: [usize; 2],
    purpose: Purpose,
) -> Result<Arc<TrajectoryDataset>> {
    let table = TableConfig { observed, predicted, ..TableConfig::default() };
    let locations = Locations::from_environment(source.data_dir.clone());
    let purpose = match purpose {
        Purpose::Compare => trajectory::Purpose::Compare,
        Purpose::Predict => trajectory::Purpose::Predict,
    };
    let dataset = trajectory::load_new(&source.name, &locations, &table, purpose)?;
    check_steps(&dataset, [observed, predicted])?;
    Ok(Arc::new(dataset))
}

/// Refuses scenes of other numbers of steps than a model sees and predicts.
pub(super) fn check_steps(
    dataset: &TrajectoryDataset,
    [observed, predicted]: [usize; 2],
) -> Result<()> {
    if lengths(dataset) == [observed, predicted] {
        return Ok(());
    }
    let what = format!(
        "its scenes have {} steps to see and {} to predict, but the model sees {observed} and predicts {predicted}",
        dataset.observed, dataset.predicted
    );
    Err(Error::Config { place: dataset.name.clone(), what })
}

fn refuse(source: &Source) -> Result<()> {
    source.refuse_of_graphs()?;
    match source.subset {
        Some(_) => Err(Error::not_for("--subset", "--task points")),
        None => Ok(()),
    }
}

impl Dataset for Arc<TrajectoryDataset> {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> String {
        TrajectoryDataset::fingerprint(self)
    }

    fn split(&self) -> String {
        String::new()
    }

    /// The fingerprint covers the parts.
    fn split_hash(&self) -> String {
        TrajectoryDataset::fingerprint(self)
    }

    fn source(&self, from: &Source) -> Source {
        let name = match trajectory::find(&from.name) {
            Ok(known) => known.name.into(),
            Err(_) => absolute(Path::new(&from.name)).display().to_string(),
        };
        Source { name, data_dir: from.data_dir.as_deref().map(absolute), ..from.clone() }
    }

    fn heading(&self) -> String {
        let count = |scenes: &[Scene]| {
            let agents: usize = scenes.iter().map(|scene| scene.agents.len()).sum();
            format!("{} ({agents})", scenes.len())
        };
        format!(
            "{}: {} steps seen, {} to predict; scenes (agents) to train {}, to validate {}, to test {}",
            self.name,
            self.observed,
            self.predicted,
            count(&self.train),
            count(&self.valid),
            count(&self.test),
        )
    }
}
