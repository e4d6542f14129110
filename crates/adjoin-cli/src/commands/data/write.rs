//! Graphs that `adjoin data` writes: converted ones, damaged ones, made-up ones.

use crate::failure::{Done, Failure, print};
use adjoin_data::{
    Existing, GeneratorConfig, Locations, NodeDataset, PlantedConfig, add_wrong_edges,
    citation_like, load, mark_injected, planted, points, trajectory, write_csv_folder, write_npz,
};
use adjoin_data::{
    points::{Corruption, Damage, Sampling, write_corrupted},
    trajectory::CrowdConfig,
};
use clap::{Args, ValueEnum, builder::PossibleValuesParser};
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

fn existing(overwrite: bool) -> Existing {
    if overwrite { Existing::Replace } else { Existing::Refuse }
}

impl Target {
    fn existing(&self) -> Existing {
        existing(self.overwrite)
    }

    fn write(&self, dataset: &NodeDataset) -> Done {
        let existing = self.existing();
        match self.format {
            Format::Csv => write_csv_folder(dataset, &self.out, existing)?,
            Format::Npz => write_npz(dataset, &self.out, existing)?,
        }
        print(format!("{}\n", self.out.display()))
    }
}

/// Write a dataset in another format, with wrong edges added, or with edges marked
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
    /// The same graph before an attack: edges that it lacks are marked as injected
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "wrong_edges")]
    clean: Option<String>,
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
        let mut dataset = load(name, locations)?;
        if let Some(clean) = &self.clean {
            dataset = mark_injected(&dataset, &load(clean, locations)?)?;
        }
        match self.wrong_edges {
            None => self.target.write(&dataset),
            Some(fraction) => self.target.write(&add_wrong_edges(&dataset, fraction, self.seed)?.0),
        }
    }
}

/// Damage the test clouds of a dataset of point clouds
///
/// Kinds and levels are those of ModelNet-C, for clouds of n points in the unit sphere, at level l from 1 to 5:
/// noise of deviation 0.01 l (jitter); a share of 0.125 (l + 1) of the points missing (drop-global), or 100 l n /
/// 1024 points missing in 1 to 8 places (drop-local); 10 l outliers anywhere (add-global), or 100 l n / 1024
/// in 1 to 8 places (add-local).
///
/// Models are trained on clean clouds: a damaged dataset is all for testing, with `adjoin evaluate`. Its clouds
/// are used as they are, with all their points.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin data corrupt shapes jitter3 --kind jitter --level 3
  adjoin evaluate runs/shapes-dgcnn-knn_dgg/dgg --dataset ./jitter3
  adjoin data corrupt modelnet40 outliers5 --kind add-global --level 5 --subset 40 --points 512
      for a run with --subset 40 and points=512: its own test clouds")]
pub struct Corrupt {
    /// A name of point clouds, or a folder
    name: String,
    /// The folder to write
    out: PathBuf,
    /// Kind of damage
    #[arg(long, value_parser = PossibleValuesParser::new(Damage::ALL.map(|(name, _)| name)))]
    kind: String,
    /// How much of it
    #[arg(long, value_name = "1..5", value_parser = clap::value_parser!(u8).range(1..=5))]
    level: u8,
    /// The same seed gives the same damage
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Only the test clouds of `adjoin train --subset N`
    #[arg(long, value_name = "N")]
    subset: Option<usize>,
    /// Keep so many points of a cloud before it is damaged [default: all]
    #[arg(long, value_name = "N")]
    points: Option<usize>,
    /// Replace what is there
    #[arg(long)]
    overwrite: bool,
}

impl Corrupt {
    /// Runs the command.
    pub fn run(self, locations: &Locations) -> Done {
        let mut dataset = points::load(&self.name, locations)?;
        if dataset.corruption.is_some() {
            let what = format!("{}: these clouds are damaged already", self.name);
            return Err(Failure::Usage(what));
        }
        if let Some(count) = self.subset {
            dataset = dataset.quick(count)?;
        }
        if let Some(count) = self.points {
            dataset = dataset.with_points(count, Sampling::Random { seed: 0 })?;
        }
        let corruption =
            Corruption { damage: self.kind.parse()?, level: self.level, seed: self.seed };
        write_corrupted(&dataset.corrupted(corruption)?, &self.out, existing(self.overwrite))?;
        print(format!("{}\n", self.out.display()))
    }
}

