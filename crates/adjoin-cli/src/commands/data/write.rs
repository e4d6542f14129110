//! Graphs that `adjoin data` writes: converted ones, damaged ones, made-up ones.

use crate::failure::{Done, Failure, print};
use adjoin_data::{
    Existing, GeneratorConfig, Locations, NodeDataset, add_wrong_edges, citation_like, load,
    points, trajectory, write_csv_folder, write_npz,
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
    /// Add so many edges between nodes of different classes, as a fraction of the edges there are: to see what a
    /// learner makes of them
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

/// Make up a graph like one of citations: papers of some topics cite earlier ones, mostly of their own
#[derive(Args)]
pub struct Generate {
    #[command(flatten)]
    target: Target,
    /// Number of papers
    #[arg(long, value_name = "N", default_value_t = GeneratorConfig::default().nodes)]
    nodes: usize,
    /// Number of topics
    #[arg(long, value_name = "N", default_value_t = GeneratorConfig::default().classes)]
    classes: usize,
    /// Number of words
    #[arg(long, value_name = "N", default_value_t = GeneratorConfig::default().features)]
    features: usize,
    /// Mean number of edges at a node
    #[arg(long, allow_negative_numbers = true, value_name = "K", default_value_t = GeneratorConfig::default().degree)]
    degree: f64,
    /// Probability that a citation stays within its topic
    #[arg(long, allow_negative_numbers = true, value_name = "P", default_value_t = GeneratorConfig::default().homophily)]
    homophily: f64,
    /// Probability that a word comes from all words instead of those of the topic
    #[arg(long, allow_negative_numbers = true, value_name = "P", default_value_t = GeneratorConfig::default().feature_noise)]
    feature_noise: f64,
    /// Edges between topics added afterwards, as a fraction of the edges
    #[arg(long, allow_negative_numbers = true, value_name = "FRACTION", default_value_t = GeneratorConfig::default().wrong_edges)]
    wrong_edges: f64,
    /// The same seed gives the same graph
    #[arg(long, value_name = "N", default_value_t = GeneratorConfig::default().seed)]
    seed: u64,
}

impl Generate {
    /// Runs the command.
    pub fn run(self) -> Done {
        let config = GeneratorConfig {
            nodes: self.nodes,
            classes: self.classes,
            features: self.features,
            degree: self.degree,
            homophily: self.homophily,
            feature_noise: self.feature_noise,
            wrong_edges: self.wrong_edges,
            seed: self.seed,
        };
        self.target.write(&citation_like(&config)?)
    }
}
