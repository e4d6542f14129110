//! Training state in one file, from which training resumes bit for bit.
//!
//! The file is in safetensors format, so that any reader of it finds the weights:
//!
//! | name | what |
//! |---|---|
//! | `best.PATH` | weights of the best epoch, by the path of the module; what predictions use |
//! | `last.PATH` | weights of the last epoch, from which training resumes |
//! | `ema.PATH` | moving average of the weights, where training keeps one |
//! | `curve` | one row of numbers per epoch; what is absent is NaN |
//! | `best_valid` | metrics of the best epoch |
//! | `rewards` | running rewards, of learners that learn from them |
//! | `optimiser.backbone`, `optimiser.learner` | Adam's moments, as Burn packs them |
//!
//! The metadata holds task, seed, epochs, configuration, and fingerprints of data and split; `crc32c` is
//! a sum over all of it.

mod tensors;

use super::{EpochRecord, History, Trainer};
use crate::{
    Error, Result, files,
    settings::to_toml,
    task::{Settings, Task},
};
use burn::{module::Module, optim::ModuleOptimizer};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Display,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};
use tensors::{Entry, Reader, Writer};

const FORMAT: &str = "adjoin checkpoint 2";

/// Why a checkpoint cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Not safetensors, or cut off.
    #[error("not a whole safetensors file: {0}")]
    NotSafetensors(String),
    /// Somebody else's safetensors.
    #[error("a safetensors file, but no checkpoint of adjoin")]
    Foreign,
    /// Bytes have changed.
    #[error("damaged: its checksum is {found} but {expected} was written")]
    Damaged {
        /// Sum of what was read.
        found: String,
        /// Sum when it was written.
        expected: String,
    },
    /// An entry is not there, or not what it should be.
    #[error("{name} is missing or does not fit: {what}")]
    Entry {
        /// The tensor or the metadata key.
        name: String,
        /// What is wrong.
        what: String,
    },
    /// Made for something else.
    #[error("was made with another {what} ({then} then, {now} now)")]
    Mismatch {
        /// What differs.
        what: &'static str,
        /// In the file.
        then: String,
        /// In this run.
        now: String,
    },
}

/// What a checkpoint must agree with to be used.
#[derive(Debug)]
pub struct Identity<'a, T: Task> {
    /// Network, learner and training.
    pub config: &'a T::Config,
    /// Fingerprint of the dataset.
    pub dataset: &'a str,
    /// Hash of the split.
    pub split: &'a str,
    /// The seed.
    pub seed: u64,
}

/// The state of one seed.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    about: BTreeMap<String, String>,
    entries: BTreeMap<String, Entry>,
}

/// A checkpoint in the making, to which a trainer adds its state.
#[derive(Default)]
pub struct Draft {
    writer: Writer,
    about: BTreeMap<String, String>,
}

impl Draft {
    /// Adds the weights of the best epoch and of the last one.
    pub(super) fn models(&mut self, best: &impl Module, last: &impl Module) {
        self.writer.module("best", best);
        let ids = self.writer.module("last", last);
        self.note("parameters", ids.join(" "));
    }

    /// Adds the moving average of the weights.
    pub(super) fn ema_model(&mut self, ema: &impl Module) {
        self.writer.module("ema", ema);
    }

    /// Adds the moments of an optimiser.
    pub(super) fn optimiser(&mut self, name: &str, optimiser: &ModuleOptimizer) -> Result<()> {
        let bytes = optimiser.into_bytes().map_err(|error| unwritten(name, error.to_string()))?;
        self.writer.bytes(&format!("optimiser.{name}"), bytes.to_vec());
        Ok(())
    }

    /// Adds rows of numbers.
    pub(super) fn floats(&mut self, name: &str, shape: [usize; 2], values: &[f64]) {
        self.writer.floats(name, shape, values);
    }

    /// Adds a line of metadata.
    pub(super) fn note(&mut self, key: &str, value: impl ToString) {
        self.about.insert(key.into(), value.to_string());
    }
}

fn unwritten(name: &str, what: String) -> Error {
    let problem = Problem::Entry { name: name.into(), what };
    Error::Checkpoint { path: PathBuf::new(), problem }
}

