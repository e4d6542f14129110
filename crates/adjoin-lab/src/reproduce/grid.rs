//! Cells of a table: one configuration on one dataset each, kept in a folder if that is wanted.

use crate::{
    Error, Result, files,
    run::{
        Experiment, Observer, RECORD, RunRecord, Teachers, read_json, refuse_unused, with_settings,
        write_json,
    },
    settings::Layers,
    task::{Dataset, Model, Settings, Task},
    train::{checkpoint::Checkpoint, file_of},
};
use adjoin_data::Locations;
use burn::tensor::Device;
use std::path::{Path, PathBuf};

/// How much of a table to reproduce.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seeds of every row.
    pub seeds: Vec<u64>,
    /// Threads to use.
    pub threads: usize,
    /// Where data is sought.
    pub locations: Locations,
    /// Only these datasets; all of the table if empty.
    pub datasets: Vec<String>,
    /// Only these backbones; all of the table if empty.
    pub backbones: Vec<String>,
    /// Only these learners; all of the table if empty.
    pub learners: Vec<String>,
    /// `key=value` on top of the configurations; settings of one learner are for its rows only.
    pub settings: Vec<String>,
    /// Another number of epochs than the recipes', for trajectories.
    pub epochs: Option<usize>,
    /// Where what is finished is kept, and taken from.
    pub keep: Option<PathBuf>,
    /// The smaller setting, for point clouds and trajectories.
    pub reduced: bool,
}

/// What came of a cell, and its models if it was run now.
type Finished<T> = (RunRecord<T>, Option<Vec<<T as Task>::Model>>);

/// One configuration on one dataset.
pub(super) struct Cell<'a, T: Task> {
    /// Names that tell cells apart, the learner last.
    pub names: Vec<&'a str>,
    pub data: &'a T::Data,
    pub layers: Layers<T::Config>,
}

impl Options {
    /// Whether a dataset, a backbone and a learner are to be run.
    pub(super) fn wants(&self, [dataset, backbone, learner]: [&str; 3]) -> bool {
        let wanted =
            |list: &[String], name: &str| list.is_empty() || list.iter().any(|n| n == name);
        wanted(&self.datasets, dataset)
            && wanted(&self.backbones, backbone)
            && wanted(&self.learners, learner)
    }

    /// Refuses names that are not in a table: nothing would be run for them.
    pub(super) fn check_names(&self, known: [&[&str]; 3]) -> Result<()> {
        if self.epochs == Some(0) || self.seeds.is_empty() {
            let what = "epochs and seeds must be at least 1".into();
            return Err(Error::Config { place: "reproduce".into(), what });
        }
        let asked = [
            ("--datasets", &self.datasets),
            ("--backbones", &self.backbones),
            ("--learners", &self.learners),
        ];
        for ((place, names), known) in asked.into_iter().zip(known) {
            if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
                let what = format!("{name:?} is not in the table; choose from {known:?}");
                return Err(Error::Config { place: place.into(), what });
            }
        }
        Ok(())
    }

    /// Configurations with the settings on top; refuses settings that are for none of them.
    pub(super) fn on_top<C: Settings>(&self, all: Vec<Layers<C>>) -> Result<Vec<Layers<C>>> {
        let mut used = vec![false; self.settings.len()];
        let set = |layers| with_settings(layers, &self.settings, &mut used);
        let done = all.into_iter().map(set).collect::<Result<Vec<_>>>()?;
        refuse_unused(&self.settings, &used, "--backbones or --learners")?;
        Ok(done)
    }

    /// The folder of a cell, made if it is not there; none if nothing is kept.
    fn folder(&self, names: &[&str]) -> Result<Option<PathBuf>> {
        let Some(keep) = &self.keep else { return Ok(None) };
        let odd = |c: char| !c.is_ascii_alphanumeric() && !"+-".contains(c);
        let folder = keep.join(names.join("-").replace(odd, "_"));
        std::fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        files::remove_leftovers(&folder);
        Ok(Some(folder))
    }

    /// All seeds of a cell, test at the best validation epoch; or what was kept of it. `teachers` are from the
    /// cells before it, and for those after it.
    pub(super) fn measure<T: Task>(
        &self,
        cell: &Cell<T>,
        observer: &dyn Observer,
        teachers: &mut Teachers<T>,
    ) -> Result<RunRecord<T>> {
        Ok(self.outcome(cell, observer, teachers)?.0)
    }

    /// The same with the model of the best epoch of every seed.
    pub(super) fn measure_models<T: Task>(
        &self,
        cell: &Cell<T>,
        observer: &dyn Observer,
    ) -> Result<(RunRecord<T>, Vec<T::Model>)> {
        let (record, models) = self.outcome(cell, observer, &mut Teachers::default())?;
        if let Some(models) = models {
            return Ok((record, models));
        }
        let folder = self.folder(&cell.names)?.unwrap_or_default();
        let (config, device) = (&cell.layers.config, Device::flex());
        let context = T::context(config, cell.data, &record.fitted, &device)?;
        let model = |&seed: &u64| {
            let fresh = T::model(config, &record.fitted, &context, seed, &device)?;
            Checkpoint::load(&file_of(&folder, seed))?.best_model(fresh)?.bind(&context)
        };
        let models = self.seeds.iter().map(model).collect::<Result<_>>()?;
        Ok((record, models))
    }

    /// What came of a cell, and its models if it was run now.
    fn outcome<T: Task>(
        &self,
        cell: &Cell<T>,
        observer: &dyn Observer,
        teachers: &mut Teachers<T>,
    ) -> Result<Finished<T>> {
        let Cell { names, data, layers } = cell;
        let data = *data;
        let folder = self.folder(names)?;
        if let Some(found) =
            folder.as_ref().map(|f| self.found(&f.join(RECORD), cell)).transpose()?
            && let Some(record) = found
        {
            return Ok((record, None));
        }
        let outcome = Experiment {
            data,
            layers,
            learner: names.last().copied().unwrap_or_default(),
            seeds: &self.seeds,
            threads: self.threads,
            teachers,
            command: "adjoin reproduce",
        }
        .run_in(observer, folder.as_deref())?;
        teachers.keep(&layers.config, &outcome);
        if let Some(folder) = &folder {
            write_json(&folder.join(RECORD), &outcome.record)?;
        }
        let models = outcome.best.into_iter().map(|best| best.model).collect();
        Ok((outcome.record, Some(models)))
    }

    /// A cell that was finished before, with the same data, settings and seeds.
    fn found<T: Task>(&self, path: &Path, cell: &Cell<T>) -> Result<Option<RunRecord<T>>> {
        if !path.is_file() {
            return Ok(None);
        }
        let record: RunRecord<T> = read_json(path)?;
        let seeds: Vec<u64> = record.seeds.iter().map(|seed| seed.seed).collect();
        let then = T::Config::read(&path.display().to_string(), &record.config_toml)?;
        let same = seeds == self.seeds
            && record.fingerprint == cell.data.fingerprint()
            && record.split_hash == cell.data.split_hash()
            && then == cell.layers.config;
        Ok(same.then_some(record))
    }
}
