//! `adjoin train`.

use super::{DataArgs, Wanted, all_threads, command_line, summary};
use crate::{
    failure::{Done, Failure, print},
    progress::{Show, Watch, catch_interrupts},
};
use adjoin_lab::{
    Error,
    report::{self, Reportable},
    run::{self, Part, Plan, RunFolder},
    settings::Layers,
    task::{Dataset, Settings, Task},
    with_task,
};
use clap::Args;
use std::{
    cell::RefCell,
    path::{Path, PathBuf},
};

/// Train a network with one or more learners of its graph, over several seeds
///
/// Without options: GCN on the Cora graph that is inside the program, once on the given edges
/// (learner none) and once on a learned graph (learner dgg), 4 seeds each; then the same on Cora with half as
/// many wrong edges added. Results go to a new folder below runs/, with a page that shows what was learned.
/// Data that is named comes alone.
///
/// With --task trajectory: Social-STGCNN on a generated crowd, once on its published graph (learner
/// kernel) and once on a learned one. Errors (ADE and FDE) are in metres, beside those of walking straight
/// on.
///
/// With --task points: a small DGCNN on generated shapes, once on fixed numbers of nearest neighbours
/// (learner knn) and once on learned ones.
///
/// Test results are shown when all seeds are done, never before.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin train
      GCN on Cora, with and without a learned graph; beside it Cora with wrong edges
  adjoin train --dataset cora,citeseer --wrong-edges 0,0.25,1
      two graphs as they are and damaged twice, on one page
  adjoin train --dataset citeseer --backbone gat --learner none,dropedge,dgg --seeds 10
      compare three learners over ten seeds; differences are paired by seed
  adjoin train --dataset ./my-graph --split stratified:0.6/0.2/0.2
      your own folder with nodes.csv (id, label, features...) and edges.csv (source, target)
  adjoin train --dataset pubmed --recipe pubmed-gcnii,pubmed-gcnii-dgg
      whole configurations by name; `adjoin list recipes` has them all
  adjoin train --set train.epochs=500 --set learner.dgg.symmetric=true
      change settings; `adjoin config` shows them all, and where each comes from
  adjoin train --config runs/cora-gcn-dgg/config.toml --seeds 1 --json
      the settings of an earlier run; one JSON object on standard output
  adjoin train --resume runs/cora-gcn-dgg.partial
      resume after Ctrl-C or a crash, as if nothing had happened
  adjoin train --task trajectory --dataset zara1 --learner kernel,isolated,dgm,dgg --seeds 3
      four graphs on recorded pedestrians, if ADJOIN_DATA or --data-dir has them
  adjoin train --task trajectory --dataset walks.csv --split scene:5/10
      your own recordings, a table of scene, frame, agent, x, y; whole recordings to test with,
      5 steps seen, 10 predicted
  adjoin train --task points --dataset modelnet40 --subset 20 --learner knn,dgm,dgg --set points=256
      a part of ModelNet40; 256 points of every cloud
  adjoin train --task points --dataset ./my-shapes --backbone resgcn
      your own meshes or clouds, in one folder per class")]
pub struct Train {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    wanted: Wanted,
    /// How many seeds
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// The first seed; the others follow it
    #[arg(long, value_name = "K", default_value_t = 0)]
    first_seed: u64,
    /// Folder of the results [default: runs/DATASET-BACKBONE-LEARNER]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace results that are there
    #[arg(long)]
    overwrite: bool,
    /// Resume a run that was stopped; other options come from that run, but for --overwrite
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "task", "dataset", "backbone", "learner", "recipe", "config", "set", "seeds", "first_seed",
        "split", "no_graph", "wrong_edges", "subset", "data_dir", "out",
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

impl Train {
    /// Runs the command.
    pub fn run(self) -> Done {
        // A run that is resumed says itself what it is.
        let resumed = self.resume.as_deref().map(run::task).transpose()?;
        let task = resumed.unwrap_or_else(|| self.wanted.task.clone());
        with_task!(task.as_str(), T => self.run_task::<T>())
    }

