//! What learned neighbourhoods are worth: planted, damaged, poisoned, misleading, missing and clean graphs, each with
//! its simple rivals and with the controls that could explain a gain away.

mod rows;
mod worlds;

use self::{
    rows::{ENTRIES, Entry, Kind},
    worlds::{Group, WORLDS, World},
};
use crate::{
    Result,
    reproduce::{Options, Row, Table, grid::Cell, table},
    run::{Observer, RunRecord, Teachers},
    settings::Layers,
    stats::{Summary, paired, summary},
    task::Measure,
    tasks::{Node, node::NodeConfig},
    train::side_by_side,
};

const BACKBONES: [&str; 4] = ["gcn", "sage", "gat", "gcnii"];

/// Trained and frozen generators differ beyond chance below this.
const SURE: f64 = 0.01;

/// A row that has been measured.
struct Measured {
    world: usize,
    backbone: &'static str,
    entry: usize,
    /// Test accuracy of every replicate.
    tests: Vec<f64>,
    row: Row,
}

pub fn run(
    options: &Options,
    observer: &dyn Observer,
    done: &mut dyn FnMut(&Row),
) -> Result<Table> {
    let names: Vec<&str> = WORLDS.iter().map(|world| world.name).collect();
    options.check_names([&names, &BACKBONES, &ENTRIES.map(|entry| entry.name)])?;
    let mut cells = Vec::new();
    for (at, world) in WORLDS.iter().enumerate() {
        for backbone in BACKBONES {
            if backbone != "gcn" && !world.others.contains(&backbone) {
                continue;
            }
            let wanted = |entry: &Entry| {
                entry.is_of(world.group, backbone)
                    && options.wants([world.name, backbone, entry.name])
            };
            let entries = (0..ENTRIES.len()).filter(|&entry| wanted(&ENTRIES[entry]));
            cells.extend(entries.map(|entry| (at, backbone, entry)));
        }
    }
    let configs = cells.iter().map(|&(_, backbone, entry)| ENTRIES[entry].layers(backbone));
    let configs = configs.collect::<Result<Vec<_>>>()?;
    // Settings are for some rows or for none, so they are tried on all variants at once.
    let counts: Vec<usize> = configs.iter().map(Vec::len).collect();
    let mut flat = options.on_top(configs.into_iter().flatten().collect())?.into_iter();
    let configs: Vec<Vec<Layers<NodeConfig>>> =
        counts.into_iter().map(|count| flat.by_ref().take(count).collect()).collect();
    for (at, world) in WORLDS.iter().enumerate() {
        if cells.iter().any(|&(of, ..)| of == at) {
            world.check(options)?;
        }
    }
    let mut found: Vec<Measured> = Vec::new();
    for (&(world, backbone, entry), variants) in cells.iter().zip(&configs) {
        let place = (&WORLDS[world], backbone, &ENTRIES[entry]);
        let records = measure(place, variants, options, observer)?;
        let tests: Vec<f64> = records.iter().flat_map(|record| record.tests(0)).collect();
        let mut measured = Measured { world, backbone, entry, tests, row: Row::new() };
        measured.row = row(&measured, &records, &found);
        done(&measured.row);
        found.push(measured);
    }
    let mut table = Table::new("What learned neighbourhoods are worth");
    table.notes = notes(&found);
    table.rows = found.into_iter().map(|measured| measured.row).collect();
    table.not_empty()
}

/// A record of every replicate. Of several variants, that with the best validation result.
fn measure(
    (world, backbone, entry): (&World, &str, &Entry),
    variants: &[Layers<NodeConfig>],
    options: &Options,
    observer: &dyn Observer,
) -> Result<Vec<RunRecord<Node>>> {
    let seeds: Vec<u64> = options.seeds.iter().copied().take(world.most).collect();
    side_by_side(&seeds, options.threads, |&seed| {
        let data = world.data(seed, options)?;
        let threads = (options.threads / seeds.len()).max(1);
        let alone = Options { seeds: vec![seed], threads, ..options.clone() };
        let run = |(at, layers): (usize, &Layers<NodeConfig>)| {
            let number = format!("{seed}.{at}");
            let names = vec![world.name, backbone, &number, entry.name];
            let cell = Cell::<Node> { names, data: &data, layers: layers.clone() };
            alone.measure(&cell, observer, &mut Teachers::default())
        };
        let records = variants.iter().enumerate().map(run).collect::<Result<Vec<_>>>()?;
        let valid = |record: &RunRecord<Node>| record.valid(0).map_or(0.0, |valid| valid.mean);
        // The first among equals.
        let best = records.into_iter().reduce(|best, next| match valid(&next) > valid(&best) {
            true => next,
            false => best,
        });
        best.ok_or_else(no_variant)
    })
}

fn no_variant() -> crate::Error {
    crate::Error::Config { place: "reproduce".into(), what: "a row has no settings".into() }
}

