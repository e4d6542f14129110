//! Training state in one file, from which training goes on bit for bit.
//!
//! The file is in safetensors format, so that any reader of it finds the weights:
//!
//! | name | what |
//! |---|---|
//! | `best.PATH` | weights of the best epoch, by the path of the module; what predictions use |
//! | `last.PATH` | weights of the last epoch, from which training goes on |
//! | `curve` | one row per epoch: epoch, loss, training, validation, mean and deviation of k |
//! | `baseline` | running rewards of the training nodes, of learners that learn from them |
//! | `optimiser.backbone`, `optimiser.learner` | Adam's moments, as Burn packs them |
//!
//! The metadata holds seed, epochs, configuration, and fingerprints of data and split; `crc32c` is a sum
//! over all of it.

mod tensors;

use crate::{
    AnyLearner, Config, Error, Result, files,
    node::{Best, NodeModel, Optimisers, Trainer},
    record::EpochRecord,
};
use adjoin::loss::Baseline;
use burn::{module::Module, optim::ModuleOptimizer};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Display,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};
pub(crate) use tensors::Writer;
use tensors::{Entry, Reader};

const FORMAT: &str = "adjoin checkpoint 1";
const COLUMNS: usize = 6;

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
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// Network, learner and training.
    pub config: &'a Config,
    /// Fingerprint of the dataset.
    pub dataset: &'a str,
    /// Hash of the split.
    pub split: &'a str,
    /// The seed.
    pub seed: u64,
}

/// Data and seed that a checkpoint was made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
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

/// What else a run wants back, apart from the trainer itself.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// All epochs so far.
    pub curve: Vec<EpochRecord>,
    /// Time spent so far.
    pub elapsed: Duration,
}

impl<'a> Identity<'a> {
    fn origin(&self) -> Origin<'a> {
        Origin { dataset: self.dataset, split: self.split, seed: self.seed }
    }
}

impl Checkpoint {
    /// The state of a trainer after an epoch.
    ///
    /// # Errors
    /// If no epoch is done, or the optimiser cannot be packed.
    pub fn of(trainer: &Trainer, progress: &Progress, identity: Identity) -> Result<Self> {
        let best = trainer.best().ok_or_else(|| Self::lacking("best", "no epoch is done"))?;
        let mut writer = Writer::default();
        writer.module("best", &best.model);
        let ids = writer.module("last", &trainer.model);
        let Optimisers { backbone, learner } = &trainer.optimisers;
        for (name, optimiser) in [("backbone", backbone), ("learner", learner)] {
            writer.optimiser(name, optimiser)?;
        }
        if matches!(trainer.model.learner, AnyLearner::Dgm(_)) {
            let baseline = trainer.baseline.means();
            writer.floats("baseline", [1, baseline.len()], baseline);
        }
        let rows = progress.curve.iter().flat_map(row).collect::<Vec<f64>>();
        writer.floats("curve", [progress.curve.len(), COLUMNS], &rows);
        let about = [
            ("epoch", trainer.epoch().to_string()),
            ("best_epoch", best.epoch.to_string()),
            ("best_accuracy", best.accuracy.to_string()),
            ("best_loss", best.loss.to_string()),
            ("step_nanoseconds", trainer.step_time().as_nanos().to_string()),
            ("nanoseconds", progress.elapsed.as_nanos().to_string()),
            ("config", identity.config.to_toml()),
            ("parameters", ids.join(" ")),
        ];
        Ok(Self::new(writer, identity.origin(), about))
    }

    /// Tensors, where they come from, and what else there is to say.
    pub(crate) fn new<'a>(
        writer: Writer,
        origin: Origin,
        about: impl IntoIterator<Item = (&'a str, String)>,
    ) -> Self {
        let always = [
            ("format", FORMAT.to_string()),
            ("seed", origin.seed.to_string()),
            ("dataset", origin.dataset.to_string()),
            ("split", origin.split.to_string()),
        ];
        let about = always.into_iter().chain(about);
        let about = about.map(|(key, value)| (key.to_string(), value)).collect();
        Self { path: PathBuf::new(), about, entries: writer.entries }
    }

    /// There is nothing to save yet.
    pub(crate) fn lacking(name: &str, what: &str) -> Error {
        let problem = Problem::Entry { name: name.into(), what: what.into() };
        Error::Checkpoint { path: PathBuf::new(), problem }
    }

    /// Writes the file; a crash leaves the one before.
    ///
    /// # Errors
    /// What the system says.
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

    /// The best epoch.
    ///
    /// # Errors
    /// If the entry is missing.
    pub fn best_epoch(&self) -> Result<usize> {
        self.number("best_epoch")
    }

    /// The seed.
    ///
    /// # Errors
    /// If the entry is missing.
    pub fn seed(&self) -> Result<u64> {
        self.number("seed")
    }

    /// Refuses a checkpoint of another configuration, dataset, split or seed. More epochs or more
    /// patience than before are fine: they decide when to stop, not what is computed.
    ///
    /// # Errors
    /// Names what differs.
    pub fn check(&self, identity: Identity) -> Result<()> {
        self.check_origin(identity.origin())?;
        let place = format!("the configuration in {}", self.path.display());
        let mut then = Config::from_toml(&place, self.text("config")?, &Config::default())?;
        then.train.epochs = identity.config.train.epochs;
        then.train.patience = identity.config.train.patience;
        self.check_config(&then.to_toml(), &identity.config.to_toml())
    }

