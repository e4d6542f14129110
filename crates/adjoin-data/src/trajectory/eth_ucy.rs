//! ETH and UCY: five places, each left out once.

use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::recording::Cut;
use super::scene::{Scene, TrajectoryDataset};
use super::text::{MAX_RECORDING_BYTES, recording_bytes};
use crate::error::{At, Error, Result};
use crate::read::limited_bytes;
use crate::split::hex;

/// The places, by the names of the splits that leave them out for testing.
pub const ETH_UCY: [&str; 5] = ["eth", "hotel", "univ", "zara1", "zara2"];

/// Windows of 8 + 12 steps of 0.4 s from every frame; as published, one agent alone is no scene.
const CUT: Cut = Cut { steps: 20, stride: 1, frame_step: 10, min_agents: 2 };

/// Reads the split that leaves `place` (one of [`ETH_UCY`]) out for testing.
///
/// `folder` holds either `splits.tsv` (columns split, part, file, source, sha256; sources are relative
/// to the folder and their sums are checked) or the published folders `PLACE/{train,val,test}/*.txt`.
/// Files have lines of `frame agent x y` in metres, ten frames a step. A scene is 20 consecutive steps
/// with the agents that are in all of them, at least two; positions are rounded to four decimals.
pub fn eth_ucy(folder: &Path, place: &str) -> Result<TrajectoryDataset> {
    let table = folder.join("splits.tsv");
    let files = match table.is_file() {
        true => listed_files(folder, &limited_bytes(&table, MAX_RECORDING_BYTES)?, place)?,
        false => files_in_folders(&folder.join(place))?,
    };
    let mut parts: [Vec<Scene>; 3] = Default::default();
    for file in files {
        let bytes = limited_bytes(&file.path, MAX_RECORDING_BYTES)?;
        if let Some(expected) = file.sha256 {
            let found = hex(&Sha256::digest(&bytes));
            if found != expected {
                return Err(At::file(file.path).error(
                    format!("sha256 is {found} but splits.tsv says {expected}"),
                    "get the file again",
                ));
            }
        }
        parts[file.part].extend(recording_bytes(&file.path, &bytes)?.scenes(&CUT)?);
    }
    let [train, valid, test] = parts;
    let name = place.to_string();
    let dataset =
        TrajectoryDataset { name, observed: 8, predicted: 12, seconds: 0.4, train, valid, test };
    dataset.validate()?;
    Ok(dataset)
}

/// A file of a split.
#[derive(Debug, PartialEq)]
struct PartFile {
    /// 0, 1, 2: training, validation, test.
    part: usize,
    path: PathBuf,
    sha256: Option<String>,
}

const PARTS: [&str; 3] = ["train", "val", "test"];

/// The rows of `splits.tsv` about one place.
fn listed_files(folder: &Path, bytes: &[u8], place: &str) -> Result<Vec<PartFile>> {
    let table = folder.join("splits.tsv");
    let table = table.as_path();
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_reader(bytes);
    let header = reader.headers().map_err(|error| Error::from((error, table)))?.clone();
    let expected = ["split", "part", "file", "source", "sha256"];
    if header.iter().ne(expected) {
        let help = format!("the first line must be {}, with tabs", expected.join(", "));
        return Err(At::line(table, 1).error("the columns are not as expected", help));
    }
    let mut files = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| Error::from((error, table)))?;
        let at = At::line(table, record.position().map_or(0, csv::Position::line));
        let cell = |column: usize| record.get(column).unwrap_or("");
        if cell(0) != place {
            continue;
        }
        let Some(part) = PARTS.iter().position(|part| *part == cell(1)) else {
            let help = "write train, val or test";
            return Err(at.field("part").error("an unknown part", help));
        };
        let path = PathBuf::from(cell(3));
        // A list from elsewhere must not make the program read files elsewhere.
        let inside = |component| matches!(component, Component::Normal(_));
        if !path.components().all(inside) || path.as_os_str().is_empty() {
            let help = "give a path below the folder of this file";
            return Err(at.field("source").error("the path leaves the folder", help));
        }
        let path = folder.join(path);
        files.push(PartFile { part, path, sha256: Some(cell(4).to_ascii_lowercase()) });
    }
    if files.is_empty() {
        let what = format!("no line is about `{place}`");
        return Err(At::file(table).error(what, "get the file again"));
    }
    Ok(files)
}

/// All text files in `train`, `val` and `test` of a folder, by name.
fn files_in_folders(folder: &Path) -> Result<Vec<PartFile>> {
    let mut files = Vec::new();
    for (part, name) in PARTS.iter().enumerate() {
        let paths = text_files(&folder.join(name))?;
        files.extend(paths.into_iter().map(|path| PartFile { part, path, sha256: None }));
    }
    Ok(files)
}

/// The `.txt` files of a folder, by name.
pub(super) fn text_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = folder.read_dir().map_err(|error| Error::io("list", folder, error))?;
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "txt"))
        .collect();
    paths.sort_unstable();
    match paths.is_empty() {
        true => Err(At::file(folder).error("no .txt file in the folder", "put recordings there")),
        false => Ok(paths),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: &str = "split\tpart\tfile\tsource\tsha256\n";

    fn list(text: &str) -> Result<Vec<PartFile>> {
        listed_files(Path::new("data"), text.as_bytes(), "eth")
    }

    #[test]
    fn the_list_is_read_and_stays_in_its_folder() {
        let files =
            list(&format!("{HEADER}eth\tval\ta\traw/a.txt\tAB\nunknown\t\t\t\t\n")).unwrap();
        let path = PathBuf::from("data/raw/a.txt");
        assert_eq!(files, [PartFile { part: 1, path, sha256: Some("ab".into()) }]);
        let error = |text: &str| list(text).unwrap_err().to_string();
        for source in ["../a.txt", "/etc/passwd", ""] {
            let text = error(&format!("{HEADER}eth\ttrain\ta\t{source}\tab\n"));
            assert!(text.contains("line 2, field `source`"), "{text}");
        }
        assert!(error(&format!("{HEADER}eth\tvalid\ta\ta\tab\n")).contains("field `part`"));
        assert!(error(&format!("{HEADER}eth\ttrain\n")).contains("line 2: 2 cells"));
        assert!(error(HEADER).contains("no line is about `eth`"));
        assert!(error("a\tb\n").contains("line 1: the columns"));
        assert!(error("").contains("line 1: the columns"));
    }

    proptest! {
        #[test]
        fn random_lists_never_panic(bytes: Vec<u8>) {
            let whole = [HEADER.as_bytes(), &bytes].concat();
            let _ = listed_files(Path::new("data"), &bytes, "eth");
            let _ = listed_files(Path::new("data"), &whole, "eth");
        }
    }
}
