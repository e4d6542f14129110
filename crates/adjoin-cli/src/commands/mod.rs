//! One file per subcommand.

pub mod bench;
pub mod completions;
pub mod data;
pub mod evaluate;
pub mod graph;
pub mod predict;
pub mod report;
pub mod reproduce;
pub mod train;

use crate::failure::{Done, Failure, print_bytes};
use std::path::Path;

/// Threads to use when none are named.
fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// So many seeds from the first one on.
fn seeds(first: u64, count: u64) -> Result<Vec<u64>, Failure> {
    let end = first.checked_add(count);
    let end = end.ok_or_else(|| Failure::Usage("--first-seed: leaves no room for --seeds".into()));
    Ok((first..end?).collect())
}

/// Writes a result to a file that is named, or else to standard output.
fn deliver(bytes: &[u8], out: Option<&Path>, overwrite: bool) -> Done {
    match out {
        Some(path) => Ok(adjoin_lab::files::write_new(path, bytes, overwrite)?),
        None => print_bytes(bytes),
    }
}

/// The command line as it could be typed again.
fn command_line() -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./:,+@%".contains(c);
    let quote = |word: String| match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    let words = std::env::args_os().skip(1).map(|word| quote(word.to_string_lossy().into_owned()));
    std::iter::once("adjoin".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}
