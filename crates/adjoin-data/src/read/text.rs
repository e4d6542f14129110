//! What readers of text files share: the text itself, and numbers in its cells.

use std::path::Path;

use crate::error::{At, Error, Result};

/// The bytes of a file as text, or an error that names the line where they are none.
pub(crate) fn text_of<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        At::line(path, line as u64).error("not text", "give a text file")
    })
}

/// A finite number that stays one in single precision.
pub(crate) fn coordinate(cell: &str, field: &str, at: &At) -> Result<f64> {
    match cell.parse::<f64>() {
        Ok(value) if (value as f32).is_finite() => Ok(value),
        _ => Err(wrong_cell(cell, "a finite number", "correct or remove the line", field, at)),
    }
}

/// The error for a cell that is not what its column holds.
pub(crate) fn wrong_cell(cell: &str, expected: &str, help: &str, field: &str, at: &At) -> Error {
    let short: String = cell.chars().take(40).collect();
    at.clone().field(field).error(format!("`{short}` is not {expected}"), help)
}
