//! `adjoin train --task trajectory`.

mod summary;

use super::{Data, Train, absolute, stopped};
use crate::{
    failure::{Done, Failure, print},
    progress::{Show, Watch, catch_interrupts},
};
use adjoin_data::{
    Locations,
    trajectory::{self, TableConfig, TrajectoryDataset},
};
use adjoin_lab::{
    run::{self, RunFolder},
    trajectory::TrajectorySetup,
};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(train: &Train) -> Done {
    let (folder, dataset) = match &train.resume {
        Some(path) => resume(path, train.overwrite)?,
        None => start(train)?,
    };
    catch_interrupts();
    let show = Show::of(train.quiet);
    if show != Show::Nothing {
        eprintln!("{}", summary::heading(&folder, &dataset));
    }
    let watch = |learner: &str| Watch::new(learner, show);
    let records = match folder.execute(&dataset, train.threads(), watch) {
        Ok(records) => records,
        Err(error) => return Err(stopped(folder, error)),
    };
    let outs: Vec<PathBuf> = records.iter().map(|r| folder.result_of(&r.learner)).collect();
    let target = folder.publish()?;
    match train.json {
        true => print(summary::json(&records, &outs)?),
        false => print(summary::text(&records, &target.join(run::REPORT))),
    }
}

fn resume(
    path: &Path,
    overwrite: bool,
) -> Result<(RunFolder<TrajectorySetup>, TrajectoryDataset), Failure> {
    let folder = RunFolder::reopen(path, overwrite)?;
    let dataset = folder.plan().load_trajectories(None)?;
    Ok((folder, dataset))
}

fn start(train: &Train) -> Result<(RunFolder<TrajectorySetup>, TrajectoryDataset), Failure> {
    let name = train.dataset.as_deref().unwrap_or("crowd");
    if train.split.is_some() && trajectory::find(name).is_ok() {
        let what = "--split divides your own recordings; datasets with a name come with their scenes \
                    divided";
        return Err(Failure::Usage(what.into()));
    }
    let table = match &train.split {
        Some(split) => split.parse().map_err(|error| Failure::Usage(format!("{error}")))?,
        None => TableConfig::default(),
    };
    let file = train.file()?;
    let locations = Locations::from_environment(train.data_dir.clone());
    let dataset = trajectory::load_with(name, &locations, &table)?;
    let setups = train.wishes(&dataset.name, file.as_ref()).trajectory_setups()?;
    let folder = train.folder(
        Data {
            name: &dataset.name,
            source: match trajectory::find(name) {
                Ok(known) => known.name.into(),
                Err(_) => absolute(Path::new(name)).display().to_string(),
            },
            part: train.split.clone().unwrap_or_default(),
            part_hash: String::new(),
            fingerprint: dataset.fingerprint(),
            schema: None,
        },
        setups,
    )?;
    Ok((folder, dataset))
}