impl Checkpoint {
    /// The state of a trainer after an epoch.
    ///
    /// # Errors
    /// If no epoch is done, or the optimiser cannot be packed.
    pub fn of<T: Task>(
        trainer: &Trainer<T>,
        history: &History<T>,
        identity: &Identity<T>,
    ) -> Result<Self> {
        if trainer.epoch() == 0 {
            return Err(unwritten("best", "no epoch is done".into()));
        }
        let mut draft = Draft::default();
        trainer.save(&mut draft)?;
        let mut rows: Vec<Vec<f64>> = history.curve.iter().map(EpochRecord::row).collect();
        // Degrees are learned only when the learner has joined.
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        rows.iter_mut().for_each(|row| row.resize(columns, f64::NAN));
        draft.floats("curve", [rows.len(), columns], &rows.concat());
        draft.note("format", FORMAT);
        draft.note("task", T::NAME);
        draft.note("seed", identity.seed);
        draft.note("epoch", trainer.epoch());
        draft.note("nanoseconds", history.elapsed.as_nanos());
        draft.note("config", to_toml(identity.config));
        draft.note("dataset", identity.dataset);
        draft.note("split", identity.split);
        Ok(Self { path: PathBuf::new(), about: draft.about, entries: draft.writer.entries })
    }

    /// Writes the file; a crash leaves the one before.
    pub fn save(&self, path: &Path) -> Result<()> {
        let refused = |error: safetensors::SafeTensorError| Error::Format {
            path: path.into(),
            what: error.to_string(),
        };
        let mut views = Vec::new();
        for (name, entry) in &self.entries {
            let view = TensorView::new(entry.dtype, entry.shape.clone(), &entry.bytes);
            views.push((name.clone(), view.map_err(refused)?));
        }
        let mut about: HashMap<String, String> = self.about.clone().into_iter().collect();
        about.insert("crc32c".into(), self.sum());
        let bytes = safetensors::serialize(views, Some(about)).map_err(refused)?;
        files::write(path, &bytes)
    }