// A needed flag is not asked for when it would clash with another word, so what needs it clashes too.
/// Options of graphs like those of citations.
const OF_CITATIONS: [&str; 4] = ["degree", "homophily", "feature_noise", "wrong_edges"];
/// Options of all graphs.
const OF_GRAPHS: [&str; 8] = [
    "planted",
    "nodes",
    "classes",
    "features",
    "degree",
    "homophily",
    "feature_noise",
    "wrong_edges",
];

/// Make up a graph like one of citations, one whose good neighbours are known, or a crowd
///
/// Without --planted and --crowd, papers of some topics cite earlier ones, mostly of their own topic.
///
/// With --planted, every node has a known number of good neighbours of its own class, 0 to --max-good, and an
/// independent number of bad ones of other classes. The good edges are marked (column `planted` of
/// edges.csv, array edge_planted of an archive). Training never sees the marks: `adjoin train` and
/// `adjoin evaluate` compare the learned graph with them at the end. One node in five trains, one in five
/// validates.
///
/// With --crowd, people cross a square and keep out of each other's way: trajectories, as a CSV file. With
/// --distractors others walk straight through them. Nobody avoids those, and their errors do not count; a
/// column `distractor` marks them. The paths of all others are the same with and without them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin data generate made-up.npz --format npz --nodes 5000 --homophily 0.5
      citations that leave their topic half of the time
  adjoin data generate planted.npz --format npz --planted
  adjoin train --dataset planted.npz --learner none,dgg
      does the learner find which neighbours are good, and how many?
  adjoin data generate even.npz --format npz --planted --even-degrees
      the same, but the degree of a node says nothing of its good neighbours
  adjoin data generate crowd16.csv --format csv --crowd --distractors 16
  adjoin train --task trajectory --dataset crowd16.csv --learner kernel,dgg
      does the learner see who matters?")]
pub struct Generate {
    #[command(flatten)]
    target: Target,
    /// Plant good and bad neighbours
    #[arg(long)]
    planted: bool,
    /// Make trajectories of a crowd
    #[arg(long, conflicts_with_all = OF_GRAPHS)]
    crowd: bool,
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
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = PlantedConfig::default().noise, requires = "planted", conflicts_with_all = OF_CITATIONS)]
    noise: f64,
    /// With --planted: most good neighbours of a node
    #[arg(long, value_name = "N", default_value_t = PlantedConfig::default().max_good, requires = "planted", conflicts_with_all = OF_CITATIONS)]
    max_good: usize,
    /// With --planted: most bad neighbours of a node
    #[arg(long, value_name = "N", default_value_t = PlantedConfig::default().max_bad, requires = "planted", conflicts_with_all = OF_CITATIONS)]
    max_bad: usize,
    /// With --planted: give more bad neighbours to nodes with fewer good ones, so that all degrees are alike
    #[arg(long, requires = "planted", conflicts_with_all = OF_CITATIONS)]
    even_degrees: bool,
    /// With --crowd: number of scenes
    #[arg(long, value_name = "N", default_value_t = CrowdConfig::default().scenes, requires = "crowd", conflicts_with_all = OF_GRAPHS)]
    scenes: usize,
    /// With --crowd: people in every scene who interact with nobody
    #[arg(long, value_name = "N", default_value_t = CrowdConfig::default().distractors, requires = "crowd", conflicts_with_all = OF_GRAPHS)]
    distractors: usize,
    /// The same seed gives the same graph or crowd
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
        if self.crowd {
            return self.people();
        }
        let dataset = match self.planted {
            true => planted(&self.plant())?,
            false => citation_like(&self.citations())?,
        };
        self.target.write(&dataset)
    }

    fn people(&self) -> Done {
        let Target { out, format, .. } = &self.target;
        if matches!(format, Format::Npz) {
            return Err(Failure::Usage(
                "--crowd: trajectories are written with --format csv".into(),
            ));
        }
        let (scenes, distractors, seed) = (self.scenes, self.distractors, self.seed);
        let config = CrowdConfig { scenes, distractors, seed, ..CrowdConfig::default() };
        trajectory::write_csv(&trajectory::crowd(&config)?, out, self.target.existing())?;
        print(format!("{}\n", out.display()))
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
