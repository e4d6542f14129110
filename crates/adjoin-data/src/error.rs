//! One error type: what was wrong, where, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// `Result` with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// A place in a file, as exact as the reader knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    /// The file.
    pub file: PathBuf,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Byte offset, counted from 0.
    pub byte: Option<u64>,
    /// Column of a table, or array in an archive.
    pub field: Option<String>,
}

impl At {
    /// The file as a whole.
    pub fn file(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), line: None, byte: None, field: None }
    }

    /// A line of the file, counted from 1.
    pub fn line(file: impl Into<PathBuf>, line: u64) -> Self {
        Self { line: Some(line), ..Self::file(file) }
    }

    /// A byte of the file, counted from 0.
    pub fn byte(file: impl Into<PathBuf>, byte: u64) -> Self {
        Self { byte: Some(byte), ..Self::file(file) }
    }

    /// The same place, narrowed to one column or array.
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// An [`Error::Format`] at this place.
    pub(crate) fn error(self, what: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Format { at: Box::new(self), what: what.into(), help: help.into() }
    }
}

impl fmt::Display for At {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(out, ", line {line}")?;
        }
        if let Some(byte) = self.byte {
            write!(out, ", byte {byte}")?;
        }
        if let Some(field) = &self.field {
            write!(out, ", field `{field}`")?;
        }
        Ok(())
    }
}

/// Everything that can go wrong with data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to read or write.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was being done, e.g. "read".
        action: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("{at}: {what}; {help}")]
    Format {
        /// Where.
        at: Box<At>,
        /// What is wrong.
        what: String,
        /// What to do.
        help: String,
    },
    /// A file or an archive entry is larger than this crate agrees to take into memory.
    #[error("{at}: {what}; if the file is to be trusted, shrink it or split it up first")]
    TooLarge {
        /// Where.
        at: Box<At>,
        /// Which limit was passed, and by how much.
        what: String,
    },
    /// A dataset's parts do not fit together.
    #[error("dataset `{dataset}`, {field}: {what}; {help}")]
    Invalid {
        /// Name of the dataset.
        dataset: String,
        /// The part, e.g. "edges".
        field: &'static str,
        /// What is wrong.
        what: String,
        /// What to do.
        help: String,
    },
    /// A split was named that cannot be understood or made.
    #[error("split `{spec}`: {what}; {help}")]
    Split {
        /// As it was written.
        spec: String,
        /// What is wrong.
        what: String,
        /// What to do.
        help: String,
    },
    /// A setting is outside its range.
    #[error("setting `{setting}`: {what}; {help}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// What is wrong.
        what: String,
        /// What to do.
        help: String,
    },
    /// No dataset of this name is known, and no such file or folder exists.
    #[error("no dataset, file or folder `{name}`; {help}")]
    UnknownName {
        /// As it was written.
        name: String,
        /// A suggestion, and the known names.
        help: String,
    },
    /// A known dataset is not on this machine.
    #[error("dataset `{name}` was not found; looked for {}; {help}", list_paths(looked))]
    Missing {
        /// Name of the dataset.
        name: String,
        /// Every path that was tried.
        looked: Vec<PathBuf>,
        /// How to get it.
        help: String,
    },
    /// A download failed.
    #[error("cannot fetch {url}: {what}; {help}")]
    Download {
        /// The address.
        url: String,
        /// What went wrong.
        what: String,
        /// What to do.
        help: String,
    },
    /// A file arrived whole but is not the one expected.
    #[error(
        "{what} has sha256 {found} but {expected} was expected; nothing was kept, try again, and if \
         it stays so the public file has changed"
    )]
    Checksum {
        /// The address or file.
        what: String,
        /// Sum of the bytes received.
        found: String,
        /// Sum of the public file.
        expected: String,
    },
    /// The output exists and overwriting was not asked for.
    #[error("{} exists; {help}", path.display())]
    Exists {
        /// The output.
        path: PathBuf,
        /// What to do.
        help: &'static str,
    },
}

impl Error {
    /// Wraps a system error with the path it is about.
    pub(crate) fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }
}

fn list_paths(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    if shown.is_empty() { "it nowhere (no folder to look in)".into() } else { shown.join(", ") }
}
