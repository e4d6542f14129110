//! The public datasets that have a name here, and what is known about them.

use crate::error::{Error, Result};
use crate::fetch::sources::{SourceFile, files_of};
use crate::names::suggestion;

/// Facts about a public dataset. Counts are of the simple undirected graph this crate loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownDataset {
    /// The name to load it by.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Number of nodes.
    pub nodes: usize,
    /// Number of undirected edges.
    pub edges: usize,
    /// Number of features.
    pub features: usize,
    /// Number of classes.
    pub classes: usize,
    /// The splits it comes with.
    pub splits: &'static str,
    /// Licence of the public copy.
    pub licence: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// Names of its files without ending, for Planetoid's form.
    pub(crate) stems: &'static [&'static str],
}

impl KnownDataset {
    /// True when `adjoin data fetch` can download it.
    pub fn can_fetch(&self) -> bool {
        !self.files().is_empty()
    }

    /// True when it is carried inside the program.
    pub fn is_embedded(&self) -> bool {
        self.name == "cora"
    }

    pub(crate) fn files(&self) -> &'static [SourceFile] {
        files_of(self.name)
    }

    /// Where files of this dataset belong below a data folder, when they must be put there by hand.
    pub(crate) fn home(&self) -> String {
        match self.files().first().and_then(|file| file.path.rsplit_once('/')) {
            Some((folder, _)) => folder.to_string(),
            None => "amazon_coauthor".into(),
        }
    }
}

const PLANETOID: &str = "https://github.com/kimiyoung/planetoid";
const HETEROPHILOUS: &str = "https://github.com/yandex-research/heterophilous-graphs";
const BENCHMARK: &str = "https://github.com/shchur/gnn-benchmark";
const GRAPH_DATA: &str = "https://github.com/EdisonLeeeee/GraphData";
const MIT_CITATIONS: &str = "MIT (repository); the citation data states none";
const FIXED: &str = "fixed:0 ... fixed:9";
const DRAWN: &str = "random:SEED";

type Row = (
    &'static str,
    &'static str,
    [usize; 4],
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

/// Name, what it is, [nodes, edges, features, classes], splits, licence, source, stems.
const ROWS: [Row; 15] = [
    (
        "cora",
        "machine-learning papers",
        [2708, 5278, 1433, 7],
        "public",
        MIT_CITATIONS,
        PLANETOID,
        &["cora"],
    ),
    (
        "citeseer",
        "computer-science papers",
        [3327, 4552, 3703, 6],
        "public",
        MIT_CITATIONS,
        PLANETOID,
        &["citeseer"],
    ),
    (
        "pubmed",
        "papers on diabetes",
        [19717, 44324, 500, 3],
        "public",
        MIT_CITATIONS,
        PLANETOID,
        &["pubmed"],
    ),
    (
        "amazon_photo",
        "cameras bought together",
        [7650, 119_081, 745, 8],
        DRAWN,
        "MIT",
        BENCHMARK,
        &[],
    ),
    (
        "amazon_cs",
        "computers bought together",
        [13752, 245_861, 767, 10],
        DRAWN,
        "MIT",
        BENCHMARK,
        &[],
    ),
    (
        "coauthor_cs",
        "authors in computer science",
        [18333, 81894, 6805, 15],
        DRAWN,
        "MIT",
        BENCHMARK,
        &[],
    ),
    ("coauthor_phy", "authors in physics", [34493, 247_962, 8415, 5], DRAWN, "MIT", BENCHMARK, &[]),
    ("actor", "actors on the same page", [7600, 26659, 932, 5], FIXED, "MIT", HETEROPHILOUS, &[]),
    ("chameleon", "Wikipedia pages", [2277, 31371, 2325, 5], FIXED, "MIT", HETEROPHILOUS, &[]),
    (
        "chameleon_filtered",
        "Wikipedia pages without duplicates",
        [890, 8854, 2325, 5],
        FIXED,
        "MIT",
        HETEROPHILOUS,
        &[],
    ),
    ("squirrel", "Wikipedia pages", [5201, 198_353, 2089, 5], FIXED, "MIT", HETEROPHILOUS, &[]),
    (
        "squirrel_filtered",
        "Wikipedia pages without duplicates",
        [2223, 46998, 2089, 5],
        FIXED,
        "MIT",
        HETEROPHILOUS,
        &[],
    ),
    ("cornell", "web pages of a university", [183, 277, 1703, 5], FIXED, "MIT", HETEROPHILOUS, &[]),
    (
        "minesweeper",
        "a grid with mines (generated)",
        [10000, 39402, 7, 2],
        FIXED,
        "MIT",
        HETEROPHILOUS,
        &[],
    ),
    (
        "nell",
        "entities of a knowledge base",
        [65755, 125_775, 5414, 210],
        "carved",
        "MIT",
        GRAPH_DATA,
        &["nell.0.1", "nell.0.001", "nell"],
    ),
];

/// All datasets with a name.
pub fn list() -> Vec<KnownDataset> {
    ROWS.iter().map(known).collect()
}

fn known(row: &Row) -> KnownDataset {
    let (name, about, [nodes, edges, features, classes], splits, licence, source, stems) = *row;
    KnownDataset { name, about, nodes, edges, features, classes, splits, licence, source, stems }
}

/// The dataset of this name; capitals and `-` for `_` do not matter. An unknown name is an error that
/// suggests the nearest known one.
pub fn find(name: &str) -> Result<KnownDataset> {
    let plain = normal(name);
    ROWS.iter()
        .find(|row| row.0 == plain)
        .map(known)
        .ok_or_else(|| Error::UnknownName { name: name.into(), help: suggestion(&plain, &names()) })
}

fn normal(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

fn names() -> Vec<&'static str> {
    ROWS.iter().map(|row| row.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_loosely_and_suggested() {
        assert_eq!(find("Amazon-Photo").unwrap().nodes, 7650);
        let error = find("pubmet").unwrap_err().to_string();
        assert!(error.contains("did you mean `pubmed`"), "{error}");
        assert!(find("x").unwrap_err().to_string().contains("known are: cora"));
    }

    #[test]
    fn the_list_is_whole() {
        assert_eq!(list().len(), 15);
        for entry in list() {
            assert!(!entry.source.is_empty() && !entry.licence.is_empty());
            assert!(entry.files().iter().all(|file| file.sha256.len() == 64));
        }
        assert!(find("cora").unwrap().is_embedded());
        assert!(find("squirrel").unwrap().can_fetch() && !find("amazon_cs").unwrap().can_fetch());
    }
}
