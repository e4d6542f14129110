//! `adjoin train --task points`.

use super::{Data, Train, absolute, stopped, summary};
use crate::{
    failure::{Done, Failure, print},
    progress::{Show, Watch, catch_interrupts},
    table::table,
};
use adjoin_data::{
    Locations,
    points::{self, PointDataset},
};
use adjoin_lab::{
    plan::some_of_every_class,
    points::PointsConfig,
    record::RunRecord,
    run::{self, RunFolder},
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
        eprintln!("{}", heading(&folder, &dataset));
    }
    let watch = |learner: &str| Watch::new(learner, show);
    let records = match folder.execute(&dataset, train.threads(), watch) {
        Ok(records) => records,
        Err(error) => return Err(stopped(folder, error)),
    };
    let records: Vec<RunRecord> = records.into_iter().map(|record| record.run).collect();
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
    let dataset = some_of_every_class(points::load(name, &locations)?, train.subset)?;
    let configs = train.wishes(&dataset.name, file.as_ref()).points_configs()?;
    let folder = train.folder(
        Data {
            name: &dataset.name,
            source: match points::find(name) {
                Ok(known) => known.name.into(),
                Err(_) => absolute(Path::new(name)).display().to_string(),
            },
            part: train.subset.map(|count| count.to_string()).unwrap_or_default(),
            part_hash: String::new(),
            fingerprint: dataset.fingerprint(),
            schema: None,
        },
        configs,
    )?;
    Ok((folder, dataset))
}

fn resume(
    path: &Path,
    overwrite: bool,
) -> Result<(RunFolder<PointsConfig>, PointDataset), Failure> {
    let folder = RunFolder::reopen(path, overwrite)?;
    let dataset = folder.plan().load_points(None, None)?;
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
        let pair = |[mean, deviation]: [f64; 2]| format!("{mean:.1} ± {deviation:.1}");
        row.extend(record.degrees().into_iter().map(pair));
        row.resize(layers + 1, "-".into());
        rows.push(row);
    }
    format!("{}mean ± deviation over validation points, itself included\n", table(&rows))
}
