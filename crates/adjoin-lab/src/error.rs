//! What can go wrong in an experiment.

use std::path::PathBuf;

/// Why an experiment could not be set up, run or saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A graph, a setting or a tensor was refused by the library.
    #[error(transparent)]
    Graph(#[from] adjoin::Error),
    /// Data could not be found or read.
    #[error(transparent)]
    Data(#[from] adjoin_data::Error),
    /// A configuration that cannot be understood.
    #[error("{place}: {what}")]
    Config {
        /// The file, or the option.
        place: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// A number stopped being one.
    #[error(
        "the {stage} became {value} after epoch {epoch} of seed {seed}; try a lower learning rate"
    )]
    NotFinite {
        /// What stopped being a number.
        stage: &'static str,
        /// What it became.
        value: f64,
        /// When.
        epoch: usize,
        /// In which run.
        seed: u64,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that holds something else than it should.
    #[error("{path}: {what}", path = path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A checkpoint that cannot be used.
    #[error("{path}: {problem}", path = path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        problem: crate::train::checkpoint::Problem,
    },
    /// An output that is there already.
    #[error("{path} {what}", path = path.display())]
    Exists {
        /// The file or folder.
        path: PathBuf,
        /// What is there, and what to do.
        what: String,
    },
    /// There is no report on these runs.
    #[error(transparent)]
    Report(#[from] crate::report::ReportError),
    /// The user asked to stop.
    #[error("stopped at epoch {epoch} of seed {seed}")]
    Interrupted {
        /// When.
        epoch: usize,
        /// In which run.
        seed: u64,
    },
}

/// Result of a step of an experiment.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    /// A task that does not exist.
    pub fn no_task(name: &str) -> Self {
        let what = format!("there is no task `{name}`; choose one of node, trajectory, points");
        Self::Config { place: "--task".into(), what }
    }

    /// An option that is there for something else.
    pub(crate) fn not_for(option: &str, other: &str) -> Self {
        Self::Config { place: option.into(), what: format!("is for {other}") }
    }

    /// A name that the library does not know, from this option.
    pub(crate) fn named(option: &'static str) -> impl FnOnce(adjoin::Error) -> Self {
        move |error| Self::Config { place: option.into(), what: error.to_string() }
    }
}
