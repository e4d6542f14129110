//! `adjoin train`.

mod points;
pub(super) mod summary;
mod trajectory;

use super::{all_threads, command_line};
use crate::{
    failure::{Done, Failure, print},
    progress::{Show, Watch, catch_interrupts},
};
use adjoin_data::{Locations, NodeDataset, Split, SplitSpec};
use adjoin_lab::{
    Error,
    plan::{Layered, Plan, Wishes},
    points::PointsConfig,
    run::{self, RunFolder},
    schema::Schema,
    trajectory::TrajectorySetup,
};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Train a network with one or more learners of its graph, over several seeds
///
/// Without options: GCN on the Cora graph that is inside the program, once on its own edges
/// (learner none) and once on a learned graph (learner dgg), 4 seeds each. Results go to a new
/// folder below runs/, with a page that shows what was learned.
///
/// With --task trajectory: Social-STGCNN on a generated crowd, once on its published graph (learner
/// kernel) and once on a learned one. Errors (ADE and FDE) are in metres, beside those of walking straight
/// on.
///
/// With --task points: a small DGCNN on generated shapes, once on fixed numbers of nearest neighbours
/// (learner knn) and once on learned ones.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin train
      GCN on Cora, with and without a learned graph
  adjoin train --dataset citeseer --backbone gat --learner none,dropedge,dgg --seeds 10
      compare three learners over ten seeds; differences are paired by seed
  adjoin train --dataset ./my-graph --split ratio:0.6/0.2/0.2
      your own folder with nodes.csv (id, label, features...) and edges.csv (source, target)
  adjoin train --set train.epochs=500 --set learner.dgg.symmetric=true
      change settings; config.toml of any run lists them all
  adjoin train --config runs/cora-gcn-dgg/config.toml --seeds 1 --json
      the settings of an earlier run; one JSON object on standard output
  adjoin train --resume runs/cora-gcn-dgg.partial
      go on after Ctrl-C or a crash, as if nothing had happened
  adjoin train --task trajectory
      where people in a made-up crowd go next, with the published and with a learned graph
  adjoin train --task trajectory --dataset zara1 --learner kernel,none,dgm,dgg --seeds 3
      four graphs on recorded pedestrians, if ADJOIN_DATA or --data-dir has them
  adjoin train --task trajectory --dataset walks.csv --backbone dagnet --set train.epochs=20
      your own recordings, a table of scene, frame, agent, x, y; 8 steps seen, 12 predicted
  adjoin train --task trajectory --dataset walks.csv --split scene:5/10
      whole recordings to test with; 5 steps seen, 10 predicted
  adjoin train --task points
      which made-up shape a cloud of points is, with fixed and with learned neighbourhoods
  adjoin train --task points --dataset modelnet40 --subset 20 --learner knn,dgm,dgg --set points=256
      a part of ModelNet40, if ADJOIN_DATA or --data-dir has it; 256 points of every cloud
  adjoin train --task points --dataset ./my-shapes --backbone resgcn
      your own meshes or clouds, in one folder per class")]
