//! Point clouds that are damaged in tests only: DGCNN on ModelNet10, trained on clean clouds.
//!
//! The recipes (`recipes/points/robust-dgcnn-*.toml`) are small enough for minutes a seed on two cores, the same for
//! every row but for the graph.

use super::{first, source};
use crate::{
    Error, Result,
    reproduce::{
        Options, Row, Table,
        grid::Cell,
        table::{gain, spread},
    },
    run::{Observer, recipe_layers},
    settings::Layers,
    stats::{mean, paired, summary},
    task::{Degree, Measure, Task},
    tasks::{
        Points,
        points::{PointEvaluation, PointModel, PointsConfig, follows_density},
    },
};
use adjoin::{dgg::DegreeRule, learner::LearnerConfig};
use adjoin_data::points::{Cloud, Corruption, Damage, PointDataset, Sampling};
use std::sync::Arc;

const DATASET: &str = "modelnet10";
const BACKBONE: &str = "dgcnn";

/// Clouds of every class to train with, to validate with and to test with, at most.
const CLOUDS: [usize; 3] = [100, usize::MAX, usize::MAX];

/// Levels of damage; the table has their mean.
const LEVELS: [u8; 3] = [3, 4, 5];

/// Kinds of damage; those after the first three are run when they are named.
const KINDS: [Damage; 5] =
    [Damage::Jitter, Damage::AddGlobal, Damage::AddLocal, Damage::DropGlobal, Damage::DropLocal];
const USUAL: usize = 3;

/// Clouds on which learned sizes are compared with density.
const COMPARED: usize = 100;

/// A row: its name, the recipe, and what is changed.
type Entry = (&'static str, &'static str, fn(&mut PointsConfig));

const ROWS: [Entry; 6] = [
    ("knn", "knn", |_| ()),
    ("radius", "radius", |_| ()),
    ("outlier-removal", "outlier-removal", |_| ()),
    ("dgg frozen", "dgg", |config| config.train.learner_rate = 0.0),
    ("dgg one k", "dgg", |config| {
        if let LearnerConfig::Dgg(dgg) = &mut config.learner {
            dgg.degree.rule = DegreeRule::Fixed((config.network.k - 1) as f64);
        }
    }),
    ("dgg", "dgg", |_| ()),
];

fn layers((name, recipe, change): &Entry) -> Result<Layers<PointsConfig>> {
    let layers = recipe_layers::<Points>(&format!("robust-{BACKBONE}-{recipe}"))?;
    let mut config = layers.config.clone();
    change(&mut config);
    Ok(layers.changed(name, config))
}

/// Test clouds, clean and damaged.
struct Held {
    clean: PointDataset,
    damaged: Vec<(Damage, Vec<PointDataset>)>,
}

impl Held {
    fn new(data: &PointDataset, points: usize, options: &Options) -> Result<Self> {
        let mut data = data.clone();
        if options.reduced {
            data.split.test = data.split.valid.clone();
        }
        // What is damaged is what would have been seen.
        let few = data.clone().with_points(points, Sampling::Random { seed: 0 })?;
        let wanted = |kind: &&Damage| options.datasets.iter().any(|name| name == kind.name());
        let kinds: Vec<Damage> = match options.datasets.is_empty() {
            true => KINDS[..USUAL].to_vec(),
            false => KINDS.iter().filter(wanted).copied().collect(),
        };
        let seed = u64::from(options.reduced);
        let levels = |damage: Damage| {
            let one = |level| few.clone().corrupted(Corruption { damage, level, seed });
            let levels = LEVELS.into_iter().map(one);
            Ok::<_, Error>((damage, levels.collect::<adjoin_data::Result<Vec<_>>>()?))
        };
        Ok(Self { damaged: kinds.into_iter().map(levels).collect::<Result<_>>()?, clean: data })
    }
}

fn test_clouds(data: &PointDataset) -> Vec<&Cloud> {
    data.split.test.iter().map(|&at| &data.clouds[at as usize]).collect()
}

fn accuracy(model: &PointModel, data: &PointDataset, points: usize) -> Result<f64> {
    Ok(PointEvaluation::of(model, &test_clouds(data), points)?.metrics().accuracy)
}