    /// Refuses a checkpoint of another dataset, split or seed.
    pub(crate) fn check_origin(&self, origin: Origin) -> Result<()> {
        let seed = origin.seed.to_string();
        for (what, now) in [("seed", &*seed), ("dataset", origin.dataset), ("split", origin.split)]
        {
            let then = self.text(what)?;
            if then != now {
                let problem = Problem::Mismatch { what, then: then.into(), now: now.into() };
                return Err(self.error(problem));
            }
        }
        Ok(())
    }

    /// Refuses another configuration, naming the first line that differs.
    pub(crate) fn check_config(&self, then: &str, now: &str) -> Result<()> {
        if then == now {
            return Ok(());
        }
        let mut lines = then.lines().zip(now.lines());
        let (then, now) = lines.find(|(a, b)| a != b).unwrap_or(("other keys", "these keys"));
        let (then, now) = (then.into(), now.into());
        Err(self.error(Problem::Mismatch { what: "configuration", then, now }))
    }

    /// The weights of the best epoch in a model of the same form.
    ///
    /// # Errors
    /// If a weight is missing or has another shape.
    pub fn best_model(&self, model: NodeModel) -> Result<NodeModel> {
        self.fill("best", model)
    }

    /// Brings a fresh trainer to the state that was saved.
    ///
    /// # Errors
    /// If an entry is missing or does not fit.
    pub fn restore(&self, trainer: &mut Trainer) -> Result<Progress> {
        let model = self.fill("best", trainer.model.clone())?;
        let epoch = self.best_epoch()?;
        let warm_up = epoch < trainer.config.train.warm_up;
        let evaluation = model.valid().evaluate(trainer.data, &trainer.prepared, warm_up)?;
        let (accuracy, loss) = (self.number("best_accuracy")?, self.number("best_loss")?);
        trainer.best = Some(Best { epoch, accuracy, loss, model, evaluation });
        trainer.model = self.fill("last", trainer.model.clone())?;
        let Optimisers { backbone, learner } = Optimisers::new(trainer.config);
        trainer.optimisers = Optimisers {
            backbone: self.optimiser("backbone", backbone)?,
            learner: self.optimiser("learner", learner)?,
        };
        if matches!(trainer.model.learner, AnyLearner::Dgm(_)) {
            trainer.baseline = Baseline::from_means(self.floats("baseline")?);
        }
        trainer.epoch = self.number("epoch")?;
        trainer.step_time = Duration::from_nanos(self.number("step_nanoseconds")?);
        let elapsed = Duration::from_nanos(self.number("nanoseconds")?);
        Ok(Progress { curve: self.curve()?, elapsed })
    }

    fn curve(&self) -> Result<Vec<EpochRecord>> {
        Ok(self.floats("curve")?.chunks_exact(COLUMNS).map(epoch_of).collect())
    }

    pub(crate) fn floats(&self, name: &str) -> Result<Vec<f64>> {
        let chunks = self.entry(name, Dtype::F64)?.bytes.chunks_exact(8);
        Ok(chunks.map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap_or_default())).collect())
    }

    /// A fresh optimiser with the moments that were saved.
    pub(crate) fn optimiser(&self, name: &str, fresh: ModuleOptimizer) -> Result<ModuleOptimizer> {
        let entry = self.entry(&format!("optimiser.{name}"), Dtype::U8)?;
        let bytes = burn::tensor::Bytes::from_bytes_vec(entry.bytes.clone());
        fresh.from_bytes(bytes).map_err(|error| self.wrong(name, error.to_string()))
    }

    /// A model of the same form with the weights below a prefix.
    pub(crate) fn fill<M: Module>(&self, prefix: &str, model: M) -> Result<M> {
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

    pub(crate) fn text(&self, key: &str) -> Result<&str> {
        let found = self.about.get(key).map(String::as_str);
        found.ok_or_else(|| self.wrong(key, "not in the metadata".into()))
    }

    pub(crate) fn number<T: FromStr<Err: Display>>(&self, key: &str) -> Result<T> {
        self.text(key)?.parse().map_err(|error: T::Err| self.wrong(key, error.to_string()))
    }

    fn wrong(&self, name: &str, what: String) -> Error {
        self.error(Problem::Entry { name: name.into(), what })
    }

    fn error(&self, problem: Problem) -> Error {
        Error::Checkpoint { path: self.path.clone(), problem }
    }
}

/// Writes the weights of a model of any kind, below `best`, with something about it: to be read by other
/// programs, not to go on from.
///
/// # Errors
/// What the system says.
pub(crate) fn save_weights(
    path: &Path,
    model: &impl Module,
    about: BTreeMap<String, String>,
) -> Result<()> {
    let mut writer = Writer::default();
    writer.module("best", model);
    Checkpoint { path: path.into(), about, entries: writer.entries }.save(path)
}

/// An epoch as a row of the curve; what is absent is NaN.
fn row(epoch: &EpochRecord) -> [f64; COLUMNS] {
    let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let EpochRecord { epoch, loss, train, valid, mean_degree, std_degree, .. } = epoch;
    [*epoch as f64, *loss, *train, *valid, or_nan(*mean_degree), or_nan(*std_degree)]
}

fn epoch_of(row: &[f64]) -> EpochRecord {
    let or_none = |value: f64| (!value.is_nan()).then_some(value);
    EpochRecord {
        epoch: row[0] as usize,
        loss: row[1],
        train: row[2],
        valid: row[3],
        mean_degree: or_none(row[4]),
        std_degree: or_none(row[5]),
        degrees: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
