//! `adjoin train --task points`.

use super::{Train, absolute, stopped, summary};
use crate::{
    commands::command_line,
    failure::{Done, Failure, print},
    progress::{Show, Watch, catch_interrupts},
    table::table,
};
use adjoin_data::{
    Locations,
    points::{self, PointDataset},
};
use adjoin_lab::{
    plan::{Plan, Wishes},
    points::PointsConfig,
    record::RunRecord,
    run::{self, RunFolder},
};
use std::path::{Path, PathBuf};

/// Runs the command.
pub fn run(train: &Train) -> Done {
    let (folder, dataset) = match &train.resume {
        Some(path) => resume(path)?,
        None => start(train)?,
    };
    catch_interrupts();
    let show = Show::of(train.quiet);
    if show != Show::Nothing {
        eprintln!("{}", heading(&folder, &dataset));
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
        false => {
            let text = summary::text(&records, &target.join(run::REPORT));
            print(format!("{text}\n{}", degrees(&records)))
        }
    }
}

fn start(train: &Train) -> Result<(RunFolder<PointsConfig>, PointDataset), Failure> {
    if train.split.is_some() {
        return Err(Failure::Usage(
            "--split divides the nodes of a graph; point clouds come with their parts".into(),
        ));
    }
    let name = train.dataset.as_deref().unwrap_or("shapes");
    let file = train.file()?;
    let locations = Locations::from_environment(train.data_dir.clone());
    let dataset = subset(points::load(name, &locations)?, train.subset)?;
    let wishes = Wishes {
        dataset: &dataset.name,
        backbone: train.backbone.as_deref(),
        learners: train.learner.as_deref(),
        file: file.as_ref().map(|(place, text)| (place.as_str(), text.as_str())),
        settings: &train.set,
    };
    let (learners, configs): (Vec<_>, Vec<_>) = wishes.points_configs()?.into_iter().unzip();
    let target = match (&train.out, configs.first()) {
        (Some(out), _) => out.clone(),
        (None, Some(config)) => run::default_target(&dataset.name, config, &learners),
        (None, None) => return Err(Failure::Usage("--learner: name at least one".into())),
    };
    let plan = Plan {
        task: "points".into(),
        dataset: match points::find(name) {
            Ok(known) => known.name.into(),
            Err(_) => absolute(Path::new(name)).display().to_string(),
        },
        data_dir: train.data_dir.as_ref().map(|path| absolute(path)),
        split: train.subset.map(|count| count.to_string()).unwrap_or_default(),
        fingerprint: dataset.fingerprint(),
        learners,
        seeds: train.seeds(),
        command: command_line(),
    };
    let folder = RunFolder::create(&target, train.overwrite, plan, configs)?;
    Ok((folder, dataset))
}

/// At most so many training clouds of every class, and a quarter as many to choose and to test with.
fn subset(dataset: PointDataset, count: Option<usize>) -> Result<PointDataset, Failure> {
    Ok(match count {
        Some(count) => {
            let fewer = count.div_ceil(4);
            dataset.subset([count, fewer, fewer], 0)?
        }
        None => dataset,
    })
}

fn resume(path: &Path) -> Result<(RunFolder<PointsConfig>, PointDataset), Failure> {
    let folder = RunFolder::reopen_points(path)?;
    let plan = folder.plan();
    let locations = Locations::from_environment(plan.data_dir.clone());
    // The name of the split of a plan is the number of clouds that were asked for.
    let dataset = subset(points::load(&plan.dataset, &locations)?, plan.split.parse().ok())?;
    if dataset.fingerprint() != plan.fingerprint {
        return Err(Failure::Failed(format!(
            "{} has changed since the run was made (fingerprint {} then, {} now)",
            plan.dataset,
            plan.fingerprint,
            dataset.fingerprint()
        )));
    }
    Ok((folder, dataset))
}

fn heading(folder: &RunFolder<PointsConfig>, dataset: &PointDataset) -> String {
    let plan = folder.plan();
    let [train, valid, test] = dataset.parts().map(|(_, clouds)| clouds.len());
    let points = folder.configs().first().map_or(0, |config| config.points);
    let [fewest, most] = dataset.points();
    format!(
        "{}: {} clouds of {fewest} to {most} points, {} of them used; {} classes; {train} to train, \
         {valid} to choose, {test} to test\nlearners {}, {} seeds, into {}",
        dataset.name,
        dataset.clouds.len(),
        if points == 0 { "all".to_string() } else { points.to_string() },
        dataset.classes(),
        plan.learners.join(", "),
        plan.seeds.len(),
        folder.work().display(),
    )
}

/// Neighbours of a point by layer, at the best epoch, mean and deviation over the points; seeds averaged.
fn degrees(records: &[RunRecord]) -> String {
    let layers = records.iter().map(|record| record.degrees().len()).max().unwrap_or(0);
    let mut rows = vec![vec!["neighbours".to_string()]];
    rows[0].extend((1..=layers).map(|layer| format!("layer {layer}")));
    for record in records {
        let mut row = vec![record.learner.clone()];
        row.extend(
            record.degrees().iter().map(|[mean, deviation]| format!("{mean:.1} ± {deviation:.1}")),
        );
        row.resize(layers + 1, "-".into());
        rows.push(row);
    }
    format!("{}mean ± deviation over validation points, itself included\n", table(&rows))
}
