//! `adjoin data`.

mod write;

use crate::{
    failure::{Done, Failure, print},
    table::table,
};
use adjoin_data::{FetchOptions, Locations, Progress, fetch, list, load, points, trajectory};
use clap::{Args, Subcommand};
use indicatif::{HumanBytes, ProgressBar};
use std::path::{Path, PathBuf};
use write::{Convert, Corrupt, Generate};

/// Find, download, convert, damage and make up data
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin data list
  adjoin data info citeseer
  adjoin data info zara1
      a dataset of trajectories
  adjoin data info shapes
      a dataset of point clouds
  adjoin data fetch pubmed
  adjoin data convert cora ./cora-csv --format csv
      a folder as you would write it for your own graph
  adjoin data convert cora wrong.npz --format npz --wrong-edges 0.5
      Cora with half as many edges again, all between classes: what does a learner make of it?
  adjoin data convert cora_metattack_0.25 marked.npz --format npz --clean cora_metattack_0
      a poisoned graph whose injected edges are marked: reports tell them apart
  adjoin data generate made-up.npz --format npz --nodes 5000 --homophily 0.5
      a made-up graph whose citations leave their topic half of the time
  adjoin data generate planted.npz --format npz --planted
      a made-up graph whose good neighbours are known, and their number
  adjoin data corrupt shapes jitter3 --kind jitter --level 3
      test clouds with noise

Your own graph is a folder with nodes.csv (id, label, split if wanted, features) and edges.csv (source, target,
weight, planted, injected, the last three if wanted), a .graphml file, or an .npz file with these arrays:
  features  node_features; or feat_indptr, feat_indices, feat_shape and, if not all 1, feat_data
  edges     edges (E x 2), or adj_indptr and adj_indices; edge_weights, edge_planted, edge_injected if wanted
  labels    labels, below 0 where unknown
  splits    train_idx, val_idx, test_idx; or train_masks, val_masks, test_masks (S x N), split_names
  names     class_names, node_ids, feature_names, all if wanted

