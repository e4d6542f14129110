//! The settings that a run starts from: frozen in `snapshots/`, complete, and the same whatever the data is called.
//!
//! `ADJOIN_BLESS=1 cargo test -p adjoin-lab --test settings` writes the snapshots anew.

mod common;

use adjoin_data::{points, trajectory};
use adjoin_lab::{
    run::recipe_layers,
    settings::{Defaults, Layers, RECIPES, Recipe, keys, recipe},
    task::{Settings, Task},
    tasks::{Node, Points, Trajectory},
};
use common::{circles, citations, solids};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::PathBuf,
    sync::Arc,
};

type Keys = Vec<(String, String)>;

fn recipes<T: Task>() -> impl Iterator<Item = &'static Recipe> {
    RECIPES.iter().filter(|recipe| recipe.task == T::NAME)
}

/// Names of all networks with all learners, the options behind them included.
fn combinations<T: Task>() -> Vec<(String, String)> {
    let options = Defaults::read(T::NAME, T::DEFAULTS).unwrap().options;
    let mut all = Vec::new();
    for backbone in T::backbones() {
        for learner in T::learners() {
            all.push((backbone.name.clone(), learner.name.clone()));
            let with = options.keys().map(|option| format!("{}+{option}", learner.name));
            all.extend(with.map(|learner| (backbone.name.clone(), learner)));
        }
    }
    all
}

/// What a configuration has that another has not, or otherwise, a line each.
fn over(base: &Keys, now: &Keys) -> String {
    let [base, now] = [base, now].map(|keys| keys.iter().cloned().collect::<BTreeMap<_, _>>());
    let mut out = String::new();
    for key in base.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
        match (base.get(key), now.get(key)) {
            (Some(_), None) => writeln!(out, "- {key}").unwrap(),
            (was, Some(value)) if was != Some(value) => writeln!(out, "{key} = {value}").unwrap(),
            _ => {}
        }
    }
    out
}

/// All settings of a task: those built in, then by network and learner what differs, then the recipes.
fn settings<T: Task>() -> Vec<(String, String)> {
    let of = |backbone: &str, learner: &str| keys(&T::named(backbone, learner).unwrap().config);
    let built_in = keys(&T::Config::default());
    let mut all = vec![("built in".to_string(), over(&Vec::new(), &built_in))];
    let mut learners: Vec<(String, String, Vec<String>)> = Vec::new();
    for (backbone, learner) in combinations::<T>() {
        let (plain, now) = (of(&backbone, T::PLAIN), of(&backbone, &learner));
        if learner == T::PLAIN {
            all.push((format!("{backbone} {learner}, over built in"), over(&built_in, &now)));
            continue;
        }
        let text = over(&plain, &now);
        match learners.iter_mut().find(|(name, of, _)| *name == learner && *of == text) {
            Some((.., backbones)) => backbones.push(backbone),
            None => learners.push((learner, text, vec![backbone])),
        }
    }
    for (learner, text, backbones) in learners {
        let heading = format!("{learner} with {}, over {}", backbones.join(", "), T::PLAIN);
        all.push((heading, text));
    }
    for recipe in recipes::<T>() {
        let config = recipe_layers::<T>(recipe.name).unwrap().config;
        let (backbone, learner) = (config.backbone(), config.learner());
        let text = over(&of(&backbone, &learner), &keys(&config));
        all.push((format!("recipe {}, over {backbone} {learner}", recipe.name), text));
    }
    all
}

/// The sections of a snapshot.
fn parsed(text: &str) -> Vec<(String, String)> {
    let sections = text.split("## ").skip(1).map(|section| section.split_once('\n').unwrap());
    sections.map(|(heading, body)| (heading.into(), body.trim_end().to_string() + "\n")).collect()
}

