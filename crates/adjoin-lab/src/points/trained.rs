//! A run that was trained before, ready to be used.

use super::{
    PointModel, PointsConfig, PointsEvaluation, PointsRecord, batch::device, experiment::chosen,
};
use crate::{
    Error, Result,
    checkpoint::{self, Checkpoint},
    export::field,
    run,
};
use adjoin_data::points::PointDataset;
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

/// The models of a run with the data to use them on.
#[derive(Debug)]
pub struct PointsTrained {
    folder: PathBuf,
    config: PointsConfig,
    /// What the run left behind.
    pub record: PointsRecord,
    /// The data: that of the run, or other data that was asked for.
    pub dataset: PointDataset,
}

impl PointsTrained {
    /// Opens the folder of one run.
    ///
    /// # Errors
    /// If it is no such folder, or its data is not found, has changed, or has other classes.
    pub fn open(folder: &Path, dataset: Option<&str>, data_dir: Option<&Path>) -> Result<Self> {
        let (plan, config) = run::open_single::<PointsConfig>(folder)?;
        let record: PointsRecord = run::record::<PointsConfig>(folder)?;
        let dataset = plan.load_points(dataset, data_dir)?;
        if dataset.class_names != record.class_names {
            let what = format!(
                "has the classes {:?}; the run was trained for {:?}",
                dataset.class_names, record.class_names
            );
            return Err(Error::Config { place: dataset.name, what });
        }
        Ok(Self { folder: folder.into(), config, record, dataset })
    }

    /// The seeds of the run.
    pub fn seeds(&self) -> Vec<u64> {
        self.record.run.seeds.iter().map(|seed| seed.seed).collect()
    }

    /// The model of the best epoch of a seed.
    ///
    /// # Errors
    /// If the checkpoint is missing or damaged.
    pub fn model(&self, seed: u64) -> Result<PointModel> {
        run::check_seed(&self.folder, &self.seeds(), seed)?;
        let checkpoint = Checkpoint::load(&checkpoint::file_of(&self.folder, seed))?;
        let classes = self.record.class_names.len();
        checkpoint.best_model(PointModel::new(&self.config, classes, seed, &device())?)
    }

    /// What the model of a seed makes of the test clouds.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub fn test(&self, seed: u64) -> Result<PointsEvaluation> {
        let clouds = chosen(&self.dataset, &self.dataset.split.test);
        PointsEvaluation::of(&self.model(seed)?, &clouds, self.config.points)
    }

    /// Predictions for all test clouds as CSV: `cloud,class,predicted,probability`.
    ///
    /// # Errors
    /// As [`model`](Self::model).
    pub fn predictions(&self, seed: u64) -> Result<String> {
        let names = &self.dataset.class_names;
        let name = |class: u32| names.get(class as usize).map_or_else(String::new, |c| field(c));
        let mut out = String::from("cloud,class,predicted,probability\n");
        let clouds = chosen(&self.dataset, &self.dataset.split.test);
        for (cloud, found) in clouds.iter().zip(self.test(seed)?.predictions) {
            let (cloud, class) = (field(&cloud.name), name(found.class));
            let (predicted, probability) = (name(found.predicted), found.probability);
            let _ = writeln!(out, "{cloud},{class},{predicted},{probability:.4}");
        }
        Ok(out)
    }
}
