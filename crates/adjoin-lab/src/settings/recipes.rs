//! Whole configurations with a name, to be chosen on purpose.

use crate::{Error, Result};

/// A configuration that was measured, in a file of `recipes/TASK/`.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// The task it is for.
    pub task: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The file: a comment that says what it is for, and all settings.
    pub text: &'static str,
}

impl Recipe {
    /// What it is for: the first comment of the file.
    pub fn about(&self) -> String {
        let lines = self.text.lines().take_while(|line| line.starts_with('#'));
        lines.map(|line| line.trim_start_matches(['#', ' '])).collect::<Vec<_>>().join(" ")
    }
}

include!(concat!(env!("OUT_DIR"), "/recipes.rs"));

/// The recipe of a task by name.
///
/// # Errors
/// If there is none, with the names that there are.
pub fn recipe(task: &str, name: &str) -> Result<&'static Recipe> {
    let of_task = || RECIPES.iter().filter(|recipe| recipe.task == task);
    of_task().find(|recipe| recipe.name == name).ok_or_else(|| {
        let near = of_task().min_by_key(|recipe| strsim::levenshtein(recipe.name, name));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{}`?", near.name));
        let what = format!(
            "there is no recipe `{name}` for --task {task}{hint} `adjoin list recipes` names all"
        );
        Error::Config { place: "--recipe".into(), what }
    })
}
