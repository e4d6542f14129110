//! A run that was trained before, ready to be used.

use super::{
    folder::{check_seed, open_single, read_record},
    plan::Plan,
    record::RunRecord,
};
use crate::{
    Error, Result,
    task::{Metrics, Model, Part, Predictions, Purpose, Source, Task, Test},
    train::{checkpoint::Checkpoint, file_of},
};
use burn::tensor::Device;
use std::path::{Path, PathBuf};

/// The models of a run with the data to use them on.
pub struct Trained<T: Task> {
    folder: PathBuf,
    config: T::Config,
    /// What the run left behind.
    pub record: RunRecord<T>,
    /// The data: that of the run, or other data that was asked for.
    pub data: T::Data,
    context: T::Context,
}

impl<T: Task> Trained<T> {
    /// Opens the folder of one run, to use its models on its own data or on other data.
    ///
    /// # Errors
    /// If it is no such folder, its data is not found or has changed, or other data does not fit.
    pub fn open(
        folder: &Path,
        other: Option<(&str, Purpose)>,
        data_dir: Option<PathBuf>,
    ) -> Result<Self> {
        let (plan, config): (Plan, T::Config) = open_single::<T>(folder)?;
        let record = read_record::<T>(folder)?;
        let data = match other {
            None => plan.load::<T>(data_dir)?,
            Some((name, purpose)) => {
                let data_dir = data_dir.or(plan.source.data_dir.clone());
                // Other data is taken as it is.
                let wrong_edges = None;
                let source = Source { name: name.into(), data_dir, wrong_edges, ..plan.source };
                T::load_other(&source, &record.fitted, purpose)?
            }
        };
        let context = T::context(&config, &data, &record.fitted, &Device::flex())?;
        Ok(Self { folder: folder.into(), config, record, data, context })
    }

    /// The seeds of the run.
    pub fn seeds(&self) -> Vec<u64> {
        self.record.seeds.iter().map(|seed| seed.seed).collect()
    }

    /// The seed with the best validation result.
    pub fn best_seed(&self) -> Result<u64> {
        let criterion = |metrics: &T::Metrics| metrics.criterion(Default::default())[0];
        let order = |a: &f64, b: &f64| a.total_cmp(b);
        let seeds = self.record.seeds.iter().map(|seed| (seed.seed, criterion(&seed.valid)));
        let best = seeds.min_by(|a, b| order(&a.1, &b.1));
        best.map(|(seed, _)| seed).ok_or_else(|| Error::Format {
            path: self.folder.clone(),
            what: "the run has no seed".into(),
        })
    }

    /// The model of the best epoch of a seed.
    ///
    /// # Errors
    /// If the checkpoint is missing or damaged.
    pub fn model(&self, seed: u64) -> Result<T::Model> {
        check_seed(&self.folder, &self.seeds(), seed)?;
        let checkpoint = Checkpoint::load(&file_of(&self.folder, seed))?;
        let (fitted, device) = (&self.record.fitted, Device::flex());
        let fresh = T::model(&self.config, fitted, &self.context, seed, &device)?;
        checkpoint.best_model(fresh)?.bind(&self.context)
    }

    /// Metrics of a seed on validation data, if there is any, and on test data.
    ///
    /// # Errors
    /// As [`model`](Self::model), or if there is nothing to test with.
    pub fn scores(&self, seed: u64) -> Result<(Option<T::Metrics>, T::Metrics)> {
        let model = self.model(seed)?;
        let of =
            |held: &T::Held| Ok::<_, Error>(model.evaluate(&self.context, held, seed)?.metrics);
        let validation = T::held(&self.config, &self.data, Part::Validation)?;
        let validation = validation.as_ref().map(of).transpose()?;
        Ok((validation, of(Test::<T>::of(&self.config, &self.data)?.held())?))
    }

    /// Predictions of a seed as CSV.
    pub fn predictions(&self, seed: u64, wanted: &Predictions) -> Result<String> {
        let model = self.model(seed)?;
        T::predictions(&self.config, &self.data, &self.context, &model, seed, wanted)
    }
}
