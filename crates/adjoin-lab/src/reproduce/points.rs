//! Table 7 of the paper: learners on two networks, ModelNet40.
//!
//! The reduced setting (`presets/points/reduced*.toml`) has fewer clouds, points, channels and epochs, the
//! same for every row of a network. Its accuracies are to be compared with each other; the published ones,
//! beside them, are of the full setting. Ours are of the epoch that validation chose; the networks'
//! authors chose theirs on the test clouds.

use super::{Options, Row, Table, TableRow, check_names, wanted};
use crate::{
    Error, Result,
    node::Observer,
    points::{POINTS_BACKBONES, POINTS_LEARNERS, PointsExperiment, REDUCED, points_config},
    record::paired,
};
use serde::Serialize;

const DATASET: &str = "modelnet40";

/// Clouds of every class to train, to choose and to test with, in the reduced setting.
const REDUCED_CLOUDS: [usize; 3] = [24, 8, 20];

/// A row of the table: accuracies, and how many neighbours points have.
#[derive(Clone, Debug, Serialize)]
pub struct PointsRow {
    /// Ours beside the published.
    #[serde(flatten)]
    pub accuracy: Row,
    /// Neighbours of a point.
    pub degrees: Degrees,
}

/// Mean and deviation over the points of how many neighbours they have, themselves included.
#[derive(Clone, Debug, Serialize)]
pub struct Degrees {
    /// By layer.
    pub layers: Vec<[f64; 2]>,
    /// As published, over all layers.
    pub published: Option<[f64; 2]>,
}

impl Degrees {
    /// Over all layers: the mean, and the deviation of all points of all layers from it.
    pub fn overall(&self) -> [f64; 2] {
        let count = self.layers.len().max(1) as f64;
        let mean = self.layers.iter().map(|[mean, _]| mean).sum::<f64>() / count;
        let square = |[m, d]: &[f64; 2]| d * d + (m - mean) * (m - mean);
        [mean, (self.layers.iter().map(square).sum::<f64>() / count).sqrt()]
    }
}

impl TableRow for PointsRow {
    const HEADING: &'static str = "| dataset | backbone | learner | ours, % | seeds | over the plain backbone | published, % | ours - published | neighbours, mean ± deviation | published | by layer |\n|---|---|---|---|---|---|---|---|---|---|---|";

    fn to_markdown(&self) -> String {
        let pair = |[mean, deviation]: [f64; 2]| format!("{mean:.1} ± {deviation:.1}");
        let Degrees { layers, published } = &self.degrees;
        let layers: Vec<String> = layers.iter().copied().map(pair).collect();
        format!(
            "{} {} | {} | {} |",
            self.accuracy.to_markdown(),
            pair(self.degrees.overall()),
            published.map_or("-".into(), pair),
            layers.join(", "),
        )
    }
}

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

/// Reproduces the table of point clouds; `done` is called with every finished row.
///
/// # Errors
/// If data is missing, or a run fails.
pub fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&PointsRow),
) -> Result<Table<PointsRow>> {
    check_names(options, [&[DATASET], &POINTS_BACKBONES, &POINTS_LEARNERS])?;
    let mut dataset = adjoin_data::points::load(DATASET, &options.locations)?;
    let (setting, title) = match options.reduced {
        true => {
            dataset = dataset.subset(REDUCED_CLOUDS, 0)?;
            (REDUCED, "Point clouds, ModelNet40, reduced setting")
        }
        false => (DATASET, "Point clouds, ModelNet40"),
    };
    let backbones = || POINTS_BACKBONES.into_iter().filter(|b| wanted(&options.backbones, b));
    let learners = || POINTS_LEARNERS.into_iter().filter(|l| wanted(&options.learners, l));
    let cells = backbones().flat_map(|backbone| learners().map(move |learner| (backbone, learner)));
    options.check_settings(
        cells.map(|(backbone, learner)| points_config(setting, backbone, learner)),
    )?;
    let mut table = Table::new(title);
    table.notes.push("Neighbours of a point, itself included, over validation points.".into());
    for backbone in backbones() {
        let mut plain: Option<Vec<f64>> = None;
        for learner in learners() {
            let config = options.on_top(points_config(setting, backbone, learner)?)?;
            let experiment = PointsExperiment {
                dataset: &dataset,
                config: &config,
                learner,
                seeds: &options.seeds,
                threads: options.threads,
            };
            let folder = options.folder(&[setting, backbone, learner])?;
            let record = experiment.run_in(observer, folder.as_deref())?.record;
            let tests: Vec<f64> = record.seeds.iter().map(|seed| seed.test).collect();
            let gain = plain.as_ref().and_then(|plain| {
                paired(&tests.iter().copied().zip(plain.iter().copied()).collect::<Vec<_>>())
            });
            if learner == "knn" {
                plain = Some(tests);
            }
            let published = published(backbone, learner);
            let accuracy = Row {
                backbone: backbone.into(),
                learner: learner.into(),
                dataset: DATASET.into(),
                ours: record.test().ok_or_else(|| Error::Config {
                    place: "--seeds".into(),
                    what: "must be at least 1".into(),
                })?,
                gain,
                published: published.map(|(_, accuracy)| accuracy / 100.0),
            };
            let published = published.map(|(degrees, _)| degrees);
            let degrees = Degrees { layers: record.degrees(), published };
            let row = PointsRow { accuracy, degrees };
            done(&row);
            table.rows.push(row);
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Summary;

    #[test]
    fn degrees_are_pooled_over_layers_and_written_beside_accuracies() {
        let degrees =
            Degrees { layers: vec![[10.0, 3.0], [14.0, 5.0]], published: Some([9.0, 0.0]) };
        let [mean, deviation] = degrees.overall();
        assert_eq!(mean, 12.0);
        assert!((deviation - ((9.0 + 25.0) / 2.0f64 + 4.0).sqrt()).abs() < 1e-12);
        let accuracy = Row {
            backbone: "dgcnn".into(),
            learner: "dgg".into(),
            dataset: DATASET.into(),
            ours: Summary { mean: 0.5, deviation: None, n: 1 },
            gain: None,
            published: None,
        };
        let text = PointsRow { accuracy, degrees }.to_markdown();
        assert!(text.ends_with("| 12.0 ± 4.6 | 9.0 ± 0.0 | 10.0 ± 3.0, 14.0 ± 5.0 |"), "{text}");
        let columns = |line: &str| line.matches('|').count();
        assert!(PointsRow::HEADING.lines().all(|line| columns(line) == columns(&text)), "{text}");
    }
}