    fn run_task<T: Reportable>(&self) -> Done {
        let (folder, data) = match &self.resume {
            Some(path) => resume::<T>(path, self.overwrite)?,
            None => self.start::<T>()?,
        };
        catch_interrupts();
        let show = Show::of(self.quiet);
        let prepared = folder.parts().iter().zip(&data).map(|(part, data)| {
            Ok((
                data.heading(),
                if show == Show::Nothing { vec![] } else { preparations(part, data)? },
            ))
        });
        let prepared = match prepared.collect::<Result<Vec<(String, Vec<String>)>, Error>>() {
            Ok(prepared) => prepared,
            Err(error) => return Err(stopped(folder, error)),
        };
        if let (true, Some(part)) = (show != Show::Nothing, folder.parts().first()) {
            let (learners, seeds) = (part.plan.learners.join(", "), part.plan.seeds.len());
            eprintln!("learners {learners}, {seeds} seeds, into {}", folder.work().display());
        }
        let told = RefCell::new(String::new());
        let watch = |data: &T::Data, learner: &str| {
            let heading = data.heading();
            // Of every dataset once, when its turn comes.
            if show != Show::Nothing && told.replace(heading.clone()) != heading {
                eprintln!("{heading}");
                let own = prepared.iter().filter(|(of, _)| *of == heading).take(1);
                own.flat_map(|(_, lines)| lines).for_each(|line| eprintln!("{line}"));
            }
            Watch::new(learner, show)
        };
        let threads = self.threads.map_or_else(all_threads, usize::from);
        let page = |records: &[run::RunRecord<T>]| Ok(report::render(records)?);
        let records = match folder.execute(&data, threads, watch, page) {
            Ok(records) => records,
            Err(error) => return Err(stopped(folder, error)),
        };
        let outs = folder.results().iter().map(|out| out.display().to_string()).collect::<Vec<_>>();
        let target = folder.publish()?;
        match self.json {
            true => super::print_json(&run::json(&records, &outs)),
            false => print(summary::text(&records, &target.join(run::REPORT))),
        }
    }

    fn start<T: Task>(&self) -> Result<(RunFolder<T>, Vec<T::Data>), Failure> {
        let configs = self.wanted.configs::<T>()?;
        let Some((_, first)) = configs.first() else {
            return Err(Failure::Usage("--learner: name at least one".into()));
        };
        let backbone = first.config.backbone();
        let seeds = super::seeds(self.first_seed, self.seeds)?;
        let (mut parts, mut all) = (Vec::new(), Vec::new());
        for source in self.data.sources::<T>() {
            let data = T::load(&source)?;
            let suited = |(name, layers): &(String, Layers<T::Config>)| {
                let config = T::suited(layers.config.clone(), &data);
                let layers = match config == layers.config {
                    true => layers.clone(),
                    false => layers.clone().changed("what the data asks for", config),
                };
                (name.clone(), layers)
            };
            let configs: Vec<_> = configs.iter().map(suited).collect();
            let plan = Plan::new::<T>(&source, &data, &configs, seeds.clone(), command_line());
            let configs = configs.into_iter().map(|(_, layers)| layers).collect();
            parts.push(Part::new(data.name(), plan, configs));
            all.push(data);
        }
        if parts.is_empty() {
            return Err(Failure::Usage("--dataset: name at least one".into()));
        }
        let target = match &self.out {
            Some(out) => out.clone(),
            None => {
                let names: Vec<&str> = all.iter().map(Dataset::name).collect();
                let learners: Vec<String> = configs.into_iter().map(|(name, _)| name).collect();
                run::default_target(&names, &backbone, &learners)
            }
        };
        Ok((RunFolder::create(&target, self.overwrite, parts)?, all))
    }
}

/// What is done to the data before a model sees it: one line if all learners have the same.
fn preparations<T: Task>(part: &Part<T>, data: &T::Data) -> Result<Vec<String>, Error> {
    let fit = |layers: &Layers<T::Config>| Ok(T::preparation(&T::fit(&layers.config, data)?));
    let lines = part.configs.iter().map(fit).collect::<Result<Vec<Option<String>>, Error>>()?;
    if let Some(first) = lines.first().filter(|first| lines.iter().all(|line| line == *first)) {
        return Ok(first.iter().cloned().collect());
    }
    let named = part.plan.learners.iter().zip(lines);
    Ok(named.filter_map(|(name, line)| Some(format!("{name}: {}", line?))).collect())
}

fn resume<T: Task>(path: &Path, overwrite: bool) -> Result<(RunFolder<T>, Vec<T::Data>), Failure> {
    let folder = RunFolder::<T>::reopen(path, overwrite)?;
    let data = folder.parts().iter().map(|part| part.plan.load::<T>(None));
    let data = data.collect::<Result<Vec<_>, Error>>()?;
    Ok((folder, data))
}

/// What to say when training ended early.
fn stopped<T: Task>(folder: RunFolder<T>, error: Error) -> Failure {
    let (work, resume) = (folder.work().display().to_string(), folder.resume_command());
    // What the settings or the data led to would come again.
    let passing = matches!(error, Error::Interrupted { .. } | Error::File { .. });
    let holds_seeds = folder.abandon();
    match Failure::from(error) {
        Failure::Failed(text) if holds_seeds => Failure::Failed(match passing {
            true => format!("{text}\nresume with: {resume}"),
            false => format!(
                "{text}\nwhat was trained before is in {work}; with other settings start again, with \
                 --overwrite or another --out"
            ),
        }),
        other => other,
    }
}