    /// Reads a file and checks its sum.
    ///
    /// # Errors
    /// If it is not whole, not ours, or damaged.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(Error::file(path))?;
        Self::parse(&bytes, path)
            .map_err(|problem| Error::Checkpoint { path: path.into(), problem })
    }

    fn parse(bytes: &[u8], path: &Path) -> std::result::Result<Self, Problem> {
        let broken =
            |error: safetensors::SafeTensorError| Problem::NotSafetensors(error.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        let about = header.metadata().clone().unwrap_or_default();
        let mut about: BTreeMap<String, String> = about.into_iter().collect();
        if about.get("format").map(String::as_str) != Some(FORMAT) {
            return Err(Problem::Foreign);
        }
        let expected = about.remove("crc32c").unwrap_or_default();
        let entry = |(name, view): (&str, TensorView)| {
            let (dtype, shape) = (view.dtype(), view.shape().to_vec());
            (name.to_string(), Entry { dtype, shape, bytes: view.data().to_vec() })
        };
        let entries = tensors.iter().map(entry).collect();
        let checkpoint = Self { path: path.into(), about, entries };
        let found = checkpoint.sum();
        match found == expected {
            true => Ok(checkpoint),
            false => Err(Problem::Damaged { found, expected }),
        }
    }

    /// A sum over everything, in the order of the names.
    fn sum(&self) -> String {
        let mut sum = 0;
        let mut add = |bytes: &[u8]| sum = crc32c::crc32c_append(sum, bytes);
        for (key, value) in &self.about {
            add(key.as_bytes());
            add(&(value.len() as u64).to_le_bytes());
            add(value.as_bytes());
        }
        for (name, entry) in &self.entries {
            add(name.as_bytes());
            entry.shape.iter().for_each(|&size| add(&(size as u64).to_le_bytes()));
            add(&entry.bytes);
        }
        format!("{sum:08x}")
    }

    /// Refuses a checkpoint of another configuration, dataset, split or seed. Other numbers of epochs or
    /// another patience than before are fine: they decide when to stop, not what is computed.
    ///
    /// # Errors
    /// Names what differs.
    pub fn check<T: Task>(&self, identity: &Identity<T>) -> Result<()> {
        let differs = |what, then: &str, now: &str| {
            let problem = Problem::Mismatch { what, then: then.into(), now: now.into() };
            Err(self.error(problem))
        };
        let seed = self.text("seed")?;
        if seed != identity.seed.to_string() {
            return differs("seed", seed, &identity.seed.to_string());
        }
        for (what, now) in [("dataset", identity.dataset), ("split", identity.split)] {
            let then = self.text(what)?;
            if then != now {
                return differs(what, then, now);
            }
        }
        let place = format!("the configuration in {}", self.path.display());
        let then = T::Config::read(&place, self.text("config")?)?.stopping_as(identity.config);
        if then != *identity.config {
            let (then, now) = (to_toml(&then), to_toml(identity.config));
            let mut lines = then.lines().zip(now.lines());
            let (then, now) = lines.find(|(a, b)| a != b).unwrap_or(("other keys", "these keys"));
            return differs("configuration", then, now);
        }
        Ok(())
    }

    /// The weights of the best epoch in a model of the same form.
    ///
    /// # Errors
    /// If a weight is missing or has another shape.
    pub fn best_model<M: Module>(&self, model: M) -> Result<M> {
        self.fill("best", model)
    }

    /// The weights of the last epoch in a model of the same form.
    ///
    /// # Errors
    /// If a weight is missing or has another shape.
    pub(super) fn last_model<M: Module>(&self, model: M) -> Result<M> {
        self.fill("last", model)
    }

    /// The moving average of the weights in a model of the same form.
    ///
    /// # Errors
    /// If a weight is missing or has another shape.
    pub(super) fn ema_model<M: Module>(&self, model: M) -> Result<M> {
        self.fill("ema", model)
    }

    /// Brings a fresh trainer to the state that was saved.
    pub fn restore<T: Task>(&self, trainer: &mut Trainer<T>) -> Result<History<T>> {
        trainer.restore(self)?;
        let columns = self.entry("curve", Dtype::F64)?.shape.get(1).copied().unwrap_or(0);
        let rows = self.floats("curve")?;
        let curve = rows.chunks_exact(columns.max(1)).map(EpochRecord::of_row).collect();
        let elapsed = Duration::from_nanos(self.number("nanoseconds")?);
        Ok(History { curve, elapsed })
    }

    /// An optimiser with the moments that were saved, from a fresh one.
    pub(super) fn optimiser(&self, name: &str, fresh: ModuleOptimizer) -> Result<ModuleOptimizer> {
        let entry = self.entry(&format!("optimiser.{name}"), Dtype::U8)?;
        let packed = burn::tensor::Bytes::from_bytes_vec(entry.bytes.clone());
        fresh.from_bytes(packed).map_err(|error| self.wrong(name, error.to_string()))
    }

    /// Numbers by name.
    pub(super) fn floats(&self, name: &str) -> Result<Vec<f64>> {
        let chunks = self.entry(name, Dtype::F64)?.bytes.chunks_exact(8);
        Ok(chunks.map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap_or_default())).collect())
    }

    fn fill<M: Module>(&self, prefix: &str, model: M) -> Result<M> {
        let ids = self.text("parameters")?;
        let mut reader = Reader::new(&self.entries, prefix, ids);
        let model = model.map(&mut reader);
        match reader.problem {
            None => Ok(model),
            Some((name, what)) => Err(self.wrong(&name, what)),
        }
    }

    fn entry(&self, name: &str, dtype: Dtype) -> Result<&Entry> {
        let entry = self.entries.get(name).filter(|entry| entry.dtype == dtype);
        entry.ok_or_else(|| self.wrong(name, format!("no such tensor of type {dtype:?}")))
    }

    fn text(&self, key: &str) -> Result<&str> {
        let found = self.about.get(key).map(String::as_str);
        found.ok_or_else(|| self.wrong(key, "not in the metadata".into()))
    }

    /// A number of the metadata.
    pub(super) fn number<T: FromStr<Err: Display>>(&self, key: &str) -> Result<T> {
        self.text(key)?.parse().map_err(|error: T::Err| self.wrong(key, error.to_string()))
    }

    fn wrong(&self, name: &str, what: String) -> Error {
        self.error(Problem::Entry { name: name.into(), what })
    }

    fn error(&self, problem: Problem) -> Error {
        Error::Checkpoint { path: self.path.clone(), problem }
    }
}
