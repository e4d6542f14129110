//! `adjoin train --task trajectory`.

mod summary;

use super::{Train, absolute};
use crate::{
    commands::command_line,
    failure::{Done, Failure, print},
    progress::{Show, Watch, catch_interrupts},
};
use adjoin_data::{
    Locations,
    trajectory::{self, TrajectoryDataset},
};
use adjoin_lab::{
    plan::{Plan, Wishes},
    run::{self, RunFolder},
    trajectory::TrajectorySetup,
};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(train: &Train) -> Done {
    refuse(train)?;
    let (folder, dataset) = start(train)?;
    catch_interrupts();
    let show = Show::of(train.quiet);
    if show != Show::Nothing {
        eprintln!("{}", summary::heading(&folder, &dataset));
    }
    let watch = |learner: &str| Watch::new(learner, show);
    let records = match folder.execute(&dataset, train.threads(), watch) {
        Ok(records) => records,
        Err(error) => {
            folder.discard();
            return Err(error.into());
        }
    };
    let outs: Vec<PathBuf> = records.iter().map(|r| folder.result_of(&r.learner)).collect();
    let target = folder.publish()?;
    match train.json {
        true => print(summary::json(&records, &outs)?),
        false => print(summary::text(&records, &target)),
    }
}

/// Options that mean nothing here.
fn refuse(train: &Train) -> Done {
    let no = |what: &str| Err(Failure::Usage(what.into()));
    if train.split.is_some() {
        return no(
            "--split divides the nodes of a graph; trajectory datasets come with their scenes \
                   divided, so choose one with --dataset",
        );
    }
    if train.subset.is_some() {
        return no("--subset is for --task points");
    }
    if train.resume.is_some() {
        return no(
            "--resume: training on trajectories keeps no state to go on from; start it again",
        );
    }
    Ok(())
}

fn start(train: &Train) -> Result<(RunFolder<TrajectorySetup>, TrajectoryDataset), Failure> {
    let name = train.dataset.as_deref().unwrap_or("crowd");
    let file = train.file()?;
    let dataset = trajectory::load(name, &Locations::from_environment(train.data_dir.clone()))?;
    let wishes = Wishes {
        dataset: &dataset.name,
        backbone: train.backbone.as_deref(),
        learners: train.learner.as_deref(),
        file: file.as_ref().map(|(place, text)| (place.as_str(), text.as_str())),
        settings: &train.set,
    };
    let (learners, setups): (Vec<_>, Vec<_>) = wishes.trajectory_setups()?.into_iter().unzip();
    let target = match (&train.out, setups.first()) {
        (Some(out), _) => out.clone(),
        (None, Some(setup)) => run::default_target(&dataset.name, setup, &learners),
        (None, None) => return Err(Failure::Usage("--learner: name at least one".into())),
    };
    let plan = Plan {
        task: "trajectory".into(),
        dataset: match trajectory::find(name) {
            Ok(known) => known.name.into(),
            Err(_) => absolute(Path::new(name)).display().to_string(),
        },
        data_dir: train.data_dir.as_ref().map(|path| absolute(path)),
        split: String::new(),
        fingerprint: dataset.fingerprint(),
        learners,
        seeds: train.seeds(),
        command: command_line(),
    };
    let folder = RunFolder::create(&target, train.overwrite, plan, setups)?;
    Ok((folder, dataset))
}
