//! Meshes in the Object File Format (`.off`), as ModelNet publishes them.

use std::path::Path;

use super::mesh::Mesh;
use crate::error::{At, Error, Result};
use crate::read::{coordinate, text_of, wrong_cell};

/// Reads a text OFF mesh from memory; the path is for messages.
///
/// The first line is `OFF` (or `COFF`, `NOFF`, `CNOFF`), then come the numbers of corners, faces and
/// edges (also glued to the first line, as in some files of ModelNet40), then a line a corner (x y z,
/// the rest is ignored) and a line a face (how many corners, which ones, the rest is ignored). `#`
/// starts a comment.
pub fn off_bytes(path: &Path, bytes: &[u8]) -> Result<Mesh> {
    let mut lines = Lines::new(path, text_of(path, bytes)?);
    let header = lines.next("the word OFF")?;
    let glued = counts_after_keyword(header).ok_or_else(|| {
        lines.at().error("not a text OFF file", "the first line must be OFF, COFF, NOFF or CNOFF")
    })?;
    let counts = if glued.is_empty() { lines.next("the counts")? } else { glued };
    let [corners, faces] = {
        let mut cells = counts.split_whitespace();
        ["corners", "faces"].map(|field| whole(cells.next(), field, &lines.at()))
    };
    let (corners, faces) = (corners?, faces?);
    let mut mesh = Mesh::default();
    for number in 0..corners {
        let line = lines.next_of("corner", number, corners)?;
        let (mut cells, at) = (line.split_whitespace(), lines.at());
        let mut value = |field| coordinate(cells.next().unwrap_or(""), field, &at);
        let vertex = [value("x")?, value("y")?, value("z")?].map(|value| value as f32);
        mesh.push_vertex(vertex, &at)?;
    }
    let mut face = Vec::new();
    for number in 0..faces {
        let line = lines.next_of("face", number, faces)?;
        let (mut cells, at) = (line.split_whitespace(), lines.at());
        face.clear();
        for _ in 0..whole(cells.next(), "corners of the face", &at)? {
            face.push(whole(cells.next(), "corner of the face", &at)?);
        }
        mesh.push_face(&face, &at)?;
    }
    Ok(mesh)
}

/// What follows the keyword on its line; `None` without a keyword, or when the file is binary.
fn counts_after_keyword(line: &str) -> Option<&str> {
    let (kind, rest) = line.split_once("OFF")?;
    let rest = rest.trim_start();
    let text = rest.is_empty() || rest.starts_with(|first: char| first.is_ascii_digit());
    (matches!(kind, "" | "C" | "N" | "CN") && text).then_some(rest)
}

fn whole(cell: Option<&str>, field: &str, at: &At) -> Result<u32> {
    let cell = cell.unwrap_or("");
    let wrong = |_| wrong_cell(cell, "a whole number", "correct the line", field, at);
    cell.parse().map_err(wrong)
}

/// The lines that say something.
struct Lines<'a> {
    path: &'a Path,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    line: u64,
}

impl<'a> Lines<'a> {
    fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, lines: text.lines().enumerate(), line: 0 }
    }

    fn at(&self) -> At {
        At::line(self.path, self.line)
    }

    fn take(&mut self) -> Option<&'a str> {
        self.lines.by_ref().find_map(|(at, line)| {
            self.line = at as u64 + 1;
            let said = line.split('#').next().unwrap_or("").trim();
            (!said.is_empty()).then_some(said)
        })
    }

    fn next(&mut self, expected: &str) -> Result<&'a str> {
        self.take().ok_or_else(|| self.truncated(format!("the file ends before {expected}")))
    }

    fn next_of(&mut self, element: &str, number: u32, count: u32) -> Result<&'a str> {
        self.take().ok_or_else(|| {
            self.truncated(format!("the file ends after {number} of {count} {element}s"))
        })
    }

    fn truncated(&self, what: String) -> Error {
        self.at().error(what, "the file is truncated or damaged: get it again")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &[u8]) -> Result<Mesh> {
        off_bytes(Path::new("a.off"), text)
    }

    const SQUARE: &str = "0 0 0\n1 0 0 255 0 0\n\n1 1 0 # far\r\n0 1 0\n4 0 1 2 3 0.5 0.5\n";

    #[test]
    fn polygons_comments_colours_and_glued_counts() {
        for header in ["OFF\n4 1 0\n", "OFF4 1 0\n", "# hi\nCOFF 4 1\n", "NOFF\r\n\r\n4 1 4\r\n"] {
            let mesh = parse(format!("{header}{SQUARE}").as_bytes()).unwrap();
            assert_eq!(mesh.vertices()[2], [1.0, 1.0, 0.0]);
            assert_eq!(mesh.triangles(), [[0, 1, 2], [0, 2, 3]]);
        }
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, part) in [
            ("", "a.off, line 0: the file ends before the word OFF"),
            ("PLY\n", "line 1: not a text OFF file"),
            ("OFF BINARY\n", "line 1: not a text OFF file"),
            ("4OFF\n", "line 1: not a text OFF file"),
            ("OFF\n", "line 1: the file ends before the counts"),
            ("OFF\n1\n", "line 2, field `faces`: `` is not a whole number"),
            ("OFF\n-1 0 0\n", "field `corners`: `-1`"),
            ("OFF\n4000000000 0 0\n1 2 3\n", "line 3: the file ends after 1 of 4000000000 corners"),
            ("OFF\n1 0 0\n1 2\n", "line 3, field `z`: `` is not a finite number"),
            ("OFF\n1 0 0\n1 nan 3\n", "line 3, field `y`: `nan`"),
            ("OFF\n1 0 0\n1e39 2 3\n", "line 3, field `x`: `1e39`"),
            ("OFF\n1 4000000000 0\n1 2 3\n", "the file ends after 0 of 4000000000 faces"),
            ("OFF\n1 1 0\n1 2 3\n3 0 0 1\n", "line 4: a face with corner 1 of only 1"),
            ("OFF\n1 1 0\n1 2 3\n3 0 0\n", "line 4, field `corner of the face`: ``"),
            ("OFF\n1 1 0\n1 2 3\n3 0 0 -1\n", "line 4, field `corner of the face`: `-1`"),
            ("OFF\n1 1 0\n1 2 3\n4294967295 0\n", "line 4, field `corner of the face`: ``"),
            ("OFF\n1 1 0\n1 2 3\n2 0 0\n", "line 4: a face of 2 corners"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
        assert!(parse(b"OFF\n\xff").unwrap_err().to_string().contains("line 2: not text"));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            let _ = parse(&bytes);
            let _ = parse(&[b"OFF\n2 1 0\n", &bytes[..]].concat());
        }

        #[test]
        fn what_is_read_is_whole(
            text in "OFF\n[0-4] [0-3] 0\n(([0-9.e-]{1,3} ){3}\n){0,4}([2-4]( [0-4]){2,4}\n){0,3}",
        ) {
            if let Ok(mesh) = parse(text.as_bytes()) {
                let corners = mesh.vertices().len() as u32;
                prop_assert!(mesh.vertices().iter().flatten().all(|value| value.is_finite()));
                prop_assert!(mesh.triangles().iter().flatten().all(|corner| *corner < corners));
            }
        }
    }
}