/// Accuracies of every seed: clean, then one for each kind, the mean over its levels.
fn accuracies(models: &[PointModel], held: &Held, points: usize) -> Result<Vec<Vec<f64>>> {
    let of = |model: &PointModel| {
        let mut all = vec![accuracy(model, &held.clean, points)?];
        for (_, levels) in &held.damaged {
            let each = levels.iter().map(|data| accuracy(model, data, 0));
            all.extend(mean(&each.collect::<Result<Vec<_>>>()?));
        }
        Ok(all)
    };
    models.iter().map(of).collect()
}

pub fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table> {
    let kinds = KINDS.map(Damage::name);
    options.check_names([&kinds, &[BACKBONE], &ROWS.map(|(name, ..)| name)])?;
    let wanted =
        |name: &str| options.learners.is_empty() || options.learners.iter().any(|n| n == name);
    let rows: Vec<Entry> = ROWS.into_iter().filter(|(name, ..)| wanted(name)).collect();
    let configs = options.on_top(rows.iter().map(layers).collect::<Result<Vec<_>>>()?)?;
    let data = Points::load(&source(DATASET, None, &options.locations))?;
    let data = Arc::new(Arc::unwrap_or_clone(data).subset(CLOUDS, 0)?);
    let points = configs.first().map_or(0, |layers| layers.config.points);
    let held = Held::new(&data, points, options)?;
    let part = if options.reduced { "validation" } else { "test" };
    let mut table = Table::new("Damaged point clouds, ModelNet10");
    table.notes = vec![
        format!("accuracy in % on {part} clouds of {points} points; trained on clean clouds, {} of every class", CLOUDS[0]),
        "damage as ModelNet-C has it, the mean over levels 3 to 5; gains are over `knn`, seed by seed".into(),
        "sizes: standard deviation of learned k within each layer over validation points, and its rank correlation \
         with density (minus the mean distance to the 8 nearest points)".into(),
    ];
    let mut plain: Option<Vec<Vec<f64>>> = None;
    for ((name, ..), layers) in rows.into_iter().zip(configs) {
        let cell = Cell::<Points> { names: vec!["robust", BACKBONE, name], data: &data, layers };
        let (record, models) = options.measure_models(&cell, observer)?;
        let found = accuracies(&models, &held, points)?;
        let row = row(name, &held, &found, plain.as_deref(), (record.degrees(), &models, points))?;
        if name == Points::PLAIN {
            plain = Some(found);
        }
        done(&row);
        table.rows.push(row);
    }
    table.not_empty()
}

/// Learned sizes of every layer, and the models that have them.
type Sizes<'a> = (Vec<Degree>, &'a [PointModel], usize);

fn row(
    name: &str,
    held: &Held,
    found: &[Vec<f64>],
    plain: Option<&[Vec<f64>]>,
    (degrees, models, points): Sizes,
) -> Result<Row> {
    let percent = Measure::PERCENT;
    let column =
        |all: &[Vec<f64>], at: usize| all.iter().map(|seed| seed[at]).collect::<Vec<f64>>();
    let cell = |at: usize| -> Result<String> {
        let ours = column(found, at);
        let text = spread(percent, &first(summary(&ours))?);
        let pairs = plain.map(|plain| ours.into_iter().zip(column(plain, at)).collect::<Vec<_>>());
        let over = pairs.and_then(|pairs| paired(&pairs));
        Ok(match gain(percent, over.as_ref()) {
            over if over.is_empty() => text,
            over => format!("{text}, {over}"),
        })
    };
    let mut row: Row = vec![("graph", name.into()), ("clean", cell(0)?)];
    for (at, (damage, _)) in held.damaged.iter().enumerate() {
        row.push((damage.name(), cell(at + 1)?));
    }
    let clouds = test_clouds(&held.clean);
    let some = &clouds[..clouds.len().min(COMPARED)];
    let mut layers = vec![Vec::new(); degrees.len()];
    for model in models {
        let of_layers = follows_density(model, some, points)?;
        layers.iter_mut().zip(of_layers).for_each(|(layer, found)| layer.extend(found));
    }
    let sizes = degrees.iter().map(|Degree { mean, std }| format!("{mean:.1} ± {std:.1}"));
    let ranks =
        layers.iter().map(|layer| mean(layer).map_or("-".into(), |rank| format!("{rank:.2}")));
    row.push(("seeds", found.len().to_string()));
    row.push(("neighbours by layer", sizes.collect::<Vec<_>>().join(", ")));
    row.push(("rank correlation with density", ranks.collect::<Vec<_>>().join(", ")));
    Ok(row)
}
