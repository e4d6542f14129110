//! The folder that results go to: whether they may go there, and who is working on it.

use super::{
    contents::read_contents,
    folder::{CONFIG, GRAPH, METRICS, PARTIAL, PLAN, RECORD, REPORT, TEACHER},
};
use crate::{Error, Result, files, tensorboard};
use std::{
    fs::{self, File, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// The name of a dataset as the name of a folder.
pub(super) fn safe(dataset: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "._".contains(c) { c } else { '_' };
    dataset.chars().map(safe).collect()
}

/// Where a run goes when no folder is named: the first free `runs/DATASET-BACKBONE-LEARNERS[-N]`. Of several
/// datasets the first is named.
pub fn default_target(datasets: &[&str], backbone: &str, learners: &[String]) -> PathBuf {
    let first = safe(datasets.first().copied().unwrap_or_default());
    let dataset = match datasets.len() {
        0 | 1 => first,
        count => format!("{first}_and_{}_more", count - 1),
    };
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
    match stranger(target)? {
        None => Ok(()),
        Some(path) => exists(format!(
            "holds {}, which is no part of a run and would be lost: move it away",
            path.display()
        )),
    }
}

/// A file in the folder of a run that no run made.
fn stranger(folder: &Path) -> Result<Option<PathBuf>> {
    let contents = read_contents(folder).ok();
    let below = contents.as_ref().map(|contents| contents.below()).unwrap_or_default();
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let path = entry.map_err(Error::file(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ours = match path.is_dir() {
            // Earlier versions called the folder of teachers `guide`.
            true if [TEACHER, "guide"].contains(&name.as_str())
                || name.starts_with(GRAPH)
                || below.contains(&name) =>
            {
                match stranger(&path)? {
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
