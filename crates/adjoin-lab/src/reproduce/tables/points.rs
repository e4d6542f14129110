//! Table 7 of the paper: learners on two networks, ModelNet40.
//!
//! The reduced setting (`recipes/points/reduced-*.toml`) has fewer clouds, points, channels and epochs, the
//! same for every row of a network. Its accuracies are to be compared with each other; the published ones,
//! beside them, are of the full setting. Ours are of the epoch that validation chose; the networks'
//! authors chose theirs on the test clouds.

use super::{accuracy, first, source};
use crate::{
    Result,
    reproduce::{Options, Row, Table, grid::Cell, table::or_dash},
    run::{Observer, Teachers, recipe_layers},
    stats::paired,
    task::{Degree, Task},
    tasks::Points,
};
use std::sync::Arc;

const DATASET: &str = "modelnet40";
const BACKBONES: [&str; 2] = ["dgcnn", "resgcn"];
const LEARNERS: [&str; 3] = ["knn", "dgm", "dgg"];

/// Clouds of every class to train, to validate and to test with, in the reduced setting.
const REDUCED_CLOUDS: [usize; 3] = [24, 8, 20];

/// Published mean and standard deviation of the degree, and accuracy in per cent.
fn published(backbone: &str, learner: &str) -> Option<(Degree, f64)> {
    let (mean, std, accuracy) = match (backbone, learner) {
        ("resgcn", "knn") => (9.0, 0.0, 93.3),
        ("resgcn", "dgm") => (20.0, 0.0, 93.5),
        ("resgcn", "dgg") => (14.8, 7.4, 94.4),
        ("dgcnn", "knn") => (40.0, 0.0, 92.9),
        ("dgcnn", "dgm") => (20.0, 0.0, 93.3),
        ("dgcnn", "dgg") => (19.3, 5.2, 93.8),
        _ => return None,
    };
    Some((Degree { mean, std }, accuracy))
}

/// Over all layers: the mean, and the standard deviation of all points of all layers.
fn overall(layers: &[Degree]) -> Degree {
    let count = layers.len().max(1) as f64;
    let mean = layers.iter().map(|layer| layer.mean).sum::<f64>() / count;
    let square = |layer: &Degree| layer.std.powi(2) + (layer.mean - mean).powi(2);
    Degree { mean, std: (layers.iter().map(square).sum::<f64>() / count).sqrt() }
}

pub fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table> {
    options.check_names([&[DATASET], &BACKBONES, &LEARNERS])?;
    let (setting, title) = match options.reduced {
        true => ("reduced", "Point clouds, ModelNet40, reduced setting"),
        false => ("published", "Point clouds, ModelNet40"),
    };
    let cells = BACKBONES.iter().flat_map(|backbone| LEARNERS.map(|learner| (*backbone, learner)));
    let cells: Vec<(&str, &str)> =
        cells.filter(|(backbone, learner)| options.wants([DATASET, backbone, learner])).collect();
    let recipe = |(backbone, learner): &(&str, &str)| {
        recipe_layers::<Points>(&format!("{setting}-{backbone}-{learner}"))
    };
    let configs = options.on_top(cells.iter().map(recipe).collect::<Result<Vec<_>>>()?)?;
    let mut data = Points::load(&source(DATASET, None, &options.locations))?;
    if options.reduced {
        data = Arc::new(Arc::unwrap_or_clone(data).subset(REDUCED_CLOUDS, 0)?);
    }
    let mut table = Table::new(title);
    table.notes.push("Neighbours of a point, itself included, over validation points.".into());
    let mut plain: Option<(&str, Vec<f64>)> = None;
    for ((backbone, learner), layers) in cells.into_iter().zip(configs) {
        let cell = Cell::<Points> { names: vec![setting, backbone, learner], data: &data, layers };
        let record = options.measure(&cell, observer, &mut Teachers::default())?;
        let tests = record.tests(0);
        let gain = plain.as_ref().filter(|(of, _)| *of == backbone).and_then(|(_, plain)| {
            paired(&tests.iter().copied().zip(plain.iter().copied()).collect::<Vec<_>>())
        });
        if learner == Points::PLAIN {
            plain = Some((backbone, tests));
        }
        let published = published(backbone, learner);
        let of = published.map(|(_, accuracy)| accuracy / 100.0);
        let ours = first(record.test(0))?;
        let mut row = accuracy([DATASET, backbone, learner], &ours, gain.as_ref(), of);
        let pair = |degree: Degree| format!("{:.1} ± {:.1}", degree.mean, degree.std);
        let layers: Vec<String> = record.degrees().into_iter().map(pair).collect();
        row.push(("neighbours, mean ± standard deviation", pair(overall(&record.degrees()))));
        row.push(("published neighbours", or_dash(published.map(|(degree, _)| degree), pair)));
        row.push(("by layer", layers.join(", ")));
        done(&row);
        table.rows.push(row);
    }
    table.not_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_pooled_over_layers() {
        let layers = [Degree { mean: 10.0, std: 3.0 }, Degree { mean: 14.0, std: 5.0 }];
        let Degree { mean, std } = overall(&layers);
        assert_eq!(mean, 12.0);
        assert!((std - ((9.0 + 25.0) / 2.0f64 + 4.0).sqrt()).abs() < 1e-12);
    }
}