/// Lines that are gone and lines that are new, by section.
fn changes(then: &[(String, String)], now: &[(String, String)]) -> String {
    let of = |all: &[(String, String)], heading: &str| -> Option<BTreeSet<String>> {
        let found = all.iter().find(|(name, _)| name == heading);
        found.map(|(_, body)| body.lines().map(String::from).collect())
    };
    let headings: BTreeSet<&String> = then.iter().chain(now).map(|(heading, _)| heading).collect();
    let mut out = String::new();
    for heading in headings {
        let (then, now) = (of(then, heading), of(now, heading));
        if then == now {
            continue;
        }
        let state = match (&then, &now) {
            (None, _) => " (new)",
            (_, None) => " (gone)",
            _ => "",
        };
        writeln!(out, "## {heading}{state}").unwrap();
        let (then, now) = (then.unwrap_or_default(), now.unwrap_or_default());
        then.difference(&now).for_each(|line| writeln!(out, "  was: {line}").unwrap());
        now.difference(&then).for_each(|line| writeln!(out, "  now: {line}").unwrap());
    }
    out
}

fn is_frozen<T: Task>() {
    let file = format!("tests/snapshots/{}.txt", T::NAME);
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&file);
    let now = settings::<T>();
    if std::env::var_os("ADJOIN_BLESS").is_some_and(|value| value == "1") {
        let sections = now.iter().map(|(heading, body)| format!("## {heading}\n{body}"));
        let head = "Settings as they are resolved; `- KEY` is not there. See tests/settings.rs.\n";
        fs::write(&path, format!("{head}\n{}", sections.collect::<Vec<_>>().join("\n"))).unwrap();
    }
    let then = fs::read_to_string(&path).unwrap_or_default();
    let normal =
        |(heading, body): &(String, String)| (heading.clone(), body.trim_end().to_string() + "\n");
    let now: Vec<_> = now.iter().map(normal).collect();
    let then = parsed(&then);
    assert!(
        then == now,
        "settings are not those of {file}; if that is intended, ADJOIN_BLESS=1 writes it anew\n{}",
        changes(&then, &now)
    );
}

#[test]
fn settings_of_nodes_are_frozen() {
    is_frozen::<Node>();
}

#[test]
fn settings_of_trajectories_are_frozen() {
    is_frozen::<Trajectory>();
}

#[test]
fn settings_of_point_clouds_are_frozen() {
    is_frozen::<Points>();
}

#[test]
fn changes_of_settings_are_shown_by_section() {
    let then = parsed("## a\nx = 1\ny = 2\n\n## b\nz = 3\n");
    let now = parsed("## a\nx = 1\ny = 5\n\n## c\nz = 3\n");
    let expected =
        "## a\n  was: y = 2\n  now: y = 5\n## b (gone)\n  was: z = 3\n## c (new)\n  now: z = 3\n";
    assert_eq!(changes(&then, &now), expected);
    assert_eq!(changes(&then, &then), "");
}

#[test]
fn every_recipe_is_a_full_configuration_of_its_task() {
    fn full<T: Task>() -> usize {
        for Recipe { name, text, .. } in recipes::<T>() {
            let table: toml::Table = text.parse().unwrap();
            let config = T::Config::read(name, text).unwrap();
            assert_eq!(keys(&table), keys(&config), "{name} leaves keys to defaults");
            config.check().unwrap();
            let layers = recipe_layers::<T>(name).unwrap();
            assert_eq!(layers.config, config, "{name}");
            for (key, _) in keys(&config) {
                assert_eq!(layers.origins.of(&key), format!("recipe {name}"), "{key}");
            }
            let about = recipe(T::NAME, name).unwrap().about();
            assert!(about.ends_with('.'), "{name} does not say what it is for: {about}");
        }
        recipes::<T>().count()
    }
    let counts = [full::<Node>(), full::<Trajectory>(), full::<Points>()];
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), RECIPES.len(), "a recipe is for no task");
}

