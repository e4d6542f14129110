//! A crowd among people who interact with nobody, and pedestrians: does the learned graph tell who matters?
//!
//! The crowd is generated, the same people with 0, 4, 8 and 16 distractors in every scene, in training and in tests;
//! errors are of the others alone. It has the defaults of the task, pedestrians their recipes.

use super::{first, source};
use crate::{
    Result,
    reproduce::{
        Options, Row, Table,
        grid::Cell,
        table::{or_dash, spread},
    },
    run::{Observer, Teachers, recipe_layers},
    settings::Layers,
    stats::{Paired, paired},
    task::{Measure, Task},
    tasks::{Trajectory, trajectory::TrajectoryConfig},
};
use adjoin::{dgg::DegreeRule, learner::LearnerConfig};
use adjoin_data::trajectory::{CrowdConfig, TrajectoryDataset, crowd};
use std::sync::Arc;

const BACKBONE: &str = "social-stgcnn";

/// The crowd by its distractors, and recordings; those after the first six are run when they are named.
const DATASETS: [(&str, Option<usize>); 9] = [
    ("crowd-0", Some(0)),
    ("crowd-4", Some(4)),
    ("crowd-8", Some(8)),
    ("crowd-16", Some(16)),
    ("hotel", None),
    ("zara1", None),
    ("eth", None),
    ("univ", None),
    ("zara2", None),
];
const USUAL: usize = 6;

/// A row: its name, the learner, and what is changed.
type Entry = (&'static str, &'static str, fn(&mut TrajectoryConfig));

const FROZEN: &str = "dgg frozen";
const ALONE: &str = "isolated";

const ROWS: [Entry; 6] = [
    (ALONE, "isolated", |_| ()),
    ("kernel", "kernel", |_| ()),
    ("complete", "complete", |_| ()),
    (FROZEN, "dgg", |config| config.train.learner_rate = 0.0),
    ("dgg one k", "dgg", |config| {
        if let LearnerConfig::Dgg(dgg) = &mut config.learner {
            dgg.degree.rule = DegreeRule::Fixed(1.0);
        }
    }),
    ("dgg", "dgg", |_| ()),
];

fn load(
    name: &str,
    distractors: Option<usize>,
    options: &Options,
) -> Result<Arc<TrajectoryDataset>> {
    match distractors {
        Some(distractors) => {
            Ok(Arc::new(crowd(&CrowdConfig { distractors, ..CrowdConfig::default() })?))
        }
        None => Trajectory::load(&source(name, None, &options.locations)),
    }
}

fn layers(generated: bool, (name, learner, change): &Entry) -> Result<Layers<TrajectoryConfig>> {
    let layers = match generated {
        true => Trajectory::named(BACKBONE, learner)?,
        false => recipe_layers::<Trajectory>(&format!("pedestrians-{BACKBONE}-{learner}"))?,
    };
    let mut config = layers.config.clone();
    change(&mut config);
    Ok(layers.changed(name, config))
}

/// Errors of every seed by dataset and row.
type Measured = Vec<(&'static str, &'static str, Vec<f64>)>;

/// By how much errors are above others, in per cent of those, seed by seed.
fn above(ours: &[f64], others: Option<&Vec<f64>>) -> Option<Paired> {
    let both = ours.iter().zip(others?);
    paired(&both.map(|(ours, other)| (100.0 * (ours - other) / other, 0.0)).collect::<Vec<_>>())
}

fn per_cent(found: Option<Paired>) -> String {
    or_dash(found, |found| {
        let p = found.p.map_or(String::new(), |p| format!(" (p = {p:.3})"));
        format!("{:+.1}{p}", found.difference.mean)
    })
}

pub fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table> {
    let names = DATASETS.map(|(name, _)| name);
    options.check_names([&names, &[BACKBONE], &ROWS.map(|(name, ..)| name)])?;
    let datasets = match options.datasets.is_empty() {
        true => &DATASETS[..USUAL],
        false => &DATASETS[..],
    };
    let mut cells = Vec::new();
    for &(dataset, distractors) in datasets {
        for entry in ROWS.iter().filter(|(name, ..)| options.wants([dataset, BACKBONE, name])) {
            cells.push((dataset, distractors, entry));
        }
    }
    let configs = cells.iter().map(|(_, crowd, entry)| layers(crowd.is_some(), entry));
    let configs = options.on_top(configs.collect::<Result<Vec<_>>>()?)?;
    let mut table = Table::new("Distractors");
    table.notes = vec![
        "best of 20 samples per agent, in metres; crowd-N has N people in every scene who interact with nobody, in \
         training and in tests, and errors are of the others"
            .into(),
        "columns in per cent are ADE above that of another row or dataset, seed by seed: below 0 is better".into(),
    ];
    let mut measured: Measured = Vec::new();
    let mut data: Option<(&str, Arc<TrajectoryDataset>)> = None;
    for ((dataset, distractors, (name, ..)), layers) in cells.into_iter().zip(configs) {
        if data.as_ref().is_none_or(|(of, _)| *of != dataset) {
            data = Some((dataset, load(dataset, distractors, options)?));
        }
        let Some((_, data)) = &data else { continue };
        let cell = Cell::<Trajectory> { names: vec![dataset, BACKBONE, name], data, layers };
        let record = options.measure(&cell, observer, &mut Teachers::default())?;
        let ours = match options.reduced {
            true => record.seeds.iter().map(|seed| seed.valid.scores.per_agent.ade).collect(),
            false => record.tests(0),
        };
        let (ade, fde) = match options.reduced {
            true => (first(record.valid(0))?, first(record.valid(1))?),
            false => (first(record.test(0))?, first(record.test(1))?),
        };
        let of = |dataset: &str, row: &str| {
            let found = measured.iter().find(|(d, r, _)| (*d, *r) == (dataset, row));
            found.map(|(.., errors)| errors)
        };
        let metres = Measure::METRES;
        let without = distractors.filter(|count| *count > 0).and_then(|_| of("crowd-0", name));
        let row: Row = vec![
            ("dataset", dataset.into()),
            ("graph", (*name).into()),
            ("ADE / FDE, m", format!("{} / {}", spread(metres, &ade), spread(metres, &fde))),
            ("seeds", ade.n.to_string()),
            ("above `isolated`, %", per_cent(above(&ours, of(dataset, ALONE)))),
            ("above frozen, %", per_cent(above(&ours, of(dataset, FROZEN)))),
            ("above no distractors, %", per_cent(above(&ours, without))),
        ];
        measured.push((dataset, name, ours));
        done(&row);
        table.rows.push(row);
    }
    table.not_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_compared_in_per_cent_of_the_other() {
        let found = above(&[1.1, 2.2], Some(&vec![1.0, 2.0]));
        assert!(per_cent(found).starts_with("+10.0"), "{}", per_cent(found));
        assert_eq!(per_cent(above(&[1.0], None)), "-");
    }

    #[test]
    fn every_row_has_settings_that_are_in_range() {
        for generated in [true, false] {
            for entry in &ROWS {
                crate::task::Settings::check(&layers(generated, entry).unwrap().config).unwrap();
            }
        }
    }
}
