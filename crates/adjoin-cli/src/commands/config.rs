//! `adjoin config`.

use super::Wanted;
use crate::failure::{Done, Failure, print};
use adjoin_lab::{task::Task, with_task};
use clap::Args;

/// Print the settings of a run, and where each value comes from
///
/// Layers, the later ones on top: built in, defaults/TASK.toml, a recipe, --config, --set. The output is a
/// configuration file: save it, change it, and give it back with --config.
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin config
      GCN with a learned graph
  adjoin config --backbone gat --learner dgg --set train.epochs=50 > mine.toml
  adjoin config --recipe pubmed-gcnii-dgg
  adjoin config --task points --learner dgg")]
pub struct Config {
    #[command(flatten)]
    wanted: Wanted,
}

impl Config {
    /// Runs the command.
    pub fn run(self) -> Done {
        with_task!(self.wanted.task.as_str(), T => self.print::<T>())
    }

    fn print<T: Task>(&self) -> Done {
        let mut configs = self.wanted.configs::<T>()?;
        if configs.len() > 1 && self.wanted.names_learners() {
            let what = "a configuration file has one learner: name one with --learner or --recipe";
            return Err(Failure::Usage(what.into()));
        }
        // Where none is named there are two; that of the learned graph is the last.
        configs.pop().map_or(Ok(()), |(_, layers)| print(layers.annotated()))
    }
}
