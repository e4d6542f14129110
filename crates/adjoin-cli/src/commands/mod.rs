//! One file per subcommand, and what several of them share.

pub mod bench;
pub mod completions;
pub mod config;
pub mod data;
pub mod evaluate;
pub mod graph;
pub mod list;
pub mod predict;
pub mod report;
pub mod reproduce;
mod summary;
pub mod train;

use crate::failure::{Done, Failure, print, print_bytes};
use adjoin_lab::{
    run::{Configured, Request},
    task::{Source, Task, WrongEdges},
    tasks::TASKS,
};
use clap::{Args, builder::PossibleValuesParser};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Which data.
#[derive(Args)]
pub struct DataArgs {
    /// A name from `adjoin list datasets`, or a folder or file of your own; several with commas between
    #[arg(long, value_name = "NAME|PATH")]
    dataset: Option<String>,
    /// Add so many wrong edges to a graph, as a fraction of its edges, each between two classes; several with
    /// commas between, 0 for the graph as it is; 0.5:7 draws other edges than 0.5
    #[arg(
        long,
        value_name = "FRACTION[:SEED]",
        value_delimiter = ',',
        conflicts_with = "no_graph"
    )]
    wrong_edges: Vec<WrongEdges>,
    /// Which nodes train, validate and test: public, fixed:3, random:7, develop:0 (no test node of the
    /// published split), stratified:0.6/0.2/0.2, ... [default: the one that comes with the data, else
    /// stratified:0.6/0.2/0.2]; of your own trajectories time or scene (parts of every recording, or whole
    /// ones), and how many steps are seen and predicted: scene:8/12
    #[arg(long, value_name = "SPEC")]
    split: Option<String>,
    /// Leave the edges of the graph out: everything is learned from features
    #[arg(long)]
    no_graph: bool,
    /// Only so many training clouds of every class, and a quarter as many to validate and to test with
    #[arg(long, value_name = "N")]
    subset: Option<usize>,
    /// Look for data here first
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DataArgs {
    /// Every dataset with every damage; those of a first run where none is named.
    fn sources<T: Task>(&self) -> Vec<Source> {
        let names: Vec<&str> = match self.dataset.as_deref() {
            // A name of one's own may hold commas.
            Some(name) if Path::new(name).exists() => vec![name],
            Some(names) => names.split(',').filter(|name| !name.is_empty()).collect(),
            None => vec![T::DATASET],
        };
        let said = Source {
            name: String::new(),
            data_dir: self.data_dir.clone(),
            split: self.split.clone(),
            no_graph: self.no_graph,
            wrong_edges: None,
            subset: self.subset,
        };
        if self.dataset.is_none() && self.wrong_edges.is_empty() && said == Source::default() {
            return T::first_sources();
        }
        let damages: Vec<Option<WrongEdges>> = match &self.wrong_edges[..] {
            [] => vec![None],
            some => some.iter().map(|one| Some(*one).filter(|one| one.fraction > 0.0)).collect(),
        };
        let with = |name: &str| {
            let source = Source { name: name.into(), ..said.clone() };
            damages
                .clone()
                .into_iter()
                .map(move |wrong_edges| Source { wrong_edges, ..source.clone() })
        };
        names.into_iter().flat_map(with).collect()
    }
}

/// Which networks and learners, and how they are set up.
#[derive(Args)]
pub struct Wanted {
    /// What is learned
    #[arg(long, default_value = TASKS[0], value_parser = PossibleValuesParser::new(TASKS))]
    task: String,
    /// The network
    #[arg(long, value_name = "NAME")]
    backbone: Option<String>,
    /// Learners of the graph, with commas between
    #[arg(long, value_delimiter = ',')]
    learner: Option<Vec<String>>,
    /// Whole configurations by name, with commas between, instead of a network and learners
    #[arg(long, value_delimiter = ',', value_name = "NAME", conflicts_with_all = ["backbone", "learner"])]
    recipe: Vec<String>,
    /// Settings from a file, as config.toml of a run
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Change one setting, e.g. train.rate=0.02; none removes an optional one; may be given again
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Wanted {
    /// Whether the command line says which learners.
    fn names_learners(&self) -> bool {
        self.learner.is_some() || !self.recipe.is_empty()
    }

    fn configs<T: Task>(&self) -> Result<Vec<Configured<T>>, Failure> {
        let file = match &self.config {
            None => None,
            Some(path) => {
                let text = std::fs::read_to_string(path);
                let place = path.display().to_string();
                Some((place.clone(), text.map_err(|e| Failure::Failed(format!("{place}: {e}")))?))
            }
        };
        let request = Request {
            backbone: self.backbone.as_deref(),
            learners: self.learner.as_deref(),
            recipes: &self.recipe,
            file: file.as_ref().map(|(place, text)| (place.as_str(), text.as_str())),
            settings: &self.set,
        };
        Ok(request.configs::<T>()?)
    }
}

/// Threads to use when none are named.
fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// So many seeds from the first one on.
fn seeds(first: u64, count: u64) -> Result<Vec<u64>, Failure> {
    let end = first.checked_add(count);
    let end = end.ok_or_else(|| Failure::Usage("--first-seed: leaves no room for --seeds".into()));
    Ok((first..end?).collect())
}

/// Writes a result to a file that is named, or else to standard output.
fn deliver(bytes: &[u8], out: Option<&Path>, overwrite: bool) -> Done {
    match out {
        Some(path) => Ok(adjoin_lab::files::write_new(path, bytes, overwrite)?),
        None => print_bytes(bytes),
    }
}

fn print_json(json: &impl Serialize) -> Done {
    let text = serde_json::to_string_pretty(json);
    print(text.map_err(|error| Failure::Failed(error.to_string()))? + "\n")
}

/// The command line as it could be typed again.
fn command_line() -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,+@%".contains(c);
    let quote = |word: String| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let words = std::env::args_os().skip(1).map(|word| quote(word.to_string_lossy().into_owned()));
    std::iter::once("adjoin".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}
