//! A run: what it is to do, its folder, its experiments and what they leave behind.

mod contents;
mod experiment;
mod folder;
mod observer;
mod plan;
mod record;
mod target;
mod trained;

pub use experiment::{Experiment, Outcome, Teachers};
use folder::{GRAPH, TEACHER};
pub use folder::{Part, REPORT, RunFolder, record, records, task};
pub(crate) use folder::{RECORD, read_json, write_json};
pub use observer::{Observer, SeedDone, Stage, Tick, Unobserved};
pub use plan::{Configured, Plan, Request, recipe_layers};
pub(crate) use plan::{refuse_unused, with_settings};
pub use record::{
    Alternative, Choice, ChoiceTally, Details, RunRecord, SeedRecord, by_data, details, json,
    plain_of, warnings,
};
pub use target::default_target;
pub use trained::Trained;