fn row(measured: &Measured, records: &[RunRecord<Node>], found: &[Measured]) -> Row {
    let percent = Measure::PERCENT;
    let (world, entry) = (&WORLDS[measured.world], &ENTRIES[measured.entry]);
    let gain = |other: Option<&Measured>| {
        table::gain(percent, other.and_then(|other| difference(measured, other)).as_ref())
    };
    let peers = || found.iter().filter(|other| other.world == measured.world);
    let of = |kind: Kind| {
        peers()
            .find(|other| ENTRIES[other.entry].kind == kind && other.backbone == measured.backbone)
    };
    let best_rival = peers()
        .filter(|other| {
            !matches!(ENTRIES[other.entry].kind, Kind::Generator | Kind::Learned | Kind::Control)
        })
        .filter(|other| {
            ENTRIES[other.entry].kind != Kind::Plain || other.backbone == measured.backbone
        })
        .max_by(|a, b| mean(&a.tests).total_cmp(&mean(&b.tests)));
    let over_rival = match (entry.kind, best_rival) {
        (Kind::Generator, Some(best)) => {
            format!("{} {}", ENTRIES[best.entry].name, gain(Some(best)))
        }
        _ => String::new(),
    };
    let plain = if entry.kind == Kind::Plain { None } else { of(Kind::Plain) };
    let learned = if entry.kind == Kind::Control { of(Kind::Learned) } else { None };
    let valid: Vec<f64> = records.iter().filter_map(|r| r.valid(0)).map(|v| v.mean).collect();
    let seconds: Vec<f64> =
        records.iter().flat_map(|r| r.seeds.iter().map(|seed| seed.seconds)).collect();
    let spread = |values: &[f64], write: &dyn Fn(&Summary) -> String| {
        table::or_dash(summary(values), |summary| write(&summary))
    };
    vec![
        ("graph", world.name.into()),
        ("network", measured.backbone.into()),
        ("learner", entry.name.into()),
        ("test, %", spread(&measured.tests, &|s| table::spread(percent, s))),
        ("n", measured.tests.len().to_string()),
        ("validation, %", spread(&valid, &|s| percent.number(s.mean))),
        ("over none", gain(plain)),
        ("over the best rival", over_rival),
        ("over dgg-learned", gain(learned)),
        ("AUC", detail(records, &["planted_auc", "injected_auc"])),
        ("rank corr. of k", detail(records, &["k_correlation"])),
        ("chosen", chosen(records)),
        ("s", spread(&seconds, &|s| format!("{:.0}", s.mean))),
    ]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn difference(a: &Measured, b: &Measured) -> Option<crate::stats::Paired> {
    paired(&a.tests.iter().copied().zip(b.tests.iter().copied()).collect::<Vec<_>>())
}

/// A number about marked edges: the first of these that any replicate has.
fn detail(records: &[RunRecord<Node>], keys: &[&str]) -> String {
    let of = |key: &&str| -> Option<Summary> {
        let values: Vec<f64> = records
            .iter()
            .flat_map(|record| &record.seeds)
            .flat_map(|seed| crate::task::Metrics::details(&seed.test))
            .filter(|(column, _)| column.key == *key)
            .filter_map(|(_, value)| value)
            .collect();
        summary(&values)
    };
    table::or_dash(keys.iter().find_map(of), |found: Summary| match found.std {
        Some(std) => format!("{:.3} ± {std:.3}", found.mean),
        None => format!("{:.3}", found.mean),
    })
}

/// How often validation chose which graph.
fn chosen(records: &[RunRecord<Node>]) -> String {
    let all = || records.iter().flat_map(|record| &record.seeds).filter_map(|s| s.choice.as_ref());
    let count = |name: &str| all().filter(|choice| choice.chosen == name).count();
    let parts = ["learned", "given", "none"].map(|name| (name, count(name)));
    let said: Vec<String> = parts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    said.join(", ")
}

/// The regret over all graphs, and where training beats a frozen generator.
fn notes(found: &[Measured]) -> Vec<String> {
    let mut notes = vec![
        "Test data is read once, at the epoch, the graph and the variant that validation chose. n replicates: seeds, draws of \
         wrong edges, or splits; gains are paired, p by a t-test."
            .into(),
        "dgg-learned has no choice between graphs. The rows below it leave out a part: frozen learns nothing, evidence gets \
         no step by the task, shuffled learns from shuffled labels, even has one weight for given and one for added edges, \
         one-size one k, same-fraction the same part of every neighbourhood."
            .into(),
    ];
    let mut regrets: Vec<(f64, String)> = Vec::new();
    let mut beaten = Vec::new();
    for ours in found {
        let kind = ENTRIES[ours.entry].kind;
        let peers = || found.iter().filter(|other| other.world == ours.world);
        let (world, backbone) = (WORLDS[ours.world].name, ours.backbone);
        if kind == Kind::Generator && WORLDS[ours.world].group != Group::Planted {
            let simple = peers().filter(|other| match ENTRIES[other.entry].kind {
                Kind::Plain => other.backbone == backbone,
                Kind::Perceptron => true,
                _ => false,
            });
            if let Some(best) = simple.map(|other| mean(&other.tests)).reduce(f64::max) {
                regrets.push((best - mean(&ours.tests), format!("{world} with {backbone}")));
            }
        }
        if ENTRIES[ours.entry].name == "dgg-frozen"
            && let Some(trained) = peers().find(|o| ENTRIES[o.entry].kind == Kind::Learned)
            && let Some(found) = difference(trained, ours)
            && found.p.is_some_and(|p| p < SURE)
            && found.difference.mean > 0.0
        {
            beaten.push(world);
        }
    }
    if let Some((worst, place)) = regrets.iter().max_by(|a, b| a.0.total_cmp(&b.0)) {
        let all: Vec<f64> = regrets.iter().map(|(regret, _)| *regret).collect();
        notes.push(format!(
            "Regret against the better of network and perceptron, {} cells: mean {}, worst {} ({place}).",
            all.len(),
            table::signed(Measure::PERCENT, mean(&all)),
            table::signed(Measure::PERCENT, *worst),
        ));
    }
    if !beaten.is_empty() {
        let count = beaten.len();
        notes.push(format!(
            "dgg-learned is above dgg-frozen with p < {SURE} on {count} graphs: {}.",
            beaten.join(", ")
        ));
    }
    notes
}
