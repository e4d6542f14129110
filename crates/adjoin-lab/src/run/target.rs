//! The folder that results go to: whether they may go there, and who is working on it.

use super::folder::{CONFIG, GRAPH, METRICS, PARTIAL, PLAN, RECORD, REPORT, TEACHER, read_plan};
use crate::{Error, Result, files, tensorboard};
use std::{
    fs::{self, File, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Where a run goes when no folder is named: the first free `runs/DATASET-BACKBONE-LEARNERS[-N]`.
pub fn default_target(dataset: &str, backbone: &str, learners: &[String]) -> PathBuf {
    let safe = |c: char| if c.is_alphanumeric() || "._".contains(c) { c } else { '_' };
    let dataset: String = dataset.chars().map(safe).collect();
    let name = format!("{dataset}-{backbone}-{}", learners.join("_"));
    let free = |path: &PathBuf| !path.exists() && !files::sibling(path, PARTIAL).exists();
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let names = std::iter::once(name.clone()).chain(numbered);
    let found = names.map(|name| Path::new("runs").join(name)).find(free);
    found.unwrap_or_else(|| Path::new("runs").join(&name))
}

/// The folder behind a link, which stays a link; any other path as it is.
pub(super) fn behind_links(target: &Path) -> Result<PathBuf> {
    match target.is_symlink() {
        true => fs::canonicalize(target).map_err(Error::file(target)),
        false => Ok(target.into()),
    }
}

/// Results are replaced only when asked, and nothing but results is replaced even then.
pub(super) fn check(target: &Path, overwrite: bool) -> Result<()> {
    let exists = |what: String| Err(Error::Exists { path: target.into(), what });
    let entries = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return exists("is a file: name another folder".into());
        }
        Err(error) => return Err(Error::file(target)(error)),
    };
    if !entries {
        return Ok(());
    }
    if !target.join(PLAN).is_file() {
        return exists(
            "holds files that are no run: move them away, or name another folder".into(),
        );
    }
    if !overwrite {
        return exists("holds results: name another folder, or add --overwrite".into());
    }
    let learners = read_plan(target).map(|plan| plan.learners).unwrap_or_default();
    match stranger(target, &learners)? {
        None => Ok(()),
        Some(path) => exists(format!(
            "holds {}, which is no part of a run and would be lost: move it away",
            path.display()
        )),
    }
}

/// A file in the folder of a run that no run made.
fn stranger(folder: &Path, learners: &[String]) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let path = entry.map_err(Error::file(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ours = match path.is_dir() {
            // Earlier versions called the folder of teachers `guide`.
            true if [TEACHER, "guide"].contains(&name.as_str())
                || name.starts_with(GRAPH)
                || learners.contains(&name) =>
            {
                match stranger(&path, &[])? {
                    None => true,
                    found => return Ok(found),
                }
            }
            true => false,
            false => {
                [PLAN, CONFIG, RECORD, METRICS, REPORT].contains(&name.as_str())
                    || name.ends_with(".safetensors")
                    || tensorboard::is_events(&name)
                    || files::is_temporary(&name)
            }
        };
        if !ours {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Says that this process is working on a folder, by a lock on its plan that ends with the process.
/// Where the system has no locks there is none.
pub(super) fn lock(work: &Path) -> Result<Option<File>> {
    let Ok(file) = File::open(work.join(PLAN)) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            let what = "is being worked on by another process: wait for it, or stop it".into();
            Err(Error::Exists { path: work.into(), what })
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_result_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        assert!(check(&run, false).is_ok());
        fs::create_dir_all(run.join(TEACHER)).unwrap();
        for name in [PLAN, RECORD, "seed-3.safetensors", "events.out.tfevents.17.adjoin"] {
            fs::write(run.join(name), "").unwrap();
        }
        assert!(check(&run, false).unwrap_err().to_string().contains("--overwrite"));
        assert!(check(&run, true).is_ok());
        for name in ["notes.txt", "teacher/notes.txt"] {
            fs::write(run.join(name), "mine").unwrap();
            let error = check(&run, true).unwrap_err().to_string();
            assert!(error.contains("notes.txt, which is no part"), "{error}");
            fs::remove_file(run.join(name)).unwrap();
        }
        fs::remove_file(run.join(PLAN)).unwrap();
        assert!(check(&run, true).unwrap_err().to_string().contains("no run"));
    }

    #[test]
    fn two_processes_do_not_work_on_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(PLAN), "").unwrap();
        let held = lock(folder.path()).unwrap();
        assert!(held.is_some());
        let error = lock(folder.path()).unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(held);
        assert!(lock(folder.path()).unwrap().is_some());
    }
}
