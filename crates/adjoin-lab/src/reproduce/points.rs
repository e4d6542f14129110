//! Table 7 of the paper: learners on two networks, ModelNet40.
//!
//! The reduced setting (`presets/points/reduced*.toml`) has fewer clouds, points, channels and epochs, the
//! same for every row of a network. Its accuracies are to be compared with each other; the published ones,
//! beside them, are of the full setting. Ours are of the epoch that validation chose; the networks'
//! authors chose theirs on the test clouds.

use super::{Options, Row, Table, table::Degrees, wanted};
use crate::{
    Error, Result,
    node::Observer,
    points::{POINTS_BACKBONES, POINTS_LEARNERS, PointsExperiment, REDUCED, points_config},
    record::paired,
};

const DATASET: &str = "modelnet40";

/// Clouds of every class to train, to choose and to test with, in the reduced setting.
const REDUCED_CLOUDS: [usize; 3] = [32, 8, 20];

/// Published mean and deviation of the degree, and accuracy in per cent.
fn published(backbone: &str, learner: &str) -> Option<([f64; 2], f64)> {
    Some(match (backbone, learner) {
        ("resgcn", "knn") => ([9.0, 0.0], 93.3),
        ("resgcn", "dgm") => ([20.0, 0.0], 93.5),
        ("resgcn", "dgg") => ([14.8, 7.4], 94.4),
        ("dgcnn", "knn") => ([40.0, 0.0], 92.9),
        ("dgcnn", "dgm") => ([20.0, 0.0], 93.3),
        ("dgcnn", "dgg") => ([19.3, 5.2], 93.8),
        _ => return None,
    })
}

pub(super) fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table> {
    let mut dataset = adjoin_data::points::load(DATASET, &options.locations)?;
    let (setting, title) = match options.reduced {
        true => {
            dataset = dataset.subset(REDUCED_CLOUDS, 0)?;
            (REDUCED, "Point clouds, ModelNet40, reduced setting")
        }
        false => (DATASET, "Point clouds, ModelNet40"),
    };
    let mut table = Table::new(title);
    for backbone in POINTS_BACKBONES.into_iter().filter(|b| wanted(&options.backbones, b)) {
        let mut plain: Option<Vec<f64>> = None;
        for learner in POINTS_LEARNERS.into_iter().filter(|l| wanted(&options.learners, l)) {
            let config = points_config(setting, backbone, learner)?;
            let experiment = PointsExperiment {
                dataset: &dataset,
                config: &config,
                learner,
                seeds: &options.seeds,
                threads: options.threads,
            };
            let record = experiment.run(observer)?.record;
            let tests: Vec<f64> = record.seeds.iter().map(|seed| seed.test).collect();
            let gain = plain.as_ref().and_then(|plain| {
                paired(&tests.iter().copied().zip(plain.iter().copied()).collect::<Vec<_>>())
            });
            if learner == "knn" {
                plain = Some(tests);
            }
            let published = published(backbone, learner);
            let row = Row {
                backbone: backbone.into(),
                learner: learner.into(),
                dataset: DATASET.into(),
                ours: record.test().ok_or_else(|| Error::Config {
                    place: "--seeds".into(),
                    what: "must be at least 1".into(),
                })?,
                gain,
                published: published.map(|(_, accuracy)| accuracy / 100.0),
                degrees: Some(Degrees {
                    layers: record.degrees(),
                    published: published.map(|(degree, _)| degree),
                }),
            };
            done(&row);
            table.rows.push(row);
        }
    }
    Ok(table)
}
