//! Graphs that `adjoin data` writes: converted ones, damaged ones, made-up ones.

use crate::failure::{Done, Failure, print};
use adjoin_data::{
    Existing, GeneratorConfig, Locations, NodeDataset, PlantedConfig, add_wrong_edges,
    citation_like, load, planted, points, trajectory, write_csv_folder, write_npz,
};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Where a graph goes, and how it is written.
#[derive(Args)]
struct Target {
    /// The folder (csv) or file (npz) to write
    out: PathBuf,
    /// Format to write
    #[arg(long, value_enum)]
    format: Format,
    /// Replace what is there
    #[arg(long)]
    overwrite: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// nodes.csv and edges.csv in a folder
    Csv,
    /// One archive of NumPy arrays
    Npz,
}

impl Target {
    fn write(&self, dataset: &NodeDataset) -> Done {
        let existing = if self.overwrite { Existing::Replace } else { Existing::Refuse };
        match self.format {
            Format::Csv => write_csv_folder(dataset, &self.out, existing)?,
            Format::Npz => write_npz(dataset, &self.out, existing)?,
        }
        print(format!("{}\n", self.out.display()))
    }
}

/// Write a dataset in another format, or with wrong edges added
#[derive(Args)]
pub struct Convert {
    /// A name, or a folder or file
    name: String,
    #[command(flatten)]
    target: Target,
    /// Add so many edges between nodes of different classes, as a fraction of the edges there are, and mark them as
    /// injected: to see what a learner makes of them
    #[arg(long, value_name = "FRACTION", allow_negative_numbers = true)]
    wrong_edges: Option<f64>,
    /// Seed of the wrong edges
    #[arg(long, value_name = "N", default_value_t = 0, requires = "wrong_edges")]
    seed: u64,
}

impl Convert {
    /// Runs the command.
    pub fn run(self, locations: &Locations) -> Done {
        let name = &self.name;
        if trajectory::find(name).is_ok() || points::find(name).is_ok() {
            return Err(Failure::Usage(format!("{name}: only graphs can be converted")));
        }
        let dataset = load(name, locations)?;
        match self.wrong_edges {
            None => self.target.write(&dataset),
            Some(fraction) => self.target.write(&add_wrong_edges(&dataset, fraction, self.seed)?.0),
        }
    }
}

/// Make up a graph like one of citations, or one whose good neighbours are known
///
/// Without --planted, papers of some topics cite earlier ones, mostly of their own topic.
///
/// With --planted, every node has a known number of good neighbours of its own class, 0 to --max-good, and an
/// independent number of bad ones of other classes. The good edges are marked (column `planted` of
/// edges.csv, array edge_planted of an archive). Training never sees the marks: `adjoin train` and
/// `adjoin evaluate` compare the learned graph with them at the end. One node in five trains, one in five
/// validates.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin data generate made-up.npz --format npz --nodes 5000 --homophily 0.5
      citations that leave their topic half of the time
  adjoin data generate planted.npz --format npz --planted
  adjoin train --dataset planted.npz --learner none,dgg
      does the learner find which neighbours are good, and how many?
  adjoin data generate even.npz --format npz --planted --even-degrees
      the same, but the degree of a node says nothing of its good neighbours")]
pub struct Generate {
    #[command(flatten)]
    target: Target,
    /// Plant good and bad neighbours
    #[arg(long)]
    planted: bool,
    #[arg(long, value_name = "N", help = either("Number of nodes", |c| c.nodes, |p| p.nodes))]
    nodes: Option<usize>,
    #[arg(long, value_name = "N", help = either("Number of classes", |c| c.classes, |p| p.classes))]
    classes: Option<usize>,
    #[arg(long, value_name = "N", help = either("Number of features", |c| c.features, |p| p.features))]
    features: Option<usize>,
    /// Mean number of edges at a node
    #[arg(long, allow_negative_numbers = true, value_name = "K", default_value_t = GeneratorConfig::default().degree, conflicts_with = "planted")]
    degree: f64,
    /// Probability that a citation stays within its topic
    #[arg(long, allow_negative_numbers = true, value_name = "P", default_value_t = GeneratorConfig::default().homophily, conflicts_with = "planted")]
    homophily: f64,
    /// Probability that a word comes from all words instead of those of the topic
    #[arg(long, allow_negative_numbers = true, value_name = "P", default_value_t = GeneratorConfig::default().feature_noise, conflicts_with = "planted")]
    feature_noise: f64,
    /// Edges between topics added afterwards, as a fraction of the edges
    #[arg(long, allow_negative_numbers = true, value_name = "FRACTION", default_value_t = GeneratorConfig::default().wrong_edges, conflicts_with = "planted")]
    wrong_edges: f64,
    /// With --planted: standard deviation of features around their class prototype
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = PlantedConfig::default().noise, requires = "planted")]
    noise: f64,
    /// With --planted: most good neighbours of a node
    #[arg(long, value_name = "N", default_value_t = PlantedConfig::default().max_good, requires = "planted")]
    max_good: usize,
    /// With --planted: most bad neighbours of a node
    #[arg(long, value_name = "N", default_value_t = PlantedConfig::default().max_bad, requires = "planted")]
    max_bad: usize,
    /// With --planted: give more bad neighbours to nodes with fewer good ones, so that all degrees are alike
    #[arg(long, requires = "planted")]
    even_degrees: bool,
    /// The same seed gives the same graph
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Help on a number whose default depends on the kind of graph.
fn either(
    what: &str,
    cited: impl Fn(GeneratorConfig) -> usize,
    planted: impl Fn(PlantedConfig) -> usize,
) -> String {
    let (cited, planted) = (cited(Default::default()), planted(Default::default()));
    format!("{what} [default: {cited}; with --planted {planted}]")
}

impl Generate {
    /// Runs the command.
    pub fn run(self) -> Done {
        let dataset = match self.planted {
            true => planted(&self.plant())?,
            false => citation_like(&self.citations())?,
        };
        self.target.write(&dataset)
    }

    fn plant(&self) -> PlantedConfig {
        let default = PlantedConfig::default();
        PlantedConfig {
            nodes: self.nodes.unwrap_or(default.nodes),
            classes: self.classes.unwrap_or(default.classes),
            features: self.features.unwrap_or(default.features),
            noise: self.noise,
            max_good: self.max_good,
            max_bad: self.max_bad,
            even_degrees: self.even_degrees,
            seed: self.seed,
        }
    }

    fn citations(&self) -> GeneratorConfig {
        let default = GeneratorConfig::default();
        GeneratorConfig {
            nodes: self.nodes.unwrap_or(default.nodes),
            classes: self.classes.unwrap_or(default.classes),
            features: self.features.unwrap_or(default.features),
            degree: self.degree,
            homophily: self.homophily,
            feature_noise: self.feature_noise,
            wrong_edges: self.wrong_edges,
            seed: self.seed,
        }
    }
}