#[test]
fn annotated_settings_are_a_file_of_the_same_settings() {
    fn same<T: Task>() {
        let named = combinations::<T>().into_iter();
        let named = named.map(|(backbone, learner)| T::named(&backbone, &learner).unwrap());
        let recipes = recipes::<T>().map(|recipe| recipe_layers::<T>(recipe.name).unwrap());
        for layers in named.chain(recipes) {
            let layers: Layers<T::Config> = layers.set("train.epochs=77").unwrap();
            let text = layers.annotated();
            assert_eq!(T::Config::read("annotated", &text).unwrap(), layers.config, "{text}");
            let epochs = text.lines().find(|line| line.starts_with("epochs = 77"));
            assert!(epochs.is_some_and(|line| line.ends_with("# --set")), "{text}");
        }
    }
    same::<Node>();
    same::<Trajectory>();
    same::<Points>();
}

/// A part of the defaults under a name that nothing has would never be used, and nobody would notice.
#[test]
fn every_part_of_the_defaults_is_of_a_name_that_there_is() {
    fn known<T: Task>() {
        let Defaults { backbones, learners, .. } = Defaults::read(T::NAME, T::DEFAULTS).unwrap();
        let names = |all: Vec<adjoin_lab::task::Named>| {
            all.into_iter().map(|one| one.name).collect::<Vec<String>>()
        };
        let [networks, graphs] = [T::backbones(), T::learners()].map(names);
        for name in backbones.keys() {
            assert!(networks.contains(name), "{}: backbones.{name}", T::NAME);
        }
        for (name, learner) in &learners {
            assert!(graphs.contains(name), "{}: learners.{name}", T::NAME);
            assert!(learner.with.keys().all(|with| networks.contains(with)), "learners.{name}");
            assert!(learner.extends.iter().all(|of| graphs.contains(of)), "learners.{name}");
        }
    }
    known::<Node>();
    known::<Trajectory>();
    known::<Points>();
}

/// Names of all datasets that have one.
fn datasets() -> Vec<&'static str> {
    let nodes = adjoin_data::list().into_iter().map(|known| known.name);
    let scenes = trajectory::list().into_iter().map(|known| known.name);
    let clouds = points::list().into_iter().map(|known| known.name);
    nodes.chain(scenes).chain(clouds).collect()
}

#[test]
fn no_recipe_and_no_default_is_looked_up_by_the_name_of_a_dataset() {
    fn apart<T: Task>() {
        let Defaults { backbones, learners, options, .. } =
            Defaults::read(T::NAME, T::DEFAULTS).unwrap();
        for name in datasets() {
            assert!(recipe(T::NAME, name).is_err(), "recipe {name}");
            assert!(![&backbones, &learners, &options].iter().any(|part| part.contains_key(name)));
        }
    }
    assert!(datasets().contains(&"citeseer") && datasets().contains(&"modelnet40"));
    apart::<Node>();
    apart::<Trajectory>();
    apart::<Points>();
}

#[test]
fn what_the_data_asks_for_does_not_depend_on_its_name() {
    fn same<T: Task>(called: impl Fn(&str) -> T::Data) {
        for (backbone, learner) in combinations::<T>() {
            let config = T::named(&backbone, &learner).unwrap().config;
            let of = |name: &str| T::suited(config.clone(), &called(name));
            let mine = of("mine");
            for name in ["cora", "citeseer", "pubmed", "nba-atk-10", "sdd", "eth", "modelnet40"] {
                assert_eq!(of(name), mine, "{name} {backbone} {learner}");
            }
        }
    }
    for edges in [true, false] {
        let mut data = citations(1);
        if !edges {
            data.dataset.edges.clear();
        }
        same::<Node>(|name| {
            let mut data = data.clone();
            data.dataset.name = name.into();
            data
        });
    }
    let scenes = Arc::unwrap_or_clone(circles([2, 1, 1]));
    same::<Trajectory>(|name| {
        let mut scenes = scenes.clone();
        scenes.name = name.into();
        Arc::new(scenes)
    });
    let clouds = Arc::unwrap_or_clone(solids());
    same::<Points>(|name| {
        let mut clouds = clouds.clone();
        clouds.name = name.into();
        Arc::new(clouds)
    });
}
