//! Training state of point clouds as a [`Checkpoint`].

use super::{PointsBest, PointsTrainer, trainer::Optimisers};
use crate::{
    Result,
    checkpoint::{Checkpoint, Origin, Progress, Writer},
    record::{EpochRecord, LayerDegree},
    settings,
};
use adjoin::loss::Baseline;
use burn::{module::Module, optim::ModuleOptimizer};
use std::time::Duration;

/// Numbers of an epoch before those of its layers.
const COLUMNS: usize = 6;

/// The state of a trainer after an epoch.
///
/// # Errors
/// If no epoch is done, or an optimiser cannot be packed.
pub(super) fn checkpoint(
    trainer: &PointsTrainer,
    progress: &Progress,
    origin: Origin,
) -> Result<Checkpoint> {
    let best = trainer.best().ok_or_else(|| Checkpoint::lacking("best", "no epoch is done"))?;
    let mut writer = Writer::default();
    writer.module("best", &best.model);
    let ids = writer.module("last", &trainer.model);
    let Optimisers { network, learners } = &trainer.optimisers;
    for (name, optimiser) in [("network", network), ("learners", learners)] {
        writer.optimiser(name, optimiser)?;
    }
    writer.floats("baseline", [1, 1], trainer.baseline.means());
    let width = progress.curve.first().map_or(COLUMNS, |epoch| COLUMNS + 2 * epoch.degrees.len());
    let rows: Vec<f64> = progress.curve.iter().flat_map(row).collect();
    writer.floats("curve", [progress.curve.len(), width], &rows);
    let about = [
        ("steps", trainer.steps.to_string()),
        ("epoch", trainer.epoch.to_string()),
        ("best_epoch", best.epoch.to_string()),
        ("best_accuracy", best.accuracy.to_string()),
        ("best_loss", best.loss.to_string()),
        ("step_nanoseconds", trainer.step_time.as_nanos().to_string()),
        ("nanoseconds", progress.elapsed.as_nanos().to_string()),
        ("config", settings::to_toml(trainer.config)),
        ("parameters", ids.join(" ")),
    ];
    Ok(Checkpoint::new(writer, origin, about))
}

/// Brings a fresh trainer to the state that was saved.
///
/// # Errors
/// If it is the state of something else, or an entry is missing or does not fit.
pub(super) fn restore(
    checkpoint: &Checkpoint,
    trainer: &mut PointsTrainer,
    origin: Origin,
) -> Result<Progress> {
    checkpoint.check_origin(origin)?;
    checkpoint.check_config(checkpoint.text("config")?, &settings::to_toml(trainer.config))?;
    // The best model is one without autodiff, which shares nothing with the one that is trained.
    trainer.best = Some(PointsBest {
        epoch: checkpoint.number("best_epoch")?,
        accuracy: checkpoint.number("best_accuracy")?,
        loss: checkpoint.number("best_loss")?,
        model: checkpoint.fill("best", trainer.model.valid())?,
    });
    trainer.model = checkpoint.fill("last", trainer.model.clone())?;
    let Optimisers { network, learners } = Optimisers::new(&trainer.config.train);
    let unpacked = |name: &'static str, fresh: ModuleOptimizer| checkpoint.optimiser(name, fresh);
    trainer.optimisers = Optimisers {
        network: unpacked("network", network)?,
        learners: unpacked("learners", learners)?,
    };
    trainer.baseline = Baseline::from_means(checkpoint.floats("baseline")?);
    trainer.steps = checkpoint.number("steps")?;
    trainer.epoch = checkpoint.number("epoch")?;
    trainer.step_time = Duration::from_nanos(checkpoint.number("step_nanoseconds")?);
    let curve = checkpoint.floats("curve")?;
    let width = curve.len() / trainer.epoch.max(1);
    Ok(Progress {
        curve: curve.chunks_exact(width.max(COLUMNS)).map(epoch_of).collect(),
        elapsed: Duration::from_nanos(checkpoint.number("nanoseconds")?),
    })
}

fn row(epoch: &EpochRecord) -> Vec<f64> {
    let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let EpochRecord { epoch, loss, train, valid, mean_degree, std_degree, degrees } = epoch;
    let mut row =
        vec![*epoch as f64, *loss, *train, *valid, or_nan(*mean_degree), or_nan(*std_degree)];
    row.extend(degrees.iter().flat_map(|degree| [degree.mean, degree.deviation]));
    row
}

fn epoch_of(row: &[f64]) -> EpochRecord {
    let or_none = |value: f64| (!value.is_nan()).then_some(value);
    let degrees = row[COLUMNS..].chunks_exact(2);
    EpochRecord {
        epoch: row[0] as usize,
        loss: row[1],
        train: row[2],
        valid: row[3],
        mean_degree: or_none(row[4]),
        std_degree: or_none(row[5]),
        degrees: degrees.map(|pair| LayerDegree { mean: pair[0], deviation: pair[1] }).collect(),
    }
}
