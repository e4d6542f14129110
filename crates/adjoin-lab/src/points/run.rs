//! A run of point clouds in its folder.

use super::{
    PointsConfig, PointsExperiment, PointsOutcome, PointsRecord,
    inspect::{examples, inspect},
};
use crate::{
    LearnerConfig, Result,
    node::Observer,
    record::{DegreeHistogram, RunRecord, Tally},
    report,
    run::{RunFolder, curves, epochs, write_results},
};
use adjoin_data::points::PointDataset;

/// Test clouds of a record.
const EXAMPLES: usize = 8;

/// Most bars of a histogram.
const BARS: usize = 30;

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
    ) -> Result<Vec<PointsRecord>> {
        let mut records = Vec::new();
        for (learner, config) in self.plan().learners.iter().zip(self.configs()) {
            let folder = self.part(learner);
            let seeds = &self.plan().seeds;
            let experiment = PointsExperiment { dataset, config, learner, seeds, threads };
            let outcome = experiment.run_in(&observe(learner), Some(&folder))?;
            let record = record(outcome, dataset, config, &self.plan().command)?;
            let page = report::render_points(std::slice::from_ref(&record))?;
            let (epochs, curves) = (epochs(&record.run), curves(&record.run));
            write_results(&folder, &record, &epochs, &curves, &page)?;
            records.push(record);
        }
        if records.len() > 1 {
            self.write_page(&report::render_points(&records)?)?;
        }
        Ok(records)
    }
}

/// The first seed stands for the run in drawings.
fn record(
    outcome: PointsOutcome,
    dataset: &PointDataset,
    config: &PointsConfig,
    command: &str,
) -> Result<PointsRecord> {
    let PointsOutcome { record, best, tests } = outcome;
    let clouds = match best.first() {
        Some(best) => inspect(&best.model, dataset, &examples(dataset, EXAMPLES), config.points)?,
        None => Vec::new(),
    };
    let bars = |tally: &Tally| DegreeHistogram::of(&Tally::default(), tally, BARS);
    Ok(PointsRecord {
        run: RunRecord { command: command.into(), ..record },
        class_names: dataset.class_names.clone(),
        mean_class: tests.iter().map(|test| test.mean_class()).collect(),
        clouds,
        has_k: matches!(config.learner, LearnerConfig::Dgg(_)),
        layers: tests.first().map_or_else(Vec::new, |test| test.tallies.iter().map(bars).collect()),
    })
}
