//! A run of point clouds in its folder.

use super::{
    PointsConfig, PointsExperiment,
    inspect::{examples, inspect},
};
use crate::{
    Result, files,
    node::Observer,
    record::RunRecord,
    report,
    run::{REPORT, RunFolder, write_json, write_record},
};
use adjoin_data::points::PointDataset;

/// Name of the file of test clouds with the degrees of their points, a list of
/// [`CloudRecord`](super::CloudRecord).
pub const CLOUDS: &str = "clouds.json";

/// Test clouds in that file.
const EXAMPLES: usize = 12;

impl RunFolder<PointsConfig> {
    /// Trains every learner with every seed and writes all files; goes on where checkpoints are.
    /// `observe` gives the observer of a learner.
    ///
    /// # Errors
    /// The first error of training or writing; checkpoints stay in the working folder.
    pub fn execute<O: Observer>(
        &self,
        dataset: &PointDataset,
        threads: usize,
        observe: impl Fn(&str) -> O,
    ) -> Result<Vec<RunRecord>> {
        let mut records = Vec::new();
        for (learner, config) in self.plan().learners.iter().zip(self.configs()) {
            let folder = self.part(learner);
            let seeds = &self.plan().seeds;
            let experiment = PointsExperiment { dataset, config, learner, seeds, threads };
            let outcome = experiment.run_in(&observe(learner), Some(&folder))?;
            // The first seed stands for the run.
            if let Some(best) = outcome.best.first() {
                let clouds = examples(dataset, EXAMPLES);
                let clouds = inspect(&best.model, dataset, &clouds, config.points)?;
                write_json(&folder.join(CLOUDS), &clouds)?;
            }
            let record = RunRecord { command: self.plan().command.clone(), ..outcome.record };
            write_record(&folder, &record)?;
            records.push(record);
        }
        if records.len() > 1 {
            let page = report::render(&records)?;
            files::write(&self.work().join(REPORT), page.as_bytes())?;
        }
        Ok(records)
    }
}
