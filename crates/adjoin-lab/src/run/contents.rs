//! What the folder of a run says it holds.

use super::{
    folder::{PLAN, both_names, of_learner, read_json},
    plan::Plan,
};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A run on several datasets: what is below it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Several {
    /// The task of all.
    pub task: String,
    /// The folders of the datasets.
    pub parts: Vec<String>,
}

/// What `run.json` says.
#[derive(Debug)]
pub(super) enum Contents {
    /// One dataset, with one learner or several.
    One(Plan),
    /// Several datasets.
    Several(Several),
}

impl Contents {
    pub fn task(&self) -> &str {
        match self {
            Self::One(plan) => &plan.task,
            Self::Several(several) => &several.task,
        }
    }

    /// Folders of datasets or learners below this one.
    pub fn below(&self) -> &[String] {
        match self {
            Self::One(plan) if plan.learners.len() > 1 => &plan.learners,
            Self::One(_) => &[],
            Self::Several(several) => &several.parts,
        }
    }
}

pub(super) fn read_contents(folder: &Path) -> Result<Contents> {
    let path = folder.join(PLAN);
    if path.is_file() {
        let value: Value = read_json(&path)?;
        let several = value.get("parts").is_some();
        let wrong = |error: serde_json::Error| Error::Format {
            path: path.clone(),
            what: error.to_string(),
        };
        return match several {
            true => serde_json::from_value(value).map(Contents::Several).map_err(wrong),
            false => serde_json::from_value(value).map(Contents::One).map_err(wrong),
        };
    }
    let (_, unfinished) = both_names(folder);
    let what = match unfinished.join(PLAN).is_file() {
        true => format!("is not finished: adjoin train --resume {}", unfinished.display()),
        false => format!("is no folder of a run (there is no {PLAN} in it)"),
    };
    Err(Error::Format { path: folder.into(), what })
}

/// The plan of a folder for one dataset.
pub(super) fn read_plan(folder: &Path) -> Result<Plan> {
    match read_contents(folder)? {
        Contents::One(plan) => Ok(plan),
        Contents::Several(_) => {
            let what = "lists datasets where one is expected".into();
            Err(Error::Format { path: folder.join(PLAN), what })
        }
    }
}

/// The folders of all learners below a folder, or itself.
pub(super) fn leaves(folder: &Path) -> Result<Vec<PathBuf>> {
    let of_plan = |folder: &Path, plan: &Plan| {
        let learners = plan.learners.iter();
        learners.map(|learner| of_learner(folder, plan, learner)).collect::<Vec<_>>()
    };
    match read_contents(folder)? {
        Contents::One(plan) => Ok(of_plan(folder, &plan)),
        Contents::Several(several) => {
            let mut all = Vec::new();
            for part in several.parts {
                let folder = folder.join(part);
                all.extend(of_plan(&folder, &read_plan(&folder)?));
            }
            Ok(all)
        }
    }
}
