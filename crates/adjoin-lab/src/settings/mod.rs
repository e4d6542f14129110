//! Settings as text: defaults of a task, named recipes, files and `key=value`, each on top of the one
//! before, and where every value came from.
//!
//! | layer | what |
//! |---|---|
//! | built in | `Default` of the configuration |
//! | `defaults/TASK.toml` | the same for every dataset: `[base]`, then the backbone's and the learner's part |
//! | `recipes/NAME.toml` | a whole configuration, chosen on purpose with `--recipe NAME` |
//! | `--config FILE` | a file of the user |
//! | `--set KEY=VALUE` | single keys |
//!
//! No layer is looked up by the name of a dataset.

mod defaults;
mod hand_on;
mod layers;
mod overlay;
mod recipes;
mod training;

pub(crate) use defaults::split_options;
pub use defaults::{Choice, Defaults};
pub use hand_on::{HandOn, Handed};
pub use layers::{Layers, Origins, keys};
pub use overlay::{from_toml, to_toml, with_setting};
pub use recipes::{RECIPES, Recipe, recipe};
pub use training::{ChooseBy, OptimiserKind, Schedule, TrainConfig};
pub(crate) use training::{not_negative, share};