Data is looked for in --data-dir, $ADJOIN_DATA, ./data and the user's cache, in this order.")]
pub struct Data {
    #[command(subcommand)]
    action: Action,
    /// Look for data here first, and let `fetch` put it here
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Action {
    /// List the datasets that have a name
    List,
    /// Say what a dataset holds
    Info {
        /// A name, or a folder or file
        name: String,
    },
    /// Download a public dataset into the cache, checked and resumable
    Fetch {
        /// A name from `adjoin data list`
        name: String,
        /// Do not fall back on pip when the public host cannot be reached
        #[arg(long)]
        no_pip: bool,
    },
    Convert(Convert),
    Corrupt(Corrupt),
    Generate(Generate),
}

impl Data {
    /// Runs the command.
    pub fn run(self) -> Done {
        let locations = Locations::from_environment(self.data_dir);
        match self.action {
            Action::List => print(listings()),
            Action::Info { name } if is_trajectory(&name) => trajectory_info(&name, &locations),
            Action::Info { name } if is_points(&name) => points_info(&name, &locations),
            Action::Info { name } => info(&name, &locations),
            Action::Fetch { name, no_pip } => download(&name, no_pip, locations),
            Action::Convert(convert) => convert.run(&locations),
            Action::Corrupt(corrupt) => corrupt.run(&locations),
            Action::Generate(generate) => generate.run(),
        }
    }
}

/// All datasets that have a name, task by task.
pub fn listings() -> String {
    format!("{}\n{}\n{}", listing(), trajectory_listing(), points_listing())
}

fn listing() -> String {
    let head = ["name", "nodes", "edges", "features", "classes", "splits", "what", "how to get it"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for known in list() {
        let how = match (known.is_embedded(), known.can_fetch()) {
            (true, _) => "inside the program",
            (false, true) => "adjoin data fetch",
            (false, false) => "by hand",
        };
        rows.push(vec![
            known.name.into(),
            known.nodes.to_string(),
            known.edges.to_string(),
            known.features.to_string(),
            known.classes.to_string(),
            known.splits.into(),
            known.about.into(),
            how.into(),
        ]);
    }
    table(&rows)
}

fn trajectory_listing() -> String {
    let head = ["name", "train", "valid", "test", "agents", "steps", "what", "how to get it"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for known in trajectory::list() {
        let [fewest, most] = known.agents;
        let mut row = known.scenes.map(|scenes| scenes.to_string()).to_vec();
        row.insert(0, known.name.into());
        row.push(if fewest == most { most.to_string() } else { format!("{fewest}-{most}") });
        row.push(format!("{}+{}", known.observed, known.predicted));
        row.push(known.about.into());
        row.push(if known.is_embedded() { "inside the program".into() } else { "by hand".into() });
        rows.push(row);
    }
    table(&rows)
}

fn points_listing() -> String {
    let head = ["name", "train", "valid", "test", "points", "classes", "what", "how to get it"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for known in points::list() {
        let mut row = vec![known.name.into()];
        let [train, valid, test] = known.shapes;
        let counts = [train, valid, test, known.points, known.classes];
        row.extend(counts.map(|count| count.to_string()));
        row.push(known.about.into());
        row.push(if known.is_embedded() { "inside the program".into() } else { "by hand".into() });
        rows.push(row);
    }
    table(&rows)
}

/// True for the name of a dataset of point clouds, and for a folder that holds some: not for a graph.
fn is_points(name: &str) -> bool {
    let path = Path::new(name);
    let is_graph = || adjoin_data::find(name).is_ok() || path.join("nodes.csv").is_file();
    points::find(name).is_ok() || !is_graph() && points::is_points(path)
}

fn points_info(name: &str, locations: &Locations) -> Done {
    let dataset = points::load(name, locations)?;
    let parts = dataset.parts().map(|(_, shapes)| shapes.len().to_string()).join(" / ");
    let [fewest, most] = dataset.points();
    let mut rows = vec![
        ("name", dataset.name.clone()),
        ("shapes", dataset.clouds.len().to_string()),
        ("points", if fewest == most { most.to_string() } else { format!("{fewest} to {most}") }),
        ("classes", format!("{}: {}", dataset.classes(), dataset.class_names.join(", "))),
        ("split", format!("{} ({parts}, {})", dataset.split.name, dataset.split.hash())),
        ("fingerprint", dataset.fingerprint()),
    ];
    if let Some(corruption) = dataset.corruption {
        rows.push(("corruption", corruption.to_string()));
    }
    if let Ok(known) = points::find(name) {
        rows.push(("source", known.source.into()));
        rows.push(("licence", known.licence.into()));
    }
    print_facts(&rows)
}

/// True for the name of a dataset of trajectories, and for a CSV file: graphs are in folders of them.
fn is_trajectory(name: &str) -> bool {
    let path = Path::new(name);
    let is_csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    trajectory::find(name).is_ok() || is_csv && path.is_file()
}

fn trajectory_info(name: &str, locations: &Locations) -> Done {
    let dataset = trajectory::load(name, locations)?;
    let mut rows = vec![
        ("name", dataset.name.clone()),
        ("steps", format!("{} observed, {} predicted", dataset.observed, dataset.predicted)),
        ("seconds", format!("{} between steps", dataset.seconds)),
    ];
    rows.extend(dataset.parts().map(|(part, scenes)| {
        let agents = || scenes.iter().map(|scene| scene.agents.len());
        let most = agents().max().unwrap_or(0);
        let paths: usize = agents().sum();
        (part, format!("{} scenes, {paths} paths, at most {most} agents", scenes.len()))
    }));
    rows.push(("fingerprint", dataset.fingerprint()));
    if let Ok(known) = trajectory::find(name) {
        rows.push(("source", known.source.into()));
        rows.push(("licence", known.licence.into()));
    }
    print_facts(&rows)
}

fn info(name: &str, locations: &Locations) -> Done {
    let dataset = load(name, locations)?;
    let degrees = dataset.degrees();
    let mean = 2.0 * dataset.edges.len() as f64 / dataset.nodes().max(1) as f64;
    let splits = dataset.splits.iter().map(|split| {
        let parts = [&split.train, &split.valid, &split.test].map(|part| part.len().to_string());
        format!("{} ({}, {})", split.name, parts.join(" / "), split.hash())
    });
    let splits: Vec<String> = splits.collect();
    let mut rows = vec![
        ("name", dataset.name.clone()),
        ("nodes", dataset.nodes().to_string()),
        ("edges", dataset.edges.len().to_string()),
        ("degree", format!("{mean:.2} mean, {} most", degrees.iter().max().unwrap_or(&0))),
        ("features", dataset.features.columns().to_string()),
        ("classes", format!("{}: {}", dataset.classes(), dataset.class_names.join(", "))),
        ("homophily", dataset.homophily().map_or("unknown".into(), |h| format!("{h:.3}"))),
        ("splits", if splits.is_empty() { "none".into() } else { splits.join("\n             ") }),
        ("default", dataset.default_split().map_or_else(|e| e.to_string(), |s| s.name)),
        ("fingerprint", dataset.fingerprint()),
    ];
    if let Some(good) = dataset.planted_degrees() {
        let edges = good.iter().sum::<u32>() / 2;
        let without = good.iter().filter(|number| **number == 0).count();
        let most = good.iter().max().unwrap_or(&0);
        let fact = format!("{edges} good edges, {most} at most at a node, {without} nodes without");
        rows.push(("planted", fact));
    }
    if let Some(marks) = &dataset.marks.injected {
        let edges = marks.iter().filter(|marked| **marked).count();
        rows.push(("injected", format!("{edges} edges")));
    }
    if let Ok(known) = adjoin_data::find(name) {
        rows.push(("source", known.source.into()));
        rows.push(("licence", known.licence.into()));
    }
    print_facts(&rows)
}

fn print_facts(rows: &[(&str, String)]) -> Done {
    print(rows.iter().map(|(key, value)| format!("{key:<13}{value}\n")).collect::<String>())
}

/// What to do about a dataset that is put in place by hand, or made on the spot (without a home).
fn no_download(name: &str, source: &str, home: &str, files: &str) -> Done {
    if home.is_empty() {
        return print(format!("{name} is inside the program: nothing to fetch\n"));
    }
    Err(Failure::Failed(format!(
        "{name} cannot be downloaded by this program; get it from {source} and put into the folder \
         {home} of a data folder: {files}"
    )))
}

fn download(name: &str, no_pip: bool, locations: Locations) -> Done {
    if let Ok(known) = trajectory::find(name) {
        return no_download(known.name, known.source, known.home, known.files);
    }
    if let Ok(known) = points::find(name) {
        return no_download(known.name, known.source, known.home, known.files);
    }
    let known = adjoin_data::find(name)?;
    if known.is_embedded() {
        return print(format!("{} is inside the program: nothing to fetch\n", known.name));
    }
    let cache = locations.data_dir.or(locations.cache);
    let cache = cache.ok_or_else(|| {
        Failure::Failed("there is no cache folder: name one with --data-dir".into())
    })?;
    // indicatif draws on terminals only.
    let bar = ProgressBar::no_length();
    let report = |progress: &Progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.received);
        bar.set_message(progress.file.clone());
    };
    let options =
        FetchOptions { progress: Some(&report), pip: !no_pip, ..FetchOptions::new(cache) };
    let fetched = fetch(name, &options);
    bar.finish_and_clear();
    let fetched = fetched?;
    let size = |path: &PathBuf| path.metadata().map_or(0, |found| found.len());
    let mut text: String = fetched
        .files
        .iter()
        .map(|path| format!("{} ({})\n", path.display(), HumanBytes(size(path))))
        .collect();
    text += &match (fetched.downloaded, fetched.by_pip) {
        (0, _) => "all files were there\n".to_string(),
        (count, true) => format!("{count} files through pip\n"),
        (count, false) => format!("{count} files downloaded\n"),
    };
    print(text)
}
