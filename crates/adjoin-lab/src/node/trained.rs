//! A run that was trained before, ready to be used.

use super::{Evaluation, NodeData, NodeModel};
use crate::{
    Config, Error, Result,
    checkpoint::{self, Checkpoint},
    labels::Scorer,
    plan::Layered,
    run,
};
use adjoin_data::{NodeDataset, Split};
use burn::tensor::Device;
use std::path::{Path, PathBuf};

/// The models of a run with the data to use them on.
#[derive(Debug)]
pub struct Trained {
    folder: PathBuf,
    config: Config,
    /// The seeds of the run.
    pub seeds: Vec<u64>,
    /// Name of the network.
    pub backbone: String,
    /// Name of the learner.
    pub learner: String,
    /// The data: that of the run, or other data that was asked for.
    pub dataset: NodeDataset,
    /// The split of the data.
    pub split: Split,
    data: NodeData,
    device: Device,
}

impl Trained {
    /// Opens the folder of one run.
    ///
    /// # Errors
    /// If it is no such folder, or its data is not found or has changed.
    pub fn open(folder: &Path, dataset: Option<&str>, data_dir: Option<&Path>) -> Result<Self> {
        let (plan, config) = run::open_single::<Config>(folder)?;
        let (dataset, split) = plan.load(dataset, data_dir)?;
        let device = Device::flex();
        let data = NodeData::new(&dataset, config.train.normalise_features, &device)?;
        let learner = plan.learners.first().cloned().unwrap_or_default();
        let (folder, backbone) = (folder.to_path_buf(), config.backbone_name());
        let seeds = plan.seeds;
        Ok(Self { folder, config, seeds, backbone, learner, dataset, split, data, device })
    }

    /// What the best epoch of a seed predicts.
    ///
    /// # Errors
    /// If the checkpoint is missing or damaged, or the data has other features or classes than
    /// the model.
    pub fn evaluate(&self, seed: u64) -> Result<Evaluation> {
        run::check_seed(&self.folder, &self.seeds, seed)?;
        let checkpoint = Checkpoint::load(&checkpoint::file_of(&self.folder, seed))?;
        let fresh = NodeModel::new(&self.config, &self.data, seed, &self.device)?;
        let model = checkpoint.best_model(fresh)?;
        let prepared = model.prepare(&self.data)?;
        let warm_up = checkpoint.number::<usize>("best_epoch")? < self.config.train.warm_up;
        model.evaluate(&self.data, &prepared, warm_up)
    }

    /// Accuracy on the validation nodes, if there are any, and on the test nodes.
    ///
    /// # Errors
    /// If there is nothing to test with.
    pub fn scores(&self, evaluation: &Evaluation) -> Result<(Option<f64>, f64)> {
        let Split { valid, test, .. } = &self.split;
        if test.is_empty() {
            let what = "there are no labelled nodes to test with: `adjoin predict` needs none";
            return Err(Error::Config { place: self.dataset.name.clone(), what: what.into() });
        }
        let score = |nodes: &[u32]| {
            Ok::<_, Error>(Scorer::new(&self.dataset, nodes)?.accuracy(&evaluation.predicted))
        };
        let validation = (!valid.is_empty()).then(|| score(valid)).transpose()?;
        Ok((validation, score(test)?))
    }
}