pub struct Train {
    /// A name from `adjoin data list`, or a folder or file with a graph [default: cora]; for trajectories
    /// crowd, eth, hotel, univ, zara1, zara2, sdd, nba-atk-10, ..., or a .csv file [default: crowd]; for
    /// points shapes, modelnet40, or a folder with one folder per class [default: shapes]
    #[arg(long, value_name = "NAME|DIR")]
    dataset: Option<String>,
    /// What is learned
    #[arg(long, value_enum, default_value_t = Task::Node)]
    task: Task,
    /// The network: gcn, sage, gat or gcnii [default: gcn]; for trajectories social-stgcnn or dagnet
    /// [default: social-stgcnn]; for points dgcnn or resgcn [default: dgcnn]
    #[arg(long, value_name = "NAME")]
    backbone: Option<String>,
    /// Learners of the graph, with commas between: none, knn, pagerank, dropedge, dgm, dgg,
    /// dgg-star, dgg-paper, dgg-ref; with +consistency after a name, predictions over several
    /// draws are made to agree [default: none,dgg]; for trajectories kernel (the published graph), none
    /// (all agents joined), dgm, dgg [default: kernel,dgg]; for points knn (the published graph), dgm,
    /// dgg [default: knn,dgg]
    #[arg(long, value_delimiter = ',')]
    learner: Option<Vec<String>>,
    /// Settings from a file, as config.toml of a run
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Change one setting, e.g. train.rate=0.02; may be given again
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// How many seeds
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// The first seed; the others follow it
    #[arg(long, value_name = "K", default_value_t = 0)]
    first_seed: u64,
    /// Which nodes train, choose and test: public, fixed:3, random:7, develop:0 (no test node of the published split),
    /// ratio:0.6/0.2/0.2, ...
    /// [default: the one that comes with the data]; of your own trajectories time or scene (parts of
    /// every recording, or whole ones), and how many steps are seen and predicted: scene:8/12
    #[arg(long, value_name = "SPEC")]
    split: Option<String>,
    /// Leave the edges of the graph out: everything is learned from features
    #[arg(long)]
    no_graph: bool,
    /// Only so many training clouds of every class, and a quarter as many to choose and to test with
    #[arg(long, value_name = "N")]
    subset: Option<usize>,
    /// Look for data here first
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Folder of the results [default: runs/DATASET-BACKBONE-LEARNER]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace results that are there
    #[arg(long)]
    overwrite: bool,
    /// Go on with a run that was stopped; other options come from that run, but for --overwrite
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "dataset", "backbone", "learner", "config", "set", "seeds", "first_seed", "split",
        "no_graph", "subset", "data_dir", "out",
    ])]
    resume: Option<PathBuf>,
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print the result as JSON, and nothing else on standard output
    #[arg(long)]
    json: bool,
    /// Say nothing while training
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Task {
    /// Classes of the nodes of a graph
    Node,
    /// Paths of people and players
    Trajectory,
    /// Classes of point clouds
    Points,
}

impl Train {
    /// Runs the command.
    pub fn run(self) -> Done {
        // A run that is resumed says itself what it is.
        let resumed = self.resume.as_deref().map(run::task).transpose()?;
        let task = match resumed.as_deref() {
            Some(TrajectorySetup::TASK) => Task::Trajectory,
            Some(PointsConfig::TASK) => Task::Points,
            Some(_) => Task::Node,
            None => self.task,
        };
        if self.subset.is_some() && task != Task::Points {
            return Err(Failure::Usage("--subset is for --task points".into()));
        }
        if self.no_graph && task != Task::Node {
            return Err(Failure::Usage("--no-graph is for --task node".into()));
        }
        match task {
            Task::Node => self.run_nodes(),
            Task::Trajectory => trajectory::run(&self),
            Task::Points => points::run(&self),
        }
    }

    fn run_nodes(self) -> Done {
        let (folder, dataset, split) = match &self.resume {
            Some(path) => resume(path, self.overwrite)?,
            None => self.start()?,
        };
        catch_interrupts();
        let show = Show::of(self.quiet);
        if show != Show::Nothing {
            eprintln!("{}", summary::heading(&folder, &dataset, &split));
        }
        let watch = |learner: &str| Watch::new(learner, show);
        let records = match folder.execute(&dataset, &split, self.threads(), watch) {
            Ok(records) => records,
            Err(error) => return Err(stopped(folder, error)),
        };
        let outs: Vec<PathBuf> = records.iter().map(|r| folder.result_of(&r.learner)).collect();
        let target = folder.publish()?;
        match self.json {
            true => print(summary::json(&records, &outs)?),
            false => print(summary::text(&records, &target.join(run::REPORT))),
        }
    }

    fn start(&self) -> Result<(RunFolder, NodeDataset, Split), Failure> {
        let name = self.dataset.as_deref().unwrap_or("cora");
        let locations = Locations::from_environment(self.data_dir.clone());
        let file = self.file()?;
        let mut dataset = adjoin_data::load(name, &locations)?;
        if self.no_graph {
            dataset = dataset.without_edges();
        }
        let has_edges = !dataset.edges.is_empty();
        let wishes = self.wishes(&dataset.name, file.as_ref());
        let configs = Wishes { has_edges, ..wishes }.configs()?;
        let split = match &self.split {
            Some(spec) => {
                let spec: SplitSpec = spec.parse().map_err(|e| Failure::Usage(format!("{e}")))?;
                dataset.split(&spec)?
            }
            None => dataset.default_split()?,
        };
        let folder = self.folder(
            Data {
                name: &dataset.name,
                source: absolute_if_path(name, &locations),
                part: split.name.clone(),
                part_hash: split.hash(),
                fingerprint: dataset.fingerprint(),
                schema: Some(Schema::of(&dataset)),
            },
            configs,
        )?;
        Ok((folder, dataset, split))
    }

