//! Points as lines of text, and as a NumPy array.

use std::path::Path;

use super::cloud::Point;
use crate::error::{At, Result};
use crate::read::{Array, coordinate, text_of};

/// Reads lines of `x y z` from memory, with blanks, commas or semicolons between; further columns
/// (colours, normals) are ignored, and so are empty lines and those that start with `#`. The path is for
/// messages.
pub fn xyz_bytes(path: &Path, bytes: &[u8]) -> Result<Vec<Point>> {
    let mut points = Vec::new();
    for (at, line) in text_of(path, bytes)?.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = At::line(path, at as u64 + 1);
        let separator = |c: char| c.is_whitespace() || c == ',' || c == ';';
        let mut cells = line.split(separator).filter(|cell| !cell.is_empty());
        let mut value = |field| coordinate(cells.next().unwrap_or(""), field, &at);
        points.push([value("x")?, value("y")?, value("z")?].map(|value| value as f32));
    }
    match points.is_empty() {
        true => Err(At::file(path).error("the file has no points", "write x, y and z a line")),
        false => Ok(points),
    }
}

/// Reads an array of shape (points, 3 or more), of which the first three columns are taken.
pub(super) fn npy_bytes(path: &Path, bytes: &[u8]) -> Result<Vec<Point>> {
    let array = Array::parse(bytes, At::file(path))?;
    let columns = match array.axes(2)? {
        [points, columns] if *points > 0 && *columns >= 3 => *columns,
        shape => {
            let what = format!("shape {shape:?} where (points, 3) is expected");
            return Err(array.at().error(what, "store a row of x, y and z a point"));
        }
    };
    let values = array.floats()?;
    let mut points = Vec::with_capacity(values.len() / columns);
    for (row, values) in values.chunks_exact(columns).enumerate() {
        if !values[..3].iter().all(|value| value.is_finite()) {
            let what = format!("row {row} is not finite");
            return Err(array.at().error(what, "correct or remove it"));
        }
        points.push([values[0], values[1], values[2]]);
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::read::written_npy;

    fn parse(text: &[u8]) -> Result<Vec<Point>> {
        xyz_bytes(Path::new("a.xyz"), text)
    }

    #[test]
    fn blanks_commas_more_columns_and_repeated_points() {
        let text = b"# x y z\n1 2 3\r\n\n1,2,3,0.5,0.5\n 1;\t2 ; 3e0\n";
        assert_eq!(parse(text).unwrap(), [[1.0, 2.0, 3.0]; 3]);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, part) in [
            (&b"1 2 3\n1 2\n"[..], "a.xyz, line 2, field `z`: `` is not a finite number"),
            (b"x y z\n", "line 1, field `x`: `x`"),
            (b"1 NaN 3\n", "line 1, field `y`: `NaN`"),
            (b"1 2 -inf\n", "line 1, field `z`: `-inf`"),
            (b"1 2 1e39\n", "line 1, field `z`: `1e39`"),
            (b"1 2 3\n\n\xff\n", "line 3: not text"),
            (b"# nothing\n", "the file has no points"),
            (b"", "the file has no points"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    }

    fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        written_npy("<f4", shape, &data)
    }

    #[test]
    fn arrays_of_three_columns_or_more() {
        let read = |shape, values: &[f32]| npy_bytes(Path::new("a.npy"), &npy(shape, values));
        let four = [1.0, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0, 9.0];
        assert_eq!(read("(2, 4)", &four).unwrap(), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        for (shape, values, part) in [
            ("(4, 2)", &four[..], "a.npy: shape [4, 2]"),
            ("(0, 3)", &[], "a.npy: shape [0, 3]"),
            ("(8,)", &four, "2 axes"),
            ("(1, 3)", &[0.0, f32::NAN, 0.0], "row 0 is not finite"),
            ("(1, 3)", &four, "truncated"),
        ] {
            let error = read(shape, values).unwrap_err().to_string();
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>, shape in "\\([0-9, ]{0,9}\\)") {
            let _ = parse(&bytes);
            let _ = npy_bytes(Path::new("a.npy"), &bytes);
            let _ = npy_bytes(Path::new("a.npy"), &npy(&shape, &[0.5; 12]));
        }

        #[test]
        fn random_lines_give_errors_or_finite_points(text in "([0-9.eE,+-]{1,6}[ ,;]){3}\n") {
            if let Ok(points) = parse(text.as_bytes()) {
                prop_assert!(points.iter().flatten().all(|value| value.is_finite()));
            }
        }
    }
}
