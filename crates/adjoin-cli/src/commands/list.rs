//! `adjoin list`.

use super::data;
use crate::{
    failure::{Done, print},
    table::table,
};
use adjoin_lab::{
    settings::{RECIPES, keys},
    task::{Named, Task},
    tasks::TASKS,
    with_task,
};
use clap::{Args, ValueEnum, builder::PossibleValuesParser};

/// List what can be named: learners, backbones, datasets, recipes, settings
#[derive(Args)]
#[command(after_help = "\
Examples:
  adjoin list learners
  adjoin list backbones --task points
  adjoin list datasets
  adjoin list recipes
  adjoin list keys --learner dgg
      every setting with its default, for --set")]
pub struct List {
    /// What to list
    #[arg(value_enum)]
    what: What,
    /// Of which task
    #[arg(long, default_value = TASKS[0], value_parser = PossibleValuesParser::new(TASKS))]
    task: String,
    /// The learner whose settings are listed
    #[arg(long, value_name = "NAME")]
    learner: Option<String>,
    /// The network whose settings are listed
    #[arg(long, value_name = "NAME")]
    backbone: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Learners of graphs
    Learners,
    /// Networks
    Backbones,
    /// Datasets of all tasks
    Datasets,
    /// Whole configurations of all tasks
    Recipes,
    /// Settings with their defaults
    Keys,
}

impl List {
    /// Runs the command.
    pub fn run(self) -> Done {
        match self.what {
            What::Datasets => print(data::listings()),
            What::Recipes => {
                let row = |recipe: &adjoin_lab::settings::Recipe| {
                    vec![recipe.task.into(), recipe.name.into(), recipe.about()]
                };
                let rows = RECIPES.iter().map(row);
                let head = ["task", "name", "what"].map(String::from).to_vec();
                print(table(&std::iter::once(head).chain(rows).collect::<Vec<_>>()))
            }
            _ => with_task!(self.task.as_str(), T => self.of_task::<T>()),
        }
    }

    fn of_task<T: Task>(&self) -> Done {
        match self.what {
            What::Learners => print(named(&T::learners())),
            What::Backbones => print(named(&T::backbones())),
            _ => {
                let backbone = self.backbone.as_deref().unwrap_or(T::BACKBONE);
                let learner = self.learner.as_deref().unwrap_or(T::PLAIN);
                let row = |(key, value): (String, String)| vec![key, value];
                let rows = keys(&T::named(backbone, learner)?.config).into_iter().map(row);
                let head = ["key", "default"].map(String::from).to_vec();
                print(table(&std::iter::once(head).chain(rows).collect::<Vec<_>>()))
            }
        }
    }
}

fn named(all: &[Named]) -> String {
    let mut rows = vec![["name", "what"].map(String::from).to_vec()];
    rows.extend(all.iter().map(|one| vec![one.name.clone(), one.about.clone()]));
    table(&rows)
}
