//! `adjoin bench`.

mod reference;

use super::all_threads;
use crate::{
    failure::{Done, print},
    table::table,
};
use adjoin_lab::{
    run::{Experiment, Teachers, Unobserved, recipe_layers},
    settings::Layers,
    task::{Settings, Source, Task},
    tasks::{Node, Points, node::NodeConfig, points},
    train::{StepTime, step_time},
};
use clap::Args;
use std::time::Duration;

/// Time a training step of every network, with and without a learned graph
///
/// Prints the time of a step (forward, backward, Adam) in milliseconds: of sixteen steps that follow each other the mean,
/// and of such rounds the median. When PyTorch and PyG are installed and bench/reference.py is found here or
/// above, the same networks are timed there too on Cora, and ratios are printed.
///
/// With --dataset: GCN on that graph, and what it costs to fit the evidence of dgg beside a plain training run.
///
/// With --points: a training step of DGCNN on 8 clouds of 1024 points and the search for 20 neighbours, as
/// JSON; bench/dgcnn.py runs the same in PyTorch beside it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin bench
  adjoin bench --seconds 5
      time each for longer; close other programs first
  adjoin bench --dataset pubmed
      GCN on another graph, and the cost of the evidence
  pip install torch torch_geometric && ADJOIN_DATA=./data adjoin bench
      beside PyTorch, from a clone of the repository")]
pub struct Bench {
    /// How long to time each case, in seconds
    #[arg(long, default_value_t = 2.0, value_parser = some_seconds)]
    seconds: f64,
    /// Time GCN on this graph, named as for `train`
    #[arg(long, value_name = "NAME", conflicts_with = "points")]
    dataset: Option<String>,
    /// Time point clouds
    #[arg(long)]
    points: bool,
    /// The learner of the graphs of point clouds: knn, dgm or dgg
    #[arg(long, default_value = "knn", requires = "points")]
    learner: String,
    /// Threads to use for point clouds [default: all]
    #[arg(long, value_name = "N", requires = "points", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// A network and its cases in the reference: PyG, and PyTorch tuned by hand.
const CASES: [(&str, [Option<&str>; 2]); 4] = [
    ("gcn", [Some("gcn_pyg"), Some("gcn_tuned")]),
    ("sage", [Some("sage_pyg"), Some("sage_tuned")]),
    ("gat", [Some("gat_pyg"), Some("gat_tuned")]),
    ("gcnii", [Some("gcnii64_pyg"), None]),
];

fn some_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "a number from 0.01 to 3600 is needed".into())
}

impl Bench {
    /// Runs the command.
    pub fn run(self) -> Done {
        let budget = Duration::from_secs_f64(self.seconds);
        if self.points {
            return self.run_points(budget);
        }
        if let Some(dataset) = &self.dataset {
            return run_graph(dataset, budget);
        }
        let reference = reference::find();
        let mut rows = vec![["network", "none", "dgg", "dgg / none"].map(String::from).to_vec()];
        if reference.is_ok() {
            let columns = ["PyG", "PyG / none", "tuned PyTorch", "tuned / none"];
            rows[0].extend(columns.map(String::from));
        }
        let source = Source { name: Node::DATASET.into(), ..Source::default() };
        let data = Node::load(&source)?;
        let step = |backbone: &str, learner: &str| {
            let time = step_time::<Node>(&published(backbone, learner)?, &data, budget);
            time.map(|time| time.milliseconds)
        };
        for (name, cases) in CASES {
            eprintln!("{name} ...");
            let (plain, learned) = (step(name, "none")?, step(name, "dgg")?);
            let mut row = vec![name.into(), number(plain), number(learned), ratio(learned, plain)];
            if let Ok(script) = &reference {
                for case in cases {
                    let theirs = case.map(|case| (case, script.milliseconds(case, self.seconds)));
                    row.extend(match theirs {
                        Some((_, Ok(theirs))) => [number(theirs), ratio(theirs, plain)],
                        Some((case, Err(why))) => {
                            eprintln!("{case}: {why}");
                            ["failed".into(), "-".into()]
                        }
                        None => ["-".into(), "-".into()],
                    });
                }
            }
            rows.push(row);
        }
        let note = reference.err().unwrap_or_default();
        print(format!("milliseconds per training step on Cora\n\n{}\n{note}", table(&rows)))
    }

    fn run_points(&self, budget: Duration) -> Done {
        const CLOUDS: usize = 8;
        let threads = self.threads.map_or_else(all_threads, usize::from);
        let Layers { config, .. } =
            recipe_layers::<Points>(&format!("published-dgcnn-{}", self.learner))?;
        let (step, memory) = points::step(&config, CLOUDS, threads, budget)?;
        let mut searches = serde_json::Map::new();
        for width in [3, 64, 128] {
            let sizes = [CLOUDS, config.points, width];
            let time = points::nearest_search(sizes, config.network.k, threads, budget / 4)?;
            searches.insert(width.to_string(), time.into());
        }
        let found = serde_json::json!({
            "ms_per_step": step,
            "peak_rss_bytes": memory,
            "nearest_ms": searches,
        });
        print(format!("{found}\n"))
    }
}

/// GCN on one graph, without a learned graph and with one.
fn run_graph(dataset: &str, budget: Duration) -> Done {
    let source = Source { name: dataset.into(), ..Source::default() };
    let data = Node::load(&source)?;
    let [none, dgg] = ["none", "dgg"].map(|learner| Node::named(Node::BACKBONE, learner));
    let (none, dgg) = (none?, dgg?);
    eprintln!("steps ...");
    let plain = step_time::<Node>(&none.config, &data, budget)?;
    let StepTime { milliseconds, before } = step_time::<Node>(&dgg.config, &data, budget)?;
    eprintln!("a plain training run ...");
    let run = Experiment::<Node> {
        data: &data,
        layers: &none,
        learner: "none",
        seeds: &[0],
        threads: all_threads(),
        teachers: &Teachers::default(),
        command: "adjoin bench",
    }
    .run(&Unobserved)?;
    let seconds = run.record.seeds.first().map_or(f64::NAN, |seed| seed.seconds);
    let rows = vec![
        ["", "none", "dgg", "dgg / none"].map(String::from).to_vec(),
        vec![
            "a step, ms".into(),
            number(plain.milliseconds),
            number(milliseconds),
            ratio(milliseconds, plain.milliseconds),
        ],
        vec![
            "a plain training run against fitting the evidence, s".into(),
            number(seconds),
            number(before),
            ratio(before, seconds),
        ],
    ];
    print(format!("GCN on {dataset}\n\n{}", table(&rows)))
}

fn number(value: f64) -> String {
    format!("{value:.2}")
}

fn ratio(value: f64, over: f64) -> String {
    format!("{:.1}x", value / over)
}

/// The published network, whatever the defaults chose: these are what the reference runs.
fn published(backbone: &str, learner: &str) -> adjoin_lab::Result<NodeConfig> {
    let mut config = Node::named(backbone, learner)?.config;
    let plain = Node::start(backbone, learner)?;
    config.keep_backbone(&plain);
    config.draws.samples = 1;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    #[test]
    fn the_reference_has_the_cases_that_are_asked_for() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/cases");
        let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|kind| kind == "py"));
        let text: String = files.map(|path| fs::read_to_string(path).unwrap()).collect();
        for case in CASES.iter().flat_map(|(_, cases)| cases).flatten() {
            assert!(text.contains(&format!("@case\ndef {case}():")), "{case}");
        }
    }
}
