//! `adjoin config`.

use super::Wanted;
use crate::failure::{Done, print};
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
      GCN with and without a learned graph
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
        let configs = self.wanted.configs::<T>()?;
        let several = configs.len() > 1;
        for (name, layers) in configs {
            let heading = if several { format!("# learner {name}\n\n") } else { String::new() };
            print(format!("{heading}{}{}", layers.annotated(), if several { "\n" } else { "" }))?;
        }
        Ok(())
    }
}