    /// What the command says about the configurations.
    fn wishes<'a>(&'a self, dataset: &'a str, file: Option<&'a (String, String)>) -> Wishes<'a> {
        Wishes {
            dataset,
            has_edges: true,
            backbone: self.backbone.as_deref(),
            learners: self.learner.as_deref(),
            file: file.map(|(place, text)| (place.as_str(), text.as_str())),
            settings: &self.set,
        }
    }

    /// A new folder for a run of these learners on that data.
    fn folder<C: Layered>(
        &self,
        data: Data,
        configs: Vec<(String, C)>,
    ) -> Result<RunFolder<C>, Failure> {
        let (learners, configs): (Vec<_>, Vec<_>) = configs.into_iter().unzip();
        let target = match (&self.out, configs.first()) {
            (Some(out), _) => out.clone(),
            (None, Some(config)) => run::default_target(data.name, config, &learners),
            (None, None) => return Err(Failure::Usage("--learner: name at least one".into())),
        };
        let plan = Plan {
            task: C::TASK.into(),
            dataset: data.source,
            data_dir: self.data_dir.as_ref().map(|path| absolute(path)),
            split: data.part,
            split_hash: data.part_hash,
            fingerprint: data.fingerprint,
            schema: data.schema,
            no_graph: self.no_graph,
            learners,
            seeds: self.seeds()?,
            command: command_line(),
        };
        Ok(RunFolder::create(&target, self.overwrite, plan, configs)?)
    }

    /// Name and text of the configuration file, if one is named.
    fn file(&self) -> Result<Option<(String, String)>, Failure> {
        let Some(path) = &self.config else { return Ok(None) };
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))?;
        Ok(Some((path.display().to_string(), text)))
    }

    fn seeds(&self) -> Result<Vec<u64>, Failure> {
        super::seeds(self.first_seed, self.seeds)
    }

    fn threads(&self) -> usize {
        self.threads.map_or_else(all_threads, usize::from)
    }
}

/// What a run is told of its data, to find the same again when it is resumed.
struct Data<'a> {
    name: &'a str,
    /// A known name or an absolute path.
    source: String,
    /// The split, or how much of the data.
    part: String,
    /// Hash of a split of nodes; empty where the fingerprint covers it.
    part_hash: String,
    fingerprint: String,
    /// Classes and features of nodes.
    schema: Option<Schema>,
}

fn resume(path: &Path, overwrite: bool) -> Result<(RunFolder, NodeDataset, Split), Failure> {
    let folder = RunFolder::reopen(path, overwrite)?;
    let (dataset, split) = folder.plan().load(None, None)?;
    Ok((folder, dataset, split))
}

/// What to say when training ended early.
fn stopped(folder: RunFolder<impl Layered>, error: Error) -> Failure {
    let (work, resume) = (folder.work().display().to_string(), folder.resume_command());
    // What the settings or the data led to would come again.
    let passing = matches!(error, Error::Interrupted { .. } | Error::File { .. });
    let holds_seeds = folder.abandon();
    match Failure::from(error) {
        Failure::Failed(text) if holds_seeds => Failure::Failed(match passing {
            true => format!("{text}\ngo on with: {resume}"),
            false => format!(
                "{text}\nwhat was trained before is in {work}; with other settings start again, with \
                 --overwrite or another --out"
            ),
        }),
        other => other,
    }
}

/// A dataset that was found as a path keeps its meaning when the command is run elsewhere.
fn absolute_if_path(name: &str, locations: &Locations) -> String {
    let by_name = !name.contains(['/', '\\'])
        && (adjoin_data::find(name).is_ok() || !Path::new(name).exists() || {
            // A plain word found in a data folder wins over a path of the same name.
            locations.folders().iter().any(|folder| folder.join(name).exists())
        });
    match by_name {
        true => name.to_string(),
        false => absolute(Path::new(name)).display().to_string(),
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
